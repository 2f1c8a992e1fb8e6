"""What search finds first: weights of the entries in the index, and an entry for each field of specs and profiles.

Material's search multiplies an entry's score by its boost. Words of a title count a thousand times as much as those of
the text, and a page counts two and a half times as much as a section. Without entries for fields, any page with a
field's name in its title would come before the field. Rule names are titles of pages, so they need no boost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ptcompile.api.reference import schema
from website.schemas import Schema, field_anchor

_ROOTS: Final = {
    "spec": ("JobSpec", "reference/spec/", 3.2),
    "cluster": ("ProfileSpec", "reference/cluster/", 1.6),
}
"""Each schema's root model, its page, and the boost of the fields of the root model."""
_BOOSTS: Final = {
    "guide/slurm/": (1.3, 1.0),  # its commands name fields that have pages of their own
    "guide/": (1.3, 3.0),
    "reference/": (1.2, 1.2),
    "codes/#": (0.2, 0.2),
    "messages/": (0.6, 0.2),
    "facts/": (0.5, 0.5),
    "project/": (0.2, 0.2),
}
"""Boosts of pages and of their sections by the start of their address."""


def rank(site: str) -> None:
    """Complete the index that the search plugin has written."""
    path = Path(site) / "search" / "search_index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    for entry in index["docs"]:
        entry["boost"] = _boost(entry["location"], entry["title"])
    index["docs"] += [entry for name in _ROOTS for entry in field_entries(name)]
    path.write_text(json.dumps(index, separators=(",", ":")), encoding="utf-8")


def _boost(location: str, title: str) -> float:
    """Return the boost of an entry. Of the rules whose names have all words of a search, the shortest comes first."""
    if location.startswith("codes/PTC") and "#" not in location:
        return 1 + 0.2 / (title.count("-") + 1)
    for start, boosts in _BOOSTS.items():
        if location.startswith(start):
            return boosts["#" in location]
    return 1.0


def field_entries(name: str) -> list[dict[str, Any]]:
    """Return an entry per field of a schema. A field near the root has more weight, and so has one whose name begins
    other names, because a search for `nodes` also finds `nodesPerDomain`.
    """
    root, page, most = _ROOTS[name]
    fields = list(_fields(schema(name)["$defs"], root, "", set()))
    keys = {path.rpartition(".")[2] for _, path, _ in fields}
    entries = []
    for owner, path, field in fields:
        key = path.rpartition(".")[2]
        is_prefix = any(other != key and other.startswith(key) for other in keys)
        boost = most / (path.count(".") + 1) * (1.4 if is_prefix else 1)
        entries.append(
            {
                "location": f"{page}#{field_anchor(owner, key)}",
                "title": key if key == path else f"{key} ({path})",
                "text": f"spec.{path}: {field.get('description', '')}",
                "boost": boost,
            }
        )
    return entries


def _fields(
    defined: dict[str, Schema], owner: str, prefix: str, seen: set[str]
) -> Iterator[tuple[str, str, Schema]]:
    """Yield each field's model, its path below `spec` and its schema. A model is followed where it is first used."""
    seen.add(owner)
    fields: dict[str, Any] = defined[owner].get("properties", {})
    mappings = {key: field for key, field in fields.items() if isinstance(field, dict)}
    for key, field in mappings.items():
        yield owner, prefix + key, field
    for key, field in mappings.items():
        for model in _models(field):
            if model in defined and model not in seen:
                yield from _fields(defined, model, f"{prefix}{key}.", seen)


def _models(field: Any) -> Iterator[str]:
    """Yield the names of the models that a field's schema refers to."""
    if isinstance(field, list):
        for item in field:
            yield from _models(item)
    elif isinstance(field, dict):
        if isinstance(field.get("$ref"), str):
            yield field["$ref"].rpartition("/")[2]
        for key, value in field.items():
            if key not in {"properties", "$ref"}:
                yield from _models(value)
