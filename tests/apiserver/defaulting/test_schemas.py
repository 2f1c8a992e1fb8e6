"""Defaults of CRDs against the real CRDs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ptcompile._internal.schema_files import load
from ptcompile.apiserver.defaulting.schemas import with_schema_defaults
from tests.apiserver.test_crd_schemas import FILES, KINDS, crd_schema

Steps = tuple[str, ...]


def defaults(node: Any, path: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """Yield the path and the value of each default of a CRD; `*` is an item."""
    if "default" in node:
        yield path, node["default"]
    for name, inner in node.get("properties", {}).items():
        yield from defaults(inner, (*path, name))
    for keyword in ("items", "additionalProperties"):
        if isinstance(node.get(keyword), dict):
            yield from defaults(node[keyword], (*path, keyword))


def holder(steps: Steps) -> Any:
    """Return the smallest object that has everything on a path but its last field."""
    if len(steps) == 1:
        return {}
    inner = holder(steps[1:])
    return (
        [inner]
        if steps[0] == "items"
        else {"x" if steps[0] == "additionalProperties" else steps[0]: inner}
    )


@pytest.mark.parametrize("kind", FILES)
def test_every_default_of_the_crd_is_written(kind: str) -> None:
    document = KINDS[kind][1]
    rows = [row for row in defaults(crd_schema(kind)) if row[0][0] != "status"]
    assert len(rows) > 20
    for path, value in rows:
        node = with_schema_defaults(load(document), document, holder(path))
        for step in path:
            node = (
                node[0]
                if step == "items"
                else node["x" if step == "additionalProperties" else step]
            )
        assert node == value, path
