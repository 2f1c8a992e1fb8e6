"""Rows of what the operators' own code did (`../shared/operators`), for the tests that compare with it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[1].parent / "shared"
ROWS = SHARED / "operators"
BASES = SHARED / "apiserver" / "real.jsonl"

needs_rows = pytest.mark.skipif(not ROWS.is_dir() or not BASES.is_file(), reason="the operators' answers are not here")


def rows(operator: str) -> Iterator[tuple[dict[str, Any], Any]]:
    """Each row of an operator's file with the manifest that it speaks of."""
    bases = {r["id"]: r["manifest"] for r in map(json.loads, BASES.read_text().splitlines())}
    for row in map(json.loads, (ROWS / f"{operator}.jsonl").read_text().splitlines()):
        manifest = row.get("manifest") or bases.get(row.get("base") or row.get("id"))
        if manifest is None:
            continue
        if "base" in row:
            manifest = changed(manifest, row["op"], row["path"], row["value"])
        yield row, manifest


def changed(manifest: Any, op: str, path: list[Any], value: Any) -> Any:
    """One change to a manifest: set, del or rename at a path."""
    out = copy.deepcopy(manifest)
    at = out
    for key in path[:-1]:
        at = at[key]
    if op == "del":
        del at[path[-1]]
    elif op == "rename":
        at[value] = at.pop(path[-1])
    else:
        at[path[-1]] = value
    return out
