"""What is kept between calls: answers about short texts, so many and no more. Long texts are asked again each time.

A process that lints all day keeps no megabyte of any file, whatever stands in it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, TypeVar

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
