"""What is kept between calls: answers about short texts, so many and no more. Long texts are asked again each time.

A process that lints all day keeps no megabyte of any file, whatever stands in it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Final, Generic, TypeVar, overload

LONGEST: Final = 256
"""Characters of a text that is kept: the longest name that Kubernetes knows, and a few more."""

Answer = TypeVar("Answer")


def kept(most: int) -> Callable[[Callable[[str], Answer]], Callable[[str], Answer]]:
    """Keep the last answers of a pure function of one text, `most` of them."""

    def keep(ask: Callable[[str], Answer]) -> Callable[[str], Answer]:
        known = lru_cache(maxsize=most)(ask)

        @wraps(ask)
        def answer(text: str) -> Answer:
            return known(text) if len(text) <= LONGEST else ask(text)

        return answer

    return keep


class cached_property(Generic[Answer]):  # noqa: N801 - named like the one in functools
    """`functools.cached_property` without its lock, which is half of its time before Python 3.12.

    Two threads that ask at once compute the same value twice.
    """

    def __init__(self, compute: Callable[[Any], Answer]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, one: None, owner: type) -> cached_property[Answer]: ...
    @overload
    def __get__(self, one: object, owner: type | None = None) -> Answer: ...
    def __get__(self, one: Any, owner: type | None = None) -> Any:
        if one is None:
            return self
        value = one.__dict__[self.name] = self.compute(one)
        return value
