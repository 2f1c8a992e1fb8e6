"""Automatic fixes for the most common rejected values with a single answer. Imported only when a
fix is made.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.spelling import normalize
from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.names import DNS_LABEL_MAX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal


class FixTemplate(NamedTuple):
    """A fix without a path."""

    title: str
    op: Literal["set", "remove", "rename", "quote"]
    value: Any = None
    safe: bool = True

    def at(self, path: Path) -> Fix:
        """Return the fix for the value at a path."""
        return Fix(self.title, (Edit(self.op, path, self.value),), self.safe)


QUOTES = FixTemplate("put it in quotes", "quote")
NO_ITEM = FixTemplate("remove the empty item", "remove", safe=False)

DEDUPLICATED = Fix("remove the first, which kubectl drops", (Edit("deduplicate", ()),))
"""The fix for two equal keys."""

_BOOLEAN_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_is_integer = Pattern(r"-?(?:0|[1-9][0-9]{0,8})").fullmatch


def fix_type(expected: str, value: Any) -> FixTemplate | None:
    """Return the fix for a value of another type than the field's: it lacks quotes, or has unneeded
    ones.

    `expected` is the API server's name of the type. Only the exact spellings `true` and `8` are
    safe.
    """
    if expected == "string":
        return QUOTES if isinstance(value, bool | int | float) else None
    if not isinstance(value, str):
        return None
    if expected in ("integer", "int32", "int64") and _is_integer(value):
        return FixTemplate(f"write {value}", "set", int(value))
    if expected == "boolean" and value.lower() in _BOOLEAN_WORDS:
        boolean = _BOOLEAN_WORDS[value.lower()]
        return FixTemplate(
            f"write {str(boolean).lower()}", "set", boolean, value in ("true", "false")
        )
    return None


def fix_list(value: Any) -> FixTemplate | None:
    """Return the fix for a single word in place of a list, or None for any other value."""
    if isinstance(value, str) and value.split() == [value]:
        return FixTemplate(f"write [{value}]", "set", [value])
    return None


def fix_spelling(value: str, suggestion: str | None) -> FixTemplate | None:
    """Return the fix for a value of a closed set, or None without a suggestion; safe if only case,
    `_` and `-` differ.
    """
    if suggestion:
        return FixTemplate(
            f"write {suggestion}", "set", suggestion, normalize(value) == normalize(suggestion)
        )
    return None


def fix_key(key: str, suggestion: str | None, siblings: Mapping[str, Any]) -> FixTemplate | None:
    """Return the fix for a misspelled key, or None if the surrounding mapping `siblings` already
    has the right one.
    """
    if not suggestion or suggestion in siblings:
        return None
    return FixTemplate(
        f"write {suggestion}", "rename", suggestion, normalize(key) == normalize(suggestion)
    )


def fix_quantity(value: Any) -> FixTemplate | None:
    """Return the fix for a quantity, or None if no quantity is like it; safe for spaces within it
    and for the case of `gi`, but not for `GB` or `g`.
    """
    if not isinstance(value, str):
        return None

    unspaced = "".join(value.split())
    if unspaced != value and quantity.is_quantity(unspaced):
        return FixTemplate(f"write {unspaced}", "set", unspaced)

    suggestion = quantity.likely_quantity(value)
    if suggestion:
        return FixTemplate(
            f"write {suggestion}",
            "set",
            suggestion,
            suggestion.endswith("i") and suggestion.lower() == unspaced.lower(),
        )

    return None


def nearest_label(text: str) -> str:
    """Return the DNS label most similar to a text, or "" if nothing remains, or if that would
    show a secret.
    """
    import re

    from ptcompile._internal.secret_formats import has_secret_format

    if has_secret_format(text):
        return ""
    return re.sub(r"[^a-z0-9]+", "-", text[:200].lower()).strip("-")[:DNS_LABEL_MAX].rstrip("-")


def fix_name(value: str, path: Path) -> Fix | None:
    """Return the fix for an invalid name that nothing else in the object refers to, or None if no
    name is like it.
    """
    suggestion = nearest_label(value)
    if suggestion and suggestion != value:
        return FixTemplate(f"write {suggestion}", "set", suggestion, safe=False).at(path)
    return None
