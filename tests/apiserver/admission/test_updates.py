"""What admission plugins reject of an update, as `diff` reports it."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from tests.apiserver.admission.beside import Json, job, limit_range, quota
from tests.apiserver.admission.test_policies import PODS, binding, policy
from tests.apiserver.admission.test_profile import profile

UPDATES = [{**PODS, "apiGroups": ["apps"], "operations": ["UPDATE"], "resources": ["deployments"]}]


def deployment(replicas: int) -> Json:
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    spec = {"replicas": replicas, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}


def claim(storage: str, **fields: Any) -> Json:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "s",
        "resources": {"requests": {"storage": storage}},
    }
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "c"},
        "spec": spec,
        **fields,
    }


def findings(old: Json, new: Json, *objects: Json) -> list[str]:
    diagnostics = ptcompile.diff(old, new, to_cluster=profile(*objects)).diagnostics
    return [
        f"{diagnostic.code} {diagnostic.stage}: {diagnostic.message}"
        for diagnostic in diagnostics
        if diagnostic.severity == "error"
    ]


@pytest.mark.parametrize(
    ("expression", "denied"),
    [
        ("oldObject.spec.replicas <= object.spec.replicas", True),
        ("oldObject.spec.replicas > object.spec.replicas", False),
        ("request.operation == 'UPDATE'", False),
        ("object.spec.progressDeadlineSeconds == 600", False),  # a default
    ],
)
def test_policies_see_both_objects(expression: str, denied: bool) -> None:
    reported = findings(deployment(3), deployment(2), policy(expression, rules=UPDATES), binding())
    assert [text.partition(":")[0] for text in reported] == ["PTC594 apply"] * denied


def test_an_unchanged_object_is_not_sent() -> None:
    ruled = policy("false", rules=UPDATES)
    assert findings(deployment(3), deployment(3), ruled, binding()) == []
    assert len(findings(deployment(3), deployment(4), ruled, binding())) == 1


def test_policies_of_the_second_side_reject_an_update() -> None:
    objects = [policy("false", rules=UPDATES), binding()]
    diagnostics = ptcompile.diff([deployment(3)], [deployment(4), *objects]).diagnostics
    assert "PTC594" in {diagnostic.code for diagnostic in diagnostics}


def test_only_the_growth_of_a_claim_counts() -> None:
    bound = {"phase": "Bound", "capacity": {"storage": "5Gi"}}
    old = claim("5Gi", status=bound)
    used = {"status": {"used": {"requests.storage": "8Gi"}}}
    grown = findings(old, claim("9Gi"), {**quota({"requests.storage": "10Gi"}), **used})
    assert [text.partition("exceeded")[2] for text in grown] == [
        " quota: team, requested: requests.storage=4Gi, used: requests.storage=8Gi, limited: requests.storage=10Gi"
    ]
    assert findings(old, claim("7Gi"), {**quota({"requests.storage": "10Gi"}), **used}) == []


def test_pods_are_not_counted_again() -> None:
    old, new = job({}), job({})
    new["metadata"]["labels"] = {"a": "b"}
    assert (
        findings(old, new, quota({"pods": 0}), limit_range({"type": "Pod", "min": {"cpu": 1}}))
        == []
    )
