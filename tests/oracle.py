"""Rows of what the operators' own code did, each with its manifest, for the tests that compare with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests import recorded


def rows(operator: str) -> Iterator[tuple[dict[str, Any], Any]]:
    """Each row of an operator's file with the manifest that it speaks of."""
    bases = recorded.manifests("apiserver/real")
    for row in recorded.rows(f"operators/{operator}"):
        manifest = row.get("manifest") or bases[row.get("base") or row["id"]]
        yield row, recorded.changed(manifest, row) if "base" in row else manifest
