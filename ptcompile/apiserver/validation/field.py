"""A field of a manifest as the server's rules need it: value and path in one, so that a rule names
the field once.

`FieldErrors` has the words of the problems; the methods here give it the field's path and value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.diagnostics.field_errors import (
    FieldErrors,
    TextRule,
    indexed_mappings,
    indexed_texts,
    is_empty,
)
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, as_mapping, as_strings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    PlainCheck = Callable[[Any, Path, FieldErrors], None]

NOT_NEGATIVE = "must be greater than or equal to 0"
_NO_POD: Json = {}


class CheckScope(NamedTuple):
    """What the checks of an object share: the server, the list of problems, and in a pod what
    its parts need of it.
    """

    server: ApiServer
    problems: FieldErrors
    pod: Json = _NO_POD
    """The spec of the pod."""
    template: bool = False
    """Whether the pod is a template in another object instead of a Pod: fewer defaults and fewer
    rules apply.
    """
    volumes: Json | None = None
    """Volumes of the pod by name, or None if they are unknown, so no mount is reported as
    missing.
    """
    claims: frozenset[str] | None = None
    """Names in `resourceClaims` of the pod, or None if they are unknown."""


def byte_count(text: str) -> int:
    """Return the number of bytes of a text in UTF-8, which the server counts."""
    return len(text.encode("utf-8", "surrogatepass"))


def only_field(fields: Iterable[FieldValue], what: str) -> FieldValue | None:
    """Return the first of the fields that say what something is, or None; reject the others."""
    first: FieldValue | None = None
    for field in fields:
        if first is None:
            first = field
        else:
            field.forbidden(f"may not specify more than 1 {what} type", f"keep only {first.key}")
    return first


class FieldValue:
    """The value of a field of a manifest, with its path.

    The fields of an absent field, and those of a value other than a mapping, are absent: their
    value is None.
    """

    __slots__ = ("_parent", "key", "scope", "value")

    def __init__(
        self, value: Any, parent: FieldValue | Path, scope: CheckScope, key: str | int = ""
    ) -> None:
        """`parent` is the mapping or list that has the field under `key`, or else the path of
        the field itself.
        """
        self.value = value
        self.scope = scope
        self.key = key
        self._parent = parent

    def __getitem__(self, key: str) -> FieldValue:
        """Return the field of this mapping under a key."""
        value = self.value
        item = value.get(key) if type(value) is dict else as_mapping(value).get(key)
        return FieldValue(item, self, self.scope, key)

    def get(self, key: str) -> Any:
        """Return the value of the field under a key."""
        value = self.value
        if type(value) is dict:
            return value.get(key)
        return as_mapping(value).get(key)

    @property
    def path(self) -> Path:
        """The path of the field. It is made when a problem needs it."""
        parent = self._parent
        if isinstance(parent, FieldValue):
            return (*parent.path, self.key)
        return parent

    @property
    def server(self) -> ApiServer:
        """The server that reads the object."""
        return self.scope.server

    @property
    def pod(self) -> FieldValue:
        """The spec of the pod, for a field that is directly in it."""
        return FieldValue(self.scope.pod, self.path[:-1], self.scope)

    @property
    def problems(self) -> FieldErrors:
        """The problems of the object."""
        return self.scope.problems

    def replaced(self, value: Any) -> FieldValue:
        """Return the field as if it had another value."""
        return FieldValue(value, self._parent, self.scope, self.key)

    def or_default(self, default: Any) -> FieldValue:
        """Return the field with a default if it is unset, which Go's zero values are too."""
        return self if self.value else self.replaced(default)

    def or_zero(self, zero: Any) -> FieldValue:
        """Return the field with Go's zero value of its type if it is absent or null."""
        return self.replaced(zero) if self.value is None else self

    @property
    def is_mapping(self) -> bool:
        """Whether the field is set, and to a mapping."""
        return type(self.value) is dict

    @property
    def is_list(self) -> bool:
        """Whether the field is set, and to a list."""
        return type(self.value) is list

    @property
    def is_text(self) -> bool:
        """Whether the field is set, and to a text, which may be empty."""
        return type(self.value) is str

    def is_longer(self, limit: int) -> bool:
        """Return whether the field is a text of more than so many bytes."""
        return self.is_text and byte_count(self.value) > limit

    @property
    def is_integer(self) -> bool:
        """Whether the field is set, and to an integer, which no boolean is."""
        return type(self.value) is int

    @property
    def is_empty(self) -> bool:
        """Whether the field is absent, null or an empty text."""
        return is_empty(self.value)

    @property
    def mapping(self) -> Json:
        """The mapping of the field, or an empty one."""
        return as_mapping(self.value)

    @property
    def strings(self) -> list[str]:
        """The texts of a list: null is the empty text, and items of other types are dropped."""
        return as_strings(self.value)

    def objects(self) -> list[FieldValue]:
        """Return the objects of a list. Null counts as an empty object; other types are skipped."""
        if not self.value:
            return []
        return [self.item(index, item) for index, item in indexed_mappings(self.value)]

    def item(self, index: int, value: Any) -> FieldValue:
        """Return an item of a list, with the value that the server reads in it."""
        return FieldValue(value, self, self.scope, index)

    def texts(self) -> Iterator[FieldValue]:
        """Yield the texts of a list: null is the empty text, items of other types are skipped."""
        for index, item in indexed_texts(self.value):
            yield self.item(index, item)

    def items(self, values: Iterable[Any]) -> Iterator[FieldValue]:
        """Yield the items of this list. `values` are what the server reads in them."""
        for index, value in enumerate(values):
            yield self.item(index, value)

    def set_fields(self, keys: Iterable[str]) -> list[FieldValue]:
        """Return the fields of this mapping that are set, in the order of the keys."""
        return [self[key] for key in keys if self.get(key) is not None]

    def entries(self) -> Iterator[tuple[str, FieldValue]]:
        """Yield the keys of a mapping, each with its field."""
        for key in self.mapping:
            yield key, self[key]

    def check(self, check: PlainCheck) -> None:
        """Apply a check of a value at a path, if the field is set."""
        if self.value is not None:
            check(self.value, self.path, self.problems)

    def required(self, detail: str = "", help: str = "", field: str | None = None) -> None:
        """Report that the field is missing or empty."""
        self.problems.required(self.path, detail, help, field)

    def invalid(self, why: str, help: str = "", field: str | None = None) -> None:
        """Report that the server rejects the value, with the reason."""
        self.problems.invalid(self.path, self.value, why, help, field)

    def unsupported(
        self, supported: Iterable[str], help: str = "", field: str | None = None
    ) -> None:
        """Report that the value is outside a closed list."""
        self.problems.unsupported(self.path, self.value, supported, help, field)

    def duplicate(self, help: str = "", field: str | None = None) -> None:
        """Report that the value is repeated."""
        self.problems.duplicate(self.path, self.value, help, field)

    def forbidden(self, why: str, help: str = "", field: str | None = None) -> None:
        """Report that the field must not be set in this object."""
        self.problems.forbidden(self.path, why, help, field)

    def too_long(self, limit: int, help: str = "", field: str | None = None) -> None:
        """Report that a text, or a sum of texts, exceeds a number of bytes."""
        self.problems.too_long(self.path, limit, help, field)

    def require(self, *keys: str) -> None:
        """Report each of these fields of a mapping that is missing or empty."""
        for key in keys:
            if self.get(key) in (None, "", []):
                self[key].required()

    def check_set(self, detail: str = "", help: str = "") -> None:
        """Report that the field is missing, if it is absent or null."""
        if self.value is None:
            self.required(detail, help)

    def check_filled(self, detail: str = "", help: str = "") -> None:
        """Report that the field is missing, if it is absent, null or an empty text."""
        if self.is_empty:
            self.required(detail, help)

    def check_unset(self, why: str) -> None:
        """Report that the field must not be set in this object, if it is."""
        if self.value is not None:
            self.forbidden(why)

    def check_choice(self, supported: Iterable[str]) -> None:
        """Reject a text outside a closed list."""
        if self.is_text and self.value not in supported:
            self.unsupported(supported)

    def check_optional_choice(self, supported: Iterable[str]) -> None:
        """Reject a text that is set, and outside a closed list."""
        if self.value:
            self.check_choice(supported)

    def check_required_choice(
        self, supported: Iterable[str], detail: str = "", help: str = ""
    ) -> None:
        """Reject a text that is unset, with `detail` and `help`, and one outside a closed list."""
        if self.is_empty:
            self.required(detail, help)
        else:
            self.check_choice(supported)

    def check_text(self, why_not: TextRule, help: str = "") -> None:
        """Reject a text, the empty one too, with the reason that `why_not` gives. None and other
        types pass.
        """
        if self.is_text and (why := why_not(self.value)):
            self.invalid(why, help)

    def check_optional_text(self, why_not: TextRule, help: str = "") -> None:
        """Reject a text that is set, with the reason that `why_not` gives."""
        if self.value:
            self.check_text(why_not, help)

    def check_required_text(self, why_not: TextRule, *, detail: str = "", help: str = "") -> None:
        """Reject a text that is unset, with `detail` and `help`, and one with the reason that
        `why_not` gives.
        """
        if self.is_empty:
            self.required(detail, help)
        else:
            self.check_text(why_not)

    def check_name(self, why_not: TextRule, seen: set[str]) -> None:
        """Reject a text with the reason that `why_not` gives, or one that was seen before, and
        remember it.
        """
        if not self.is_text:
            return
        if why := why_not(self.value):
            self.invalid(why)
        elif self.value in seen:
            self.duplicate()
        seen.add(self.value)

    def check_unseen(self, seen: set[Any], help: str = "") -> None:
        """Reject a value that was seen before, and remember it."""
        if self.value in seen:
            self.duplicate(help)
        seen.add(self.value)

    def check_length(self, limit: int) -> None:
        """Reject a list of more than `limit` items."""
        if self.is_list and len(self.value) > limit:
            self.problems.too_many(self.path, len(self.value), limit)

    def check_range(self, low: int, high: int, why: str = "", help: str = "") -> None:
        """Reject an integer outside `low` to `high`, both inclusive."""
        if self.is_integer and not low <= self.value <= high:
            why = why or f"must be between {low} and {high}, inclusive"
            self.invalid(why, help or f"use {low} to {high}")

    def check_at_least(self, low: int, why: str, help: str = "") -> None:
        """Reject an integer below `low`, with the reason."""
        if self.is_integer and self.value < low:
            self.invalid(why, help)

    def check_not_negative(self, *keys: str) -> None:
        """Reject a negative integer in each of these fields of a mapping."""
        mapping = self.mapping
        for key in keys:
            value = mapping.get(key)
            if type(value) is int and value < 0:
                self[key].invalid(NOT_NEGATIVE, "use 0 or more")
