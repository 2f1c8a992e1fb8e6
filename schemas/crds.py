"""CRD manifests made compact: `schemas/crds/`, a file for each API group. `update.py --crds FOLDER`
writes them.

What a group's kinds have in common (pod templates, above all) is written once, under `$defs`.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from ptcompile.apiserver.crds.loader import is_crd, kinds_of
from ptcompile.apiserver.kinds import SHIPPED_GROUPS

METADATA = {"$ref": "../kubernetes/core.json#/$defs/ObjectMeta", "x-decoded": True}
SHORT = 60
"""Nodes of so few characters are written where they stand."""


def write(source: Path, target: Path) -> None:
    """Read the CRDs of every file in `source` and write a file for each API group into `target`."""
    groups: dict[str, dict[str, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    for path in sorted(source.glob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            if not isinstance(document, dict) or not is_crd(document):
                continue
            for api_version, kind, schema, status, deprecation in kinds_of(document, METADATA):
                schema.get("properties", {}).pop("status", None) if not status else None
                entry = {"schema": schema, "status": status}
                if deprecation:
                    entry["deprecation"] = deprecation
                groups[api_version.rpartition("/")[0]][api_version][kind] = entry

    target.mkdir(exist_ok=True)
    for group in SHIPPED_GROUPS:
        kinds = groups[group]
        (target / f"{group}.json").write_text(compact(kinds), encoding="utf-8", newline="\n")


def compact(kinds: dict[str, dict[str, Any]]) -> str:
    """The text of a group's file."""
    counts: Counter[str] = Counter()
    _count(kinds, counts)
    defs: dict[str, Any] = {}
    table = {
        version: {
            kind: {**entry, "schema": _shared(entry["schema"], counts, defs, root=True)}
            for kind, entry in sorted(of.items())
        }
        for version, of in sorted(kinds.items())
    }
    lines = ",\n".join(f"{json.dumps(key)}: {_text(defs[key])}" for key in sorted(defs))
    rows = ",\n".join(f"{json.dumps(version)}: {_text(of)}" for version, of in table.items())

    return f'{{"kinds": {{\n{rows}\n}},\n"$defs": {{\n{lines}\n}}}}\n'


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def _count(value: Any, counts: Counter[str]) -> None:
    if isinstance(value, dict):
        if "type" in value and isinstance(value["type"], str):
            text = _text(value)
            counts[text] += 1
            if counts[text] > 1:
                return
        for one in value.values():
            _count(one, counts)
    elif isinstance(value, list):
        for one in value:
            _count(one, counts)


def _shared(
    node: dict[str, Any], counts: Counter[str], defs: dict[str, Any], *, root: bool = False
) -> dict[str, Any]:
    """A node whose repeated parts are references; what the server fills in stays beside the
    reference.
    """
    text = _text(node)
    out = dict(node)
    for key in ("items", "additionalProperties"):
        if isinstance(out.get(key), dict):
            out[key] = _shared(out[key], counts, defs)
    if "properties" in out:
        out["properties"] = {
            name: _shared(one, counts, defs) for name, one in out["properties"].items()
        }
    if root or counts[text] < 2 or len(text) < SHORT:
        return out

    name = hashlib.sha256(text.encode()).hexdigest()[:8]
    defs[name] = out
    beside: dict[str, Any] = {
        key: out[key] for key in ("default", "nullable", "x-ruled") if key in out
    }

    return {"$ref": f"#/$defs/{name}", **beside}
