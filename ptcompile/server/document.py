r"""An open text: its lines in the client's units, and its cached analyses.

A line ends as the protocol says (LSP 3.17, Text Documents): after `\n`, `\r\n` or `\r`, and nowhere else.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lsprotocol.types import Position, Range

from ptcompile.api.lint import Report, lint
from ptcompile.apiserver.crds import Definitions
from ptcompile.compiler.pipeline import Compiled, compile_document
from ptcompile.diagnostics import Path, Span
from ptcompile.kubernetes.versions import Versions, parse_version
from ptcompile.server.workspace import DECIDING, Defined, FileSettings, Surroundings, WorkspaceFile, defined
from ptcompile.source import documents as source
from ptcompile.source.documents import Document, Source
from ptcompile.source.streams import objects_in

if TYPE_CHECKING:
    from ptcompile.simulator.job import SimulatedJob
    from ptcompile.spec.cluster_profile import ClusterProfile


_line_end = re.compile(r"\r\n|\n|\r")


class Lines:
    """The lines of a text as a client counts them.

    Offsets are those of the text without a byte order mark, as `source.documents` reads it.
    """

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self._lead = int(text.startswith("\ufeff"))
        self.text = text[self._lead :]
        self._encoding = encoding
        ends = list(_line_end.finditer(self.text))
        self._starts = [0, *(match.end() for match in ends)]
        self._ends = [*(match.start() for match in ends), len(self.text)]

    def __len__(self) -> int:
        return len(self._starts)

    def position(self, offset: int) -> Position:
        """Where an offset is, for the client."""
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        return Position(line, self._units(self.text[start:offset]) + (self._lead if line == 0 else 0))

    def offset(self, position: Position) -> int:
        """The offset of a client's position; one beyond its line or the text is the end of that."""
        if position.line >= len(self._starts):
            return len(self.text)
        at, end = self._starts[position.line], self._ends[position.line]
        left = position.character - (self._lead if position.line == 0 else 0)
        while at < end and left >= (width := self._units(self.text[at])):
            left -= width
            at += 1
        return at

    def range(self, start: int, end: int) -> Range:
        """The range between two offsets."""
        return Range(self.position(start), self.position(max(start, end)))

    def of_span(self, span: Span) -> Range:
        """The range of a span, whose lines end after `\\n` alone."""
        return self.range(self._place(span.line, span.column), self._place(span.end_line, span.end_column))

    def bounds(self, offset: int) -> tuple[int, int]:
        """Where the line of an offset begins and ends, without its line break."""
        line = bisect_right(self._starts, offset) - 1
        return self._starts[line], self._ends[line]

    def _place(self, line: int, column: int) -> int:
        start = 0
        if line > 1 and len(self._feeds) >= line - 1:
            start = self._feeds[line - 2]
        return min(start + column - 1, len(self.text))

    @property
    def _feeds(self) -> list[int]:
        if not hasattr(self, "_cached_feeds"):
            self._cached_feeds = [match.end() for match in re.finditer("\n", self.text)]
        return self._cached_feeds

    def _units(self, text: str) -> int:
        if self._encoding == "utf-32" or text.isascii():
            return len(text)
        if self._encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text) + sum(character > "\uffff" for character in text)


_MOST_PODS = 100_000
"""A job with more pods than this has no hints: to count them is a matter of moments, to look at them is not."""


class Object(NamedTuple):
    """One object of a text: its document, and where in it the object is (the items of a List)."""

    document: Document
    under: Path
    data: Mapping[str, Any]

    @property
    def is_spec(self) -> bool:
        """Whether it is a TrainingJob."""
        return str(self.data.get("apiVersion")).startswith("ptcompile/") and self.data.get("kind") == "TrainingJob"


class OpenDocument:
    """A text that is open in an editor."""

    def __init__(
        self,
        uri: str,
        path: str,
        text: str,
        *,
        settings: FileSettings | None = None,
        elsewhere: Sequence[Defined] = (),
        before: OpenDocument | None = None,
        encoding: str = "utf-16",
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        self.uri = uri
        self.path = path
        self.settings = settings or FileSettings()
        self.elsewhere = elsewhere
        """The objects of other files."""
        self.lines = Lines(text, encoding)
        self.pause = pause
        """Called between two objects; what it raises ends the work."""
        self._before = before

    @property
    def text(self) -> str:
        """Without a byte order mark, as offsets count."""
        return self.lines.text

    @cached_property
    def source(self) -> Source:
        """The documents that can be read."""
        return source.read(self.text, self.path)

    @property
    def sound(self) -> bool:
        """Whether the whole text could be read."""
        return not any(problem.severity == "error" for problem in self.source.problems)

    def last_sound(self) -> OpenDocument | None:
        """This text, or the last before it that could be read."""
        return self if self.sound else self._before

    @cached_property
    def objects(self) -> list[Object]:
        """The objects of all documents."""
        return [
            Object(document, at, one) for document in self.source.documents for at, one in objects_in(document.data)
        ]

    @cached_property
    def report(self) -> Report:
        """What `lint` says of the text."""
        if self.settings.excluded or self.settings.wrong:
            return Report((), 0, ())
        return lint(
            self.text,
            filename=self.path,
            cluster=self.settings.profile,
            kubernetes=self.settings.kubernetes,
            select=self.settings.select,
            ignore=self.settings.ignore,
            schemas=self.settings.schemas,
            beside=[one.data for one in self.elsewhere if one.kind in DECIDING] or None,
            pause=self.pause,
        )

    @cached_property
    def profile(self) -> ClusterProfile:
        """The profile of the configuration, or the built-in one."""
        from ptcompile.spec.reader import default_cluster

        return self.settings.profile or default_cluster()

    @cached_property
    def definitions(self) -> Definitions:
        """The kinds that the configuration's schemas define."""
        from ptcompile.apiserver.crds.loader import read_definitions

        return read_definitions(self.settings.schemas) if self.settings.schemas else Definitions()

    @cached_property
    def versions(self) -> Versions:
        """The releases in force."""
        versions = self.profile.versions()
        given = self.settings.kubernetes
        return versions._replace(kubernetes=parse_version(given)) if given else versions

    @cached_property
    def compiled(self) -> dict[tuple[int, Path], Compiled]:
        """What each TrainingJob compiles to, by document and place in it."""
        found: dict[tuple[int, Path], Compiled] = {}
        for one in self.objects:
            if one.is_spec:
                self.pause()
                found[one.document.index, one.under] = compile_document(one.data, self.profile)
        return found

    @cached_property
    def jobs(self) -> dict[tuple[int, Path], list[SimulatedJob]]:
        """The jobs of each object, with the pods that they will have. A spec is compiled for the target it gets."""
        from ptcompile.kubernetes.index import Objects
        from ptcompile.linter.oversized import oversized
        from ptcompile.simulator.world import simulate

        beside = Objects([*(one.data for one in self.objects), *(one.data for one in self.elsewhere)])
        found: dict[tuple[int, Path], list[SimulatedJob]] = {}
        for one in self.objects:
            self.pause()
            key = one.document.index, one.under
            compiled = self.compiled.get(key)
            manifests = compiled.manifests if compiled is not None else (one.data,)
            small = [manifest for manifest in manifests if not any(True for _ in oversized(manifest))]
            target = compiled.target.name if compiled is not None and compiled.target is not None else None
            world = simulate(small, versions=self.versions, others=beside, target=target)
            found[key] = [job for job in world.jobs if 0 < job.size <= _MOST_PODS]
        return found

    def object_at(self, offset: int) -> Object | None:
        """The object around an offset; the document's first where it is in none of a List."""
        within = [one for one in self.objects if one.document.start() <= offset <= one.document.end()]
        for one in within:
            span = one.document.span(one.under)
            if span is not None and one.under:
                start, end = (self.source.offset(*place) for place in (span[:2], span[2:]))
                if start <= offset <= end:
                    return one
        return within[0] if within else None

    def defined(self, kinds: Sequence[str], name: str) -> Iterator[Defined]:
        """The objects of these kinds and this name: here first, then elsewhere."""
        for one in (*self.own, *self.elsewhere):
            if one.kind in kinds and one.name == name:
                yield one

    @cached_property
    def own(self) -> Sequence[Defined]:
        """The objects here that others may name."""
        return defined(WorkspaceFile(self.path, self.text))


_KEPT: Final = 64
"""Texts whose analysis is kept."""


class Texts:
    """What is known of every open text."""

    def __init__(self, surroundings: Surroundings, encoding: str) -> None:
        self._surroundings = surroundings
        self._encoding = encoding
        self._open: dict[str, OpenDocument] = {}
        self._stale: set[str] = set()
        self._elsewhere: dict[str, tuple[str | bytes, tuple[Defined, ...]]] = {}

    def get(self, uri: str, path: str, text: str, pause: Callable[[], None]) -> OpenDocument:
        """The analysis of a text as it is now; that of before where it has not changed."""
        there = self._open.pop(uri, None)
        if there is None or uri in self._stale or there.text != text.removeprefix("\ufeff"):
            self._stale.discard(uri)
            there = OpenDocument(
                uri,
                path,
                text,
                settings=self._surroundings.settings(path),
                elsewhere=self._others(path),
                before=there.last_sound() if there is not None else None,
                encoding=self._encoding,
            )
        self._open[uri] = there
        while len(self._open) > _KEPT:
            del self._open[next(iter(self._open))]
        there.pause = pause
        return there

    def close(self, uri: str) -> None:
        """Forget a text."""
        self._open.pop(uri, None)

    def forget(self) -> None:
        """Analyse everything again: the configuration or another file is not what it was."""
        self._surroundings.changed()
        self._stale = set(self._open)

    def _others(self, path: str) -> tuple[Defined, ...]:
        """The objects of the other files; those of open ones as they are in the editor."""
        unsaved = {one.path: one.own for one in self._open.values()}
        found: list[Defined] = []
        for file in self._surroundings.files():
            if file.path != path and file.path not in unsaved:
                found += self._defined(file)
        for other, own in unsaved.items():
            found += own if other != path else ()
        return tuple(found)

    def _defined(self, file: WorkspaceFile) -> tuple[Defined, ...]:
        kept = self._elsewhere.get(file.path)
        if kept is None or kept[0] is not file.content:
            kept = self._elsewhere[file.path] = (file.content, defined(file))
        return kept[1]
