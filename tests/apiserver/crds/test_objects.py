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
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
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
def test_built_in_checks_remain(queue: dict[str, Any], authority: str, schemas: Path) -> None:
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
