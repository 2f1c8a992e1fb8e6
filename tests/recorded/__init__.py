"""Recorded answers of servers, operators and other tools, compressed, one JSON value per line after a header.

README.md lists the origins; `recording` has what the recorders share.
"""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def names() -> list[str]:
    """Return the names of all files."""
    return sorted(
        str(path.relative_to(HERE)).removesuffix(".jsonl.gz") for path in HERE.rglob("*.gz")
    )


def rows(name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of one file, such as `rows("apiserver/real")`, without its header."""
    with gzip.open(HERE / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        next(lines)
        yield from map(json.loads, lines)


def header(name: str) -> dict[str, Any]:
    """Return the first line of a file: its `recorder`, `versions` and `date`, and perhaps a `note`."""
    with gzip.open(HERE / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        first: dict[str, Any] = json.loads(next(lines))
    return first


def manifests(name: str) -> dict[str, Any]:
    """Return the manifests of a file, keyed by the id that mutants refer to."""
    return {row["id"]: row["manifest"] for row in rows(name)}


def changed(manifest: Any, row: dict[str, Any]) -> Any:
    """Return a copy of a manifest with the row's change: set, del or rename at a path."""
    out = copy.deepcopy(manifest)
    node = out
    *path, last = row["path"]
    for key in path:
        node = node[key]
    if row["op"] == "rename":
        node[row["value"]] = node.pop(last)
    elif row["op"] == "del":
        del node[last]
    else:
        node[last] = row["value"]
    return out


def with_operations(manifest: dict[str, Any], operations: list[list[Any]]) -> dict[str, Any]:
    """Return a copy with the operations applied: `["set", path, value]` makes missing mappings, `["del", path]`."""
    out = copy.deepcopy(manifest)
    for operation, path, *value in operations:
        node: Any = out
        for key in path[:-1]:
            if isinstance(node, dict) and node.get(key) is None:
                node[key] = {}
            node = node[key]
        if operation == "del":
            node.pop(path[-1], None) if isinstance(node, dict) else node.__delitem__(
                slice(path[-1], path[-1] + 1)
            )
        elif isinstance(node, list) and path[-1] == len(node):
            node.append(copy.deepcopy(value[0]))
        else:
            node[path[-1]] = copy.deepcopy(value[0])
    return out
