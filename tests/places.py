"""Every path in plain data, and copies with a different value at a path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Path = tuple[Any, ...]


def children(node: Any) -> list[tuple[Any, Any]]:
    """Return the keys and values of a mapping, the indexes and items of a list, and else nothing."""
    if isinstance(node, dict):
        return [*node.items()]
    return [*enumerate(node)] if isinstance(node, list) else []


def places(data: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every value in the data, containers before their contents."""
    for key, value in children(data):
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
