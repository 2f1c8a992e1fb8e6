"""Objects of defined kinds: a user's definition never makes the built-in checks of an operator's kind weaker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import ptcompile
from tests.operators.kueue.objects.making import cluster_queue

LOOSE: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "clusterqueues.kueue.x-k8s.io"},
    "spec": {
        "group": "kueue.x-k8s.io",
        "names": {"kind": "ClusterQueue", "plural": "clusterqueues"},
        "scope": "Cluster",
        "versions": [
            {
                "name": "v1beta2",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
}
CONTRADICTING = {"reclaimWithinCohort": "Never", "borrowWithinCohort": {"policy": "LowerPriority"}}


@pytest.fixture(params=["crd.yaml", "clusterqueue_v1beta2.json"])
def schemas(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a definition that accepts everything: a CRD or a JSON Schema."""
    path: Path = tmp_path / "kueue.x-k8s.io" / request.param
    path.parent.mkdir()
    path.write_text(yaml.safe_dump(LOOSE) if request.param == "crd.yaml" else "{}")
    return path


@pytest.mark.parametrize(
    ("queue", "authority"),
    [
        (cluster_queue({"nominalQuota": -1}), "kueue"),
        (cluster_queue({}, queueingStrategy="Bad"), "kube-apiserver"),
        (cluster_queue({"nominalQuota": "x"}), "kube-apiserver"),
        (cluster_queue({}, preemption=CONTRADICTING), "kube-apiserver"),
    ],
)
def test_built_in_checks_run_besides_a_user_s_definition(
    queue: dict[str, Any], authority: str, schemas: Path
) -> None:
    (diagnostic,) = ptcompile.lint(queue, schemas=[schemas]).diagnostics
    assert diagnostic.authority == authority


def test_the_users_definition_says_which_fields_exist(schemas: Path) -> None:
    queue = cluster_queue({}, newField=1)
    assert not ptcompile.lint(queue, schemas=[schemas]).diagnostics
    assert [d.name for d in ptcompile.lint(queue).diagnostics] == ["unknown-field"]


def test_webhooks_alone_write_amounts_as_text() -> None:
    """The server validates what the mutating webhook sends back, which is no number any more."""
    queue = cluster_queue({"nominalQuota": 1.5})
    assert not ptcompile.lint(queue).diagnostics
    (diagnostic,) = ptcompile.lint(queue, webhooks=False).diagnostics
    assert diagnostic.path[-1] == "nominalQuota"


def crd_of(group: str, kind: str, version: str, schema: dict[str, Any]) -> dict[str, Any]:
    names = {"kind": kind, "plural": f"{kind.lower()}s"}
    entry = {
        "name": version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{names['plural']}.{group}"},
        "spec": {"group": group, "names": names, "scope": "Namespaced", "versions": [entry]},
    }


EMBEDDED = {
    "type": "object",
    "x-kubernetes-embedded-resource": True,
    "x-kubernetes-preserve-unknown-fields": True,
}
PIPELINE = {"type": "object", "properties": {"steps": {"type": "array", "items": EMBEDDED}}}
STEP = {"apiVersion": "v1", "kind": "ConfigMap"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        (
            {
                "data": {"a": "b"},
                "metadata": {"name": "A_b", "finalizers": ["plain"], "namespace": ""},
            },
            [],
        ),
        ({"apiVersion": ""}, ['steps[0].apiVersion: Invalid value: "": must not be empty']),
        (
            {"apiVersion": "a/b/c"},
            ['steps[0].apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
        ),
        ({"kind": ""}, ['steps[0].kind: Invalid value: "": must not be empty']),
        (
            {"kind": "a b"},
            [
                'steps[0].kind: Invalid value: "a b": may have mixed case, but should otherwise match: '
            ],
        ),
        (
            {"metadata": {"name": "a/b"}},
            ["steps[0].metadata.name: Invalid value: \"a/b\": may not contain '/'"],
        ),
        (
            {"metadata": {"namespace": "LABEL"}},
            ['steps[0].metadata.namespace: Invalid value: "LABEL": '],
        ),
        (
            {"metadata": {"labels": {"a b": ""}}},
            ['steps[0].metadata.labels: Invalid value: "a b": '],
        ),
        ({"metadata": {"generation": -1}}, ["steps[0].metadata.generation: Invalid value: -1: "]),
        (
            {"metadata": {"ownerReferences": [{"apiVersion": "a/b/c", "kind": "A", "name": "b"}]}},
            ["version", "uid"],
        ),
    ],
)
def test_embedded_objects_are_checked(change: dict[str, Any], expected: list[str]) -> None:
    crd = crd_of("example.com", "Pipeline", "v1", PIPELINE)
    pipeline = {"apiVersion": "example.com/v1", "kind": "Pipeline", "metadata": {"name": "p"}}
    objects = yaml.safe_dump_all([crd, {**pipeline, "steps": [{**STEP, **change}]}])
    messages = [d.message for d in ptcompile.lint(objects).diagnostics]
    assert len(messages) == len(expected), messages
    assert all(part in message for part, message in zip(expected, messages, strict=True)), messages


def test_a_users_crd_of_an_operators_kind_is_applied_too(tmp_path: Path) -> None:
    spec = {"type": "object", "properties": {"minMember": {"type": "integer", "minimum": 2}}}
    crd = crd_of(
        "scheduling.volcano.sh",
        "PodGroup",
        "v1beta1",
        {"type": "object", "properties": {"spec": spec}},
    )
    path = tmp_path / "crd.yaml"
    path.write_text(yaml.safe_dump(crd))
    group = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "a"},
    }
    group["spec"] = {"minMember": 1}
    assert not ptcompile.lint(group).diagnostics
    (diagnostic,) = ptcompile.lint(group, schemas=[path]).diagnostics
    assert (
        diagnostic.message == "spec.minMember: Invalid value: 1: must be greater than or equal to 2"
    )


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (
            "duration(self) > duration('1s')",
            "type conversion error from 'string' to 'google.protobuf.Duration'",
        ),
        ("int(self) > 1", "type conversion error from 'string' to 'int'"),
        ("self.split('-')[1] == 'a'", "index out of bounds: 1"),
    ],
)
def test_a_rule_that_fails_on_the_value_rejects_the_object(rule: str, expected: str) -> None:
    text = {
        "type": "string",
        "x-kubernetes-validations": [{"rule": rule, "message": "must be good"}],
    }
    crd = crd_of("example.com", "Pause", "v1", {"type": "object", "properties": {"time": text}})
    pause = {
        "apiVersion": "example.com/v1",
        "kind": "Pause",
        "metadata": {"name": "p"},
        "time": "a b",
    }
    (diagnostic,) = ptcompile.lint(yaml.safe_dump_all([crd, pause])).diagnostics
    assert (diagnostic.severity, diagnostic.stage, diagnostic.authority) == (
        "error",
        "apply",
        "kube-apiserver",
    )
    assert diagnostic.message == f"time: Invalid value: {expected} evaluating rule: must be good"
