"""Plurals, numbers, names without marks and case, and the known name that a word misspells."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ptcompile._internal.lazy import Pattern

_MIN_LONG_NAME = 14
"""Length from which a name may differ in two letters; shorter ones may differ in one."""


def pluralize(number: int, noun: str, ending: str = "s") -> str:
    """Return a number and its noun: `1 GPU`, `8 GPUs`."""
    return f"1 {noun}" if number == 1 else f"{number} {noun}{ending}"


def is_short_number(text: str, below: int = 10) -> bool:
    """Return whether a text has ASCII digits alone, fewer than `below`, so that int() takes it."""
    return text.isascii() and text.isdigit() and len(text) < below


def normalize(name: str) -> str:
    """Return a name without `_`, `-` and letter case."""
    return name.replace("_", "").replace("-", "").lower()


def nearest(name: str, names: Collection[str]) -> str | None:
    """Return the known name that differs from `name` in one or two letters, or None, also if
    `name` itself is known.
    """
    if name in names:
        return None

    most = 2 if len(name) >= _MIN_LONG_NAME else 1
    similar = [candidate for candidate in names if distance(candidate, name, most) <= most]

    return min(
        similar, key=lambda candidate: (distance(candidate, name, most), candidate), default=None
    )


def distance(a: str, b: str, most: int) -> int:
    """Return how many letters must be added, dropped, changed or swapped with the next; any number
    above `most` if more.
    """
    if abs(len(a) - len(b)) > most:
        return most + 1

    before = [0] * (len(b) + 1)
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        previous, row, oldest = row, [i], before
        for j, other_letter in enumerate(b, 1):
            cost = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (letter != other_letter))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other_letter:
                cost = min(cost, oldest[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before = previous

    return row[-1]


_MAX_WORD = 253
"""Maximum length of a compared word: the longest name in Kubernetes. A longer text is not a
typing error.
"""
_MAX_CANDIDATES = 1000
"""Maximum number of compared names: a container with thousands of mounts may have as many
volumes.
"""


def closest_match(word: str, candidates: Iterable[str]) -> str | None:
    """Return the most likely intended candidate, or None if none is similar; differences in letter
    case count little.
    """
    names = list(candidates)
    folded = word.casefold()
    for name in names:
        if name.casefold() == folded:
            return name
    if len(word) > _MAX_WORD or len(names) > _MAX_CANDIDATES:
        return None  # both comparisons are quadratic
    return closest(word, names)


def spelling_help(word: str, candidates: Iterable[str], otherwise: str) -> str:
    """Return the help for an unknown name: the most likely intended candidate, else `otherwise`."""
    near = closest_match(word, candidates)
    return f"did you mean {near}?" if near else otherwise


_MIN_SIMILARITY = 0.6
"""Minimum similarity of two words by difflib's measure."""


def closest(word: str, names: Iterable[str]) -> str | None:
    """Return the name most similar to a word, at least 0.7 by difflib's measure and in each of
    its words, or None.
    """
    from difflib import get_close_matches  # slow to import, and only mistakes need it

    matches = get_close_matches(word, list(names), n=3, cutoff=0.7)
    return next((name for name in matches if _has_similar_words(word, name)), None)


_WORD = Pattern(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def _has_similar_words(a: str, b: str) -> bool:
    """Return whether the words that two names do not share are similar: mountPath and hostPath
    share only one.
    """
    a_words = _WORD.findall(a)
    b_words = _WORD.findall(b)
    if len(a_words) != len(b_words) or len(a_words) < 2:
        return True

    from difflib import SequenceMatcher

    pairs = ((x.lower(), y.lower()) for x, y in zip(a_words, b_words, strict=True))
    return all(
        (x.isdigit() and y.isdigit()) or SequenceMatcher(None, x, y).ratio() >= _MIN_SIMILARITY
        for x, y in pairs
    )
