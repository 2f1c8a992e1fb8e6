"""A field of a manifest as the server's rules need it: value and path in one, so that a rule names the field once.

`FieldErrors` has the words of the problems; the methods here give it the field's path and value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.diagnostics.field_errors import FieldErrors, TextRule, indexed_mappings, indexed_texts, is_empty
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, as_mapping, as_strings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    ValueCheck = Callable[[Any, Path, FieldErrors], None]

_NO_POD: Json = {}


class CheckScope(NamedTuple):
    """What the checks of an object share: the server, the list of problems, and in a pod what its parts need of it."""

    server: ApiServer
    problems: FieldErrors
    pod: Json = _NO_POD
    """The spec of the pod."""
    template: bool = False
    """Whether the pod is a template in another object instead of a Pod: fewer defaults and fewer rules apply."""
    volumes: Json | None = None
    """Volumes of the pod by name, or None if they are unknown, so no mount is reported as missing."""
    claims: frozenset[str] | None = None
    """Names in `resourceClaims` of the pod, or None if they are unknown."""


class FieldValue:
    """The value of a field of a manifest, with its path.

    The fields of an absent field, and those of a value other than a mapping, are absent: their value is None.
    """

    __slots__ = ("path", "scope", "value")

    def __init__(self, value: Any, path: Path, scope: CheckScope) -> None:
        self.value = value
        self.path = path
        self.scope = scope

    def __getitem__(self, key: str) -> FieldValue:
        """Return the field of this mapping under a key."""
        return FieldValue(self.get(key), (*self.path, key), self.scope)

    def get(self, key: str) -> Any:
        """Return the value of the field under a key."""
        value = self.value
        return value.get(key) if type(value) is dict else as_mapping(value).get(key)

    @property
    def server(self) -> ApiServer:
        """The server that reads the object."""
        return self.scope.server

    @property
    def pod(self) -> FieldValue:
        """The spec of the pod, for a field that is directly in it."""
        return FieldValue(self.scope.pod, self.path[:-1], self.scope)

    @property
    def key(self) -> str | int:
        """The key or the index of the field in its parent."""
        return self.path[-1]

    @property
    def problems(self) -> FieldErrors:
        """The problems of the object."""
        return self.scope.problems

    def replaced(self, value: Any) -> FieldValue:
        """Return the field as if it had another value."""
        return FieldValue(value, self.path, self.scope)

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

    def objects(self) -> Iterator[FieldValue]:
        """Yield the objects of a list. Null counts as an empty object; other types are skipped."""
        for index, item in indexed_mappings(self.value):
            yield FieldValue(item, (*self.path, index), self.scope)

    def texts(self) -> Iterator[FieldValue]:
        """Yield the texts of a list: null is the empty text, items of other types are skipped."""
        for index, item in indexed_texts(self.value):
            yield FieldValue(item, (*self.path, index), self.scope)

    def items(self, values: Iterable[Any]) -> Iterator[FieldValue]:
        """Yield items of this list, with the values that the server reads in them."""
        for index, value in enumerate(values):
            yield FieldValue(value, (*self.path, index), self.scope)

    def entries(self) -> Iterator[tuple[str, FieldValue]]:
        """Yield the keys of a mapping, each with its field."""
        for key in self.mapping:
            yield key, self[key]

    def check(self, check: ValueCheck) -> None:
        """Apply a check of a value at a path."""
        check(self.value, self.path, self.problems)

    def required(self, detail: str = "", help: str = "", field: str | None = None) -> None:
        """Report that the field is missing or empty."""
        self.problems.required(self.path, detail, help, field)

    def invalid(self, why: str, help: str = "", field: str | None = None) -> None:
        """Report that the server rejects the value, with the reason."""
        self.problems.invalid(self.path, self.value, why, help, field)

    def unsupported(self, supported: Iterable[str], help: str = "", field: str | None = None) -> None:
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
        self.problems.check_required(self.mapping, self.path, *keys)

    def check_choice(self, supported: Iterable[str]) -> None:
        """Reject a text outside a closed list."""
        self.problems.check_choice(self.path, self.value, supported)

    def check_required_choice(self, supported: Iterable[str], detail: str = "", help: str = "") -> None:
        """Reject a text that is unset, with `detail` and `help`, and one outside a closed list."""
        self.problems.check_required_choice(self.path, self.value, supported, detail, help)

    def check_text(self, why_not: TextRule, help: str = "") -> None:
        """Reject a text, the empty one too, with the reason that `why_not` gives."""
        self.problems.check_text(self.path, self.value, why_not, help)

    def check_optional_text(self, why_not: TextRule, help: str = "") -> None:
        """Reject a text that is set, with the reason that `why_not` gives."""
        self.problems.check_optional_text(self.path, self.value, why_not, help)

    def check_required_text(self, why_not: TextRule, *, detail: str = "", help: str = "") -> None:
        """Reject a text that is unset, with `detail` and `help`, and one with the reason that `why_not` gives."""
        self.problems.check_required_text(self.path, self.value, why_not, detail=detail, help=help)

    def check_unseen(self, seen: set[Any], help: str = "") -> None:
        """Reject a value that was seen before, and remember it."""
        self.problems.check_unseen(self.path, self.value, seen, help)

    def check_length(self, limit: int) -> None:
        """Reject a list of more than `limit` items."""
        self.problems.check_length(self.path, self.value, limit)

    def check_range(self, low: int, high: int) -> None:
        """Reject an integer outside `low` to `high`, both inclusive."""
        self.problems.check_range(self.path, self.value, low, high)

    def check_not_negative(self) -> None:
        """Reject a negative integer."""
        self.problems.check_not_negative(self.path, self.value)
