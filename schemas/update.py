"""Remake what is generated in `schemas/`: from the PyPI package `kubernetes-validate`, CRDs, Go
source and ptcompile; and the tables of ptcompile's rules, from the rules.

A development tool: `python schemas/update.py` writes, `python schemas/update.py --check` compares
and exits 1 on drift. `core.json` has the kinds that a training job is made of, the files of
`groups/` every other kind; prose stripped, all Kubernetes versions in one file. It prints what the
newest Kubernetes brings and a person decides about. `schemas/README.md` describes the dialect,
`docs/maintaining/new-release.md` when to run it.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import capabilities
import crds
import descriptions
import gates
import groups
import rule_tables

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

# What the source package says loosely and the server's decoder says exactly, by the source's type
# name.
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

# Defaults that CRD schemas carry and that count when list-map keys are compared (`+default` markers
# of the Go types).
DEFAULTS: dict[tuple[str, str], Any] = {
    ("ContainerPort", "protocol"): "TCP",
    ("ServicePort", "protocol"): "TCP",
    ("LocalObjectReference", "name"): "",
}

KEPT = ("x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type")


def short(name: str) -> str:
    """`io.k8s.api.core.v1.PodSpec` -> `PodSpec`."""
    return name.rsplit(".", 1)[-1]


def closure(definitions: dict[str, Schema]) -> dict[str, str]:
    """The definitions that the handled kinds need: full names by short name. Raises ValueError
    when two share one.
    """
    found: dict[str, str] = {}
    todo = list(ROOTS)
    while todo:
        name = todo.pop()
        if name not in definitions or found.get(short(name)) == name:
            continue
        if short(name) in found:
            raise ValueError(f"{name} and {found[short(name)]} share a short name")
        found[short(name)] = name
        todo.extend(groups.references(definitions[name]))

    return found


def in_core(name: str) -> Schema:
    """A `$ref` to a definition from within `core.json`."""
    return {"$ref": f"#/$defs/{short(name)}"}


def shape(schema: Schema, refer: Callable[[str], Schema]) -> Schema:
    """One property or item in our dialect: no prose, no null types, exact scalars."""
    if "$ref" in schema:
        return refer(schema["$ref"].rsplit("/", 1)[-1])

    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    kind = next(k for k in kinds if k != "null")
    scalar = {"int32": "int32", "int64": "int64", "byte": "bytes"}.get(schema.get("format", ""))
    if scalar or kind == "integer":
        return refer(scalar or "int64")

    out: Schema = {"type": kind}
    if "items" in schema:
        out["items"] = shape(schema["items"], refer)
    if isinstance(schema.get("additionalProperties"), dict):
        out["additionalProperties"] = shape(schema["additionalProperties"], refer)
    out.update({key: schema[key] for key in KEPT if key in schema and schema[key] != "atomic"})

    return out


def marks(versions: list[int], every: list[int]) -> Schema:
    """`x-since` and `x-until`: the first and last version that knows a property, where it is not
    all of them.
    """
    out: Schema = {}
    if versions[0] != every[0]:
        out["x-since"] = f"1.{versions[0]}"
    if versions[-1] != every[-1]:
        out["x-until"] = f"1.{versions[-1]}"
    return out


def merge(
    name: str,
    by_version: dict[int, Schema],
    every: list[int],
    refer: Callable[[str], Schema] = in_core,
) -> Schema:
    """One definition over all versions; what is required is what the newest says."""
    newest = by_version[max(by_version)]
    properties: Schema = {}
    for prop in sorted({p for s in by_version.values() for p in s.get("properties", {})}):
        versions = sorted(v for v, s in by_version.items() if prop in s.get("properties", {}))
        entry = shape(by_version[versions[-1]]["properties"][prop], refer)
        if (name, prop) in DEFAULTS:
            entry["default"] = DEFAULTS[name, prop]
        known = sorted(by_version) if refer is not in_core else every
        texts = [by_version[v]["properties"][prop].get("description") or "" for v in versions]
        properties[prop] = {**entry, **marks(versions, known), **gates.of_field(name, prop, texts)}

    out: Schema = {"type": "object"}
    if properties:
        out["properties"] = properties
    if newest.get("required"):
        out["required"] = sorted(newest["required"])
    out["additionalProperties"] = False

    return out


def core(definitions: dict[int, dict[str, Schema]], closures: dict[int, dict[str, str]]) -> str:
    """The text of `core.json`, one definition a line. `definitions`: those of the source
    package, by minor version.
    """
    every = sorted(definitions)
    names = sorted({name for found in closures.values() for name in found} - set(SCALARS))
    defs = dict(SCALARS)
    for name in names:
        by_version = {
            v: definitions[v][found[name]] for v, found in closures.items() if name in found
        }
        defs[name] = merge(name, by_version, every)

    # Inside a CRD's schema the apiextensions server knows these five keys of an embedded object's
    # metadata alone.
    defs["ObjectMeta"]["x-in-crd"] = "#/$defs/EmbeddedObjectMeta"
    lines = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(defs[name], separators=(',', ':'))}"
        for name in sorted(defs)
    )
    versions = json.dumps([f"1.{v}" for v in every])
    head = '"$schema": "https://json-schema.org/draft/2020-12/schema"'

    return f'{{{head},\n"x-versions": {versions},\n"$defs": {{\n{lines}\n}}}}\n'


@cache
def source() -> dict[int, dict[str, Schema]]:
    """The definitions of every version that the installed package has. Raises ImportError when
    it is not installed.
    """
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


def kubernetes() -> dict[Path, str]:
    """The text of every file of `schemas/kubernetes/`, and of `SOURCES.toml`."""
    definitions = source()
    every = sorted(definitions)
    closures = {version: closure(definitions[version]) for version in every}
    full = {name for found in closures.values() for name in found.values()}
    places = groups.Places(full, SCALARS)
    kinds = groups.kinds(definitions)
    folder = HERE / "kubernetes"
    out = {folder / "core.json": core(definitions, closures)}
    out[folder / "kinds.json"] = groups.index(
        kinds, places, lambda versions: marks(versions, every)
    )
    made = groups.files(
        definitions, kinds, places, lambda name, all_, refer: merge(name, all_, every, refer)
    )
    out.update({folder / "groups" / f"{group}.json": text for group, text in made.items()})

    out |= descriptions.kubernetes(definitions, out, places)
    out[HERE / "SOURCES.toml"] = sources(out[folder / "core.json"])

    return out


def _write(outputs: dict[Path, str]) -> None:
    for path, content in outputs.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", newline="\n")


def remake(crd_folder: Path | None, gate_source: Path | None) -> None:
    """Write every generated file that its source is there for; each reads those before it."""
    _write(rule_tables.tables())
    if gate_source is not None:
        _write({gates.FILE: gates.text_with(gate_source.read_text(encoding="utf-8"))})
        gates.stages_of_all.cache_clear()

    _write(kubernetes())
    if crd_folder is not None:
        crds.write(crd_folder, HERE / "crds")
        _write(descriptions.custom(crd_folder))

    _write(of_the_package())


def of_the_package() -> dict[Path, str]:
    """Return the text of the files that ptcompile itself makes, with what is in `schemas/` now. The
    tables of its rules are `rule_tables`' own.
    """
    from ptcompile.api.reference import schema

    out = {
        HERE / f"{name}.schema.json": json.dumps(schema(name), indent=2) + "\n"
        for name in ("spec", "cluster")
    }
    out[HERE / "targets.json"] = json.dumps(capabilities.capability_table(), indent=2) + "\n"
    return out


def to_decide() -> Iterator[str]:
    """Yield what the newest release brings: a person decides what it means, as
    docs/maintaining/new-release.md says.
    """
    definitions = source()
    newest, older = max(definitions), definitions[max(definitions) - 1]
    known = gates.stages_of_all()["kubernetes"]
    written = {
        name: schema
        for name, schema in definitions[newest].items()
        if not name.endswith(("List", "Status"))
    }
    for name, schema in sorted(written.items()):
        title = name.removeprefix("io.k8s.api.")
        before, fields = older.get(name, {}).get("properties", {}), schema.get("properties", {})
        if name not in older and "x-kubernetes-group-version-kind" in schema:
            yield f"kind {title}"
        for field in sorted(fields.keys() - before.keys()) if name in older else ():
            gate = gates.gate_of(short(name), field, [fields[field].get("description") or ""])
            lost = ", which is not in gates.json" if gate not in known else ""
            yield f"field {title}.{field}" + (f" (gate {gate}{lost})" if gate else "")
        yield from (f"gone {title}.{field}" for field in before if field not in fields)
    for gate, stages in known.items():
        words = [f"{stage} {'on' if default else 'off'}" for _, stage, default, *_ in stages]
        if stages[-1][0] == newest:
            yield f"gate {gate}: {', then '.join(words[-2:])}"


def modeled() -> str:
    """Return the newest version of Kubernetes that ptcompile says it models."""
    text = (HERE.parent / "ptcompile" / "kubernetes" / "releases.json").read_text(encoding="utf-8")
    return str(json.loads(text)["releases"]["kubernetes"]["modeled"])


def main() -> int:
    """Write the files, or with --check compare them. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python schemas/update.py", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="compare the files of kubernetes/, and exit 1 on drift"
    )
    parser.add_argument(
        "--crds", type=Path, metavar="FOLDER", help="CRD manifests: remake crds/, too"
    )
    parser.add_argument(
        "--gates", type=Path, metavar="FILE", help="kube_features.go: remake gates.json, too"
    )
    parser.add_argument(
        "--rules", action="store_true", help="remake the tables of ptcompile's rules alone"
    )
    options = parser.parse_args()
    if options.rules:
        _write(rule_tables.tables())
        return 0

    newest = f"1.{max(source())}"
    if not options.check and newest != modeled():
        parser.error(
            f"kubernetes-validate has Kubernetes {newest}, and ptcompile/kubernetes/releases.json "
            f"models {modeled()}: install the package of the release, or set modeled first"
        )
    if not options.check:
        remake(options.crds, options.gates)
        sys.stdout.writelines(f"{line}\n" for line in to_decide())
        return 0

    stale = [
        path.name
        for path, text in kubernetes().items()
        if not path.exists() or path.read_text("utf-8") != text
    ]
    for name in stale:
        sys.stderr.write(f"{name} differs from its source: run python schemas/update.py\n")

    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
