"""What is kept between calls: answers about short texts, so many and no more. Long texts are asked again each time.

A process that lints all day keeps no megabyte of any file, whatever stands in it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

__all__ = ["LONGEST", "cached_property", "kept"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, TypeVar

    Answer = TypeVar("Answer")

LONGEST: Final = 256
"""Characters of a text that is kept: the longest name that Kubernetes knows, and a few more."""


def kept(most: int) -> Callable[[Callable[[str], Answer]], Callable[[str], Answer]]:
    """Keep answers of a pure function of one text, `most` of them; when there are more, all are asked again."""
    return lambda ask: Answers(ask, most).__getitem__


class Answers(dict[str, "Answer"]):
    """Answers by their texts. A dict that asks what it lacks: one that is known costs no call of a function.

    A plain subscript of it costs a third of a call.
    """

    def __init__(self, ask: Callable[[str], Answer], most: int) -> None:
        self.ask = ask
        self.most = most

    def __missing__(self, text: str) -> Answer:
        answer = self.ask(text)
        if len(text) <= LONGEST:
            if len(self) >= self.most:
                self.clear()
            self[text] = answer
        return answer


if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
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
