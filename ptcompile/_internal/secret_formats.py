"""Formats of tokens, keys and signed addresses: a text of such a form is secret wherever it occurs.

The rules of gitleaks (config/gitleaks.toml) and the documentation of the services say which prefix
and how many characters a token has; the patterns of `secret_formats.json` are looser about its
length. Each begins with a literal mark, and bounds every repetition that does not end the match, so
matching is linear.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.lazy import Pattern, bounded_cache
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table

MASK = "***"
"""The text that replaces a secret."""


class SecretFormat(NamedTuple):
    """A form that only secrets have."""

    marks: tuple[str, ...]
    """Texts of which each secret of this form contains one."""
    pattern: Pattern
    """The secret, or its group `value` inside an address."""
    source: str
    """The rules of gitleaks with this form, or the page of the service."""


FORMATS = tuple(
    SecretFormat(tuple(row["marks"]), Pattern(row["pattern"]), row["source"])
    for row in load_table("_internal/secret_formats.json")["formats"]
)
"""Every format, with where its form comes from."""


_MARKS = tuple([mark for secret_format in FORMATS for mark in secret_format.marks])
_MIN_LENGTH = 18
"""Number of characters that a secret of any format has at least; most names and values in
manifests are shorter.
"""


def format_intervals(text: str) -> Iterator[tuple[int, int]]:
    """Yield the intervals of secrets with a known format, by format; they may overlap."""
    if len(text) < _MIN_LENGTH or not any(map(text.__contains__, _MARKS)):
        return
    for secret_format in FORMATS:
        for mark in secret_format.marks:
            if mark in text:
                for match in secret_format.pattern.finditer(text):
                    yield match.span("value" if secret_format.pattern.compiled.groups else 0)
                break


@bounded_cache(16384)
def has_secret_format(text: str) -> bool:
    """Return whether a text contains a secret with a known format. Cached: manifests share most
    of their texts.
    """
    return next(format_intervals(text), None) is not None


def mask_formats(text: str) -> str:
    """Return a text with every secret that has a known format replaced by `MASK`."""
    if not has_secret_format(text):
        return text
    pieces = []
    done = 0
    for start, end in sorted(format_intervals(text)):
        if end > done:
            pieces += [text[done:start], MASK]
            done = end
    return "".join([*pieces, text[done:]])
