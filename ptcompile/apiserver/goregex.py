"""Regular expressions of strangers: those of CRDs, JSON Schemas and CEL, in Go's syntax and in linear time.

The API server matches them with Go's `regexp`, which is RE2. Here it is the library google-re2. On platforms that have
no wheel of it, Python's `re` matches the patterns that are plainly linear, and no others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from importlib import import_module

from ptcompile._internal.lazy import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Match = Callable[[str], Any]
    """From a text to the first place that matches, with `group()`; None where there is none."""

_MEMORY: Final = 512 << 10
"""Bytes that one pattern may take, its cache of states included: 500 of them are kept. RE2 refuses larger patterns."""
_ESCAPED: Final = r"\\(?:[^0-9A-Za-z]|[dDwWsSnrtfv])"
_ATOM: Final = rf"(?:{_ESCAPED}|\[\^?(?:{_ESCAPED}|[^\]\\\[])+\]|[^\\\[\](){{}}*+?|^$])"
_is_linear = Pattern(
    rf"\^?{_ATOM}*\$?"  # no repetition
    rf"|\^(?:{_ATOM}(?:\{{\d{{1,3}}\}})?)*\$?"  # fixed ones, from the text's first character on
    rf"|\^{_ATOM}+(?:[*+?]|\{{\d{{0,3}},\d{{0,3}}\}}){_ATOM}*\$?"  # one of a character
).fullmatch
_LONGEST: Final = 1000
"""Characters of a pattern that Python's `re` is given."""


class Theirs(str):
    """A pattern from a user's file: never matched by an engine that backtracks."""

    __slots__ = ()


@lru_cache(maxsize=512)
def search(pattern: str) -> Match | None:
    """Return what looks for a pattern, or None for one that Go does not read or that cannot be matched here."""
    try:
        re2: Any = import_module("re2")
    except ImportError:
        return _plain(pattern)
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        found: Match = re2.compile(pattern, options).search
    except re2.error:
        return None
    return found


def _plain(pattern: str) -> Match | None:
    """Return Python's `re` for a pattern that it matches in linear time, or None."""
    if len(pattern) > _LONGEST or not _is_linear(pattern):
        return None
    try:
        return re.compile(in_python(pattern), re.ASCII).search
    except (re.error, OverflowError):
        return None


def in_python(pattern: str) -> str:
    """A pattern of Go's syntax in Python's: `$` and `\\z` are the end of the text, and flags stand in front."""
    text = pattern[:-1] + r"\Z" if pattern.endswith("$") and not pattern.endswith("\\$") else pattern
    return re.sub(r"\A\^(\(\?[ims]+\))", r"\1^", text.replace("\\z", "\\Z"))


def fits(pattern: str, text: str) -> bool:
    """Return whether a text matches somewhere. True if that cannot be checked, which `unmatched` reports."""
    match = search(pattern)
    return match is None or match(text) is not None


def unmatched(schema: Any) -> list[str]:
    """Return the patterns of a schema that cannot be matched here, each once."""
    left, out = [schema], dict[str, None]()
    while left:
        node = left.pop()
        if isinstance(node, Mapping):
            patterns = [node.get("pattern"), *_keys(node.get("patternProperties"))]
            out.update({one: None for one in patterns if isinstance(one, str) and search(one) is None})
            left += node.values()
        elif isinstance(node, list | tuple):
            left += node
    return sorted(out)


def _keys(value: Any) -> Iterable[Any]:
    return value if isinstance(value, Mapping) else ()
