"""Changes of Deployments, StatefulSets and LeaderWorkerSets that Kueue's webhooks reject."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.operators.kueue.webhooks.making import (
    SERVING,
    TEMPLATE,
    Json,
    K,
    labelled,
    leader_worker_set,
    rejected_update,
    serving,
    template,
)

PRIORITY = f"{K}priority-class"


@pytest.mark.parametrize("manifest", SERVING, ids=lambda manifest: manifest["kind"])
def test_queue_is_fixed_once_a_pod_is_ready(manifest: Json) -> None:
    ready = {**manifest, "status": {"readyReplicas": 1}}
    moved = labelled(ready, {f"{K}queue-name": "other"})
    assert rejected_update(ready, moved) == ["queue-name: field is immutable"]
    assert rejected_update(manifest, labelled(manifest, {f"{K}queue-name": "other"})) == []
    assert rejected_update(manifest, labelled(manifest)) == ["queue-name: field is immutable"], "not removed"


@pytest.mark.parametrize("manifest", SERVING, ids=lambda manifest: manifest["kind"])
def test_priority_class(manifest: Json) -> None:
    labels = manifest["metadata"]["labels"]
    urgent = labelled(manifest, {**labels, PRIORITY: "high"})
    assert rejected_update(manifest, urgent) == []
    assert rejected_update({**manifest, "status": {"readyReplicas": 1}}, urgent) == [
        "priority-class: WorkloadPriorityClass cannot be added to a non-suspended workload"
    ]
    assert rejected_update(urgent, manifest) == [
        "priority-class: WorkloadPriorityClass cannot be removed from a workload"
    ]


def with_pod(**changes: Any) -> Json:
    """Return a template whose pods, or whose container for a lower case resource, differ."""
    out = copy.deepcopy(TEMPLATE)
    container: Any = out["spec"]["containers"][0]
    container.update(changes.pop("container", {}))
    out["spec"].update(changes)
    return out


SHAPES: list[tuple[str, Json, list[str]]] = [
    ("another image", with_pod(container={"image": "b:1"}), []),
    ("another command", with_pod(container={"command": ["x"]}), []),
    ("the same amount", with_pod(container={"resources": {"requests": {"cpu": "1000m"}}}), []),
    ("more", with_pod(container={"resources": {"requests": {"cpu": 2}}}), ["requests: field is immutable"]),
    ("a port", with_pod(container={"ports": [{"containerPort": 80}]}), ["ports: field is immutable"]),
    ("another pool", with_pod(nodeSelector={"pool": "b"}), ["nodeSelector: field is immutable"]),
    ("a toleration", with_pod(tolerations=[{"operator": "Exists"}]), ["tolerations: field is immutable"]),
    (
        "a sidecar",
        {"spec": {"containers": [*TEMPLATE["spec"]["containers"], {"name": "b", "image": "b:1"}]}},
        ["1: field is immutable"],
    ),
]


@pytest.mark.parametrize(("template", "why"), [case[1:] for case in SHAPES], ids=[case[0] for case in SHAPES])
def test_pods_in_a_queue_keep_what_they_request(template: Json, why: list[str]) -> None:
    stateful = serving("StatefulSet")
    assert rejected_update(stateful, serving("StatefulSet", template)) == why
    assert rejected_update(labelled(stateful), labelled(serving("StatefulSet", template))) == []
    assert rejected_update(serving("Deployment"), serving("Deployment", template)) == []
    assert rejected_update(leader_worker_set(TEMPLATE, TEMPLATE), leader_worker_set(template, TEMPLATE)) == why


@pytest.mark.parametrize(
    ("before", "after", "running", "why"),
    [
        (3, 4, 0, ["replicas: field is immutable"]),
        (3, 0, 3, []),
        (0, 3, 0, []),
        (0, 3, 2, ["replicas: scaling down is still in progress"]),
    ],
)
def test_stateful_sets_scale_to_and_from_zero(before: int, after: int, running: int, why: list[str]) -> None:
    old, new = (serving("StatefulSet", replicas=pods) for pods in (before, after))
    status = {"status": {"replicas": running}}
    assert rejected_update({**old, **status}, {**new, **status}) == why
    assert rejected_update(serving("Deployment", replicas=before), serving("Deployment", replicas=after)) == []


def test_groups_of_a_leader_worker_set_keep_their_size() -> None:
    old = leader_worker_set(TEMPLATE)
    assert rejected_update(old, leader_worker_set(TEMPLATE, size=4)) == ["size: field is immutable"]
    assert rejected_update(old, leader_worker_set(TEMPLATE, TEMPLATE)) == ["leaderTemplate: field is immutable"]
    alone, unnamed = leader_worker_set(TEMPLATE, size=1), leader_worker_set(TEMPLATE)
    del unnamed["spec"]["leaderWorkerTemplate"]["size"]
    assert rejected_update(alone, unnamed) == rejected_update(unnamed, alone) == [], "1 by default"
    assert rejected_update(unnamed, old) == ["size: field is immutable"]
    more = copy.deepcopy(old)
    more["spec"]["replicas"] = 9
    assert rejected_update(old, more) == []


def test_what_happens_to_pods_later_does_not_reject_an_update() -> None:
    bad = serving("Deployment", template(podset_required_topology="bad key!"))
    assert rejected_update(serving("Deployment"), bad) == []
