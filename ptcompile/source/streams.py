"""The two ends of every verb: sources to documents and objects, problems to diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from ptcompile._internal import arguments
from ptcompile._internal.lazy import Pattern
from ptcompile._internal.limits import limits
from ptcompile._internal.secret_formats import mask_formats
from ptcompile.diagnostics import (
    Diagnostic,
    Fix,
    Path,
    Problem,
    code_of,
    field_path,
    own_problem,
    problem_at,
)
from ptcompile.kubernetes.unstructured import (
    Json,
    as_list,
    get,
    namespace_of,
    nested_map,
    nested_string,
    nested_value,
)
from ptcompile.source import documents as source
from ptcompile.source.fast_reader import read_document, read_dumped_document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.diagnostics.selection import Selection
    from ptcompile.kubernetes.versions import Version
    from ptcompile.source.nodes import Parsed


def read(
    stream: Any,
    filename: str | None,
    parameter: str = "source",
    kubectl: Version = source.NEWEST_KUBECTL,
    parse: Callable[[str], Parsed] = read_document,
) -> source.Source:
    """Read a source in any of its forms, text as kubectl of this version does; documents that were
    not text have no positions. `parse` reads one document of text.

    Raises TypeError, which names the parameter, for any other form.
    """
    stream = arguments.source(stream, parameter)
    if isinstance(stream, list):
        return source.from_data(stream)
    if isinstance(stream, str | bytes):
        return source.read(stream, filename, kubectl, parse)
    if isinstance(stream, Mapping):
        return source.from_data(dict(stream))
    fields = stream.document(only_set=True)
    return source.from_data({"apiVersion": stream.api_version, "kind": stream.kind, **fields})


def read_dump(stream: Any, filename: str | None, parameter: str) -> source.Source:
    """Read the objects of a cluster in any form, such as the output of `kubectl get -A -o yaml`,
    of any size.
    """
    return read(stream, filename, parameter, parse=read_dumped_document)


def objects_in(data: Json) -> Iterator[tuple[Path, Json]]:
    """Yield the objects of a document with their paths: the document itself, or the items of a
    list kind.

    As in kubectl, items of a ConfigMapList without apiVersion and kind are ConfigMaps of the list's
    apiVersion.
    """
    items = data.get("items")
    if not _is_list(data) or not isinstance(items, list):
        yield (), data
        return

    kind = str(data["kind"]).removesuffix("List")
    for index, item in enumerate(items):
        if not isinstance(item, Mapping):
            continue
        if kind and not item.get("kind") and not item.get("apiVersion"):
            item = {"apiVersion": data.get("apiVersion"), "kind": kind, **item}
        yield ("items", index), item


def objects_of(stream: source.Source) -> Iterator[Json]:
    """Yield the objects of all documents of a source."""
    for document in stream.documents:
        yield from (manifest for _, manifest in objects_in(document.data))


def _is_list(data: Json) -> bool:
    """Return whether a document is a `List`, or a list of one kind such as `ConfigMapList`."""
    kind = data.get("kind")
    return (
        isinstance(kind, str)
        and kind.endswith("List")
        and (kind != "List" or data.get("apiVersion") == "v1")
    )


def not_objects(data: Json) -> Iterable[Problem]:
    """Yield a problem for each item of a list kind that is not an object."""
    if not _is_list(data) and data.get("kind") != "List":
        return
    for index, item in enumerate(as_list(data.get("items"))):
        if not isinstance(item, Mapping):
            yield problem_at(
                "not-a-mapping", ("items", index), "an object must be a mapping", "remove it"
            )


def profile_documents(stream: source.Source) -> Sequence[source.Document]:
    """Return the documents of a stream that are profiles, or all of them if none has that kind."""
    return [
        document for document in stream.documents if document.data.get("kind") == "ClusterProfile"
    ] or stream.documents


def is_ours(data: Json) -> bool:
    """Return whether a document belongs to ptcompile's own API: a TrainingJob or a
    ClusterProfile.
    """
    return str(data.get("apiVersion")).startswith("ptcompile/")


def no_documents(*, blocks_compile: bool = False) -> Problem:
    """Return the problem of a stream without documents."""
    return Problem(
        "no-documents",
        (),
        "the file has no document",
        "write one",
        authority="ptcompile",
        blocks_compile=blocks_compile,
    )


def repeated_spec(data: Any, seen: set[tuple[str, str]]) -> list[Problem]:
    """Return an error if an earlier TrainingJob has the same namespace and name; else add these to
    `seen`.
    """
    if not isinstance(data, Mapping) or data.get("kind") != "TrainingJob":
        return []

    name = nested_value(data, "metadata", "name")
    if not is_ours(data) or not isinstance(name, str):
        return []

    key = namespace_of(data), name
    if key not in seen:
        seen.add(key)
        return []

    message = (
        f"an earlier document is also TrainingJob/{name}, so kubectl applies one over the other"
    )

    return [_repeated_object(message)]


def repeated_in_other_file(resource: str, filename: str) -> Problem:
    """Return the error for a spec that compiles to an object that a spec in another file already
    has.
    """
    return _repeated_object(
        f"{filename} also compiles to {resource}, so kubectl applies one over the other"
    )


def _repeated_object(message: str) -> Problem:
    help = "rename one of the jobs, or remove it"
    problem = own_problem("repeated-object", ("metadata", "name"), message, help, stage="run")
    return problem._replace(blocks_compile=True)


def select(
    diagnostics: Iterable[Diagnostic], selection: Selection, filename: str | None
) -> tuple[list[Diagnostic], list[Diagnostic]]:
    """Return the selected diagnostics with their configured severities, up to the limit per file,
    and those that are ignored by name or code.
    """
    ignored: list[Diagnostic] = []

    def selected() -> Iterator[Diagnostic]:
        for diagnostic in diagnostics:
            if diagnostic.blocks_compile or selection.includes(diagnostic.name, diagnostic.stage):
                yield selection.with_severity(diagnostic) if selection.severities else diagnostic
            elif diagnostic.name in selection.ignore and len(ignored) < limits().findings:
                ignored.append(diagnostic)

    return limit_findings(selected(), filename), ignored


def limit_findings(diagnostics: Iterable[Diagnostic], filename: str | None) -> list[Diagnostic]:
    """Return the diagnostics up to the limit per file, followed by one that says so if there are
    more.
    """
    most = limits().findings
    reported: list[Diagnostic] = []
    for diagnostic in diagnostics:
        if len(reported) == most:
            message = f"the file has more than {most} findings, and the others are not listed"
            help = "fix or ignore those above first"
            problem = Problem(
                "too-large", (), message, help, authority="ptcompile", span=diagnostic.span
            )
            return [*reported, to_diagnostic(problem, None, filename)]
        reported.append(diagnostic)

    return reported


def to_diagnostic(
    problem: Problem,
    document: source.Document | None,
    filename: str | None,
    under: Path = (),
    manifest: Json | None = None,
) -> Diagnostic:
    """Return a problem as a diagnostic, with its code, its position and its object."""
    path = masked_path = (*under, *problem.path)
    masked = problem
    span = problem.span
    index = 0
    template = None
    if document is not None:
        from ptcompile.source.secrets.masking import masked_problem

        masked, masked_path = masked_problem(problem, document, path)
        index = document.index
        template = document.template
        if span is None:
            span = document.span(path, on_key=problem.on_key)
        if manifest is None:
            manifest = document.data

    if manifest is None:
        manifest = {}
    metadata = nested_map(manifest, "metadata")

    return Diagnostic(
        code=problem.code or code_of(problem.name),
        name=problem.name,
        severity=problem.severity,
        message=masked.message,
        help=masked.help,
        path=masked_path,
        span=span,
        stage=problem.stage,
        authority=problem.authority,
        filename=filename,
        document=index,
        resource=resource_name(manifest),
        fix=_prefix_fix(masked.fix, under),
        template=template,
        masked=(masked.message, masked.help, masked_path) != (problem.message, problem.help, path),
        blocks_compile=problem.blocks_compile,
        owner=problem.owner,
        page=problem.page,
        namespace=metadata.get("namespace") if _is_name(metadata.get("namespace")) else None,
        labels=_labels(metadata),
        stable_path=_stable_path(masked_path[len(under) :], manifest),
        field=masked.start if problem.field is None else "",
    )


_MAX_LABELS = 32
"""Number of labels that a diagnostic has: each label of an object may have a finding, so more
would be quadratic.
"""


def _labels(metadata: Json) -> tuple[tuple[str, str], ...]:
    labels = islice(nested_map(metadata, "labels").items(), _MAX_LABELS)
    return tuple((key, value) for key, value in labels if _is_name(key) and _is_name(value))


def _stable_path(path: Path, manifest: Json) -> str:
    """Return a path within an object, with the names of the list items that have one instead of
    their indexes.
    """
    if not any(isinstance(part, int) for part in path):
        return field_path(path)

    texts: list[str] = []
    start = 0
    value = manifest
    for end, part in enumerate(path, 1):
        value = get(value, (part,))
        name = nested_value(value, "name") if isinstance(part, int) else None
        if _is_name(name):
            texts.append(f"{field_path(path[start : end - 1])}[{name}]")
            start = end

    return ".".join([*texts, field_path(path[start:])] if start < len(path) else texts)


_name = Pattern(r"[\w./-]{1,317}")


def _is_name(value: Any) -> bool:
    """Return whether a value may be printed as a name: no control characters, and not a token."""
    return (
        isinstance(value, str)
        and _name.fullmatch(value) is not None
        and mask_formats(value) == value
    )


def _prefix_fix(fix: Fix | None, under: Path) -> Fix | None:
    if fix is None or not under:
        return fix
    return fix._replace(edits=tuple(edit._replace(path=(*under, *edit.path)) for edit in fix.edits))


def resource_name(manifest: Json) -> str | None:
    """Return `Kind/name`, the kind of an object without a name, or None without a kind."""
    kind = manifest.get("kind")
    if not isinstance(kind, str):
        return None
    name = nested_value(manifest, "metadata", "name")
    return f"{kind}/{name}" if isinstance(name, str) else kind


def unchecked_name(manifest: Json) -> str:
    """Return an object that is not checked as `apiVersion Kind/name`, as far as it has them."""
    name = resource_name(manifest)
    if name:
        return f"{manifest.get('apiVersion')} {name}"
    return "a document without kind"


def missing_keys(manifest: Json) -> list[Problem]:
    """Return the errors of an object without apiVersion or kind, which every Kubernetes client
    rejects.
    """
    missing = [key for key in ("apiVersion", "kind") if not nested_string(manifest, key)]
    return [_missing_key(key, manifest) for key in missing]


def _missing_key(key: str, manifest: Json) -> Problem:
    from ptcompile._internal.spelling import closest_match

    text = "Required value: every object needs it"
    similar = closest_match(
        key, [present for present in manifest if present not in ("apiVersion", "kind")]
    )
    if similar is None:
        return problem_at("required-value", (key,), text, f"add {key}")

    return problem_at(
        "required-value", (similar,), text, f"did you mean {key}?", on_key=True, field=key
    )
