"""Values computed on first use: bounded caches, cached properties, regular expressions.

A cache limits its entries and the length of each, so a process that lints all day never holds on to
a large file. Compiling a regular expression takes ten times as long as importing the function
around it, and a manifest uses few of them. Flags are part of the expression: `(?a)`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any, TypeVar

    T = TypeVar("T")


MAX_CACHED_LENGTH = 256
"""Maximum length of a cached text: a little more than the longest name in Kubernetes."""


def bounded_cache(most: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Return a decorator that caches up to `most` results of a pure function of one text; a full
    cache is emptied.
    """
    return lambda compute: _Cache(compute, most).__getitem__


class _Cache(dict[str, "T"]):
    """Results by their texts. A dict that computes missing values: a cached one costs a
    subscript instead of a call.
    """

    def __init__(self, compute: Callable[[str], T], most: int) -> None:
        self.ask = compute
        self.most = most

    def __missing__(self, text: str) -> T:
        result = self.ask(text)
        if len(text) <= MAX_CACHED_LENGTH:
            if len(self) >= self.most:
                self.clear()
            self[text] = result
        return result


if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property:  # noqa: N801 - named like the one in functools
        """`functools.cached_property` without its lock, which takes half of its time; Python 3.12
        removed the lock.

        Two threads that read the property at once compute the same value twice.
        """

        def __init__(self, compute: Callable[[Any], Any]) -> None:
            self.compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: object, owner: type | None = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.compute(instance)
            return value


class Pattern:
    """A regular expression that is compiled on first use. The methods are those of `re.Pattern`."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression."""
        import re

        return re.compile(self.text)

    def match(self, text: str, *span: int) -> re.Match[str] | None:
        """Match at the start of a text, or of the part between two offsets."""
        return self.compiled.match(text, *span)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Match the whole text."""
        return self.compiled.fullmatch(text)

    def search(self, text: str, *span: int) -> re.Match[str] | None:
        """Return the first match in a text, or in the part between two offsets."""
        return self.compiled.search(text, *span)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Yield all matches in a text."""
        return self.compiled.finditer(text)

    def findall(self, text: str) -> list[str]:
        """Return the text of all matches, or of their only group."""
        return self.compiled.findall(text)

    def sub(self, new: str | Callable[[re.Match[str]], str], text: str) -> str:
        """Return a text with all matches replaced."""
        return self.compiled.sub(new, text)
