"""YAML and JSON text to documents that know the position of each value.

Clean documents go through `fast_reader`, all others through `exact_reader`, which tracks positions.
A stream that begins with `{` goes through `json_reader`, because kubectl reads it as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from operator import itemgetter

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.limits import limits
from ptcompile.diagnostics import Path, Problem, Span, has_error
from ptcompile.diagnostics.fixes import DEDUPLICATED
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.kubernetes.versions import Version, Versions
from ptcompile.source.fast_reader import read_document, read_dumped_document
from ptcompile.source.nodes import (
    MAX_DOCUMENT,
    MAX_VALUES,
    Parsed,
    ReaderProblem,
    ValueNode,
    find,
    leaf_nodes,
    scalars,
    walk,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from typing import Any

    from ptcompile.source.json_reader import JsonValue


NEWEST_KUBECTL = Versions().kubernetes

_rendered_from = Pattern(
    r"(?:[ \t]*(?:#(?! Source: )[^\n]*)?\n)*# Source: (?P<template>[^\n]*)"
).match


class Document:
    """A readable document: a mapping, as kubectl sees it, with the positions of its values."""

    __slots__ = (
        "_end",
        "_located",
        "_root",
        "_scalars",
        "_source",
        "_start",
        "_template",
        "data",
        "first_line",
        "index",
        "secrets",
        "texts",
    )

    data: JsonDict
    """Plain JSON-like data. Never change it: aliases share their parts."""
    index: int
    """Index among the documents of the stream that are not empty, from 0; rejected documents
    count.
    """
    first_line: int
    """Line on which the document begins, from 1."""
    secrets: Any
    """Its secrets, which `source.secrets.masking` finds when the first diagnostic of the document
    is made; None before.
    """

    texts: frozenset[str] | None
    """All keys and strings of the data, or None if the reader did not visit them all."""

    def __init__(self, data: JsonDict, index: int, first_line: int) -> None:
        self.data = data
        self.texts = None
        self.index = index
        self.first_line = first_line
        self._source: Source | None = None
        self._start = self._end = 0
        self._root: ValueNode | None = None
        self._located = False
        self.secrets = None
        self._template: str | None = None
        self._scalars: list[tuple[int, int]] | None = None

    def span(self, path: Path, *, on_key: bool = False) -> Span | None:
        """Return the position of a value, or with `on_key` of the last key of its path; None for
        documents without text.

        Path parts that do not exist are skipped if the rest of the path does (a model's own tags).
        A path that does not exist gets the key of its nearest ancestor, or the first line of a list
        item. JSON that exceeds YAML's limits, such as a key of more than 1,024 characters, has no
        positions: all its paths get the document's first line.
        """
        source = self._source
        if source is None:
            return None

        root = self.positions()
        if root is None:
            return source.span(self._start, source.line_end(self._start, self._end))

        steps, exact = walk(root, path)
        start, end, node = steps[-1] if steps else (-1, -1, root)
        # without a key, as in a list, or to point at the value itself: the span of the value
        if start < 0 or (exact and not on_key):
            start = node.start
            end = node.end
            if on_key or not exact:
                end = source.line_end(self._start + start, self._start + end) - self._start

        return source.span(self._start + start, self._start + end)

    def key_text(self, path: Path) -> str:
        """Return the last key of a path as it is written, with its quotes; empty for documents
        without text.
        """
        source = self._source
        span = self.span(path, on_key=True)
        if source is None or span is None:
            return ""
        start, end = source.offsets(span)
        return source.text[start:end]

    def take_over(self, earlier: Document) -> None:
        """Take what was derived from the same document at another place of a text, counted from the
        document's start.
        """
        self._root = earlier._root
        self._located = earlier._located
        self._scalars = earlier._scalars
        self.secrets = earlier.secrets

    def leaf_spans(self) -> Iterator[tuple[Path, Span | None]]:
        """Yield the path of each scalar, empty mapping and empty list of the data, with its
        position as in `span`.
        """
        for path, node in leaf_nodes(self.positions(), self.data):
            if node is None or self._source is None:
                yield path, self.span(path)
            else:
                yield path, self._source.span(self._start + node.start, self._start + node.end)

    def start(self) -> int:
        """Return the offset in the stream at which the document's text begins."""
        return self._start

    def end(self) -> int:
        """Return the offset in the stream at which the document's text ends."""
        return self._end

    def path_at(self, offset: int) -> tuple[Path, bool] | None:
        """Return the path of the innermost value around an offset into the stream, and whether the
        offset is on the value's key.
        """
        root = self.positions()
        if root is None or not self._start <= offset <= self._end:
            return None
        return find(root, offset - self._start)

    @property
    def template(self) -> str | None:
        """The template that a comment `# Source: NAME` above the document names (Helm 3), or
        None.
        """
        if self._template is None and self._source is not None:
            match = _rendered_from(self._source.text, self._start, self._end)
            self._template = match["template"].strip() if match else ""
        return self._template or None

    def scalar_start(self, offset: int) -> int | None:
        """Return where the scalar or key around an offset into the stream starts, or None
        outside of scalars.
        """
        if not self._start <= offset < self._end:
            return None

        if self._scalars is None:
            root = self.positions()
            self._scalars = scalars(root) if root is not None else []
        from bisect import bisect_right

        inner = offset - self._start
        index = bisect_right(self._scalars, inner, key=itemgetter(0)) - 1
        if index < 0:
            return None

        start, end = self._scalars[index]
        return self._start + start if inner < end else None

    def positions(self) -> ValueNode | None:
        """Return the positions of its values, as offsets from `start()`; None for a document
        without text.
        """
        if self._root is None and self._source is not None and not self._located:
            # locating is tried once: a failure takes as long as a success
            self._located = True
            self._root = self._source.positions(self._start, self._end, fast=self.texts is not None)
        return self._root


class Source:
    """The result of reading: the text, its documents, and the problems of the text itself."""

    __slots__ = (
        "_line_starts",
        "documents",
        "filename",
        "is_json",
        "is_script",
        "lists",
        "problems",
        "text",
    )

    def __init__(self, text: str, filename: str | None = None) -> None:
        self.text = text
        self.filename = filename
        self.documents: tuple[Document, ...] = ()
        self.problems: tuple[Problem, ...] = ()
        self.lists: list[Problem] = []
        """The problems of documents that are lists. An error of the text may have replaced them
        in `problems`.
        """
        self.is_json = self.is_script = False
        self._line_starts: array[int] | None = None

    @property
    def lines(self) -> list[str]:
        """The lines of the text without their line breaks, for code frames."""
        return [line.removesuffix("\r") for line in self.text.split("\n")]

    def span(self, start: int, end: int) -> Span:
        """Return offsets into the text as lines and columns from 1; the end is exclusive."""
        from bisect import bisect_right

        starts = self._starts()
        end = max(start, end)
        line = bisect_right(starts, start)
        end_line = bisect_right(starts, end)

        return Span(line, start - starts[line - 1] + 1, end_line, end - starts[end_line - 1] + 1)

    def _starts(self) -> array[int]:
        """Return the offsets at which the lines start, which are found on first use."""
        if self._line_starts is None:
            import re
            from array import array

            ends = (match.end() for match in re.finditer("\n", self.text))
            self._line_starts = array("I", chain((0,), ends))
        return self._line_starts

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line and a column, both from 1."""
        return self._starts()[line - 1] + column - 1

    def offsets(self, span: Span) -> tuple[int, int]:
        """Return the offsets of a span's start and end."""
        return self.offset(span.line, span.column), self.offset(span.end_line, span.end_column)

    def in_scalar(self, line: int, column: int) -> bool:
        """Return whether a position is inside a value or a key, where a `#` does not begin a
        comment.
        """
        return self._scalar_start(self.offset(line, column)) is not None

    def continues_scalar(self, line: int) -> bool:
        """Return whether a line starts inside a value or a key of an earlier line."""
        offset = self.offset(line, 1)
        start = self._scalar_start(offset)
        return start is not None and start < offset

    def _scalar_start(self, offset: int) -> int | None:
        from bisect import bisect_right

        index = bisect_right(self.documents, offset, key=Document.start) - 1
        if index >= 0:
            return self.documents[index].scalar_start(offset)
        return None

    def line_end(self, start: int, end: int) -> int:
        """Return `end`, but not beyond the line of `start`."""
        line_break = self.text.find("\n", start, end)
        if line_break < 0:
            return end
        return line_break - (self.text[line_break - 1] == "\r")

    def positions(self, start: int, end: int, *, fast: bool = False) -> ValueNode | None:
        """Parse a part of the text again for the positions of its values. `fast`: the fast
        reader accepted it.
        """
        from ptcompile.source import exact_reader

        text = self.text[start:end]
        if fast:
            return exact_reader.positions(text)

        if self.is_json:
            from ptcompile.source.json_reader import as_yaml

            text = as_yaml(text)

        return exact_reader.parse(text, is_json=self.is_json).root


def document_at(
    source: Source, parsed: Parsed, index: int, line: int, start: int, end: int
) -> Document:
    """Return the document between two offsets of a stream's text; `line` is its first line."""
    document = Document(parsed.data, index, line)
    document._source = source
    document._start = start
    document._end = end
    document._root = parsed.root
    document.texts = parsed.texts
    return document


_SEPARATOR = Pattern(r"(?m)---(?<=^---)[^\n]*\n?")
"""A line that begins with `---`, including its line break. The dashes are first: they are searched
for as a text, and `^` would be tried at each character.
"""


def read(
    source: str | bytes,
    filename: str | None = None,
    kubectl: Version = NEWEST_KUBECTL,
    parse: Callable[[str], Parsed] = read_document,
) -> Source:
    """Read a YAML or JSON stream as kubectl of this version does. Never raises on its content:
    mistakes become problems.

    `parse` reads one document of YAML; a caller may return what it read before, but not the same
    result twice.
    """
    if message := excess_of(source):
        return _without_documents(filename, "too-large", message, "split the file")

    problems: list[Problem] = []
    if isinstance(source, str):
        text = source
    elif source[:2] in (b"\xff\xfe", b"\xfe\xff"):
        problems.append(_UTF_16)
        text = source.decode("utf-16", errors="replace")
    else:
        try:
            text = source.decode("utf-8")
        except UnicodeDecodeError as error:
            message = f"the byte 0x{source[error.start]:02x} is not UTF-8"
            before = source[: error.start].decode("utf-8")
            return _without_documents(
                filename, "bad-encoding", message, "save the file as UTF-8", before
            )

    result = Source(text.removeprefix("\ufeff"), filename)
    if is_batch_script(result.text, filename):
        result.is_script = True
        result.problems = (_batch_script(result),)
        return result

    beginning = result.text[:200].lstrip()[:6]
    if beginning.casefold() in _ERRORS and "apiVersion" not in result.text:
        message = "the text is the error of a program that should have written manifests"
        help = (
            "see why it failed; in a pipe of a shell, set -o pipefail makes its failure that of "
            "the step"
        )
        return _without_documents(filename, "no-documents", message, help)

    if result.text.lstrip()[:1] == "{":
        _read_json(result, problems, kubectl, parse)
    else:
        _read_stream(result, problems, parse)

    return result


_batch_head = Pattern(r"#![^\n]*\n(?:[ \t]*(?:#[^\n]*)?\n)*#SBATCH\s").match
"""A script's first line, and a directive before its first command."""


def is_batch_script(text: str, filename: str | None) -> bool:
    """Return whether a text is a batch script of Slurm, by its file's name or its first lines."""
    is_named = filename is not None and filename.endswith((".sbatch", ".slurm"))
    return is_named or (text.startswith("#!") and _batch_head(text) is not None)


def _batch_script(result: Source) -> Problem:
    line, _, _ = result.text.partition("\n")
    name = result.filename or "FILE"
    message = "the file is a batch script of Slurm, not a manifest"
    help = f"run ptcompile import {name}, which writes a spec and says what it leaves behind"
    span = Span(1, 1, 1, max(len(line), 1) + 1)
    return Problem(
        "batch-script", (), message, help, authority="ptcompile", span=span, blocks_compile=True
    )


_ERRORS = frozenset({"error:", "error ", "fatal:", "panic:"})
"""How an error of Helm, kubectl or Kustomize begins."""


def excess_of(source: str | bytes) -> str | None:
    """Return the limit that a file exceeds, in which case nothing of it is read, or None."""
    allowed = limits()
    if len(source) > allowed.characters:
        return f"the file is larger than {allowed.characters >> 20} MiB"
    if (source.count("\n") if isinstance(source, str) else source.count(b"\n")) > allowed.lines:
        return f"the file has more than {allowed.lines} lines"
    return None


def from_data(data: object) -> Source:
    """Return a decoded mapping, or a list of them, as documents without positions. It is neither
    copied nor changed.
    """
    from ptcompile.source.json_reader import not_json_problem

    result = Source("")
    documents: list[Document] = []
    problems: list[Problem] = []
    for index, value in enumerate(data if isinstance(data, list) else [data]):
        if not isinstance(value, dict):
            message = (
                f"a Kubernetes object is a mapping, not a value of type {type(value).__name__}"
            )
            problems.append(
                Problem("not-a-mapping", (), message, "give the decoded object as a dict")
            )
        elif problem := not_json_problem(value):
            problems.append(problem)
        else:
            documents.append(Document(value, index, 1))

    result.documents = tuple(documents)
    result.problems = tuple(problems)

    return result


_UTF_16 = Problem(
    "bad-encoding",
    (),
    "the file is UTF-16, of which kubectl reads only one document",
    "save the file as UTF-8",
    "warning",
    "style",
    "ptcompile",
    span=Span(1, 1, 1, 1),
)


def _without_documents(
    filename: str | None, name: str, message: str, help: str, before: str = ""
) -> Source:
    """Return a source without documents and with one problem, whose position is after the text
    `before`.
    """
    result = Source(before, filename)
    span = result.span(len(before), len(before) + 1)
    result.problems = (Problem(name, (), message, help, authority="ptcompile", span=span),)
    return result


def _read_json(
    result: Source, problems: list[Problem], kubectl: Version, parse: Callable[[str], Parsed]
) -> None:
    from ptcompile.source.json_reader import read_json

    values, refusal = read_json(result.text, is_dump=parse is read_dumped_document)
    if refusal and refusal.name == "yaml-syntax":
        if kubectl >= _YAML_AFTER_JSON and len(values) <= 1:
            _read_yaml_after_json(result, problems, values, refusal, parse)
            return
        # it may still be valid YAML, as our own files may be: report kubectl's error only if that
        # fails too
        _read_stream(result, problems, parse)
        if not result.problems or _looks_like_json(result.text):
            result.problems = (_to_problem(result, 0, refusal),)
        return

    result.is_json = True
    documents = _json_documents(result, values, problems)
    if refusal:
        problems.append(_to_problem(result, 0, refusal))
    result.documents = tuple(documents)
    result.problems = tuple(problems)


def _json_documents(
    result: Source, values: list[JsonValue], problems: list[Problem]
) -> list[Document]:
    documents: list[Document] = []
    for value in values:
        problems.extend(_to_problem(result, value.start, finding) for finding in value.findings)
        if value.data is not None:
            line = result.span(value.start, value.start).line
            parsed = Parsed(value.data, None, [])
            documents.append(
                document_at(result, parsed, len(documents), line, value.start, value.end)
            )

    return documents


_YAML_AFTER_JSON = (1, 33)
"""The release since which kubectl reads a text as YAML from where it is not JSON, unless two JSON
values come first.

Source: apimachinery/pkg/util/yaml/decoder.go: YAMLOrJSONDecoder.Decode.
"""


def _read_yaml_after_json(
    result: Source,
    problems: list[Problem],
    values: list[JsonValue],
    refusal: ReaderProblem,
    parse: Callable[[str], Parsed],
) -> None:
    """Read the text after at most one JSON value as YAML; if that fails too, kubectl reports the
    error of the JSON.
    """
    result.is_json = bool(values)
    documents = _json_documents(result, values, problems)
    _read_stream(
        result, problems, parse, documents, _skip_line(result.text, values[-1].end) if values else 0
    )
    if _looks_like_json(result.text) and has_error(result.problems):
        result.problems = (_to_problem(result, 0, refusal),)


def _skip_line(text: str, offset: int) -> int:
    """Return the offset after white space up to the end of the line."""
    while offset < len(text) and text[offset].isspace():
        offset += 1
        if text[offset - 1] == "\n":
            break
    return offset


_looks_like_json = Pattern(r'\s*\{\s*"').match


def _read_stream(
    result: Source,
    problems: list[Problem],
    parse: Callable[[str], Parsed],
    before: Sequence[Document] = (),
    start: int = 0,
) -> None:
    """Read the text from `start` as a YAML stream, whose documents come after those `before`."""
    documents = list(before)
    index = len(documents)
    repeated_values = 0
    repeated_characters = 0
    first_line = result.span(start, start).line if start else 1
    for begin, end, line in _split_documents(result, result.text[start:], problems, start):
        parsed = parse(result.text[begin:end])
        repeated_values += parsed.repeated_values
        repeated_characters += parsed.repeated_characters
        if repeated_values > MAX_VALUES or repeated_characters > MAX_DOCUMENT:
            message = (
                f"the aliases up to this document stand for more than {MAX_VALUES} values "
                f"or {MAX_DOCUMENT >> 20} MiB"
            )
            help = "write the values out, use fewer aliases, or split the file"
            finding = ReaderProblem("too-many-aliases", message, help, 0, 1, "ptcompile")
            problems.append(_to_problem(result, begin, finding))
            break

        findings = (
            _with_earlier_anchor(finding, result.text, begin) for finding in parsed.findings
        )
        problems.extend(_to_problem(result, begin, finding) for finding in findings)
        data = parsed.data
        if type(data) is dict:
            documents.append(document_at(result, parsed, index, first_line + line - 1, begin, end))
        elif data is not None:
            problems.append(_not_a_mapping(result, begin, end, data))
            if type(data) is list:
                result.lists.append(problems[-1])

        index += data is not None or bool(parsed.findings)

    result.documents = tuple(documents)
    result.problems = tuple(problems)


_match_unknown_anchor = Pattern(r"no anchor (?P<anchor>&\S+) comes").match


def _with_earlier_anchor(finding: ReaderProblem, text: str, begin: int) -> ReaderProblem:
    """Return the problem of an unknown anchor with another help if an earlier document of the
    stream has it.
    """
    unknown = _match_unknown_anchor(finding.message)
    if unknown is None or text.find(unknown["anchor"], 0, begin) < 0:
        return finding
    return finding._replace(
        help="an anchor ends with its document: write it again, or one spec with variants"
    )


def _split_documents(
    source: Source, text: str, problems: list[Problem], offset: int
) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and first line of every document of a text that is at `offset` in the
    source. The line counts from the beginning of the text. kubectl splits at lines `---` before it
    parses any YAML.
    """
    start = 0
    line = 1
    most = limits().documents
    is_begun = False
    is_unmarked = False
    if "---" in text:
        for count, separator in enumerate(_SEPARATOR.finditer(text)):
            begin, end = separator.span()
            if count == 0:
                # the first document needs no line `---`, but comments alone are not a document
                lines = map(str.strip, text[:begin].splitlines())
                is_unmarked = any(line and line[0] != "#" for line in lines)
            if count + is_unmarked >= most:
                finding = ReaderProblem(
                    "too-large", f"the file has more than {most} documents", "split it", 0, 1
                )
                problems.append(_to_problem(source, offset + begin, finding))
                return

            rest = text[begin + 3 : end].strip()
            if rest and rest[0] != "#":
                message = "kubectl accepts only a comment after '---'"
                help = "put a line break after '---'"
                problems.append(_syntax_error(source, offset + begin, message, help, 3))

            # kubectl drops the `---` that ends a document, but a second one directly below it
            # begins the next document
            is_begun = begin == start and not is_begun
            if is_begun and text[begin + 3 : begin + 4] == "#":
                message = "kubectl reads '---#' at the beginning of a document as text"
                help = "put a space before '#'"
                problems.append(_syntax_error(source, offset + begin, message, help, 4))
            if begin > start:
                yield _skip_mark(source, offset + start, problems), offset + begin, line

            line += text.count("\n", start, end)
            start = end
    if start < len(text):
        yield _skip_mark(source, offset + start, problems), offset + len(text), line


def _skip_mark(source: Source, start: int, problems: list[Problem]) -> int:
    """Return where a document starts after its byte order mark. With a second mark, its first key
    is one column further right than the others, so kubectl reads only that key.
    """
    if source.text.startswith("\ufeff\ufeff", start):
        message = "kubectl reads only the first key after two byte order marks"
        help = "remove the marks (U+FEFF)"
        problems.append(_syntax_error(source, start, message, help, 2))
    return start + source.text.startswith("\ufeff", start)


def _syntax_error(source: Source, offset: int, message: str, help: str, size: int) -> Problem:
    return _to_problem(source, offset, ReaderProblem("yaml-syntax", message, help, 0, size))


def _to_problem(source: Source, offset: int, finding: ReaderProblem) -> Problem:
    message = finding.message
    if finding.first is not None:
        message += f" (first at line {source.span(offset + finding.first, 0).line})"

    return Problem(
        finding.name,
        (),
        message,
        finding.help,
        severity=finding.severity,
        stage=finding.stage,
        authority=finding.authority,
        fix=DEDUPLICATED if finding.name == "duplicate-key" else None,
        span=source.span(
            offset + finding.start, source.line_end(offset + finding.start, offset + finding.end)
        ),
    )


def _not_a_mapping(source: Source, start: int, end: int, data: object) -> Problem:
    description = "a list" if isinstance(data, list) else "a single value"
    root = source.positions(start, end)
    position = root.start if root else 0
    message = f"the document is {description}, but a Kubernetes object is a mapping"
    help = "write 'apiVersion:' and 'kind:' at the left margin; separate several objects with '---'"
    if (
        isinstance(data, str)
        and data == source.text.strip()
        and data.endswith((".yaml", ".yml", ".json"))
    ):
        help = f"if it is the name of a file, pass pathlib.Path({data!r})"

    return _to_problem(
        source,
        start,
        ReaderProblem("not-a-mapping", message, help, position, root.end if root else 1),
    )


class KeptDocuments:
    """Reads the versions of one text, and parses only the documents that an edit changes.

    A language server reads its text again after every edit. In a stream of 2,000 lines this saves
    it 5 ms each time.
    """

    def __init__(self) -> None:
        self._parsed: dict[str, list[Parsed]] = {}
        self._documents: dict[int, Document] = {}

    def read(self, text: str, filename: str, kubectl: Version) -> Source:
        """Read a version of the text, as `source.documents.read` does.

        Documents with the same text as one of the last version share its data, positions and
        secrets.
        """
        parsed: dict[str, list[Parsed]] = {}

        def parse(document: str) -> Parsed:
            # a text that occurs twice was parsed twice, because documents never share a result
            kept = self._parsed.get(document)
            result = kept.pop(0) if kept else read_document(document)
            parsed.setdefault(document, []).append(result)
            return result

        source = read(text, filename, kubectl, parse)
        for document in source.documents:
            earlier = self._documents.get(id(document.data))
            if earlier is not None:
                document.take_over(earlier)

        self._parsed = parsed
        self._documents = {id(document.data): document for document in source.documents}

        return source
