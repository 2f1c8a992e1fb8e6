"""Every path in plain data, and copies with a different value at a path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Path = tuple[Any, ...]


def places(data: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every value in the data, containers before their contents."""
    pairs = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    for key, value in pairs:
        yield (*path, key)
        yield from places(value, (*path, key))


def put(data: Any, path: Path, value: Any) -> Any:
    """Return a copy of the data with a different value at `path`."""
    if not path:
        return value
    head, *rest = path
    if isinstance(data, dict):
        return {
            key: put(inner, tuple(rest), value) if key == head else inner
            for key, inner in data.items()
        }
    return [
        put(inner, tuple(rest), value) if at == head else inner for at, inner in enumerate(data)
    ]
