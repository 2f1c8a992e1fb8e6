"""Untrusted regular expressions of CRDs, JSON Schemas and CEL, in Go's syntax and in linear time.

The API server matches them with Go's `regexp`, which implements RE2; ptcompile uses google-re2. On
platforms without a wheel of it, Python's `re` matches only the patterns that are certainly linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module

from ptcompile._internal.lazy import Pattern
from ptcompile.kubernetes.unstructured import nested_map, nested_value, values_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Match = Callable[[str], Any]
    """Returns the first match in a text, with `group()`, or None."""

_PATTERN_BYTES_MAX = 512 << 10
"""Maximum bytes per pattern, including its state cache; 500 patterns are kept. RE2 rejects
larger patterns.
"""
_ESCAPED = r"\\(?:[^0-9A-Za-z]|[dDwWsSnrtfv])"
_ATOM = rf"(?:{_ESCAPED}|\[\^?(?:{_ESCAPED}|[^\]\\\[])+\]|[^\\\[\](){{}}*+?|^$])"
_is_linear = Pattern(
    rf"\^?{_ATOM}*\$?"  # no repetition
    # fixed repetitions, anchored at the start of the text
    rf"|\^(?:{_ATOM}(?:\{{\d{{1,3}}\}})?)*\$?"
    # a single repetition without a fixed count
    rf"|\^{_ATOM}+(?:[*+?]|\{{\d{{0,3}},\d{{0,3}}\}}){_ATOM}*\$?"
).fullmatch
_PATTERN_CHARACTERS_MAX = 1000
"""Maximum number of characters of a pattern for Python's `re`."""


class UntrustedPattern(str):
    """A pattern from a user's file, which a backtracking engine must never match."""

    __slots__ = ()


@lru_cache(maxsize=512)
def compile_search(pattern: str) -> Match | None:
    """Return a search function for a pattern, or None if Go cannot read it or it cannot be
    matched.
    """
    try:
        re2: Any = import_module("re2")
    except ImportError:
        return _search_in_python(pattern)

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _PATTERN_BYTES_MAX
    try:
        match: Match = re2.compile(pattern, options).search
    except re2.error:
        return None

    return match


def is_invalid(pattern: str) -> bool:
    """Return whether Go cannot read a pattern, as far as this is certain: not without
    google-re2.
    """
    try:
        re2: Any = import_module("re2")
    except ImportError:
        return False

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        return "too large" not in str(error)

    return False


def _search_in_python(pattern: str) -> Match | None:
    """Return Python's search function for a pattern that it matches in linear time, or None."""
    if len(pattern) > _PATTERN_CHARACTERS_MAX or not _is_linear(pattern):
        return None
    try:
        return re.compile(to_python_syntax(pattern), re.ASCII).search
    except (re.error, OverflowError):
        return None


def to_python_syntax(pattern: str) -> str:
    r"""Convert a pattern from Go's syntax to Python's: `$` and `\z` become `\Z`, and flags come
    first.
    """
    if pattern.endswith("$") and not pattern.endswith("\\$"):
        text = pattern[:-1] + r"\Z"
    else:
        text = pattern
    return re.sub(r"\A\^(\(\?[ims]+\))", r"\1^", text.replace("\\z", "\\Z"))


def matches(pattern: str, text: str) -> bool:
    """Return whether a pattern matches anywhere in a text. Returns True if that cannot be checked;
    `unmatchable_patterns` reports such patterns.
    """
    match = compile_search(pattern)
    return match is None or match(text) is not None


def unmatchable_patterns(schema: Any) -> list[str]:
    """Return the distinct patterns of a schema that cannot be matched."""
    unmatchable = set[str]()
    for node in values_in(schema):
        patterns = (nested_value(node, "pattern"), *nested_map(node, "patternProperties"))
        unmatchable.update(
            pattern
            for pattern in patterns
            if isinstance(pattern, str) and compile_search(pattern) is None
        )

    return sorted(unmatchable)
