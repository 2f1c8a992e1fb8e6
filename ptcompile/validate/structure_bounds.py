"""The bounds that a CRD's schema sets: enums, patterns, lengths, list-map keys. The server's messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ptcompile.findings.value_fixes import spelt
from ptcompile.kubernetes.names import suggest
from ptcompile.validate.structure_fault import Fault, Found, mismatch, shown
from ptcompile.validate.structure_scalars import whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.validate.structure_fault import Check

    Schema = Mapping[str, Any]

_NAME = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_FORM = {
    f"^{_NAME}$": "use lower case letters, digits and '-', with a letter or a digit at both ends",
    rf"^{_NAME}(\.{_NAME})*$": "use lower case letters, digits, '-' and '.', with a letter or a digit at both ends",
}
"""The commonest patterns of the CRDs, in words."""


_LISTED = 20
"""Choices in a message."""
_COMPARED = 200
"""Choices among which one that was probably meant is looked for."""


def only_texts(enum: Sequence[Any]) -> bool:
    """Return whether all choices are texts; the API server takes others beside `type: string`, and ignores them."""
    return all(isinstance(choice, str) for choice in enum)


def listed(choices: Sequence[Any]) -> str:
    """Return the choices as a message names them: the first of them, where they are many."""
    if only_texts(choices):
        names = [f'"{choice}"' if len(choice) <= _LONG else shown(choice) for choice in choices[:_LISTED]]
    else:
        names = [shown(choice) for choice in choices[:_LISTED]]
    more = len(choices) - _LISTED
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


_LONG = 200
"""Characters of a choice that is named as it is written."""


def _search(pattern: str) -> Callable[[str], object] | None:
    """What looks for a pattern of Go's syntax; None where it cannot be read."""
    from ptcompile.kubernetes.goregex import Theirs, fits, in_python

    if isinstance(pattern, Theirs):
        return lambda text: fits(pattern, text) or None
    import re

    try:
        return re.compile(in_python(pattern), re.ASCII).search
    except re.error:
        return None


def bounded_string(schema: Schema) -> Check | None:
    """A check of a string's enum, lengths and pattern, or None where the schema has none of them."""
    pattern = schema.get("pattern")
    enum: tuple[str, ...] = tuple(schema["enum"]) if "enum" in schema and only_texts(schema["enum"]) else ()
    low, high = schema.get("minLength", 0), schema.get("maxLength")
    if not (enum or pattern or low or high is not None):
        return None
    # Go's `$` is the end of the text; Python's also stands before a last line break.
    search = _search(pattern) if pattern else None
    allowed = frozenset(enum)
    choices = listed(enum)

    def check(value: Any) -> Found:
        if not isinstance(value, str):
            return [mismatch("string", value)]
        if enum and value not in allowed:
            text = f"Unsupported value: {shown(value)}: supported values: {choices}"
            near = suggest(value, enum) if len(enum) <= _COMPARED else None
            fault = Fault("unsupported-value", text, f'did you mean "{near}"?' if near else "write one of them")
            fault.cure = spelt(value, near)
            return [fault]
        if high is not None and len(value) > high:
            return [Fault("too-long-value", f"Too long: may not be more than {high} bytes", "shorten it")]
        if len(value) < low:
            return [Fault("invalid-value", f'Invalid value: "": must be at least {low} characters long', "fill it in")]
        if search is not None and search(value) is None:
            text = f"Invalid value: {shown(value)}: must match '{pattern}'"
            return [Fault("invalid-value", text, _FORM.get(pattern or "", "write it in that form"))]
        return None

    return check


def crd_amount(schema: Schema) -> Check:
    """A check of a CRD's `x-kubernetes-int-or-string`: a whole number, or text of the schema's pattern."""
    as_text = bounded_string(schema)

    def check(value: Any) -> Found:
        if isinstance(value, str):
            return as_text(value) if as_text else None
        return None if whole(value) is not None else [mismatch("integer or string", value)]

    return check


def list_bounds(schema: Schema, item_defaults: Mapping[str, Any]) -> Check | None:
    """A check of a list as a whole: its length and its keys; None where the schema says nothing of either."""
    low, high = schema.get("minItems", 0), schema.get("maxItems")
    keys: Sequence[str] = schema.get("x-kubernetes-list-map-keys", ())
    is_set = schema.get("x-kubernetes-list-type") == "set"
    if not (low or high is not None or keys or is_set):
        return None

    def check(value: Any) -> Found:
        if high is not None and len(value) > high:
            text = f"Too many: {len(value)}: must have at most {high} items"
            return [Fault("too-many-items", text, f"keep {high} at most")]
        if len(value) < low:
            return [
                Fault("invalid-value", f"Invalid value: {len(value)}: must have at least {low} items", "add an item")
            ]
        if len(value) < 2:
            return None
        if keys:
            return _same_keys(value, keys, item_defaults)
        return _same_items(value) if is_set else None

    return check


def _same_keys(items: Sequence[Any], keys: Sequence[str], defaults: Mapping[str, Any]) -> Found:
    if len(keys) == 1 and _all_differ(items, keys[0]):
        return None
    faults: list[Fault] = []
    seen = set()
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            continue
        parts = [item.get(key) for key in keys]
        if None in parts:
            parts = [defaults.get(key) if part is None else part for key, part in zip(keys, parts, strict=True)]
        identity = tuple(parts)
        # A missing or ill-typed key is another fault, told elsewhere.
        if None in identity or any(isinstance(part, list | dict) for part in parts):
            continue
        if identity in seen:
            faults.append(_duplicate(index, dict(zip(keys, parts, strict=True))))
        seen.add(identity)
    return faults or None


def _all_differ(items: Sequence[Any], key: str) -> bool:
    """Whether each item is an object with a text of its own under a key."""
    own = [item.get(key) for item in items if type(item) is dict]
    return set(map(type, own)) == {str} and len(set(own)) == len(items)


def _same_items(items: Sequence[Any]) -> Found:
    faults: list[Fault] = []
    seen = set()
    for index, item in enumerate(items):
        if isinstance(item, list | dict):
            continue
        if item in seen:
            faults.append(_duplicate(index, item))
        seen.add(item)
    return faults or None


def _duplicate(index: int, value: Any) -> Fault:
    import json

    text = f"Duplicate value: {json.dumps(value, ensure_ascii=False, separators=(',', ':'), default=str)}"
    fault = Fault("duplicate-value", text, "remove one of the two, or give it another key")
    fault.path.append(index)
    return fault


def least_properties(schema: Schema) -> int:
    """How many fields an object must have at least."""
    return int(schema.get("minProperties", 0))
