"""The operators' schemas against their real CRDs: the same fields, types, enums, bounds and list keys on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from ptcompile._internal.schema_files import load
from ptcompile.apiserver.kinds import CORE, CUSTOM, resolve
from ptcompile.apiserver.structure.checks import is_in_version
from tests import recorded

FILES = {
    "PyTorchJob": "pytorchjob",
    "Job": "volcano-jobs",
    "JobSet": "jobset",
    "TrainJob": "trainer-trainjobs",
    "MPIJob": "other/mpijobs",
    "TrainingRuntime": "trainer-trainingruntimes",
    "ClusterTrainingRuntime": "trainer-clustertrainingruntimes",
}
KINDS = {kind: (version, document) for (version, kind), document in CUSTOM.items()}
QUANTITY = (
    "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))"
    "(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$"
)
ATTRIBUTES = [
    "type",
    "format",
    "enum",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-preserve-unknown-fields",
    "nullable",
]

Row = dict[str, Any]


@cache
def crd(kind: str) -> Mapping[str, Any]:
    (document,) = recorded.rows(f"crds/{FILES[kind]}")
    spec: Mapping[str, Any] = document["spec"]
    return spec


def crd_schema(kind: str) -> Mapping[str, Any]:
    version = KINDS[kind][0].rpartition("/")[2]
    return next(
        v["schema"]["openAPIV3Schema"] for v in crd(kind)["versions"] if v["name"] == version
    )


def attributes(node: Mapping[str, Any]) -> Row:
    """Return the keywords of a node other than its children."""
    row = {name: node[name] for name in ATTRIBUTES if name in node}
    row["required"] = sorted(node.get("required", ()))
    if node.get("x-kubernetes-list-type", "atomic") != "atomic":
        row["list"] = node["x-kubernetes-list-type"]
    return row


def of_crd(node: Mapping[str, Any], path: str) -> Iterator[tuple[str, Row]]:
    row = attributes(node)
    if node.get("x-kubernetes-int-or-string"):
        row = {
            "type": "Quantity" if node.get("pattern") == QUANTITY else "IntOrString",
            "required": [],
        }
    yield path, row
    for name, child in node.get("properties", {}).items():
        yield from of_crd(child, f"{path}.{name}")
    for word, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(node.get(word), dict):
            yield from of_crd(node[word], path + mark)


def of_ours(
    node: Mapping[str, Any], document: str, version: str, path: str
) -> Iterator[tuple[str, Row]]:
    if "$ref" in node:
        yield from of_reference(node["$ref"], document, version, path)
        return
    yield path, attributes(node)
    for name, child in node.get("properties", {}).items():
        if is_in_version(child, version):
            yield from of_ours(child, document, version, f"{path}.{name}")
    for word, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(node.get(word), dict):
            yield from of_ours(node[word], document, version, path + mark)


def of_reference(
    reference: str, document: str, version: str, path: str
) -> Iterator[tuple[str, Row]]:
    file, name = resolve(document, reference)
    target = load(file)["$defs"][name]
    if file == CORE and name in {"Quantity", "IntOrString"}:
        yield path, {"type": name, "required": []}
    elif file == CORE and name in {"int32", "int64"}:
        yield path, {"type": "integer", "format": name, "required": []}
    elif "x-in-crd" in target:
        yield from of_reference(target["x-in-crd"], file, version, path)
    else:
        yield from of_ours(target, file, version, path)


def rows(kind: str) -> tuple[dict[str, Row], dict[str, Row]]:
    document = KINDS[kind][1]
    ours = dict(of_ours(load(document), document, load(document)["x-kubernetes-version"], ""))
    theirs = dict(of_crd(crd_schema(kind), ""))
    # the server decodes `metadata` as for any object; a CRD does not define it
    return {path: row for path, row in ours.items() if not path.startswith(".metadata")}, {
        path: row for path, row in theirs.items() if not path.startswith(".metadata")
    }


@pytest.mark.parametrize("kind", FILES)
def test_our_schema_has_the_fields_of_the_real_crd(kind: str) -> None:
    ours, theirs = rows(kind)
    assert set(ours) - set(theirs) == set()
    assert set(theirs) - set(ours) == set()


@pytest.mark.parametrize("kind", FILES)
def test_our_schema_has_the_types_and_bounds_of_the_real_crd(kind: str) -> None:
    ours, theirs = rows(kind)
    assert {p: (ours[p], theirs[p]) for p in ours if p in theirs and ours[p] != theirs[p]} == {}


@pytest.mark.parametrize("kind", FILES)
def test_our_schema_has_the_key_defaults_of_the_real_crd(kind: str) -> None:
    """The server compares list-map keys after defaulting, so the item's field must have the same default here."""
    document = KINDS[kind][1]
    version = load(document)["x-kubernetes-version"]
    ours = dict(_key_defaults_of_ours(load(document), document, version, ""))
    theirs = dict(_key_defaults(crd_schema(kind), ""))
    assert ours == theirs


def _key_defaults(node: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    for key in node.get("x-kubernetes-list-map-keys", ()):
        yield f"{path}[].{key}", node["items"]["properties"][key].get("default")
    for name, child in node.get("properties", {}).items():
        yield from _key_defaults(child, f"{path}.{name}")
    for word, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(node.get(word), dict):
            yield from _key_defaults(node[word], path + mark)


def _key_defaults_of_ours(
    node: Mapping[str, Any], document: str, version: str, path: str
) -> Iterator[tuple[str, Any]]:
    if "$ref" in node:
        if path != ".metadata":
            document, name = resolve(document, node["$ref"])
            target = load(document)["$defs"][name]
            if "x-in-crd" not in target:
                yield from _key_defaults_of_ours(target, document, version, path)
        return
    for key in node.get("x-kubernetes-list-map-keys", ()):
        item, home = node["items"], document
        while "$ref" in item:
            home, name = resolve(home, item["$ref"])
            item = load(home)["$defs"][name]
        yield f"{path}[].{key}", item["properties"][key].get("default")
    for name, child in node.get("properties", {}).items():
        if is_in_version(child, version):
            yield from _key_defaults_of_ours(child, document, version, f"{path}.{name}")
    for word, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(node.get(word), dict):
            yield from _key_defaults_of_ours(node[word], document, version, path + mark)


KNOWN_RULES = {
    "!(has(self.startupPolicy) && self.startupPolicy.startupPolicyOrder == 'InOrder' "
    "&& self.replicatedJobs.exists(x, has(x.dependsOn)))",
    "self.templates.all(t, !has(t.metadata.namespace) || size(t.metadata.namespace) == 0)",
    "[has(self.torch), has(self.mpi), has(self.jax), has(self.xgboost),has(self.flux)].filter(x, x).size() <= 1",
    "self >= 1",
    "!self.exists(c, c == 'node')",
    "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    "size(self.metadata.name) <= 63",
    "self == '' || self.matches('^[A-Za-z][A-Za-z0-9+.-]*://.+$')",
    "self in ['trainer.kubeflow.org/trainjob-controller', 'kueue.x-k8s.io/multikueue']",
    "has(self.lastUpdatedTime)",  # concerns the status, which is dropped on creation
}
"""Create-time rules that have functions in the kinds' `crd_rules`."""


def test_all_create_time_rules_are_covered() -> None:
    rules = {rule for kind in FILES for rule in _rules(crd_schema(kind)) if "oldSelf" not in rule}
    assert rules == KNOWN_RULES


def _rules(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        yield from (
            entry["rule"]
            for entry in node.get("x-kubernetes-validations", ())
            if isinstance(entry, dict)
        )
        for value in node.values():
            yield from _rules(value)


def test_only_pytorchjob_has_a_scale_subresource() -> None:
    """Its replicas must not be negative (see crd/pytorchjob.py)."""
    scaled = {
        kind
        for kind in FILES
        for v in crd(kind)["versions"]
        if "scale" in v.get("subresources", {})
    }
    assert scaled == {"PyTorchJob"}
