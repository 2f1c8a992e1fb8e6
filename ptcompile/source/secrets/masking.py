"""Reports without the secrets of the file: messages and code frames.

`scanner` decides which values are secret. Anything that shows a document (worlds, differences,
explanations) is made from the masked document. A message quotes the real one, so values are
replaced in it. Manifests and `simulate --env-file` contain the values themselves: they are made for
running the job.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set as AbstractSet

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.secret_formats import format_intervals, has_secret_format, mask_formats
from ptcompile.diagnostics import Path, Problem, Span, field_path
from ptcompile.source.documents import Document, Source, read
from ptcompile.source.secrets.commands import HINTS, script_secrets
from ptcompile.source.secrets.names import MASK, is_secret
from ptcompile.source.secrets.scanner import SecretScalar, secrets_of, unmistakable_secrets
from ptcompile.source.secrets.texts import (
    MIN_SEARCHED,
    TextInterval,
    finder,
    merge_intervals,
    occurrences,
    quoted_forms,
    secret_parts,
    without_parts,
)

Masker = Callable[[str], str]

_WORDS = ("token", "key", "secret", "pwd", "credential", "bearer", "dsn", "webhook", "conn", *HINTS)
_pat = Pattern(r"_pat\b")
_login = Pattern(r"://[^\s/@]{0,512}@")
_comment = Pattern(r"\s#")
_assigned_name = Pattern(r"[A-Za-z_][\w.-]{0,80}+(?=[\"']?[ \t]{0,3}[:=])")


def masker_of(objects: Iterable[object]) -> Masker | None:
    """Return a function that masks the secrets of these objects in messages or other programs'
    output; None without secrets.
    """
    return masker(
        text
        for data in objects
        for secret in secrets_of(data)
        if secret.searched
        for text in secret.texts()
    )


def masker(secrets: Iterable[str]) -> Masker | None:
    """Return a function that replaces every secret in a text by `MASK`, also if it is quoted or cut
    short; None without secrets.
    """
    locate = occurrences(secrets)
    if locate is None:
        return None
    return lambda text: without_parts(text, locate(text), lambda _: MASK)


def masked_problem(problem: Problem, document: Document, path: Path) -> tuple[Problem, Path]:
    """Return a problem and its path without the secrets of its document. `path` is from the
    document's root.
    """
    secrets = _document_secrets(document)
    if not secrets.secrets:
        return problem, path

    nearby = secrets.near(path)

    def mask(text: str) -> str:
        for secret in nearby:
            if secret in text:
                text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", lambda _: MASK, text)
        return secrets.hide(text) if secrets.hide else text

    masked = problem._replace(
        text=mask(problem.text),
        field=mask_formats(mask_path(field_path(problem.path), nearby))
        if problem.field is None
        else mask(problem.field),
        help=problem.help and mask(problem.help),
        fix=problem.fix and problem.fix._replace(title=mask(problem.fix.title)),
    )

    return masked, tuple(
        MASK if path[: end + 1] in secrets.keys else part for end, part in enumerate(path)
    )


def _document_secrets(document: Document) -> _DocumentSecrets:
    if document.secrets is None:
        document.secrets = _DocumentSecrets(secrets_of(document.data))
    secrets: _DocumentSecrets = document.secrets
    return secrets


class _DocumentSecrets:
    """The secrets of a document, for the diagnostics about it."""

    def __init__(self, secrets: list[SecretScalar]) -> None:
        self.secrets = secrets
        self.keys = {secret.path for secret in secrets if secret.is_key}
        self.hide = masker(text for secret in secrets if secret.searched for text in secret.texts())
        self._by_path = {secret.path: secret for secret in secrets}
        self._by_place: dict[Path, list[SecretScalar]] = {}
        self._siblings: dict[Path, list[SecretScalar]] = {}
        self._near: dict[Path, list[str]] = {}
        for secret in secrets:
            for end in range(len(secret.path) + 1):
                self._by_place.setdefault(secret.path[:end], []).append(secret)

    def near(self, path: Path) -> list[str]:
        """Return the secrets at, below and above a path: texts that a message there is likely to
        quote.
        """
        if path not in self._near:
            forms: set[str] = set()
            for secret in self._secrets_near(path):
                forms.update(*map(quoted_forms, secret.texts()))
            self._near[path] = sorted(filter(None, forms), key=len)[::-1]

        return self._near[path]

    def _secrets_near(self, path: Path) -> Sequence[SecretScalar]:
        """Return the secrets at and below a path, else the secrets above, else the siblings."""
        if len(path) < 2:
            return ()
        if path in self._by_place:
            return self._by_place[path]

        # an object and its sections, such as `spec`, are no secrets
        parents = (path[:end] for end in range(2, len(path)))
        above = [self._by_path[parent] for parent in parents if parent in self._by_path]
        return above or self._siblings_below(path[:-1])

    def _siblings_below(self, parent: Path) -> list[SecretScalar]:
        if parent not in self._siblings:
            candidates = self._by_place.get(parent, ())
            self._siblings[parent] = [
                secret for secret in candidates if len(secret.path) <= len(parent) + 2
            ][:_MAX_SIBLINGS]
        return self._siblings[parent]


_MAX_SIBLINGS = 16
"""Maximum number of secrets next to a path whose values a message may quote."""


def mask_path(text: str, secrets: Iterable[str]) -> str:
    """Return a path without secrets: in a mapping in place of a value, the secret may be a key."""
    for secret in secrets:
        if len(secret) >= MIN_SEARCHED and secret in text:
            text = text.replace(secret, MASK)
    return text


def masked_lines(
    text: str, fill: str = " ", quoted: AbstractSet[int] | None = None, parsed: Source | None = None
) -> list[str]:
    """Return the lines of a file for code frames; a secret becomes `MASK` and spaces, which keeps
    the columns after the secret.

    In a document that cannot be read, and in comments, everything that may belong to a secret is
    masked. `fill=""` omits the spaces. `quoted`: line numbers to return; documents that contain
    none of them come back empty. `parsed`: the text, if it has been read already.
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if "\\" not in text and not _may_contain_secrets(text):
        return lines

    stream = parsed if parsed is not None and parsed.documents else read(text)
    readable = [False] * len(lines)
    intervals: dict[int, list[TextInterval]] = {}
    copies = _copies_in_script(text, stream, parsed)
    ends = [document.first_line for document in stream.documents[1:]]
    for document, end in zip(stream.documents, [*ends, len(lines) + 1], strict=False):
        secrets = _document_secrets(document).secrets
        copies |= unmistakable_secrets(secrets)
        first = document.first_line
        if quoted is not None and quoted.isdisjoint(range(first - 1, end)):
            lines[first - 1 : end - 1] = [""] * (end - first)
            readable[first - 1 : end - 1] = [True] * (end - first)
            continue

        root = document.span(())
        if root is not None:
            readable[root.line - 1 : root.end_line] = [True] * (root.end_line - root.line + 1)
        for secret in secrets:
            span = document.span(secret.path, on_key=secret.is_key)
            if span is not None:
                for index, part in _parts_of(lines, span, secret) or _line_intervals(lines, span):
                    intervals.setdefault(index, []).append(part)

    locate = occurrences(copies)
    # a comment may hold a secret too
    for index, line in enumerate(lines):
        if parts := [*format_intervals(line), *(locate(line) if locate is not None else ())]:
            intervals.setdefault(index, []).extend(parts)
    masked = [
        _mask_line(line, intervals[number], fill) if number in intervals else line
        for number, line in enumerate(lines)
    ]

    return _mask_unreadable(masked, readable)


def _copies_in_script(text: str, *sources: Source | None) -> set[str]:
    """Return the secrets that a batch script assigns."""
    is_script = any(source is not None and source.is_script for source in sources)
    return {*script_secrets(text).values()} if is_script else set()


def shows_secret(text: str) -> bool:
    """Return whether a file contains a secret, also in a comment."""
    return masked_lines(text) != [line.removesuffix("\r") for line in text.split("\n")]


def _may_contain_secrets(text: str) -> bool:
    """Return whether a file may contain a secret: a single expression for all these words takes
    0.2 s per megabyte.
    """
    folded = text.lower() if text.isascii() else text.upper().casefold()
    if any(word in folded for word in _WORDS) or has_secret_format(text):
        return True
    return any(pattern.search(folded) is not None for pattern in (_pat, _login))


def _mask_line(line: str, intervals: Iterable[TextInterval], fill: str) -> str:
    return without_parts(
        line,
        merge_intervals(intervals),
        lambda secret: MASK[: len(secret)] + fill * (len(secret) - len(MASK)),
    )


def _parts_of(lines: list[str], span: Span, secret: SecretScalar) -> list[tuple[int, TextInterval]]:
    """Return line indexes and intervals of a secret's parts if the source contains all of them as
    written, else nothing.
    """
    texts = [text for text in secret.texts() if text] if secret.parts is not None else []
    intervals = _intervals_in_order(lines, span, texts)
    if intervals:
        find = finder(texts)
        for index, (start, end) in _line_intervals(lines, span):
            intervals += [
                (index, (start + first, start + last))
                for first, last in find(lines[index][start:end])
            ]

    return intervals


def _intervals_in_order(
    lines: list[str], span: Span, texts: Iterable[str]
) -> list[tuple[int, TextInterval]]:
    """Return where the lines of a span contain these texts one after the other; empty if one is
    missing.
    """
    intervals: list[tuple[int, TextInterval]] = []
    ranges = _line_intervals(lines, span)
    index, (start, end) = next(ranges, (0, (0, 0)))
    for text in texts:
        while (offset := lines[index].find(text, start, end)) < 0:
            next_range = next(ranges, None)
            if next_range is None:
                return []
            index, (start, end) = next_range
        start = offset + len(text)
        intervals.append((index, (offset, start)))

    return intervals


def _line_intervals(lines: list[str], span: Span) -> Iterator[tuple[int, TextInterval]]:
    """Yield the line indexes and intervals of a span."""
    for index in range(span.line - 1, span.end_line):
        line = lines[index]
        start = span.column - 1 if index == span.line - 1 else len(line) - len(line.lstrip())
        end = span.end_column - 1 if index == span.end_line - 1 else len(line)
        if end > start:
            yield index, (start, end)


def _mask_unreadable(lines: list[str], readable: list[bool]) -> list[str]:
    """Mask lines that could not be parsed: the rest after a secret's name or the word `value`,
    everything indented deeper, and lines that do not begin with a key, because they may be lines of
    the secret with a wrong indentation.
    """
    masked: list[str] = []
    deeper: int | None = None
    for line, is_readable in zip(lines, readable, strict=True):
        indent = len(line) - len(line.lstrip())
        if (is_readable and not line[indent:].startswith("#")) or not line.strip():
            masked.append(mask_comment(line) if is_readable and "#" in line else line)
            if is_readable:
                deeper = None
            continue
        if deeper is not None and (indent > deeper or not _begins_with_key(line)):
            masked.append(line[:indent] + MASK)
            continue

        end = _value_start(line)
        deeper = indent if end else None
        masked.append(line[:end] + " " + MASK if end else line)

    return masked


def mask_comment(line: str) -> str:
    """Mask the rest of a readable line from the first secret after a `#` that may begin a
    comment.
    """
    comment = _comment.search(line)
    start = comment.end() if comment is not None else len(line)
    end = _value_start(line[start:])
    return f"{line[: start + end]} {MASK}" if end else line


_begins_with_key = Pattern(r"[ \t]*(?:- +)*[\"']?[\w./-]+[\"']?[ \t]*:|---|#").match


_WINDOW = 4096
"""How much of a line after a name is looked at: a line may be a whole file."""


def _value_start(line: str) -> int:
    """Return the offset of the first value that may be a secret, or 0 without one."""
    starts = [
        match.end() + 1
        for match in _assigned_name.finditer(line)
        if _looks_secret(match.group(), line[match.end() + 1 : match.end() + _WINDOW])
    ]
    value = re.search(r"\b[Vv][alue]{2,6}\b[\"']?[ ]?:", line)
    if value:
        starts.append(value.end())
    starts += [start for start, _ in secret_parts(line)[:1]]
    end = len(line.rstrip())

    return min((offset for offset in starts if offset < end), default=max(starts, default=0))


def _looks_secret(name: str, rest: str) -> bool:
    return is_secret(name, rest.strip(" :=\"'") or "?") and name.lower() != "key"
