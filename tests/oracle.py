"""Recorded results of the operators' own code, each with its manifest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests import recorded


def rows(operator: str) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield each row of an operator's file with its manifest."""
    bases = recorded.manifests("apiserver/real")
    for row in recorded.rows(f"operators/{operator}"):
        manifest = row.get("manifest") or bases[row.get("base") or row["id"]]
        yield row, recorded.changed(manifest, row) if "base" in row else manifest
