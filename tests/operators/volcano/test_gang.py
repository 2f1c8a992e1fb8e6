"""Gangs of Volcano for the targets of other operators: the PodGroup, its topology, and the operators' own fields."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from tests.making import profile, smallest

BODY = "nodes: 3\nqueue: q\npriority: high\nresources: {gpu: 1}"
QUEUES = {"queueSystem": "volcano", "priorities": {"high": 1000}}
LEVELS = {
    "rack": {"nodeLabel": "example.com/rack", "tier": 2},
    "row": {"nodeLabel": "example.com/row"},
}
NODES = "nodes: 2\ntopology: {required: %s}"
TIER = {"networkTopology": {"mode": "hard", "highestTierAllowed": 2}}


def _compiled(body: str, target: str, **spec: Any) -> ptcompile.Result:
    cluster = profile({"queueSystem": "volcano", **spec})
    return ptcompile.compile(smallest(body), target=target, cluster=cluster, lint=False)


def _manifests(body: str, target: str, **spec: Any) -> dict[str, dict[str, Any]]:
    """Return the manifests by kind."""
    return {manifest["kind"]: manifest for manifest in _compiled(body, target, **spec).unwrap()}


@pytest.mark.parametrize("target", ["job", "jobset"])
def test_the_pods_name_their_pod_group(target: str) -> None:
    manifests = _manifests(BODY, target, **QUEUES)
    group = manifests["PodGroup"]
    assert (group["apiVersion"], group["metadata"]["name"]) == (
        "scheduling.volcano.sh/v1beta1",
        "train",
    )
    assert group["spec"] == {
        "minMember": 3, "minResources": {"nvidia.com/gpu": "3"}, "queue": "q", "priorityClassName": "high",
    }  # fmt: skip
    assert "'scheduling.k8s.io/group-name': 'train'" in str(
        manifests["Job" if target == "job" else "JobSet"]
    )


def test_the_operators_make_their_own_groups() -> None:
    policy = _manifests(BODY, "pytorchjob", **QUEUES)["PyTorchJob"]["spec"]["runPolicy"][
        "schedulingPolicy"
    ]
    assert policy == {"minAvailable": 3, "queue": "q", "priorityClass": "high"}
    assert _manifests(BODY, "trainjob", **QUEUES)["TrainingRuntime"]["spec"]["podGroupPolicy"] == {
        "volcano": {}
    }


def test_an_annotation_of_the_user_stays() -> None:
    body = "nodes: 2\npodAnnotations: {scheduling.k8s.io/group-name: own}"
    template = _manifests(body, "job")["Job"]["spec"]["template"]
    assert template["metadata"]["annotations"]["scheduling.k8s.io/group-name"] == "own"


@pytest.mark.parametrize(
    ("target", "release", "body", "path"),
    [
        ("trainjob", "2.0", "nodes: 2", ("spec",)),
        ("trainjob", "2.0", "nodes: 2\nqueue: q", ("spec", "queue")),
        ("trainjob", "2.1", "nodes: 2\nqueue: q", None),
        ("jobset", "2.0", "nodes: 2\nqueue: q", None),
    ],
)
def test_trainer_supports_volcano_since_2_1(
    target: str, release: str, body: str, path: tuple[str, ...] | None
) -> None:
    diagnostics = _compiled(body, target, versions={"trainer": release}).diagnostics
    assert [(d.name, tuple(d.path)) for d in diagnostics] == (
        [("unsupported-by-target", path)] if path else []
    )
    assert all("Trainer supports Volcano only since 2.1" in d.message for d in diagnostics)


@pytest.mark.parametrize(
    ("target", "level", "release", "message"),
    [
        ("job", "rack", "1.16", None),
        ("jobset", "rack", "1.11", None),
        ("trainjob", "rack", "1.16", None),
        ("volcano", "rack", "1.16", None),
        (
            "pytorchjob",
            "rack",
            "1.16",
            "the training-operator creates the PodGroup and has no field for it",
        ),
        (
            "jobset",
            "row",
            "1.16",
            "the profile 'default' gives row no tier, which Volcano requires",
        ),
        ("jobset", "rack", "1.10", "Volcano has network topology only since 1.11"),
    ],
)
def test_a_topology_is_a_tier_of_volcano(
    target: str, level: str, release: str, message: str | None
) -> None:
    result = _compiled(
        NODES % level, target, topology={"levels": LEVELS}, versions={"volcano": release}
    )
    assert [d.message for d in result.diagnostics] == (
        [f"spec.topology: {message}"] if message else []
    )
    assert all(tuple(d.path) == ("spec", "topology") for d in result.diagnostics)


def test_a_pod_group_and_a_runtime_have_the_tier() -> None:
    topology = {"levels": LEVELS}
    assert _manifests(NODES % "rack", "job", topology=topology)["PodGroup"]["spec"] == {
        "minMember": 2,
        **TIER,
    }
    runtime = _manifests(NODES % "rack", "trainjob", topology=topology)["TrainingRuntime"]
    assert runtime["spec"]["podGroupPolicy"] == {"volcano": TIER}
