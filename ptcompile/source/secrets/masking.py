"""What is told of a file without the secrets that stand in it: messages and code frames.

`scanner` says which nodes are secret. What shows a document (worlds, differences, explanations) is made of the masked
document. A message is a sentence that quotes the real one, so that values are replaced in it. Manifests and
`simulate --env-file` hold the values themselves: they are made for running the job.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from ptcompile._internal.lazy import Pattern
from ptcompile.diagnostics import Path, Problem, Span, field_path
from ptcompile.source.documents import read
from ptcompile.source.secrets.names import HIDDEN, is_secret
from ptcompile.source.secrets.scanner import SecretScalar, secrets_of, unmistakable_secrets
from ptcompile.source.secrets.texts import (
    SHORTEST,
    Interval,
    finder,
    forms,
    merge_intervals,
    occurrences,
    parts,
    without_parts,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.source.documents import Document

Hide = Callable[[str], str]

_WORDS: Final = (
    "token", "key", "pass", "secret", "pwd", "auth", "credential", "bearer", "dsn", "webhook", "conn",
)  # fmt: skip
_pat = Pattern(r"_pat\b")
_login = Pattern(r"://[^\s/@]{0,512}@")
_named = Pattern(r"[A-Za-z_][\w.-]{0,80}+(?=[\"']?[ \t]{0,3}[:=])")


def hide_of(objects: Iterable[object]) -> Hide | None:
    """What hides the secrets of these objects in what other programs say, or in sentences; None if they have none."""
    return hiding(text for data in objects for one in secrets_of(data) if one.searched for text in one.texts())


def hiding(secrets: Iterable[str]) -> Hide | None:
    """What puts `HIDDEN` in the place of every secret in a text, also of one that is quoted or cut short."""
    where = occurrences(secrets)
    return None if where is None else lambda text: without_parts(text, where(text), lambda _: HIDDEN)


def masked_problem(problem: Problem, document: Document, path: Path) -> tuple[Problem, Path]:
    """A finding and its place without the secrets of its document. `path` is from the document's root."""
    if document.secrets is None:
        document.secrets = _Told(secrets_of(document.data))
    told: _Told = document.secrets
    if not told.secrets:
        return problem, path
    near = told.near(path)
    start = f"{field_path(problem.path)}: "
    start = start if problem.message.startswith(start) else ""

    def shown(text: str) -> str:
        return _hidden(text, near, told.hide)

    told_problem = problem._replace(
        message=shown_path(start, near) + shown(problem.message[len(start) :]),
        help=problem.help and shown(problem.help),
        fix=problem.fix and problem.fix._replace(title=shown(problem.fix.title)),
    )
    return told_problem, tuple(HIDDEN if path[: end + 1] in told.keys else part for end, part in enumerate(path))


class _Told:
    """The secrets of a document, for the findings about it."""

    def __init__(self, secrets: list[SecretScalar]) -> None:
        self.secrets = secrets
        self.keys = {one.path for one in secrets if one.is_key}
        self.hide = hiding(text for one in secrets if one.searched for text in one.texts())
        self._own = {one.path: one for one in secrets}
        self._by_place: dict[Path, list[SecretScalar]] = {}
        self._beside: dict[Path, list[SecretScalar]] = {}
        self._near: dict[Path, list[str]] = {}
        for one in secrets:
            for end in range(len(one.path) + 1):
                self._by_place.setdefault(one.path[:end], []).append(one)

    def near(self, path: Path) -> list[str]:
        """Return what is secret at, below and above a place: texts that a finding there is likely to quote."""
        if path not in self._near:
            found = self._found(path)
            texts = {form for text in {text for one in found for text in one.texts()} for form in forms(text) if form}
            self._near[path] = sorted(texts, key=len)[::-1]
        return self._near[path]

    def _found(self, path: Path) -> Sequence[SecretScalar]:
        if len(path) < 2:
            return ()
        above = (self._own.get(path[:end]) for end in range(2, len(path)))
        return self._by_place.get(path) or [one for one in above if one is not None] or self._beside_of(path[:-1])

    def _beside_of(self, parent: Path) -> list[SecretScalar]:
        if parent not in self._beside:
            here = self._by_place.get(parent, ())
            self._beside[parent] = [one for one in here if len(one.path) <= len(parent) + 2][:_BESIDE]
        return self._beside[parent]


_BESIDE: Final = 16
"""Secrets beside a place whose values a finding may quote."""


def shown_path(text: str, near: Iterable[str]) -> str:
    """A path without secrets: in a mapping in place of a value the secret may be a key."""
    for one in near:
        if len(one) >= SHORTEST and one in text:
            text = text.replace(one, HIDDEN)
    return text


def _hidden(text: str, near: Iterable[str], hide: Hide | None) -> str:
    for one in near:
        if one in text:
            text = re.sub(rf"(?<!\w){re.escape(one)}(?!\w)", lambda _: HIDDEN, text)
    return hide(text) if hide else text


def masked_lines(text: str, fill: str = " ") -> list[str]:
    """The lines of a file for code frames; a secret is `HIDDEN` and spaces, so that what follows keeps its column.

    Where a document cannot be read, or in a comment, all that may belong to a secret is hidden. `fill=""` leaves the
    spaces out.
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if "\\" not in text and not _mentioned(text):
        return lines
    stream = read(text)
    readable = [False] * len(lines)
    found: dict[int, list[Interval]] = {}
    copies: set[str] = set()
    for document in stream.documents:
        root = document.span(())
        if root is not None:
            readable[root.line - 1 : root.end_line] = [True] * (root.end_line - root.line + 1)
        secrets = secrets_of(document.data)
        copies |= unmistakable_secrets(secrets)
        for secret in secrets:
            span = document.span(secret.path, on_key=secret.is_key)
            if span is not None:
                for number, part in _parts_of(lines, span, secret) or _whole(lines, span):
                    found.setdefault(number, []).append(part)
    where = occurrences(copies)
    if where is not None:
        for number, line in enumerate(lines):
            found.setdefault(number, []).extend(where(line))  # in comments
    shown = [_filled(line, found[at], fill) if at in found else line for at, line in enumerate(lines)]
    return _blind(shown, readable)


def _mentioned(text: str) -> bool:
    """Whether anything in a file may be a secret: one expression for all these words takes 0.2 s of a megabyte."""
    folded = text.lower() if text.isascii() else text.upper().casefold()
    return any(word in folded for word in _WORDS) or any(one.search(folded) is not None for one in (_pat, _login))


def _filled(line: str, found: Iterable[Interval], fill: str) -> str:
    return without_parts(line, merge_intervals(found), lambda one: HIDDEN[: len(one)] + fill * (len(one) - len(HIDDEN)))


def _parts_of(lines: list[str], span: Span, secret: SecretScalar) -> list[tuple[int, Interval]]:
    """Line indexes and offsets of a secret's parts if the source has all of them as they are; else nothing."""
    texts = [text for text in secret.texts() if text] if secret.parts is not None else []
    found = _in_order(lines, span, texts)
    if found:
        places = finder(texts)
        for number, (start, end) in _whole(lines, span):
            found += [(number, (start + at, start + to)) for at, to in places(lines[number][start:end])]
    return found


def _in_order(lines: list[str], span: Span, texts: Iterable[str]) -> list[tuple[int, Interval]]:
    """Where the lines of a span have these texts, one behind the other; empty if one is missing."""
    found: list[tuple[int, Interval]] = []
    ranges = _whole(lines, span)
    number, (start, end) = next(ranges, (0, (0, 0)))
    for text in texts:
        while (place := lines[number].find(text, start, end)) < 0:
            following = next(ranges, None)
            if following is None:
                return []
            number, (start, end) = following
        start = place + len(text)
        found.append((number, (place, start)))
    return found


def _whole(lines: list[str], span: Span) -> Iterator[tuple[int, Interval]]:
    """Line indexes and offsets of a span."""
    for number in range(span.line - 1, span.end_line):
        line = lines[number]
        start = span.column - 1 if number == span.line - 1 else len(line) - len(line.lstrip())
        end = span.end_column - 1 if number == span.end_line - 1 else len(line)
        if end > start:
            yield number, (start, end)


def _blind(lines: list[str], readable: list[bool]) -> list[str]:
    """Lines that could not be parsed: what follows a secret's name or the word `value`, and what is deeper."""
    out: list[str] = []
    deeper: int | None = None
    for line, known in zip(lines, readable, strict=True):
        indent = len(line) - len(line.lstrip())
        if (known and not line[indent:].startswith("#")) or not line.strip():
            out.append(line)
            deeper = None if known else deeper
            continue
        if deeper is not None and indent > deeper:
            out.append(line[:indent] + HIDDEN)
            continue
        end = _value_start(line)
        deeper = indent if end else None
        out.append(line[:end] + " " + HIDDEN if end else line)
    return out


def _value_start(line: str) -> int:
    """Where the first value begins that may be a secret; 0 where there is none."""
    starts = [match.end() + 1 for match in _named.finditer(line) if _looks_secret(match[0], line[match.end() + 1 :])]
    value = re.search(r"\b[Vv][alue]{2,6}\b[\"']?[ ]?:", line)
    starts += [value.end()] if value else []
    starts += [start for start, _ in parts(line)[:1]]
    return min((at for at in starts if line[at:].strip()), default=max(starts, default=0))


def _looks_secret(name: str, rest: str) -> bool:
    return is_secret(name, rest.strip(" :=\"'") or "?") and name.lower() != "key"
