"""Reading the value at a path in plain data, by keys of mappings and indexes of lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


Missing = type("Missing", (), {"__slots__": (), "__repr__": lambda _self: "MISSING"})
MISSING: Final = Missing()
"""The result for an absent value where None is a value."""


def get(data: Any, path: Iterable[str | int], default: Any = None) -> Any:
    """Return the value at a path, or the default if the path does not exist in the data."""
    for part in path:
        if isinstance(data, Mapping):
            if part not in data:
                return default
        elif not isinstance(data, list | tuple) or not isinstance(part, int) or not 0 <= part < len(data):
            return default
        data = data[part]
    return data


def has(data: Any, path: Iterable[str | int]) -> bool:
    """Return whether a value exists at a path, null included."""
    return get(data, path, MISSING) is not MISSING
