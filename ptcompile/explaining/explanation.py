"""Why the manifests of a spec are as they are: the causes of all values, and what each pass did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from ptcompile import passes, streams
from ptcompile.compiling.advice import advice, left
from ptcompile.compiling.compiler import compile_document
from ptcompile.documents.source import Document, Source
from ptcompile.explaining.model import Cause, Explained, Input, Text
from ptcompile.explaining.provenance import provenance
from ptcompile.explaining.shown import matches, words
from ptcompile.explaining.trace import trace
from ptcompile.explaining.variants import File
from ptcompile.findings.diagnostics import Diagnostic
from ptcompile.secrets.masking import masked_lines
from ptcompile.typed import Any, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.extending import Extensions
    from ptcompile.findings.selection import Selection
    from ptcompile.vocabulary.cluster.model import ClusterProfile


Json = dict[str, Any]


class Explanation(NamedTuple):
    """Why the manifests of a stream of specs are as they are.

    A document that does not compile is in `diagnostics` alone. One that only a rule calls an error is explained.
    """

    jobs: tuple[Explained, ...]
    manifests: tuple[Json, ...]
    """What `compile` gives, unmasked."""
    causes: tuple[Cause, ...]
    """One for each value of the manifests, in their order."""
    diagnostics: tuple[Diagnostic, ...]
    texts: Mapping[File, Text]

    @property
    def ok(self) -> bool:
        """Whether there is no error. Warnings are fine."""
        return not any(d.severity == "error" for d in self.diagnostics)

    def at(self, query: str) -> tuple[Cause, ...]:
        """The causes at and below a path of a manifest, or of any part of one where none begins so.

        `spec.template.spec.containers[0].env[1]`, `containers[pytorch].env[NCCL_DEBUG]`, `env.NCCL_DEBUG`, `volumes`.
        """
        wanted = words(query)
        found = (
            tuple(
                one for one in self.causes if matches(wanted, one.path, self.manifests[one.manifest], anywhere=inside)
            )
            for inside in (False, True)
        )
        return next((causes for causes in found if causes), ()) if wanted else ()

    def near(self, query: str) -> str | None:
        """A path that is there and much like one that is not."""
        from ptcompile.explaining.near import near

        return near(query, self.causes)

    def text(self, query: str | None = None) -> str:
        """For people: what each pass did, or the causes at and below a path; empty where nothing is there."""
        from ptcompile.explaining.text import causes_text, trace_text

        return trace_text(self) if query is None else causes_text(self, self.at(query))

    def to_dict(self) -> Json:
        """The JSON form (schemas/explanation.schema.json); secret variables are masked."""
        from ptcompile.explaining.as_json import to_dict

        return to_dict(self)


def explain(
    read: Source,
    cluster: ClusterProfile | None,
    cluster_source: Source | None,
    *,
    target: str | None,
    filename: str | None,
    found: Sequence[Diagnostic],
    asked: Selection | None = None,
    extensions: Extensions | None = None,
) -> Explanation:
    """Every TrainingJob of a stream explained. `cluster_source` is the profile's text, `found` what was found in it.

    `asked` are the rules whose findings are wanted; None for those of compiling alone. Where the profile is wrong, and
    None, there is nothing but what was found.
    """
    if cluster is None:
        return Explanation((), (), (), tuple(found), {})
    profile = next(iter(streams.profiles(cluster_source)), None) if cluster_source is not None else None
    diagnostics = [streams.stamp(problem, None, filename) for problem in read.problems]
    advised: list[Diagnostic] = []
    jobs: list[Explained] = []
    manifests: list[Json] = []
    causes: list[Cause] = []
    for document in read.documents:
        compiled = compile_document(document.data, cluster, target, extensions)
        stamp = partial(streams.stamp, document=document, filename=filename)
        said = advice(compiled, document.data, cluster, asked, stamp, extensions).told
        diagnostics += [*map(stamp, compiled.problems), *said]
        advised += said
        if compiled.manifests and compiled.built is not None:
            first = len(manifests)
            manifests += compiled.manifests
            own = provenance(document.data, compiled, chosen=target is not None)
            causes += [
                one._replace(
                    manifest=first + one.manifest, inputs=tuple(_placed(i, document, profile) for i in one.inputs)
                )
                for one in own
            ]
            name = streams.resource(document.data) or "TrainingJob"
            by = "caller" if target else "spec" if document.data["spec"].get("target") else "default"
            built = compiled.built
            steps = trace(passes.steps(built.lowered, built.context, built.passes))
            numbers = tuple(range(first, len(manifests)))
            jobs.append(Explained(name, built.context.target.name, by, numbers, steps))
    if not read.documents and not read.problems:
        diagnostics.append(streams.stamp(streams.nothing(), None, filename))
    told = left(read, diagnostics, advised, asked, filename).told
    return Explanation(
        tuple(jobs), tuple(manifests), tuple(causes), (*found, *told), _texts(read, cluster_source, filename)
    )


def _placed(one: Input, spec: Document, cluster: Document | None) -> Input:
    document = spec if one.file == "spec" else cluster
    return one if document is None or not one.given else one._replace(span=document.span(one.path))


def _texts(read: Source, cluster: Source | None, filename: str | None) -> dict[File, Text]:
    texts: dict[File, Text] = {"spec": _text(read, filename)}
    if cluster is not None:
        texts["cluster"] = _text(cluster, cluster.filename)
    return texts


def _text(source: Source, filename: str | None) -> Text:
    """The lines of a file, secrets masked."""
    return Text(filename, tuple(masked_lines(source.text, fill="")) if source.text else ())
