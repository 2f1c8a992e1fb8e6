"""Recorded answers of servers, operators and other tools, compressed, one JSON value per line.

README.md lists the origins.
"""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def rows(name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of one file, such as `rows("apiserver/real")`."""
    with gzip.open(HERE / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


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
