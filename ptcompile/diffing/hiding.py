"""Both sides of a difference with their secrets masked, so that different secrets still differ."""

from __future__ import annotations

import re

from ptcompile.diffing.values import Fact
from ptcompile.secrets.names import HIDDEN
from ptcompile.secrets.structure import without_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

hidden = without_secrets

_FIRST: Final = 0x100000
_MOST: Final = 0xFFFD
_MARKED: Final = re.compile(rf"{re.escape(HIDDEN)}[\U00100000-\U0010FFFD]")


class Marks:
    """`***` and a character of its own for each secret: the same for the same, another for another.

    The character is of Unicode's private use and never shown (`shown`).
    """

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def __call__(self, secret: str) -> str:
        """What stands for a secret."""
        return HIDDEN + chr(_FIRST + self._known.setdefault(secret, len(self._known)) % _MOST)


def shown(fact: Fact) -> Fact:
    """A fact about masked sides as people read it."""
    before, after = (side and _MARKED.sub(HIDDEN, side) for side in (fact.before, fact.after))
    return fact._replace(before=before, after=after, masked=(before, after) != (fact.before, fact.after))


def shown_text(text: str) -> str:
    """A text about masked sides as people read it."""
    return _MARKED.sub(HIDDEN, text)
