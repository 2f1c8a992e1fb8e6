"""What servers, operators and other tools answered: compressed, one JSON value a line. README.md names the origins."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def rows(name: str) -> Iterator[dict[str, Any]]:
    """The rows of one file: `rows("apiserver/real")`."""
    with gzip.open(HERE / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def manifests(name: str) -> dict[str, Any]:
    """The manifests of a file by the id that its mutants name."""
    return {row["id"]: row["manifest"] for row in rows(name)}


def changed(manifest: Any, row: dict[str, Any]) -> Any:
    """A copy of a manifest with the one change of a row: set, del or rename at a path."""
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
