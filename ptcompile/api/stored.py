"""`stored`: the objects of a stream as the server would keep them, and who writes what the files
do not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.api.inputs import AnyProfile, Inputs, JobSource, OverridePairs, SchemaPaths
from ptcompile.diagnostics import Diagnostic, Problem, has_error
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.unstructured import Json, JsonDict, get, kind_of, object_name
from ptcompile.source import streams
from ptcompile.source.documents import read as read_text
from ptcompile.source.emitter import emit
from ptcompile.source.secrets.scanner import without_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile._internal.arguments import StreamSource
    from ptcompile.apiserver.crds import Definitions
    from ptcompile.apiserver.stored import StoredObject
    from ptcompile.extending import Extensions
else:
    StoredObject = object  # the hints of `Stored` name it


class Stored(NamedTuple):
    """Objects as the server would keep them, with secrets masked."""

    objects: tuple[StoredObject, ...]
    """The objects in the order of the stream; each has its `manifest`, and the `written` values
    that its file lacks.
    """
    diagnostics: tuple[Diagnostic, ...] = ()
    """Mistakes in the source, and notes about kinds whose defaults are unknown."""

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not has_error(self.diagnostics)

    def yaml(self) -> str:
        """Return the objects as YAML. A comment at each written value says who writes it."""
        return "---\n".join(_to_commented_yaml(item) for item in self.objects)

    def to_list(self) -> list[JsonDict]:
        """Return the objects as JSON data: kind, name, the stored object, and the path, value and
        writer of each value that the file does not have.
        """
        return [_to_dict(item) for item in self.objects]


def stored(
    source: JobSource,
    *,
    target: str | None = None,
    cluster: AnyProfile | None = None,
    filename: str | None = None,
    beside: Iterable[StreamSource] = (),
    schemas: SchemaPaths = (),
    name: str | None = None,
    overrides: OverridePairs = (),
    variants: Iterable[str] = (),
    extensions: Extensions | None = None,
) -> Stored:
    """Return the objects of a stream as the server would keep them after their creation.

    The file's values are followed by the defaults of Kubernetes 1.36 or of the CRD, by what the
    admission plugins of the API server write, and by the mutating webhooks of the operators and of
    Kueue. Values that only a cluster can know stay absent: uid, times, versions, addresses, ports,
    token volumes. `beside` are sources with objects of other files, such as LimitRanges, priority
    classes and LocalQueues; `schemas` are files and folders of CRDs, and CRDs of the streams count
    too.

    A TrainingJob is compiled first, for `target` or the one that `compile` chooses; `name`,
    `overrides` and `variants` change it. `extensions` are passes and targets of plugins. Mistakes
    in a text or spec never raise.
    """
    arguments.check(target=target)
    inputs = Inputs.read(
        source,
        filename=filename,
        cluster=cluster,
        name=name,
        overrides=overrides,
        variants=variants,
        beside=beside,
        schemas=schemas,
        extensions=extensions,
    )

    return stored_inputs(inputs, target)


def stored_inputs(inputs: Inputs, target: str | None) -> Stored:
    """Return the objects of all files as the server would keep them."""
    from ptcompile.apiserver.stored import stored_object

    if inputs.has_wrong_settings:
        return Stored((), inputs.limited())

    items, diagnostics = inputs.compile_specs(target, judged=True)
    manifests = [item.manifest for item in items]
    everything = Objects(manifests, inputs.related)
    kept = [
        stored_object(
            manifest, versions=inputs.versions, others=everything, definitions=inputs.definitions
        )
        for manifest in manifests
    ]
    notes = _unknown_kinds(manifests, inputs.definitions, inputs.filename)

    return Stored(tuple(map(_mask, kept)), inputs.limited(*diagnostics, *notes))


def _unknown_kinds(
    manifests: Sequence[Json], definitions: Definitions | None, filename: str | None
) -> Iterator[Diagnostic]:
    """Yield a note for each kind whose defaults are unknown."""
    from ptcompile.apiserver import is_supported

    for api_version, kind in dict.fromkeys(kind_of(manifest) for manifest in manifests):
        if not is_supported({"apiVersion": api_version, "kind": kind}, definitions):
            message = f"the defaults of {kind} ({api_version}) are unknown: it is shown as written"
            help = "give its CustomResourceDefinition"
            problem = Problem("unknown-defaults", (), message, help, "note", "style", "ptcompile")
            yield streams.to_diagnostic(problem, None, filename)


def _mask(item: StoredObject) -> StoredObject:
    """Return a stored object without its secrets."""
    manifest = without_secrets(item.manifest)
    written = (value._replace(value=get(manifest, value.path)) for value in item.written)
    return item._replace(manifest=manifest, written=tuple(written))


def _to_commented_yaml(item: StoredObject) -> str:
    """Return an object as YAML with a comment at each written value."""
    text = emit(item.manifest)
    lines, (document,) = text.split("\n"), read_text(text).documents
    for path, _, by in item.written:
        span = document.span(path, on_key=True)
        if span is not None:
            lines[span.line - 1] += f"  # {by}"
    return "\n".join(lines)


def _to_dict(item: StoredObject) -> JsonDict:
    api_version, kind = kind_of(item.manifest)
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": object_name(item.manifest),
        "stored": item.manifest,
        "written": [
            {"path": [*path], "value": value, "by": by} for path, value, by in item.written
        ],
    }
