"""Target volcano: the gang, ranks, failure policies, and success of the master."""

from __future__ import annotations

from typing import Any

import pytest

from tests import making
from tests.making import DEFAULT_CLUSTER, errors_of, manifest, smallest, text

OLD = making.profile({"versions": {"kubernetes": "1.35"}})
RANGE = "elastic: {nnodes: '2:4'}"
SIDECAR = "podTemplate: {spec: {containers: [{name: log, image: log:1}]}}"


def spec(body: str = "") -> dict[str, Any]:
    inner: dict[str, Any] = manifest(smallest(body), "volcano")["spec"]
    return inner


def tasks(body: str = "") -> dict[str, dict[str, Any]]:
    return {task["name"]: task for task in spec(body)["tasks"]}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", {"master": (1, 1)}),
        ("nodes: 4", {"master": (1, 1), "worker": (3, 3)}),
        (RANGE, {"master": (1, 1), "worker": (3, 1)}),
        ("elastic: {nnodes: '1:3'}", {"master": (1, 1), "worker": (2, 0)}),
        ("master: {}\nworker: {replicas: 2}", {"master": (1, 1), "worker": (2, 2)}),
        (
            "volcano: {masterTask: chief, workerTask: others}\nnodes: 2",
            {"chief": (1, 1), "others": (1, 1)},
        ),
    ],
)
def test_node_0_has_its_own_task(body: str, expected: dict[str, tuple[int, int]]) -> None:
    """RANK is assigned per task, so a master task with replicas would repeat rank 0.

    Source: docs/facts/volcano.md#the-pytorch-plugin.
    """
    assert {
        name: (task["replicas"], task["minAvailable"]) for name, task in tasks(body).items()
    } == expected


@pytest.mark.parametrize(("body", "least"), [("", 1), ("nodes: 4", 4), (RANGE, 2)])
def test_gang_includes_all_nodes_of_the_rendezvous(body: str, least: int) -> None:
    """With fewer members, pods would hold GPUs while they wait for missing ranks.

    Source: docs/facts/volcano.md#gangs.
    """
    job = spec(body)
    assert job["minAvailable"] == least == sum(task["minAvailable"] for task in job["tasks"])


def test_plugin_arguments_name_tasks_and_port() -> None:
    """The port is one item, `--port=N`; the svc plugin publishes names before pods are ready.

    Source: docs/facts/volcano.md#plugin-arguments, #the-svc-plugin.
    """
    body = "nodes: 2\nmasterPort: 29500\nvolcano: {masterTask: chief, workerTask: others}"
    assert spec(body)["plugins"] == {
        "pytorch": ["--master=chief", "--worker=others", "--port=29500"],
        "svc": ["--publish-not-ready-addresses"],
    }


def test_pods_use_the_volcano_scheduler_by_default() -> None:
    assert spec()["schedulerName"] == "volcano"
    assert spec("schedulerName: mine")["schedulerName"] == "mine"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", 1),
        ("runPolicy: {backoffLimit: 0}", 1),
        ("runPolicy: {backoffLimit: 1}", 2),
        ("runPolicy: {backoffLimit: 3}", 4),
    ],
)
def test_max_retry_is_one_more_than_the_retries(body: str, expected: int) -> None:
    """The webhook would change 0 to 3.

    Source: docs/facts/volcano.md#policies, #the-mutating-webhook.
    """
    assert spec(body)["maxRetry"] == expected


def test_failure_restarts_the_job_and_master_completes_it() -> None:
    """Without a PodFailed policy nothing is restarted.

    Source: docs/facts/volcano.md#policies.
    """
    assert spec("nodes: 2")["policies"] == [
        {"events": ["PodFailed", "PodEvicted"], "action": "RestartJob"}
    ]
    by_name = tasks("nodes: 2")
    assert by_name["master"]["policies"] == [{"event": "TaskCompleted", "action": "CompleteJob"}]
    assert "policies" not in by_name["worker"]
    assert {task["template"]["spec"]["restartPolicy"] for task in by_name.values()} == {"Never"}


def test_restarts_in_place_are_counted_per_task() -> None:
    """With OnFailure a pod never fails, so only TaskFailed counts its restarts.

    Source: docs/facts/volcano.md#policies.
    """
    by_name = tasks("nodes: 2\nrestartPolicy: OnFailure\nrunPolicy: {backoffLimit: 3}")
    assert {task["maxRetry"] for task in by_name.values()} == {3}
    assert all(
        {"event": "TaskFailed", "action": "TerminateJob"} in task["policies"]
        for task in by_name.values()
    )
    events = spec("nodes: 2\nrestartPolicy: OnFailure")["policies"][0]["events"]
    assert "PodFailed" not in events


def test_zero_seconds_to_live_is_kept() -> None:
    assert spec("runPolicy: {ttlSecondsAfterFinished: 0}")["ttlSecondsAfterFinished"] == 0
    assert "ttlSecondsAfterFinished" not in spec()


def test_queue_is_a_volcano_queue() -> None:
    assert spec("queue: research")["queue"] == "research"
    assert "labels" not in manifest(smallest("queue: research"), "volcano")["metadata"]


def test_gpus_are_in_requests_too() -> None:
    """Only requests count toward the gang's resources.

    Source: docs/facts/volcano.md#minresources.
    """
    for task in tasks("nodes: 2\nresources: {limits: {gpu: 8}}").values():
        (container,) = task["template"]["spec"]["containers"]
        assert (
            container["resources"]["requests"]
            == container["resources"]["limits"]
            == {"nvidia.com/gpu": "8"}
        )


def test_plain_command_gets_its_variables_from_the_plugin() -> None:
    source = text("image: img:1\ncommand: [python, x.py]\nnodes: 2")
    for task in manifest(source, "volcano")["spec"]["tasks"]:
        assert "env" not in task["template"]["spec"]["containers"][0]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("restartPolicy: Always", ("spec", "restartPolicy")),
        ("restartPolicy: ExitCode", ("spec", "restartPolicy")),
        ("runPolicy: {activeDeadlineSeconds: 60}", ("spec", "runPolicy", "activeDeadlineSeconds")),
        ("runPolicy: {suspend: true}", ("spec", "runPolicy", "suspend")),
        ("runPolicy: {cleanPodPolicy: All}", ("spec", "runPolicy", "cleanPodPolicy")),
        ("podTemplate: {spec: {hostname: h}}", ("spec", "podTemplate", "spec", "hostname")),
        ("podTemplate: {spec: {subdomain: s}}", ("spec", "podTemplate", "spec", "subdomain")),
        # docs/facts/volcano.md#topology-and-queues: hostPort would equal the plugin's port
        (f"hostNetwork: true\n{SIDECAR}", ("spec", "hostNetwork")),
    ],
)
def test_unsupported_fields_are_rejected(body: str, path: tuple[str, ...]) -> None:
    assert errors_of("volcano", body) == [("unsupported-by-target", path)]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        # docs/facts/volcano.md#the-validating-webhook V5
        ("nodes: 2\nvolcano: {masterTask: a, workerTask: a}", ("spec", "volcano")),
        ("nodes: 2\nvolcano: {workerTask: master}", ("spec", "volcano")),
        (
            "volcano: {masterTask: Bad_X}",
            ("spec", "volcano", "masterTask"),
        ),  # docs/facts/volcano.md#fields
        # docs/facts/volcano.md#plugin-arguments: no task matches
        ("volcano: {masterTask: ''}", ("spec", "volcano", "masterTask")),
    ],
)
def test_task_names_are_checked_at_their_location(body: str, path: tuple[str, ...]) -> None:
    ((_, error),) = errors_of("volcano", body)
    assert error[: len(path)] == path


BUDGETS = [
    ("", 54), ("nodes: 2", 54), ("nodes: 11", 54), ("nodes: 12", 53),
    ("nodes: 2\nvolcano: {masterTask: m, workerTask: w}", 59),
    ("nodes: 12\nvolcano: {masterTask: m, workerTask: w}", 58),
]  # fmt: skip


@pytest.mark.parametrize(("body", "room"), BUDGETS)
def test_a_name_is_accepted_up_to_its_limit(body: str, room: int) -> None:
    """The host name `<job>-<task>-<last>` has at most 63 characters, and the svc plugin's volume name allows 59.

    Source: docs/facts/volcano.md#names.
    """
    assert errors_of("volcano", body, name="a" * room) == []
    assert {name for name, _ in errors_of("volcano", body, name="a" * (room + 1))} == {
        "name-too-long"
    }


def test_too_long_name_is_reported_once() -> None:
    assert len(errors_of("volcano", "nodes: 2", name="a" * 62)) == 1


@pytest.mark.parametrize(("cluster", "count"), [(DEFAULT_CLUSTER, 0), (OLD, 1)])
def test_service_name_may_start_with_a_digit_since_1_36(cluster: Any, count: int) -> None:
    """Source: docs/facts/volcano.md#names."""
    assert len(errors_of("volcano", "", cluster, "7b-sft")) == count
