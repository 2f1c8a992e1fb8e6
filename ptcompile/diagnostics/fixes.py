"""Automatic fixes for what is rejected: the commonest mistakes that have one answer. Loaded only when one is made."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.names import DNS_LABEL_MAX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, Literal


class Cure(NamedTuple):
    """A fix that does not know yet where it is."""

    title: str
    op: Literal["set", "remove", "rename", "quote"]
    value: Any = None
    safe: bool = True

    def at(self, path: Path) -> Fix:
        """The fix, for the value at a path."""
        return Fix(self.title, (Edit(self.op, path, self.value),), self.safe)


QUOTES: Final = Cure("put it in quotes", "quote")
NO_ITEM: Final = Cure("remove the empty item", "remove", safe=False)

DEDUPLICATED: Final = Fix("remove the first, which kubectl drops", (Edit("deduplicate", ()),), safe=False)
"""Of two equal keys."""

_WORDS: Final = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_whole = Pattern(r"-?(?:0|[1-9][0-9]{0,8})").fullmatch


def fix_type(expected: str, value: Any) -> Cure | None:
    """For a value of another type than the field: a number or a word without its quotes, or with them.

    `expected` is the API server's word for the type. Only the very spelling `true` or `8` is beyond doubt.
    """
    if expected == "string":
        return QUOTES if isinstance(value, bool | int | float) else None
    if not isinstance(value, str):
        return None
    if expected in ("integer", "int32", "int64") and _whole(value):
        return Cure(f"write {value}", "set", int(value))
    if expected == "boolean" and value.lower() in _WORDS:
        word = _WORDS[value.lower()]
        return Cure(f"write {str(word).lower()}", "set", word, value in ("true", "false"))
    return None


def fix_list(value: Any) -> Cure | None:
    """For a single word where a list of words belongs."""
    if isinstance(value, str) and value and not any(c.isspace() for c in value):
        return Cure(f"write [{value}]", "set", [value])
    return None


def fix_spelling(value: str, meant: str | None) -> Cure | None:
    """For one of a closed list of words: beyond doubt where only case, `_` and `-` differ."""
    return Cure(f"write {meant}", "set", meant, _letters(value) == _letters(meant)) if meant else None


def fix_key(key: str, meant: str | None, there: Mapping[str, Any]) -> Cure | None:
    """For a field's name; `there` is the object around it, which may have the right field too."""
    if not meant or meant in there:
        return None
    return Cure(f"write {meant}", "rename", meant, _letters(key) == _letters(meant))


def _letters(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def fix_quantity(value: Any) -> Cure | None:
    """For a quantity: blanks within it are beyond doubt, as is the case of `gi`; what `GB` or `g` means is not."""
    if not isinstance(value, str):
        return None
    together = "".join(value.split())
    if together != value and quantity.is_quantity(together):
        return Cure(f"write {together}", "set", together)
    meant = quantity.likely_quantity(value)
    return (
        Cure(f"write {meant}", "set", meant, meant.endswith("i") and meant.lower() == together.lower())
        if meant
        else None
    )


def label(text: str) -> str:
    """The DNS label that is nearest to a text; empty where none is."""
    import re

    return re.sub(r"[^a-z0-9]+", "-", text[:200].lower()).strip("-")[:DNS_LABEL_MAX].rstrip("-")


def as_label(value: str, path: Path) -> Fix | None:
    """For a name that nothing else in the object refers to."""
    near = label(value)
    return Cure(f"write {near}", "set", near, safe=False).at(path) if near and near != value else None
