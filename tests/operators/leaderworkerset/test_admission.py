"""What the webhook of LeaderWorkerSet and the StatefulSets that it creates reject."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile

POD = {"spec": {"containers": [{"name": "a", "image": "a:1", "command": ["sleep", "1"]}]}}


def _errors(
    name: str = "a", annotations: dict[str, str] | None = None, **fields: Any
) -> dict[str, str]:
    """Return the messages of errors by field; fields other than replicas and the rollout are of the templates."""
    annotations = annotations or {}
    spec = {key: fields.pop(key) for key in ("replicas", "rolloutStrategy") if key in fields}
    manifest: dict[str, Any] = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name, "annotations": annotations},
        "spec": {**spec, "leaderWorkerTemplate": {"workerTemplate": POD, **fields}},
    }
    return {
        ".".join(map(str, d.path)): d.message
        for d in ptcompile.lint([manifest]).diagnostics
        if d.severity == "error"
    }


SIZE, PART = (
    "spec.leaderWorkerTemplate.size",
    "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize",
)


@pytest.mark.parametrize(
    ("fields", "paths"),
    [
        ({}, []),
        ({"size": 4, "replicas": 0}, []),
        ({"size": 0}, [SIZE]),
        ({"size": -1}, [SIZE]),
        ({"size": 3000, "replicas": 1000000}, ["spec.replicas"]),
        ({"name": "1a"}, ["metadata.name"]),
        ({"size": 4, "subGroupPolicy": {"subGroupSize": 2}}, []),
        ({"size": 5, "subGroupPolicy": {"subGroupSize": 2}}, []),
        ({"size": 6, "subGroupPolicy": {"subGroupSize": 4}}, [PART]),
        ({"size": 2, "subGroupPolicy": {"subGroupSize": 4}}, [PART]),
        (
            {
                "size": 4,
                "subGroupPolicy": {"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"},
            },
            [PART],
        ),
        (
            {
                "size": 5,
                "subGroupPolicy": {"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"},
            },
            [],
        ),
        (
            {"annotations": {"leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology": "zone"}},
            ["metadata.annotations.leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"],
        ),
        (
            {"rolloutStrategy": {"rollingUpdateConfiguration": {"maxUnavailable": 0}}},
            ["spec.rolloutStrategy.rollingUpdateConfiguration.maxUnavailable"],
        ),
        (
            {
                "rolloutStrategy": {
                    "rollingUpdateConfiguration": {"maxUnavailable": 0, "maxSurge": 1}
                }
            },
            [],
        ),
    ],
)
def test_the_webhook_rejects_mistakes_at_their_path(
    fields: dict[str, Any], paths: list[str]
) -> None:
    assert [*_errors(**fields)] == paths


def test_pods_of_a_stateful_set_restart_always() -> None:
    """Kubernetes 1.36 rejects the StatefulSet, not the LeaderWorkerSet, so no pod is created."""
    never = {"spec": {**POD["spec"], "restartPolicy": "Never"}}
    always = {"spec": {**POD["spec"], "restartPolicy": "Always"}}
    assert [*_errors(workerTemplate=always, leaderTemplate=POD)] == []
    (message,) = _errors(workerTemplate=POD, leaderTemplate=never).values()
    assert message.endswith('Unsupported value: "Never": supported values: "Always"')


def test_claims_of_the_set_are_volumes_of_its_pods() -> None:
    container = {
        **POD["spec"]["containers"][0],
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    mounted = {"spec": {"containers": [container]}}
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    assert [*_errors(workerTemplate=mounted, volumeClaimTemplates=[claim])] == []
    (path,) = _errors(workerTemplate=mounted)
    assert path.endswith("volumeMounts.0.name")
