"""Where secrets turn up in a text: as they are, quoted, or cut short."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence

from ptcompile.secrets.texts import Part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

SHORTEST: Final = 4
"""Characters: a shorter secret is hidden where it stands, and not wherever its letters turn up."""
_CUT: Final = 24
"""Characters of a long value that are shown at least, where a message shortens it."""


def occurrences(secrets: Iterable[str]) -> Callable[[str], list[Part]] | None:
    """Return what finds every secret in a text, also if it is quoted or cut short, or None without secrets."""
    found = {form for one in secrets for form in forms(one) if len(form) >= SHORTEST}
    places = finder(found)

    def where(text: str) -> list[Part]:
        out: list[Part] = []
        for start, end in places(text):
            if not out or start >= out[-1][1]:
                out.append((start, end))
        return out

    return where if found else None


def finder(secrets: Iterable[str]) -> Callable[[str], Iterator[Part]]:
    """Return what yields the places of secrets, or of the beginnings of long ones, in a text: the longest at each.

    Places may overlap. Time grows with the text, however many secrets there are: short ones are looked up by their
    length, long ones by their beginning.
    """
    known = {secret for secret in secrets if secret}
    head = min(SHORTEST, min(map(len, known), default=1))
    lengths: dict[str, set[int]] = {}
    long: dict[str, list[str]] = {}
    for secret in sorted(known):
        lengths.setdefault(secret[:head], set()).add(min(len(secret), _CUT + 1))
        if len(secret) > _CUT:
            long.setdefault(secret[:_CUT], []).append(secret)
    sizes = {start: sorted(some, reverse=True) for start, some in lengths.items()}

    def places(text: str) -> Iterator[Part]:
        at = 0
        while at < len(text):
            start = at
            at += 1
            for size in sizes.get(text[start : start + head], ()):
                if size > _CUT:
                    if (several := long.get(text[start : start + _CUT])) is not None:
                        end = start + _common(several, text, start)
                        at = max(at, end - _CUT)  # in a run of one letter every place would be as long
                        yield start, end
                        break
                elif text[start : start + size] in known:
                    yield start, start + size
                    break

    return places


def forms(secret: str) -> tuple[str, ...]:
    """A value as it stands, and as Python and JSON quote it."""
    return secret, repr(secret)[1:-1], json.dumps(secret)[1:-1]


def _common(secrets: Sequence[str], text: str, at: int) -> int:
    """Return how many characters of `text` from `at` on begin one of `secrets`, which are sorted and share `_CUT`."""
    size = _CUT
    while True:
        size *= 2
        wanted = text[at : at + size]
        near = bisect_left(secrets, wanted)
        common = max(_shared(one, wanted) for one in secrets[max(0, near - 1) : near + 1])
        if common < size:
            return common


def _shared(one: str, other: str) -> int:
    """Return how many characters two texts begin with together."""
    both = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(both) if a != b), min(len(one), len(other)))
