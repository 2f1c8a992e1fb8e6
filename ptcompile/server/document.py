r"""An open text: its lines in the client's units, and its cached analyses.

A line ends as the protocol says (LSP 3.17, Text Documents): after `\n`, `\r\n` or `\r`, and nowhere
else.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from lsprotocol.types import Position, Range

from ptcompile.api.inputs import File, Inputs, Item
from ptcompile.api.lint import Report, lint_inputs
from ptcompile.apiserver.crds import Definitions
from ptcompile.diagnostics import Path, Span, has_error
from ptcompile.kubernetes.index import DECIDING, ObjectIdentity, Objects
from ptcompile.kubernetes.versions import Versions
from ptcompile.server.workspace import (
    FileSettings,
    NamedObject,
    Surroundings,
    WorkspaceFile,
    named_objects,
)
from ptcompile.source import documents as source
from ptcompile.source.documents import KeptDocuments, Source

if TYPE_CHECKING:
    from ptcompile.compiler.pipeline import Compiled
    from ptcompile.explainer.page import ExplainPage
    from ptcompile.simulator.job import SimulatedJob


_line_end = re.compile(r"\r\n|\n|\r")


class Lines:
    """The lines of a text as a client counts them.

    Offsets ignore a byte order mark, as in `source.documents`.
    """

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self._lead = int(text.startswith("\ufeff"))
        self.text = text[self._lead :]
        self._encoding = encoding
        self._feeds = list(accumulate(len(line) + 1 for line in self.text.split("\n")[:-1]))
        if "\r" in self.text:
            ends = [match.end() for match in _line_end.finditer(self.text)]
        else:
            ends = self._feeds
        self._starts = [0, *ends]

    def __len__(self) -> int:
        return len(self._starts)

    def position(self, offset: int) -> Position:
        """Return the client's position of an offset."""
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        return Position(
            line, self._units(self.text[start:offset]) + (self._lead if line == 0 else 0)
        )

    def offset(self, position: Position) -> int:
        """Return the offset of a client's position. A position after the end of its line or of the
        text is moved to that end.
        """
        if position.line >= len(self._starts):
            return len(self.text)
        offset = self._starts[position.line]
        end = self._end(position.line)
        units = position.character - (self._lead if position.line == 0 else 0)
        while offset < end and units >= (width := self._units(self.text[offset])):
            units -= width
            offset += 1
        return offset

    def range(self, start: int, end: int) -> Range:
        """Return the range between two offsets."""
        return Range(self.position(start), self.position(max(start, end)))

    def of_span(self, span: Span) -> Range:
        r"""Return the range of a span, which counts only `\n` as a line break."""
        return self.range(
            self._span_offset(span.line, span.column),
            self._span_offset(span.end_line, span.end_column),
        )

    def bounds(self, offset: int) -> tuple[int, int]:
        """Return the start and end of the line around an offset, without its line break."""
        line = bisect_right(self._starts, offset) - 1
        return self._starts[line], self._end(line)

    def _end(self, line: int) -> int:
        """Return the end of a line, without its line break."""
        if line + 1 == len(self._starts):
            return len(self.text)
        end = self._starts[line + 1]
        return end - (2 if self.text[end - 2 : end] == "\r\n" else 1)

    def _span_offset(self, line: int, column: int) -> int:
        start = 0
        if line > 1 and len(self._feeds) >= line - 1:
            start = self._feeds[line - 2]
        return min(start + column - 1, len(self.text))

    def _units(self, text: str) -> int:
        """Return the length of a text in units of the client's encoding."""
        if self._encoding == "utf-32" or text.isascii():
            return len(text)
        if self._encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text) + sum(character > "\uffff" for character in text)


_MAX_PODS = 100_000
"""Jobs with more pods have no hints: counting their pods is fast, but examining each is not."""


class OpenDocument:
    """A text that is open in an editor."""

    def __init__(
        self,
        uri: str,
        path: str,
        text: str,
        *,
        settings: FileSettings | None = None,
        elsewhere: Sequence[NamedObject] = (),
        earlier: Sequence[WorkspaceFile] = (),
        before: OpenDocument | None = None,
        kept: KeptDocuments | None = None,
        compiled_page: ExplainPage | None = None,
        encoding: str = "utf-16",
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        self.uri = uri
        self.path = path
        self.settings = settings or FileSettings()
        self.elsewhere = elsewhere
        """Objects of other files."""
        self.earlier = earlier
        """Files of the folder that `lint` reads before this one."""
        self.sent = text
        """The text as the client sent it: a byte order mark moves the positions in its line."""
        self.lines = Lines(text, encoding)
        self.pause = pause
        """Called between two objects; an exception from it ends the work."""
        self._before = before
        self.kept = kept or KeptDocuments()
        """Reads the versions of this text."""
        self._compiled: dict[tuple[int, Path], Compiled] = {}
        self._jobs: dict[tuple[int, Path], list[SimulatedJob]] = {}
        self.compiled_page = compiled_page
        """The last page of `explain --html` whose spec compiled, of this text or an earlier
        version.
        """

    @property
    def text(self) -> str:
        """The text without a byte order mark; offsets refer to it."""
        return self.lines.text

    @cached_property
    def source(self) -> Source:
        """The documents that can be parsed."""
        return self.kept.read(self.text, self.path, self.versions.kubernetes)

    @cached_property
    def inputs(self) -> Inputs:
        """The text with what decides about its objects; without objects of other files, there
        may be some.
        """
        deciding = [related.data for related in self.elsewhere if related.kind in DECIDING]
        beside = Objects(deciding) if deciding or self.settings.in_folder else None
        return self.settings.options.inputs(File(self.source, self.path), beside)

    @property
    def is_sound(self) -> bool:
        """Whether the whole text can be parsed."""
        return not has_error(self.source.problems)

    def last_sound(self) -> OpenDocument | None:
        """Return this text, or its last version that could be parsed."""
        if self.is_sound:
            # drop the chain of older versions
            self._before = None
            return self
        return self._before

    @property
    def objects(self) -> Sequence[Item]:
        """The objects of all documents."""
        return self.inputs.items

    @cached_property
    def report(self) -> Report:
        """The report of `lint` for the text."""
        if self.settings.excluded:
            return Report((), 0, ())

        report = lint_inputs(
            self.inputs,
            self.settings.options,
            may_be_empty=True,
            pause=self.pause,
            earlier=self._defined_earlier(),
        )

        return report._replace(diagnostics=tuple(self.settings.without_known(report.diagnostics)))

    def _defined_earlier(self) -> dict[ObjectIdentity, str] | None:
        if not self.earlier:
            return None
        from ptcompile.linter.repeated import defined_earlier

        files = ((file.path, _to_bytes(file.content)) for file in self.earlier)
        return defined_earlier(self.source, self.definitions, files, self.pause)

    @property
    def definitions(self) -> Definitions:
        """The kinds that the configured schemas and the text define."""
        return self.inputs.definitions or Definitions()

    @property
    def versions(self) -> Versions:
        """The Kubernetes and operator releases to check against."""
        return self.settings.options.versions

    def compiled_of(self, obj: Item) -> Compiled | None:
        """Return the compilation of a TrainingJob, computed once, or None for another object."""
        key = obj.document.index, obj.path
        if obj.is_spec and key not in self._compiled:
            self.pause()
            self._compiled[key] = self.inputs.compile(obj.manifest)
        return self._compiled.get(key)

    def jobs_of(self, obj: Item) -> list[SimulatedJob]:
        """Return the simulated jobs of an object, computed once. A spec is compiled for its
        target first.
        """
        from ptcompile.linter.oversized import oversized_parts
        from ptcompile.simulator.job import job_in
        from ptcompile.simulator.world import simulate

        key = obj.document.index, obj.path
        if key not in self._jobs:
            self.pause()
            compiled = self.compiled_of(obj)
            manifests = compiled.manifests if compiled is not None else (obj.manifest,)
            small = [
                manifest
                for manifest in manifests
                if not any(True for _ in oversized_parts(manifest))
            ]
            target = compiled.target if compiled is not None else None
            world = simulate(
                small,
                versions=self.versions,
                others=self._related,
                target=target.name if target is not None else None,
            )
            # `job_in` shares one index of the related objects among all objects of the text
            self._jobs[key] = [
                job_in(self._related, obj.manifest, self.versions)
                if job.manifest is obj.manifest
                else job
                for job in world.jobs
                if 0 < job.size <= _MAX_PODS
            ]

        return self._jobs[key]

    @cached_property
    def _related(self) -> Objects:
        """The objects of this text and of other files."""
        return Objects(
            [*(obj.manifest for obj in self.objects), *(related.data for related in self.elsewhere)]
        )

    def object_at(self, offset: int) -> Item | None:
        """Return the object around an offset; outside a List's items, the first object of the
        document.
        """
        within = [
            obj for obj in self.objects if obj.document.start() <= offset <= obj.document.end()
        ]
        for obj in within:
            span = obj.document.span(obj.path)
            if span is not None and obj.path:
                start, end = self.source.offsets(span)
                if start <= offset <= end:
                    return obj

        return within[0] if within else None

    def objects_named(self, kinds: Sequence[str], name: str) -> Iterator[NamedObject]:
        """Yield the objects with one of these kinds and this name, those of this text first."""
        for obj in (*self.named_objects, *self.elsewhere):
            if obj.kind in kinds and obj.name == name:
                yield obj

    @cached_property
    def named_objects(self) -> Sequence[NamedObject]:
        """The objects of this text that others may refer to by name."""
        return named_objects(self.source, self.path)


def _to_bytes(content: str | bytes) -> bytes:
    if isinstance(content, bytes):
        return content
    return content.encode("utf-8", "surrogatepass")


_MAX_ANALYSES = 64
"""Maximum number of texts whose analyses are cached."""


class Texts:
    """The analyses of the open texts."""

    def __init__(self, surroundings: Surroundings, encoding: str) -> None:
        self._surroundings = surroundings
        self._encoding = encoding
        self._open: dict[str, OpenDocument] = {}
        self._stale: set[str] = set()
        self._elsewhere: dict[str, tuple[str | bytes, tuple[NamedObject, ...]]] = {}

    def get(self, uri: str, path: str, text: str, pause: Callable[[], None]) -> OpenDocument:
        """Return the analysis of the current text, cached if nothing changed."""
        opened = self._open.pop(uri, None)
        if opened is None or uri in self._stale or opened.sent != text:
            self._stale.discard(uri)
            settings = self._surroundings.settings(path)
            # open files count with their unsaved text
            unsaved = {other.path: other.text for other in self._open.values()}
            earlier = [
                file._replace(content=unsaved.get(file.path, file.content))
                for file in self._surroundings.earlier_files(path)
            ]
            opened = OpenDocument(
                uri,
                path,
                text,
                settings=settings,
                elsewhere=self._objects_of_other_files(path),
                earlier=earlier,
                before=opened.last_sound() if opened is not None else None,
                kept=opened.kept if opened is not None else None,
                compiled_page=opened.compiled_page if opened is not None else None,
                encoding=self._encoding,
            )

        self._open[uri] = opened
        while len(self._open) > _MAX_ANALYSES:
            del self._open[next(iter(self._open))]
        opened.pause = pause

        return opened

    def close(self, uri: str) -> None:
        """Forget a text."""
        self._open.pop(uri, None)

    def forget(self) -> None:
        """Discard all analyses, because the configuration or another file has changed."""
        self._surroundings.changed()
        self._stale = set(self._open)

    def _objects_of_other_files(self, path: str) -> tuple[NamedObject, ...]:
        """Return the objects of other files; open files count with their unsaved text."""
        unsaved = {opened.path: opened.named_objects for opened in self._open.values()}
        objects: list[NamedObject] = []
        for file in self._surroundings.files():
            if file.path == path or file.path in unsaved:
                continue

            content, objects_in_file = self._elsewhere.get(file.path, (None, ()))
            if content is not file.content:
                objects_in_file = named_objects(source.read(file.content, file.path), file.path)
                self._elsewhere[file.path] = (file.content, objects_in_file)
            objects += objects_in_file

        for path_of_open, unsaved_objects in unsaved.items():
            if path_of_open != path:
                objects += unsaved_objects

        return tuple(objects)
