"""Manifests with their secrets hidden: env values by name, all of a Secret, a ConfigMap's values by key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ptcompile.plain import Json, items, kind_of, mapping
from ptcompile.secrets import HIDDEN, masked

SHORTEST = 4
"""A shorter secret is hidden where it stands, and not wherever its letters turn up."""

_DATA = ("data", "stringData", "binaryData")


def hidden(manifest: Json) -> dict[str, Any]:
    """The object with its secrets hidden."""
    out: dict[str, Any] = _entries(dict(manifest))
    kind = kind_of(manifest)
    for key in _DATA if kind in (("v1", "Secret"), ("v1", "ConfigMap")) else ():
        values = mapping(out.get(key))
        if values:
            secret = kind[1] == "Secret"
            out[key] = {k: HIDDEN if secret else masked(str(k), str(v)) for k, v in values.items()}
    return out


def _entries(value: Any) -> Any:
    """Hide the value of every `{name, value}` whose name is a secret's."""
    if isinstance(value, Mapping):
        out = {key: _entries(inner) for key, inner in value.items()}
        name, said = out.get("name"), out.get("value")
        if isinstance(name, str) and isinstance(said, str):
            out["value"] = masked(name, said)
        return out
    return [_entries(item) for item in value] if isinstance(value, list) else value


def has_secrets(manifest: Json) -> bool:
    """Whether there is anything to hide."""
    return hidden(manifest) != manifest


def secrets(container: Json) -> Iterator[str]:
    """The values of a container's variables that must not be shown wherever they turn up."""
    for entry in items(container.get("env")):
        name, value = entry.get("name"), entry.get("value")
        if isinstance(name, str) and isinstance(value, str) and masked(name, value) != value:
            yield from [value] * (len(value) >= SHORTEST)
