"""Regular expressions of strangers: those of CRDs, JSON Schemas and CEL, in Go's syntax and in linear time.

The API server matches them with Go's `regexp`, which is RE2. Here it is the library google-re2. Where that is not
installed (the extra `untrusted`), Python's `re` matches those that cannot backtrack much, and no others.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module

from ptcompile.kubernetes.patterns import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Match = Callable[[str], Any]
    """From a text to the first place that matches, with `group()`; None where there is none."""

_LONGEST: Final = 2000
"""Characters that Python's `re` is given: with one repetition its time is at most the square of them."""
_repetition = Pattern(r"(?<!\\)(?:\\\\)*(?:[*+]|\{\d*,\d*\})|\\[1-9]|\(\?[=!<P]")


class Theirs(str):
    """A pattern from a user's file: never matched by an engine that backtracks."""

    __slots__ = ()


class UnsafeError(Exception):
    """A pattern or a text that cannot be matched here within bounds; google-re2 can."""


@lru_cache(maxsize=512)
def search(pattern: str) -> Match | None:
    """What looks for a pattern of Go's syntax; None for one that Go does not read, or that cannot be asked here."""
    try:
        re2: Any = import_module("re2")
    except ImportError:
        return _bounded(pattern)
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 8 << 20
    try:
        found: Match = re2.compile(pattern, options).search
    except re2.error:
        return None
    return found


def _bounded(pattern: str) -> Match | None:
    """Python's `re` for patterns with at most one repetition."""
    if len(_repetition.findall(pattern)) > 1:
        return None
    try:
        found = re.compile(in_python(pattern), re.ASCII).search
    except re.error:
        return None

    def match(text: str) -> Any:
        if len(text) > _LONGEST:
            raise UnsafeError
        return found(text)

    return match


def in_python(pattern: str) -> str:
    """A pattern of Go's syntax in Python's: `$` and `\\z` are the end of the text, and flags stand in front."""
    text = pattern[:-1] + r"\Z" if pattern.endswith("$") and not pattern.endswith("\\$") else pattern
    return re.sub(r"\A\^(\(\?[ims]+\))", r"\1^", text.replace("\\z", "\\Z"))


def fits(pattern: str, text: str) -> bool:
    """Whether a text matches somewhere; True where that cannot be asked here."""
    match = search(pattern)
    try:
        return match is None or match(text) is not None
    except UnsafeError:
        return True
