"""Remake `schemas/kubernetes/core.json` and `schemas/SOURCES.toml` from the PyPI package `kubernetes-validate`.

A development tool: `python schemas/update.py` writes, `python schemas/update.py --check` compares and exits 1 on drift.
Only the closure of the kinds that ptcompile handles is kept, prose stripped, all Kubernetes versions in one file.
`schemas/README.md` describes the dialect.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

HERE = Path(__file__).resolve().parent
OLDEST = 30
"""The oldest minor version of Kubernetes 1 that is kept."""

ROOTS = (
    "io.k8s.api.core.v1.Pod",
    "io.k8s.api.core.v1.PodTemplateSpec",
    "io.k8s.api.batch.v1.Job",
    "io.k8s.api.core.v1.Service",
    "io.k8s.api.core.v1.ConfigMap",
    "io.k8s.api.core.v1.Secret",
    "io.k8s.api.core.v1.PersistentVolumeClaim",
    "io.k8s.api.core.v1.Namespace",
    "io.k8s.api.networking.v1.NetworkPolicy",
    "io.k8s.api.autoscaling.v2.MetricSpec",  # PyTorchJob's elasticPolicy.metrics
)

# What the source package says loosely and the server's decoder says exactly, by the source's type name.
SCALARS: dict[str, Schema] = {
    "int32": {"type": "integer", "format": "int32", "minimum": -(2**31), "maximum": 2**31 - 1},
    "int64": {"type": "integer", "format": "int64", "minimum": -(2**63), "maximum": 2**63 - 1},
    "bytes": {"type": "string", "format": "byte", "pattern": "^[A-Za-z0-9+/=\\r\\n]*$"},
    "Time": {"type": "string", "format": "date-time"},
    "MicroTime": {"type": "string", "format": "date-time"},
    "Quantity": {"type": ["string", "number"], "format": "quantity"},
    "IntOrString": {"type": ["integer", "string"], "x-kubernetes-int-or-string": True},
    "FieldsV1": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "EmbeddedObjectMeta": {
        "type": "object",
        "properties": {
            "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
            "finalizers": {"type": "array", "items": {"type": "string"}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "name": {"type": "string"},
            "namespace": {"type": "string"},
        },
        "additionalProperties": False,
    },
}

# Defaults that CRD schemas carry and that count when list-map keys are compared (`+default` markers of the Go types).
DEFAULTS: dict[tuple[str, str], Any] = {
    ("ContainerPort", "protocol"): "TCP",
    ("ServicePort", "protocol"): "TCP",
    ("LocalObjectReference", "name"): "",
}

KEPT = ("x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type")


def short(name: str) -> str:
    """`io.k8s.api.core.v1.PodSpec` -> `PodSpec`."""
    return name.rsplit(".", 1)[-1]


def references(schema: Any) -> Iterator[str]:
    """Every definition name that a schema refers to."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].rsplit("/", 1)[-1]
        for value in schema.values():
            yield from references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from references(value)


def closure(definitions: dict[str, Schema]) -> dict[str, Schema]:
    """The definitions that the handled kinds need, by short name. Raises ValueError when two share a short name."""
    found: dict[str, str] = {}
    todo = list(ROOTS)
    while todo:
        name = todo.pop()
        if name not in definitions or found.get(short(name)) == name:
            continue
        if short(name) in found:
            raise ValueError(f"{name} and {found[short(name)]} share a short name")
        found[short(name)] = name
        todo.extend(references(definitions[name]))
    return {key: definitions[name] for key, name in found.items()}


def shape(schema: Schema) -> Schema:
    """One property or item in our dialect: no prose, no null types, exact scalars."""
    if "$ref" in schema:
        name = short(schema["$ref"].rsplit("/", 1)[-1])
        return {"$ref": f"#/$defs/{name}"}
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    kind = next(k for k in kinds if k != "null")
    scalar = {"int32": "int32", "int64": "int64", "byte": "bytes"}.get(schema.get("format", ""))
    if scalar or kind == "integer":
        return {"$ref": f"#/$defs/{scalar or 'int64'}"}
    out: Schema = {"type": kind}
    if "items" in schema:
        out["items"] = shape(schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        out["additionalProperties"] = shape(schema["additionalProperties"])
    out.update({key: schema[key] for key in KEPT if key in schema and schema[key] != "atomic"})
    return out


def marks(versions: list[int], every: list[int]) -> Schema:
    """`x-since` and `x-until`: the first and last version that knows a property, where it is not all of them."""
    out: Schema = {}
    if versions[0] != every[0]:
        out["x-since"] = f"1.{versions[0]}"
    if versions[-1] != every[-1]:
        out["x-until"] = f"1.{versions[-1]}"
    return out


def merge(name: str, by_version: dict[int, Schema], every: list[int]) -> Schema:
    """One definition over all versions; what is required is what the newest says."""
    newest = by_version[max(by_version)]
    properties: Schema = {}
    for prop in sorted({p for s in by_version.values() for p in s.get("properties", {})}):
        versions = sorted(v for v, s in by_version.items() if prop in s.get("properties", {}))
        entry = shape(by_version[versions[-1]]["properties"][prop])
        if (name, prop) in DEFAULTS:
            entry["default"] = DEFAULTS[name, prop]
        properties[prop] = {**entry, **marks(versions, every)}
    out: Schema = {"type": "object"}
    if properties:
        out["properties"] = properties
    if newest.get("required"):
        out["required"] = sorted(newest["required"])
    out["additionalProperties"] = False
    return out


def core(definitions: dict[int, dict[str, Schema]]) -> str:
    """The text of `core.json`, one definition a line. `definitions`: those of the source package, by minor version."""
    every = sorted(definitions)
    closures = {version: closure(definitions[version]) for version in every}
    names = sorted({name for found in closures.values() for name in found} - set(SCALARS))
    defs = dict(SCALARS)
    for name in names:
        defs[name] = merge(name, {v: found[name] for v, found in closures.items() if name in found}, every)
    # Inside a CRD's schema the apiextensions server knows these five keys of an embedded object's metadata alone.
    defs["ObjectMeta"]["x-in-crd"] = "#/$defs/EmbeddedObjectMeta"
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(defs[name], separators=(',', ':'))}" for name in sorted(defs))
    versions = json.dumps([f"1.{v}" for v in every])
    head = '"$schema": "https://json-schema.org/draft/2020-12/schema"'
    return f'{{{head},\n"x-versions": {versions},\n"$defs": {{\n{lines}\n}}}}\n'


def source() -> dict[int, dict[str, Schema]]:
    """The definitions of every version that the installed package has. Raises ImportError when it is not installed."""
    spec = importlib.util.find_spec("kubernetes_validate")
    if spec is None or spec.origin is None:
        raise ImportError("kubernetes-validate is not installed: pip install kubernetes-validate")
    folder = Path(spec.origin).parent / "kubernetes-json-schema"
    out = {}
    for path in folder.glob("v1.*.0-local-strict/_definitions.json"):
        minor = int(path.parent.name.split(".")[1])
        if minor >= OLDEST:
            out[minor] = json.loads(path.read_text(encoding="utf-8"))["$defs"]
    return out


def sources(text: str) -> str:
    """The text of `SOURCES.toml`."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    version = importlib.metadata.version("kubernetes-validate")
    return (
        "# Where the generated schemas come from. Written by schemas/update.py.\n"
        '[kubernetes."core.json"]\n'
        'package = "kubernetes-validate"\n'
        f'version = "{version}"\n'
        f'sha256 = "{digest}"\n'
    )


def main() -> int:
    """Write the files, or with --check compare them. Returns the exit status."""
    text = core(source())
    outputs = {HERE / "kubernetes" / "core.json": text, HERE / "SOURCES.toml": sources(text)}
    if "--check" not in sys.argv[1:]:
        for path, content in outputs.items():
            path.write_text(content, encoding="utf-8", newline="\n")
        return 0
    stale = [path.name for path, content in outputs.items() if path.read_text(encoding="utf-8") != content]
    for name in stale:
        sys.stderr.write(f"{name} differs from its source: run python schemas/update.py\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
