"""Where secrets turn up in a text: as they are, quoted, or cut short."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from ptcompile.secrets.texts import Part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

SHORTEST: Final = 4
"""Characters: a shorter secret is hidden where it stands, and not wherever its letters turn up."""
_CUT: Final = 24
"""Characters of a long value that are shown at least, where a message shortens it."""


def occurrences(secrets: Iterable[str]) -> Callable[[str], list[Part]] | None:
    """What finds every secret in a text, also one that is quoted or cut short."""
    by_head: dict[str, list[str]] = {}
    for secret in sorted({form for one in secrets for form in forms(one)}, key=lambda one: (-len(one), one)):
        if len(secret) >= SHORTEST:
            by_head.setdefault(secret[:SHORTEST], []).append(secret)

    def where(text: str) -> list[Part]:
        out: list[Part] = []
        at = 0
        while at + SHORTEST <= len(text):
            size = _size(by_head.get(text[at : at + SHORTEST], ()), text, at)
            if size:
                out.append((at, at + size))
            at += size or 1
        return out

    return where if by_head else None


def forms(secret: str) -> tuple[str, ...]:
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
