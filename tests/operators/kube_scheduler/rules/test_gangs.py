"""Groups of kube-scheduler in a stream: who names them, how many pods, and who else schedules.

Source: docs/facts/gangs.md#the-scheduler.
"""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile

Json = dict[str, Any]


def group(size: int = 4, name: str = "train", **fields: Any) -> Json:
    policy = {"gang": {"minCount": size}} if size else {"basic": {}}
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name, **fields.pop("metadata", {})},
        "spec": {"schedulingPolicy": policy, **fields},
    }


def workload(size: int = 4, item: str = "pods") -> Json:
    spec = {"podGroups": [{"name": item, "policy": {"gang": {"minCount": size}}}]}
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha1",
        "kind": "Workload",
        "metadata": {"name": "train"},
        "spec": spec,
    }


def pod(**fields: Any) -> Json:
    container = {"name": "pytorch", "image": "i:1", "command": ["python", "train.py"]}
    return {
        "restartPolicy": "Never",
        "schedulingGroup": {"podGroupName": "train"},
        "containers": [container],
        **fields,
    }


def job(pods: int = 4, name: str = "train", **fields: Any) -> Json:
    spec = {"completionMode": "Indexed", "completions": pods, "parallelism": pods}
    spec |= {key: fields.pop(key) for key in ("parallelism", "completions") if key in fields}
    template = {"metadata": fields.pop("metadata", {}), "spec": pod(**fields)}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {**spec, "template": template},
    }


NAMES = {
    "missing-pod-group",
    "gang-above-pods",
    "gang-below-pods",
    "two-gang-schedulers",
    "pod-group-priority",
    "gang-in-order",
}


def names(*manifests: Json, kubernetes: str = "1.37") -> list[str]:
    return [
        diagnostic.name
        for diagnostic in ptcompile.lint(list(manifests), kubernetes=kubernetes).diagnostics
        if diagnostic.name in NAMES
    ]


def test_a_group_without_a_readable_name_is_not_named_by_pods() -> None:
    """The server rejects the name, and no rule compares it."""
    in_workload: Json = {
        "workloadRef": {"name": "train", "podGroup": "pods"},
        "schedulingGroup": None,
    }
    unnamed = workload()
    unnamed["spec"]["podGroups"][0]["name"] = [{"name": "pods"}]
    assert names(unnamed, job(2, **in_workload), kubernetes="1.35") == ["missing-pod-group"]


@pytest.mark.parametrize(
    "manifests",
    [
        [group(), job()],
        [job(), group()],  # the order in the files does not matter
        [group(0), job()],  # pods of a basic policy are scheduled one by one
        [group(3), job(priorityClassName=None)],
        [group(), job(2), job(2, name="other")],  # two jobs may share a group
        [group(9)],  # its pods are elsewhere
        [group(priorityClassName="high"), job(priorityClassName="high")],
        [group(priority=7), job(priorityClassName="high")],
        [group(), job(schedulerName="default-scheduler")],
    ],
)
def test_valid_gangs_have_no_finding(manifests: list[Json]) -> None:
    assert names(*manifests) == []


@pytest.mark.parametrize(
    ("manifests", "expected"),
    [
        ([job()], "missing-pod-group"),
        ([group(name="other"), job()], "missing-pod-group"),
        ([group(metadata={"namespace": "ml"}), job()], "missing-pod-group"),
        ([group(5), job()], "gang-above-pods"),
        ([group(4), job(parallelism=2, completions=4)], "gang-above-pods"),
        ([group(5), job(2), job(2, name="other")], "gang-above-pods"),
        ([group(), job(priorityClassName="high")], "pod-group-priority"),
        ([group(priorityClassName="low"), job(priorityClassName="high")], "pod-group-priority"),
        ([group(), job(schedulerName="kai-scheduler")], "two-gang-schedulers"),
        (
            [group(), job(metadata={"labels": {"scheduling.x-k8s.io/pod-group": "g"}})],
            "two-gang-schedulers",
        ),
        (
            [group(), job(metadata={"annotations": {"scheduling.k8s.io/group-name": "g"}})],
            "two-gang-schedulers",
        ),
    ],
)
def test_each_mistake_of_a_gang_is_reported(manifests: list[Json], expected: str) -> None:
    assert names(*manifests) == [expected]


def test_the_group_is_in_another_namespace() -> None:
    report = ptcompile.lint([group(metadata={"namespace": "ml"}), job()], kubernetes="1.37")
    (message,) = [
        diagnostic.message
        for diagnostic in report.diagnostics
        if diagnostic.name == "missing-pod-group"
    ]
    assert "the PodGroup train is in the namespace ml: the pods wait" in message


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (workload(), []),
        (workload(5), ["gang-above-pods"]),
        (workload(item="others"), ["missing-pod-group"]),
    ],
)
def test_workloads_of_1_35_are_judged(manifest: Json, expected: list[str]) -> None:
    member = job(schedulingGroup=None, workloadRef={"name": "train", "podGroup": "pods"})
    assert names(manifest, member, kubernetes="1.35") == expected


def test_the_priority_of_1_36_needs_a_gate() -> None:
    older = group() | {"apiVersion": "scheduling.k8s.io/v1alpha2"}
    assert names(older, job(priorityClassName="high"), kubernetes="1.36") == []


def torchrun(nnodes: str) -> Json:
    command = [
        "torchrun",
        f"--nnodes={nnodes}",
        "--rdzv-backend=c10d",
        "--rdzv-endpoint=train-0.train:29400",
        "t.py",
    ]
    return job(
        subdomain="train", containers=[{"name": "pytorch", "image": "i:1", "command": command}]
    )


@pytest.mark.parametrize(
    ("nnodes", "size", "expected"),
    [("4", 4, []), ("4", 3, ["gang-below-pods"]), ("2:4", 2, []), ("2:4", 1, ["gang-below-pods"])],
)
def test_a_gang_must_be_as_large_as_its_rendezvous(
    nnodes: str, size: int, expected: list[str]
) -> None:
    assert names(group(size), torchrun(nnodes)) == expected


def jobset(**fields: Any) -> Json:
    jobs = [
        {
            "name": name,
            "template": {"spec": {"completions": n, "parallelism": n, "template": {"spec": pod()}}},
        }
        for name, n in (("leader", 1), ("worker", 3))
    ]
    jobs[1] |= fields.pop("worker", {})
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "train"},
        "spec": {"replicatedJobs": jobs, **fields},
    }


IN_ORDER = {"startupPolicy": {"startupPolicyOrder": "InOrder"}}
AFTER = {"worker": {"dependsOn": [{"name": "leader", "status": "Ready"}]}}


@pytest.mark.parametrize(
    ("size", "fields", "expected"),
    [
        (4, {}, []),
        (4, IN_ORDER, ["gang-in-order"]),
        (4, AFTER, ["gang-in-order"]),
        (1, IN_ORDER, []),
        (5, IN_ORDER, ["gang-above-pods"]),
    ],
)
def test_gangs_of_jobs_that_start_in_order_are_reported(
    size: int, fields: Json, expected: list[str]
) -> None:
    assert names(group(size), jobset(**fields)) == expected


def test_volcano_schedules_its_jobs_itself() -> None:
    tasks = [{"name": "a", "replicas": 4, "template": {"spec": pod()}}]
    manifest = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "train"},
    }
    assert names(group(), {**manifest, "spec": {"minAvailable": 4, "tasks": tasks}}) == [
        "two-gang-schedulers"
    ]
