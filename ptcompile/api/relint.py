"""`lint` of a text that changes: after an edit, only the changed documents and those that depend on them are checked.

Contract: the report equals that of `lint` for the whole text. A document with the same text as one of the previous
version keeps its data and its positions. Its diagnostics are kept, and moved to its new first line, while the objects
that they depend on (`ptcompile.linter.changing`) and its `Place` are the same. Everything about the file as a whole is
computed again: the division into documents, limits, repeated names, comments, the order.

Only the documents of the current text are kept, so memory is bounded by that text. Nothing is kept for texts longer
than `_MAX_CHARACTERS`, or while the stream or the configuration defines kinds: the evaluations of such schemas are
limited for all objects together, so the objects depend on one another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.api.lint import (
    LintOptions,
    Place,
    Report,
    diagnostics_of,
    lint_documents,
    read_profile,
    versions_of,
)
from ptcompile.apiserver.evaluations import EVALUATIONS_PER_CALL
from ptcompile.diagnostics import Diagnostic
from ptcompile.diagnostics.selection import NO_CODES, selection
from ptcompile.linter.changing import ChangingStream
from ptcompile.source import documents as source
from ptcompile.source.documents import Document, Source
from ptcompile.source.fast_reader import read_document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.apiserver.admission import ClusterState
    from ptcompile.kubernetes.index import ObjectIdentity
    from ptcompile.kubernetes.versions import Version
    from ptcompile.source.nodes import Parsed
    from ptcompile.spec.cluster_profile import ClusterProfile

_MAX_CHARACTERS: Final = 1 << 20
"""Length of the longest text of which anything is kept: simulated jobs take several times their text."""
_MAX_BESIDE: Final = 1_000
"""Maximum number of objects of other files: each object of the text reads those that admission depends on."""


class KeptDocuments:
    """The parsed documents of the last text."""

    def __init__(self) -> None:
        self._parsed: dict[str, list[Parsed]] = {}
        self._documents: dict[int, Document] = {}

    def read(self, text: str, filename: str, kubectl: Version) -> Source:
        """Read a text. Documents with the same text as one of the last version have the same data."""
        if len(text) > _MAX_CHARACTERS:
            self._parsed, self._documents = {}, {}
            return source.read(text, filename, kubectl)
        used: dict[str, list[Parsed]] = {}

        def parse(document: str) -> Parsed:
            kept = self._parsed.get(document)
            parsed = kept.pop(0) if kept else read_document(document)
            used.setdefault(document, []).append(parsed)
            return parsed

        result = source.read(text, filename, kubectl, parse)
        for document in result.documents:
            earlier = self._documents.get(id(document.data))
            if earlier is not None:
                document.take_over(earlier)
        self._parsed, self._documents = used, {id(document.data): document for document in result.documents}
        return result


class _Judgment(NamedTuple):
    """The diagnostics of one object, and the place for which they are valid."""

    place: Place
    line: int
    column: int
    diagnostics: list[Diagnostic]
    unchecked: list[str]


class KeptJudgments:
    """The diagnostics of the objects of the last text."""

    def __init__(self, options: LintOptions) -> None:
        self._stream = ChangingStream(options.versions, options.frameworks)

    def change(
        self,
        objects: Sequence[Mapping[str, Any]],
        texts: Mapping[int, frozenset[str] | None],
        related: Sequence[Mapping[str, Any]] | None,
    ) -> None:
        """Set the objects of the next version of the text."""
        self._stream.change(objects, texts, related)

    def exceeds_evaluations(self, options: LintOptions) -> bool:
        """Return whether admission of all objects takes more evaluations than `lint` allows for them together."""
        states: list[ClusterState] = self._stream.cached_for_objects(options.cluster_state)
        return sum(state.evaluations.spent for state in states) > EVALUATIONS_PER_CALL

    def diagnostics(
        self,
        manifest: Mapping[str, Any],
        document: Document,
        place: Place,
        options: LintOptions,
        unchecked: list[str],
    ) -> Iterator[Diagnostic]:
        """Yield the diagnostics of one object, as `diagnostics_of` does."""
        derivation = self._stream.of(manifest)
        if derivation is None:
            raise LookupError("the object is not in the stream")
        kept: _Judgment | None = derivation.judgment
        column = document.first_column
        if kept is None or (kept.place, kept.column) != (place, column):
            names: list[str] = []
            diagnostics = list(diagnostics_of(manifest, document, place, derivation.view, options, names))
            kept = derivation.judgment = _Judgment(place, document.first_line, column, diagnostics, names)
        unchecked += kept.unchecked
        return _moved(kept.diagnostics, document.first_line - kept.line, document.index)


def _moved(diagnostics: Sequence[Diagnostic], lines: int, index: int) -> Iterator[Diagnostic]:
    """Yield the diagnostics of a document that moved down by a number of lines and has this index now."""
    for diagnostic in diagnostics:
        span = diagnostic.span
        if span is not None and lines:
            span = span._replace(line=span.line + lines, end_line=span.end_line + lines)
        is_here = not lines and diagnostic.document == index
        yield diagnostic if is_here else diagnostic._replace(span=span, document=index)


class Relinter:
    """Lints the versions of a text with the same options, which are those of `lint`."""

    def __init__(
        self,
        *,
        cluster: ClusterProfile | None = None,
        kubernetes: str | None = None,
        select: Sequence[str] | None = None,
        ignore: Sequence[str] = (),
        severity: Mapping[str, str] | None = None,
        schemas: Sequence[str] = (),
    ) -> None:
        profile, self._profile_problems = read_profile(cluster)
        selected = selection(select, ignore, NO_CODES, severity)
        self._options = LintOptions(profile, versions_of(profile, kubernetes), webhooks=True, selection=selected)
        self._schemas = schemas
        self._documents, self._judgments = KeptDocuments(), KeptJudgments(self._options)

    def read(self, text: str, filename: str) -> Source:
        """Read a text."""
        return self._documents.read(text, filename, self._options.versions.kubernetes)

    def lint(
        self,
        parsed: Source,
        *,
        beside: Sequence[Mapping[str, Any]] | None = None,
        pause: Callable[[], None] | None = None,
        earlier: Mapping[ObjectIdentity, str] | None = None,
    ) -> Report:
        """Return the report of a text from `read`."""
        self._options.pause, self._options.earlier = pause, earlier
        is_large = len(parsed.text) > _MAX_CHARACTERS or len(beside or ()) > _MAX_BESIDE
        report = self._report(parsed, beside, None if is_large else self._judgments)
        if not is_large and self._judgments.exceeds_evaluations(self._options):
            return self._report(parsed, beside, None)
        return report

    def _report(self, parsed: Source, beside: Sequence[Mapping[str, Any]] | None, kept: KeptJudgments | None) -> Report:
        return lint_documents(
            parsed, parsed.filename, self._options, self._profile_problems, self._schemas, beside, kept=kept
        )
