"""Values computed when first asked for: bounded caches, cached properties, regular expressions.

A cache has a bound on its entries and on the length of each, so a process that lints all day keeps no megabyte of any
file. Compiling a regular expression takes ten times as long as importing the function around it, and one manifest asks
few of them. Flags stand in the expression: `(?a)`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any, Final, TypeVar

    T = TypeVar("T")


LONGEST: Final = 256
"""Characters of a text that is kept: the longest name that Kubernetes knows, and a few more."""


def bounded_cache(most: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Keep answers of a pure function of one text, `most` of them; when there are more, all are asked again."""
    return lambda ask: Answers(ask, most).__getitem__


class Answers(dict[str, "T"]):
    """Answers by their texts. A dict that asks what it lacks: one that is known costs no call of a function.

    A plain subscript of it costs a third of a call.
    """

    def __init__(self, ask: Callable[[str], T], most: int) -> None:
        self.ask = ask
        self.most = most

    def __missing__(self, text: str) -> T:
        answer = self.ask(text)
        if len(text) <= LONGEST:
            if len(self) >= self.most:
                self.clear()
            self[text] = answer
        return answer


if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property:  # noqa: N801 - named like the one in functools
        """`functools.cached_property` without its lock, which is half of its time; Python 3.12 has none.

        Two threads that ask at once compute the same value twice.
        """

        def __init__(self, compute: Callable[[Any], Any]) -> None:
            self.compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, one: object, owner: type | None = None) -> Any:
            if one is None:
                return self
            value = one.__dict__[self.name] = self.compute(one)
            return value


class Pattern:
    """What `re.compile` gives, later. The methods are those of `re.Pattern`, and raise what they raise."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The expression itself."""
        import re

        return re.compile(self.text)

    def match(self, text: str, *span: int) -> re.Match[str] | None:
        """Whether a text, or what stands between two offsets of it, begins with it."""
        return self.compiled.match(text, *span)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Whether it is all of a text."""
        return self.compiled.fullmatch(text)

    def search(self, text: str, *span: int) -> re.Match[str] | None:
        """The first place that it matches, of a text or of what stands between two offsets of it."""
        return self.compiled.search(text, *span)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """All places of a text that it matches."""
        return self.compiled.finditer(text)

    def findall(self, text: str) -> list[str]:
        """What it matches, or what its one group does."""
        return self.compiled.findall(text)

    def sub(self, new: str | Callable[[re.Match[str]], str], text: str) -> str:
        """A text with what it matches replaced."""
        return self.compiled.sub(new, text)
