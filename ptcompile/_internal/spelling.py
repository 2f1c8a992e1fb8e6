"""Slips of the pen: the known name that another one misses by a letter or two."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ptcompile._internal.lazy import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_LONG = 14
"""From this length on two slips are one name; in a shorter name one is."""


def nearest(name: str, known: Collection[str]) -> str | None:
    """The known name that this one misses by one or two slips; None where it is known, or near to none."""
    if name in known:
        return None
    most = 2 if len(name) >= _LONG else 1
    near = [one for one in known if abs(len(one) - len(name)) <= most and distance(one, name, most) <= most]
    return min(near, key=lambda one: (distance(one, name, most), one), default=None)


def distance(one: str, other: str, most: int) -> int:
    """How many letters to add, drop, change or swap with the next one; any number above `most` where it is more."""
    before, row = [0] * (len(other) + 1), list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        previous, row, oldest = row, [i], before
        for j, wanted in enumerate(other, 1):
            cost = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, oldest[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before = previous
    return row[-1]


_MAX_WORD: Final = 253
"""Characters of a word that is compared: the longest name of Kubernetes. A longer text is not a typo."""
_MAX_CANDIDATES: Final = 1000
"""Names that a word is compared with: a container with thousands of mounts may have as many volumes."""


def closest_match(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that was most likely meant, or `None` where none is near; letter case counts little."""
    names = list(candidates)
    folded = word.casefold()
    for name in names:
        if name.casefold() == folded:
            return name
    if len(word) > _MAX_WORD or len(names) > _MAX_CANDIDATES:
        return None  # both comparisons are quadratic
    return closest(word, names)


_SIMILAR: Final = 0.6
"""Similarity of two words by difflib's measure, at least."""


def closest(word: str, names: Iterable[str]) -> str | None:
    """Return the name most similar to a word, at least 0.7 by difflib's measure and in each of its words, or None."""
    from difflib import get_close_matches  # slow to import, and only mistakes need it

    matches = get_close_matches(word, list(names), n=3, cutoff=0.7)
    return next((name for name in matches if _has_similar_words(word, name)), None)


_WORD = Pattern(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def _has_similar_words(a: str, b: str) -> bool:
    """Return whether the words that two names do not share are similar: mountPath and hostPath share only one."""
    words = _WORD.findall(a), _WORD.findall(b)
    if len(words[0]) != len(words[1]) or len(words[0]) < 2:
        return True
    from difflib import SequenceMatcher

    pairs = ((x.lower(), y.lower()) for x, y in zip(*words, strict=True))
    return all((x.isdigit() and y.isdigit()) or SequenceMatcher(None, x, y).ratio() >= _SIMILAR for x, y in pairs)
