"""Text to documents: read once, as kubectl reads it, with positions on request.

Clean documents go through `reader.fast`, all others through `reader.events`, which is exact and knows positions. A
stream that begins with `{` goes through `reader.json_stream`, because kubectl takes it for JSON.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.documents.reader.documents import Document, Source, document_at
from ptcompile.documents.reader.fast import read_document
from ptcompile.documents.reader.nodes import Finding, Parsed
from ptcompile.findings.diagnostics import Problem, Span
from ptcompile.findings.value_fixes import DEDUPLICATED
from ptcompile.kubernetes.patterns import Pattern
from ptcompile.limits import limits

__all__ = ["Document", "Source", "from_data", "read"]

_SEPARATOR = Pattern(r"(?m)^---[^\n]*\n?")
"""A line that begins with `---`, its line break included."""


def read(source: str | bytes, filename: str | None = None) -> Source:
    """Read a YAML or JSON stream as kubectl does. Never raises on its content: what is wrong becomes a problem."""
    allowed = limits()
    if len(source) > allowed.characters:
        message = f"the file is larger than {allowed.characters >> 20} MiB"
        return _unread(filename, "too-large", message, "split the file")
    if (source.count("\n") if isinstance(source, str) else source.count(b"\n")) > allowed.lines:
        return _unread(filename, "too-large", f"the file has more than {allowed.lines} lines", "split the file")
    problems: list[Problem] = []
    if not isinstance(source, str):
        if source[:2] in (b"\xff\xfe", b"\xfe\xff"):
            problems.append(_utf16())
            text = source.decode("utf-16", errors="replace")
        else:
            try:
                text = source.decode("utf-8")
            except UnicodeDecodeError as error:
                message = f"the byte 0x{source[error.start]:02x} is not UTF-8"
                before = source[: error.start].decode("utf-8")
                return _unread(filename, "bad-encoding", message, "save the file as UTF-8", before)
    else:
        text = source
    result = Source(text.removeprefix("\ufeff"), filename)
    if result.text.lstrip()[:1] == "{":
        _read_json(result, problems)
    else:
        _read_stream(result, problems)
    return result


def from_data(data: object) -> Source:
    """A decoded mapping, or a list of them, as documents without positions. It is not copied and not changed."""
    from ptcompile.documents.reader.json_stream import flaw

    result = Source("")
    documents: list[Document] = []
    problems: list[Problem] = []
    for index, value in enumerate(data if isinstance(data, list) else [data]):
        if not isinstance(value, dict):
            message = f"a Kubernetes object is a mapping, not a value of type {type(value).__name__}"
            problems.append(Problem("not-a-mapping", (), message, "give the decoded object as a dict"))
        elif problem := flaw(value):
            problems.append(problem)
        else:
            documents.append(Document(value, index, 1))
    result.documents, result.problems = tuple(documents), tuple(problems)
    return result


def _utf16() -> Problem:
    message = "the file is UTF-16, of which kubectl reads only one document"
    at = Span(1, 1, 1, 1)
    return Problem("bad-encoding", (), message, "save the file as UTF-8", "warning", "style", "ptcompile", span=at)


def _unread(filename: str | None, name: str, message: str, cure: str, before: str = "") -> Source:
    """A source without documents, and one problem, which stands after the text `before`."""
    result = Source(before, filename)
    span = result.span(len(before), len(before) + 1)
    result.problems = (Problem(name, (), message, cure, authority="ptcompile", span=span),)
    return result


def _read_json(result: Source, problems: list[Problem]) -> None:
    from ptcompile.documents.reader.json_stream import read_json

    values, refusal = read_json(result.text)
    if refusal and refusal.name == "yaml-syntax":
        # The same text may be YAML, as our own files may be; then it is read, and what kubectl says is said.
        _read_stream(result, problems)
        if not result.problems or _looks_like_json(result.text):
            result.problems = (_problem(result, 0, refusal),)
        return
    result.is_json = True
    documents: list[Document] = []
    for value in values:
        problems.extend(_problem(result, value.start, finding) for finding in value.findings)
        if value.data is not None:
            line = result.span(value.start, value.start).line
            documents.append(
                document_at(result, Parsed(value.data, None, []), len(documents), line, value.start, value.end)
            )
    if refusal:
        problems.append(_problem(result, 0, refusal))
    result.documents, result.problems = tuple(documents), tuple(problems)


_looks_like_json = Pattern(r'\s*\{\s*"').match


def _read_stream(result: Source, problems: list[Problem]) -> None:
    documents: list[Document] = []
    index = 0
    for start, end, first_line in _split(result, problems):
        parsed = read_document(result.text[start:end])
        problems.extend(_problem(result, start, finding) for finding in parsed.findings)
        data = parsed.data
        if type(data) is dict:
            documents.append(document_at(result, parsed, index, first_line, start, end))
        elif data is not None:
            problems.append(_not_a_mapping(result, start, end, data))
        index += data is not None or bool(parsed.findings)
    result.documents, result.problems = tuple(documents), tuple(problems)


def _split(source: Source, problems: list[Problem]) -> Iterator[tuple[int, int, int]]:
    """Start, end and first line of every document. kubectl splits at lines `---`, before it looks at any YAML."""
    text = source.text
    start, line, most = 0, 1, limits().documents
    if "---" in text:
        for number, separator in enumerate(_SEPARATOR.finditer(text)):
            begin, end = separator.span()
            if number >= most:
                finding = Finding("too-large", f"the file has more than {most} documents", "split it", 0, 1)
                problems.append(_problem(source, begin, finding))
                return
            rest = text[begin + 3 : end].strip()
            if rest and rest[0] != "#":
                message = "kubectl accepts only a comment after '---'"
                finding = Finding("yaml-syntax", message, "put a line break after '---'", 0, 3)
                problems.append(_problem(source, begin, finding))
            if begin > start:
                yield start + text.startswith("\ufeff", start), begin, line
            line += text.count("\n", start, end)
            start = end
    if start < len(text):
        yield start + text.startswith("\ufeff", start), len(text), line


def _problem(source: Source, offset: int, finding: Finding) -> Problem:
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
        span=source.span(offset + finding.start, source.line_end(offset + finding.start, offset + finding.end)),
    )


def _not_a_mapping(source: Source, start: int, end: int, data: object) -> Problem:
    what = "a list" if isinstance(data, list) else "a single value"
    root = source.positions(start, end)
    at = root.start if root else 0
    message = f"the document is {what}, and a Kubernetes object is a mapping"
    cure = "write 'apiVersion:' and 'kind:' at the left margin; separate several objects with '---'"
    return _problem(source, start, Finding("not-a-mapping", message, cure, at, root.end if root else 1))
