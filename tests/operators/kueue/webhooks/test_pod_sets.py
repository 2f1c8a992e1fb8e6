"""The pod sets of each kind, with the number of their pods."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.kueue.webhooks.kinds import KINDS
from ptcompile.operators.kueue.webhooks.pod_sets import max_pod_sets, pod_sets_of, pods_of_job
from tests.making import smallest
from tests.operators.kueue.webhooks.making import (
    JOB,
    JOBS,
    JOBSET,
    POD,
    PYTORCHJOB,
    SERVING,
    TEMPLATE,
    Json,
    app_wrapper,
    leader_worker_set,
    queued,
    ray_cluster,
    ray_job,
    replicas,
    serving,
)

CASES: list[tuple[Json, list[tuple[str, Path, int]]]] = [
    (POD, [("main", (), 1)]),
    (JOB, [("main", ("spec", "template"), 2)]),
    (JOBSET, [("node", ("spec", "replicatedJobs", 0, "template", "spec", "template"), 4)]),
    (
        PYTORCHJOB,
        [
            ("master", ("spec", "pytorchReplicaSpecs", "Master", "template"), 1),
            ("worker", ("spec", "pytorchReplicaSpecs", "Worker", "template"), 3),
        ],
    ),
    (
        replicas("MPIJob", "mpiReplicaSpecs", Launcher={}, Worker={"replicas": 2}),
        [
            ("launcher", ("spec", "mpiReplicaSpecs", "Launcher", "template"), 1),
            ("worker", ("spec", "mpiReplicaSpecs", "Worker", "template"), 2),
        ],
    ),
    (
        queued("ray.io/v1", "RayCluster", ray_cluster({"numOfHosts": 4}, {"replicas": None})),
        [
            ("head", ("spec", "headGroupSpec", "template"), 1),
            ("g0", ("spec", "workerGroupSpecs", 0, "template"), 8),
            ("g1", ("spec", "workerGroupSpecs", 1, "template"), 0),
        ],
    ),
    (ray_job(None), []),
    (
        ray_job(ray_cluster({})),
        [
            ("head", ("spec", "rayClusterSpec", "headGroupSpec", "template"), 1),
            ("g0", ("spec", "rayClusterSpec", "workerGroupSpecs", 0, "template"), 2),
        ],
    ),
    (
        leader_worker_set(TEMPLATE),
        [("main", ("spec", "leaderWorkerTemplate", "workerTemplate"), 3)],
    ),
    (
        leader_worker_set(TEMPLATE, TEMPLATE),
        [
            ("leader", ("spec", "leaderWorkerTemplate", "leaderTemplate"), 1),
            ("worker", ("spec", "leaderWorkerTemplate", "workerTemplate"), 2),
        ],
    ),
    (serving("StatefulSet"), [("main", ("spec", "template"), 3)]),
    (
        app_wrapper(
            {"template": JOB},
            {"template": JOB, "podSets": [{"path": "template.spec.template", "replicas": 5}]},
        ),
        [
            ("main", ("spec", "components", 0, "template", "spec", "template"), 2),
            ("", ("spec", "components", 1, "template", "spec", "template"), 5),
        ],
    ),
]


@pytest.mark.parametrize(("manifest", "expected"), CASES, ids=[case[0]["kind"] for case in CASES])
def test_pod_sets_are_read_with_their_templates(
    manifest: Json, expected: list[tuple[str, Path, int]]
) -> None:
    pod_sets = pod_sets_of(manifest)
    assert [(pod_set.name, pod_set.path, pod_set.pods) for pod_set in pod_sets] == expected
    for pod_set in pod_sets:
        template: Any = manifest
        for key in pod_set.path:
            template = template[key]
        assert pod_set.template == template


@pytest.mark.parametrize(
    ("spec", "pods"),
    [
        ({}, 1),
        ({"parallelism": 3}, 3),
        ({"parallelism": 3, "completions": 2}, 2),
        ({"parallelism": 2, "completions": 9}, 2),
    ],
)
def test_a_job_counts_the_pods_that_run_at_once(spec: Json, pods: int) -> None:
    assert pods_of_job(spec) == pods


def test_every_kind_but_one_shows_its_pods() -> None:
    """A TrainJob's are those of its runtime."""
    with_pods = {manifest["kind"] for manifest in (*JOBS, *SERVING) if pod_sets_of(manifest)}
    assert {kind for _, kind in KINDS} - with_pods == {"TrainJob"}


@pytest.mark.parametrize("value", [None, [], "x", 1, [None], {"a": None}])
def test_any_data_raises_nothing(value: Any) -> None:
    for manifest in (*JOBS, *SERVING):
        pod_sets_of({**manifest, "spec": value})
        pod_sets_of({**manifest, "spec": dict.fromkeys(manifest["spec"], value)})


@pytest.mark.parametrize(
    ("release", "limit"), [((0, 17), 8), ((0, 18), 10), ((0, 19), 18), ((0, 20), 18)]
)
def test_each_release_limits_the_pod_sets(release: tuple[int, int], limit: int) -> None:
    assert max_pod_sets(Versions(kueue=release)) == limit


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [({"a": "b"}, {"a": "b"}), ({"a": "b", "c": 1}, {}), ({}, {}), (None, {})],
)
def test_annotations_that_go_does_not_decode_count_for_nothing(
    annotations: Any, expected: dict[str, str]
) -> None:
    template = {**TEMPLATE, "metadata": {"annotations": annotations}}
    (pod_set,) = pod_sets_of(queued("batch/v1", "Job", {"template": template}))
    assert pod_set.annotations == expected


@pytest.mark.parametrize(
    ("manifest", "pods"),
    [
        (queued("apps/v1", "Deployment", {"template": TEMPLATE}), 1),
        (queued("apps/v1", "Deployment", {"template": TEMPLATE, "replicas": 3}), 3),
        (
            queued(
                "jobset.x-k8s.io/v1alpha2",
                "JobSet",
                {"replicatedJobs": [{"name": "a", "template": {"spec": {"template": TEMPLATE}}}]},
            ),
            1,
        ),
    ],
)
def test_replicas_default_to_one(manifest: Json, pods: int) -> None:
    assert [pod_set.pods for pod_set in pod_sets_of(manifest)] == [pods]


LOCAL_QUEUE = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "LocalQueue",
    "metadata": {"name": "q"},
    "spec": {"clusterQueue": "cq"},
}


@pytest.mark.parametrize(
    ("target", "kueue", "expected"),
    [
        ("job", "0.17", {"podset": "main", "local-queue-name": "q", "cluster-queue-name": "cq"}),
        ("job", "0.16", {"podset": "main"}),
        ("jobset", "0.17", {"podset": "node", "local-queue-name": "q", "cluster-queue-name": "cq"}),
        (
            "pytorchjob",
            "0.17",
            {"podset": "master", "local-queue-name": "q", "cluster-queue-name": "cq"},
        ),
        ("pytorchjob", "0.19", {}),  # not managed by default
        ("pod", "0.17", {"queue-name": "q", "managed": "true"}),
    ],
)
def test_kueue_writes_its_labels_on_pods(target: str, kueue: str, expected: dict[str, str]) -> None:
    """Kueue 0.17, pkg/controller/jobframework/reconciler.go."""
    cluster = {
        "apiVersion": "ptcompile/v1",
        "kind": "ClusterProfile",
        "spec": {"versions": {"kueue": kueue}},
    }
    nodes = 1 if target == "pod" else 2
    manifests = ptcompile.compile(
        smallest(f"nodes: {nodes}\nqueue: q"), target=target, cluster=cluster
    ).manifests
    pod = ptcompile.simulate([*manifests, LOCAL_QUEUE], cluster=cluster).pods[0]
    prefix = "kueue.x-k8s.io/"
    found = {
        key.removeprefix(prefix): value
        for key, value in pod.view.labels.items()
        if key.startswith(prefix)
    }
    assert found == expected
    assert (f"{prefix}workload" in pod.view.annotations) is ("podset" in expected)


def test_pods_outside_of_a_queue_have_no_labels_of_kueue() -> None:
    pods = ptcompile.simulate(ptcompile.compile(smallest("nodes: 2"), target="job").manifests).pods
    assert not [key for pod in pods for key in pod.view.labels if key.startswith("kueue.x-k8s.io/")]
