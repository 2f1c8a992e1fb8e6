"""What is told of a file without the secrets that stand in it: messages, code frames, simulated worlds.

A secret is the literal value of a variable whose name says so (`secrets.is_secret`), all of a Secret, and such keys of
a ConfigMap. Manifests and `simulate --env-file` hold the values themselves: they are made for running the job.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ptcompile.documents.source import read
from ptcompile.findings.diagnostics import Path, Problem, Span, field_path
from ptcompile.kubernetes.patterns import Pattern
from ptcompile.secrets.names import HIDDEN, is_searched, is_secret

if TYPE_CHECKING:
    from ptcompile.documents.source import Document

Hide = Callable[[str], str]

SHORTEST: Final = 4
"""Characters: a shorter secret is hidden where it stands, and not wherever its letters turn up."""
_CUT: Final = 24
"""Characters of a long value that are shown at least, where a message shortens it."""

_mentioned = Pattern(r"_TOKEN|_KEY|PASSWORD|SECRET", re.IGNORECASE)
_DATA: Final = ("data", "stringData", "binaryData")


class Place(NamedTuple):
    """One secret of a document."""

    path: Path
    value: str
    searched: bool
    """Whether it is hidden wherever it turns up (`names.is_searched`)."""


def places(data: object) -> Iterator[Place]:
    """The secrets of a document."""
    stack: list[tuple[Path, object]] = [((), data)]
    while stack:
        path, box = stack.pop()
        if isinstance(box, Mapping):
            for at, name, value in _secret_values(path[-1:], box):
                if isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
                    yield Place((*path, *at), str(value), name is None or is_searched(name, str(value)))
        inner = box.items() if isinstance(box, Mapping) else enumerate(box) if isinstance(box, list) else ()
        stack += [((*path, key), value) for key, value in inner if isinstance(value, Mapping | list)]


def _secret_values(last: Path, box: Mapping[Any, Any]) -> Iterator[tuple[Path, str | None, object]]:
    """Path, name and value of what this mapping holds; without a name where it is in a Secret."""
    name = box.get("name")
    if isinstance(name, str) and is_secret(name):
        yield ("value",), name, box.get("value")
    if last == ("env",):
        yield from (((key,), str(key), value) for key, value in box.items() if is_secret(str(key)))
    kind = box.get("kind")
    for part in _DATA if kind in ("Secret", "ConfigMap") else ():
        values = box.get(part)
        if isinstance(values, Mapping):
            named = ((key, None if kind == "Secret" else str(key), value) for key, value in values.items())
            yield from (((part, key), name, v) for key, name, v in named if name is None or is_secret(name))


def hide_of(objects: Iterable[object]) -> Hide | None:
    """What hides the secrets of these objects in a text; None where they have none."""
    return hiding(secret.value for one in objects for secret in places(one) if secret.searched)


def hiding(secrets: Iterable[str]) -> Hide | None:
    """What puts `HIDDEN` in the place of every secret in a text, also of one that is quoted or cut short."""
    by_head: dict[str, list[str]] = {}
    for secret in sorted({form for one in secrets for form in _forms(one)}, key=lambda one: (-len(one), one)):
        if len(secret) >= SHORTEST:
            by_head.setdefault(secret[:SHORTEST], []).append(secret)

    def hide(text: str) -> str:
        out, done, at = "", 0, 0
        while at + SHORTEST <= len(text):
            size = _size(by_head.get(text[at : at + SHORTEST], ()), text, at)
            if size:
                out += text[done:at] + HIDDEN
                done = at = at + size
            else:
                at += 1
        return out + text[done:]

    return hide if by_head else None


def _forms(secret: str) -> tuple[str, ...]:
    """A value as it stands, and as Python and JSON quote it."""
    return secret, repr(secret)[1:-1], json.dumps(secret)[1:-1]


def _size(secrets: Iterable[str], text: str, at: int) -> int:
    """How many characters of a text from here on are a secret's, or the beginning of a long one's."""
    for secret in secrets:
        if text.startswith(secret, at):
            return len(secret)
        if len(secret) > _CUT and text.startswith(secret[:_CUT], at):
            size = _CUT
            while size < len(secret) and text.startswith(secret[size], at + size):
                size += 1
            return size
    return 0


def masked_problem(problem: Problem, document: Document, path: Path) -> Problem:
    """A finding without the secrets of its document. `path` is the finding's from the document's root."""
    if document.secrets is None:
        secrets = list(places(document.data))
        hide = hiding(secret.value for secret in secrets if secret.searched)
        document.secrets = {secret.path: secret.value for secret in secrets}, hide
    found, hide = document.secrets
    if not found:
        return problem
    here = found.get(path)
    start = f"{field_path(problem.path)}: "
    start = start if problem.message.startswith(start) else ""

    def shown(text: str) -> str:
        if here is not None:
            text = re.sub(rf"(?<!\w){re.escape(here)}(?!\w)", lambda _: HIDDEN, text)
        return hide(text) if hide else text

    return problem._replace(
        message=start + shown(problem.message[len(start) :]),
        help=problem.help and shown(problem.help),
        fix=problem.fix and problem.fix._replace(title=shown(problem.fix.title)),
    )


def masked_lines(text: str) -> list[str]:
    """The lines of a file for code frames; a secret is `HIDDEN` and spaces, so that what follows keeps its column.

    Where a document cannot be read, or in a comment, all that may belong to a secret is hidden.
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if not _mentioned.search(text):
        return lines
    stream = read(text)
    readable = [False] * len(lines)
    secrets: list[str] = []
    for document in stream.documents:
        root = document.span(())
        if root is not None:
            readable[root.line - 1 : root.end_line] = [True] * (root.end_line - root.line + 1)
        for secret in places(document.data):
            if secret.searched:
                secrets.append(secret.value)
            _cover(lines, document.span(secret.path))
    hide = hiding(secrets)
    if hide is not None:
        lines = [_aligned(line, hide) for line in lines]
    return _blind(lines, readable)


def _cover(lines: list[str], span: Span | None) -> None:
    for number in range(span.line, span.end_line + 1) if span is not None else ():
        line = lines[number - 1]
        start = span.column - 1 if span and number == span.line else len(line) - len(line.lstrip())
        end = span.end_column - 1 if span and number == span.end_line else len(line)
        if end > start:
            lines[number - 1] = line[:start] + f"{HIDDEN[: end - start]:<{end - start}}" + line[end:]


def _aligned(line: str, hide: Hide) -> str:
    hidden = hide(line)
    return f"{hidden:<{len(line)}}" if hidden != line else line


def _blind(lines: list[str], readable: list[bool]) -> list[str]:
    """Lines that nobody could read: what follows a secret's name or the word `value`, and what is deeper than that."""
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
    name = _mentioned.search(line)
    starts = [at + 1 for sign in ":=" if name and (at := line.find(sign, name.end())) >= 0]
    value = re.search(r"\bvalue\b[\"']?[ ]?:", line)
    starts += [value.end()] if value else []
    return min((at for at in starts if line[at:].strip()), default=max(starts, default=0))
