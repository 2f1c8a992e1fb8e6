"""What was given, as documents and objects, and what is said of them, as diagnostics: the two ends of every verb."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptcompile._internal import arguments
from ptcompile._internal.limits import limits
from ptcompile.diagnostics import Diagnostic, Fix, Path, Problem, code_of
from ptcompile.source import documents as source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.diagnostics.selection import Selection


def read(given: Any, filename: str | None, parameter: str = "source") -> source.Source:
    """Whatever form a stream was given in, as documents; without positions where it was no text.

    Raises TypeError, which names the parameter, for what is none of these forms.
    """
    given = arguments.source(given, parameter)
    if isinstance(given, list):
        return source.from_data(given)
    if isinstance(given, str | bytes):
        return source.read(given, filename)
    if isinstance(given, Mapping):
        return source.from_data(dict(given))
    said = given.document(given=True)
    return source.from_data({"apiVersion": given.api_version, "kind": given.kind, **said})


def objects_in(data: Mapping[str, Any]) -> Iterable[tuple[Path, Mapping[str, Any]]]:
    """The objects of a document with their paths: itself, or the items of a List."""
    items = data.get("items")
    if data.get("kind") == "List" and data.get("apiVersion") == "v1" and isinstance(items, list):
        return [(("items", i), item) for i, item in enumerate(items) if isinstance(item, Mapping)]
    return [((), data)]


def not_objects(data: Mapping[str, Any]) -> Iterable[Problem]:
    """The items of a List that are no objects."""
    items = data.get("items") if data.get("kind") == "List" else None
    for at, item in enumerate(items if isinstance(items, list) else ()):
        if not isinstance(item, Mapping):
            yield Problem("not-a-mapping", ("items", at), f"items[{at}]: an object is a mapping", "remove it")


def profile_documents(given: source.Source) -> Sequence[source.Document]:
    """The documents of a stream that are profiles; all of them where none says that it is one."""
    return [one for one in given.documents if one.data.get("kind") == "ClusterProfile"] or given.documents


def is_ours(data: Mapping[str, Any]) -> bool:
    """Whether a document is of ptcompile's own API: a TrainingJob or a ClusterProfile."""
    return str(data.get("apiVersion")).startswith("ptcompile/")


def no_documents() -> Problem:
    """What is said of a stream without documents."""
    return Problem("no-documents", (), "the file has no document", "write one", authority="ptcompile")


def select(
    found: Iterable[Diagnostic], asked: Selection, filename: str | None
) -> tuple[list[Diagnostic], list[Diagnostic]]:
    """The findings that are wanted, as many as are reported of one file; and those that are ignored by name or code."""
    ignored: list[Diagnostic] = []

    def wanted() -> Iterator[Diagnostic]:
        for one in found:
            if asked.tells(one.name, one.stage):
                yield one
            elif one.name in asked.ignore and len(ignored) < limits().findings:
                ignored.append(one)

    return limit_findings(wanted(), filename), ignored


def limit_findings(found: Iterable[Diagnostic], filename: str | None) -> list[Diagnostic]:
    """As many findings as are reported of one file; behind them one that says so, if there are more."""
    most = limits().findings
    out: list[Diagnostic] = []
    for one in found:
        if len(out) == most:
            message = f"the file has more than {most} findings, and the others are not listed"
            cure = "fix or ignore those above first"
            problem = Problem("too-large", (), message, cure, authority="ptcompile", span=one.span)
            return [*out, to_diagnostic(problem, None, filename)]
        out.append(one)
    return out


def to_diagnostic(
    problem: Problem,
    document: source.Document | None,
    filename: str | None,
    under: Path = (),
    manifest: Mapping[str, Any] | None = None,
) -> Diagnostic:
    """A problem as a diagnostic: with its code, its position and the object it is about."""
    path = shown = (*under, *problem.path)
    told = problem
    if document is not None:
        from ptcompile.source.secrets.masking import masked_problem

        told, shown = masked_problem(problem, document, path)
    span = problem.span
    if span is None and document is not None:
        span = document.span(path, on_key=problem.on_key)
    return Diagnostic(
        code=problem.code or code_of(problem.name),
        name=problem.name,
        severity=problem.severity,
        message=told.message,
        help=told.help,
        path=shown,
        span=span,
        stage=problem.stage,
        authority=problem.authority,
        filename=filename,
        document=document.index if document is not None else 0,
        resource=resource_name(manifest if manifest is not None else document.data if document is not None else {}),
        fix=_under(told.fix, under),
        template=document.template if document is not None else None,
        masked=(told.message, told.help, shown) != (problem.message, problem.help, path),
    )


def _under(fix: Fix | None, under: Path) -> Fix | None:
    if fix is None or not under:
        return fix
    return fix._replace(edits=tuple(edit._replace(path=(*under, *edit.path)) for edit in fix.edits))


def resource_name(manifest: Mapping[str, Any]) -> str | None:
    """`Kind/name`, as far as an object has them."""
    kind, metadata = manifest.get("kind"), manifest.get("metadata")
    if not isinstance(kind, str):
        return None
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return f"{kind}/{name}" if isinstance(name, str) else kind
