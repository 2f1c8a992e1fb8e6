"""Kinds that CRDs and JSON Schemas define: structure, defaults, formats, CEL rules, and the sources of definitions."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ptcompile
from ptcompile.apiserver.crds import shipped_definition
from ptcompile.apiserver.crds.loader import read_definitions
from ptcompile.apiserver.kinds import SHIPPED_GROUPS

Json = dict[str, Any]

SPEC: Json = {
    "type": "object",
    "required": ["size", "mode"],
    "x-kubernetes-validations": [
        {"rule": "!has(self.low) || self.low <= self.size", "message": "low is above size"},
        {"rule": "self.mode == oldSelf.mode", "message": "mode is immutable"},
    ],
    "properties": {
        "size": {"type": "integer", "format": "int32", "minimum": 1},
        "low": {"type": "integer"},
        "mode": {"type": "string", "enum": ["A", "B"], "default": "A"},
        "when": {"type": "string", "format": "date-time"},
        "amount": {
            "x-kubernetes-int-or-string": True,
            "anyOf": [{"type": "integer"}, {"type": "string"}],
        },
        "share": {"type": "number", "maximum": 1},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "labels": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "maxProperties": 1,
        },
        "one": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
        "ports": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string"}},
            },
        },
    },
}
SPEC["properties"]["one"]["oneOf"] = [{"required": ["a"]}, {"required": ["b"]}]


def crd(**more: Any) -> Json:
    """Return a CustomResourceDefinition of one kind."""
    schema = {"type": "object", "properties": {"spec": SPEC, "status": {"type": "object"}}, **more}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Thing", "plural": "things"},
            "versions": [{**version, "subresources": {"status": {}}}],
        },
    }


def thing(**spec: Any) -> Json:
    """Return an object of the kind that `crd` defines."""
    return {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {"name": "a"},
        "spec": {"size": 2, **spec},
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "things.yaml").write_text(json.dumps(crd()), encoding="utf-8")
    return tmp_path


def problems_of(manifest: Json, schemas: Path, **options: Any) -> list[tuple[str, str]]:
    """Return the names and paths of the problems of a manifest."""
    report = ptcompile.lint(manifest, schemas=[schemas], **options)
    return [(d.name, ".".join(map(str, d.path))) for d in report.diagnostics]


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"mode": "B"},
        {"amount": "10Gi"},
        {"amount": 3},
        {"when": "2026-01-31T12:00:00Z"},
        {"free": {"x": [1]}},
        {"low": 2},
        {"low": None},
        {"one": {"a": "x"}},
        {"ports": [{"name": "a"}, {"name": "b"}]},
    ],
)
def test_values_that_the_crd_accepts_have_no_problem(spec: Json, folder: Path) -> None:
    assert problems_of(thing(**spec), folder) == []


@pytest.mark.parametrize(
    ("spec", "name", "where"),
    [
        ({"size": 0}, "invalid-value", "spec.size"),
        ({"size": None}, "required-value", "spec.size"),
        ({"size": "2"}, "wrong-type", "spec.size"),
        ({"size": 2**31}, "wrong-type", "spec.size"),
        ({"sise": 2}, "unknown-field", "spec.sise"),
        ({"mode": "C"}, "unsupported-value", "spec.mode"),
        ({"when": "today"}, "invalid-value", "spec.when"),
        ({"amount": True}, "wrong-type", "spec.amount"),
        ({"share": 1.5}, "invalid-value", "spec.share"),
        ({"labels": {"a": "b", "c": "d"}}, "too-many-items", "spec.labels"),
        ({"one": {"a": "x", "b": "y"}}, "invalid-value", "spec.one"),
        ({"ports": [{"name": "a"}, {"name": "a"}]}, "duplicate-value", "spec.ports.1"),
        ({"ports": [None]}, "wrong-type", "spec.ports.0"),
        ({"low": 3}, "invalid-value", "spec"),
    ],
)
def test_values_that_the_crd_rejects_have_their_problem(
    spec: Json, name: str, where: str, folder: Path
) -> None:
    assert problems_of(thing(**spec), folder) == [(name, where)]


def test_servers_before_1_36_ignore_integer_formats(folder: Path) -> None:
    assert problems_of(thing(size=2**31), folder, kubernetes="1.35") == []


def test_metadata_is_checked_as_for_any_object(folder: Path) -> None:
    bad = thing()
    bad["metadata"] = {"name": "A", "label": {}}
    assert set(problems_of(bad, folder)) == {
        ("invalid-value", "metadata.name"),
        ("unknown-field", "metadata.label"),
    }


def test_status_is_dropped_on_creation(folder: Path) -> None:
    assert problems_of({**thing(), "status": "x"}, folder) == []


def test_a_crd_in_the_stream_is_used() -> None:
    text = "\n---\n".join(json.dumps(manifest) for manifest in (crd(), thing(size=0)))
    assert [d.message for d in ptcompile.lint(text).diagnostics if d.resource == "Thing/a"] == [
        "spec.size: Invalid value: 0: must be greater than or equal to 1"
    ]


def test_an_unsupported_rule_is_reported(tmp_path: Path) -> None:
    more = {"x-kubernetes-validations": [{"rule": "isFoo(self)"}]}
    (tmp_path / "c.yaml").write_text(json.dumps(crd(**more)), encoding="utf-8")
    report = ptcompile.lint(thing(), schemas=[tmp_path])
    assert [(d.name, d.severity) for d in report.diagnostics] == [("unread-rule", "warning")]


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ("quantity(self.amount).isGreaterThan(quantity('1Gi'))", True),
        (
            "isQuantity(self.amount) && quantity(self.amount).compareTo(quantity('2048Mi')) == 1",
            False,
        ),
        ("self.mode.lowerAscii() == 'a'", True),
        ("self.mode.split('') == ['A']", True),
        ("isURL(self.mode)", False),
        ("self.absent == 1", False),
        ("has(self.absent)", False),
    ],
)
def test_kubernetes_own_functions_are_evaluated(rule: str, holds: bool, tmp_path: Path) -> None:
    definition = crd()
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"] = {
        "spec": {**SPEC, "x-kubernetes-validations": [{"rule": rule, "message": "m"}]}
    }
    (tmp_path / "c.yaml").write_text(json.dumps(definition), encoding="utf-8")
    assert problems_of(thing(amount="2Gi"), tmp_path) == (
        [] if holds else [("invalid-value", "spec")]
    )


@pytest.mark.parametrize("name", ["thing-example-v1.json", "example.com/thing_v1.json"])
def test_a_json_schema_is_found_in_kubeconforms_layouts(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    schema = {
        "type": "object",
        "properties": {"spec": {"properties": {"size": {"type": "integer"}}}},
    }
    path.write_text(json.dumps(schema), encoding="utf-8")
    assert problems_of(thing(), tmp_path) == []
    assert problems_of(thing(size="x"), tmp_path) == [("wrong-type", "spec.size")]


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **_: object) -> None:
        pytest.fail(f"a connection is opened: {arguments}")

    monkeypatch.setattr("urllib.request.urlopen", refuse)


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize(
    "ref", ["http://127.0.0.1:9/x.json", "file:///etc/hostname", "other.json", "#/definitions/none"]
)
def test_a_remote_reference_is_reported(ref: str, tmp_path: Path) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"spec": {"$ref": ref}},
    }
    (tmp_path / "thing-example-v1.json").write_text(json.dumps(schema), encoding="utf-8")
    report = ptcompile.lint(thing(), schemas=[tmp_path])
    assert [(d.name, d.severity) for d in report.diagnostics] == [("unread-rule", "warning")]
    assert ref.rpartition("/")[2] in report.diagnostics[0].message


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize(
    "ref", ["http://127.0.0.1:9/x.json", "file:///etc/hostname", "#/definitions/none"]
)
def test_a_crd_of_the_stream_fetches_nothing(ref: str, tmp_path: Path) -> None:
    definition = crd()
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"] = {"spec": {**SPEC, "anyOf": [{"$ref": ref}]}}
    (tmp_path / "c.yaml").write_text(json.dumps(definition), encoding="utf-8")
    assert problems_of(thing(), tmp_path) == [("unread-rule", "kind")]


@pytest.mark.parametrize(
    ("name", "content"),
    [("x.yaml", "a: b"), ("x.yaml", "{"), ("x.yaml", "[]"), ("y.json", "{"), ("y.json", "[]")],
)
def test_a_file_without_a_definition_is_an_error(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(name)):
        read_definitions([path])


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="No such file"):
        ptcompile.lint(thing(), schemas=[tmp_path / "none"])


SHIPPED_KINDS = [
    ("kueue.x-k8s.io/v1beta2", "ClusterQueue"),
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
    ("ray.io/v1", "RayCluster"),
    ("ray.io/v1", "RayJob"),
]


@pytest.mark.parametrize("kind", SHIPPED_KINDS)
def test_every_shipped_kind_is_checked(kind: tuple[str, str]) -> None:
    assert kind[0].rpartition("/")[0] in SHIPPED_GROUPS
    assert shipped_definition(kind) is not None
    report = ptcompile.lint(
        {"apiVersion": kind[0], "kind": kind[1], "metadata": {"name": "a"}, "spec": {"x": 1}}
    )
    assert ("unknown-field", ("spec", "x")) in [(d.name, d.path) for d in report.diagnostics]


def test_pods_of_a_shipped_kind_are_checked() -> None:
    template = {
        "spec": {"containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 0}]}]}
    }
    spec = {"leaderWorkerTemplate": {"size": 2, "workerTemplate": template}}
    manifest = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "a"},
    }
    (diagnostic,) = ptcompile.lint({**manifest, "spec": spec}).diagnostics
    assert (diagnostic.stage, diagnostic.path[-1]) == ("pod", "containerPort")


@pytest.mark.parametrize(
    ("api_version", "kind", "right"),
    [
        ("trainer.kubeflow.org/v1", "PyTorchJob", "kubeflow.org/v1"),
        ("apps/v1beta1", "Deployment", "apps/v1"),
        ("extensions/v1beta1", "Ingress", "networking.k8s.io/v1"),
        ("batch/v1", "JobSet", "jobset.x-k8s.io/v1alpha2"),
    ],
)
def test_a_known_kind_under_another_api_version_is_an_error(
    api_version: str, kind: str, right: str
) -> None:
    (diagnostic,) = ptcompile.lint(
        {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}}
    ).diagnostics
    assert (diagnostic.code, diagnostic.path, diagnostic.severity) == (
        "PTC590",
        ("apiVersion",),
        "error",
    )
    assert right in str(diagnostic.help)


@pytest.mark.parametrize(
    "kind", [("serving.knative.dev/v1", "Service"), ("kubeflow.org/v1", "MPIJob")]
)
def test_an_unknown_kind_is_counted(kind: tuple[str, str]) -> None:
    report = ptcompile.lint({"apiVersion": kind[0], "kind": kind[1], "metadata": {"name": "a"}})
    assert (report.diagnostics, len(report.unchecked)) == ((), 1)


def test_neither_library_is_loaded_for_kinds_that_need_none() -> None:
    code = (
        "import sys, ptcompile\n"
        "ptcompile.lint({'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'a'}, 'spec': {}})\n"
        "names = ('cel', 'jsonschema', 'ptcompile.apiserver.cel', 'ptcompile.apiserver.crds')\n"
        "print([name for name in names if name in sys.modules])\n"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )
