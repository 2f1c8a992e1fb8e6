"""Jobs that the webhooks and the controller of Volcano 1.16 reject.

Source: docs/facts/volcano.md#the-mutating-webhook, #the-validating-webhook, #policies, #cases,
#differences-from-the-api-server.
"""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kubernetes.requests import Update
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.volcano.admission import validate_update
from tests.operators.admission import admission, later, one, said
from tests.operators.making import Json, container, task, volcano

KIND = ("batch.volcano.sh/v1alpha1", "Job")


def policy(**fields: Any) -> Json:
    return {"action": "RestartJob", **fields}


FAILED = policy(event="PodFailed")
PARTITION = {"totalPartitions": 2, "partitionSize": 2}
TIERS = {"highestTierAllowed": 1, "highestTierName": "t"}

REFUSED: list[tuple[str, Json, str]] = [
    (
        "C22",
        volcano(task("duplicated-task-1"), task("duplicated-task-1")),
        "duplicated task name duplicated-task-1",
    ),
    ("C23", volcano(task("t"), policies=[FAILED, FAILED]), "duplicate event PodFailed"),
    (
        "C24",
        volcano(task("t"), minAvailable=2),
        "'minAvailable' should not be greater than total replicas",
    ),
    (
        "C25",
        volcano(task("t"), plugins={"big_plugin": []}),
        "unable to find job plugin: big_plugin",
    ),
    ("C26", {**volcano(), "spec": {}}, "No task specified in job spec"),
    (
        "C28",
        volcano(task("t"), policies=[policy(event="PodFailed", exitCode=1)]),
        "must not specify event and exitCode",
    ),
    (
        "C29",
        volcano(task("t"), policies=[policy()]),
        "either event and exitCode should be specified",
    ),
    ("C30", volcano(task("t"), policies=[policy(event="someFakeEvent")]), "invalid policy event"),
    (
        "1.5: OutOfSync",
        volcano(task("t"), policies=[policy(event="OutOfSync")]),
        "invalid policy event",
    ),
    (
        "C31",
        volcano(task("t"), policies=[{"event": "PodFailed", "action": "someFakeAction"}]),
        "invalid policy action",
    ),
    (
        "1.5: SyncJob",
        volcano(task("t"), policies=[{"event": "PodFailed", "action": "SyncJob"}]),
        "invalid policy action",
    ),
    ("C32", volcano(task("t"), policies=[policy(exitCode=0)]), "0 is not a valid error code"),
    (
        "C33",
        volcano(task("t"), policies=[policy(exitCode=1), policy(exitCode=1)]),
        "duplicate exitCode 1",
    ),
    ("C34 job", volcano(task("t"), policies=[policy(event="*"), FAILED]), "if there's * here"),
    (
        "C34 task",
        volcano(task("t", policies=[policy(events=["*", "PodFailed"])])),
        "if there's * here",
    ),
    ("C35", volcano(task("t"), volumes=[{"mountPath": ""}]), "mountPath is required"),
    (
        "C36",
        volcano(
            task("t"),
            volumes=[
                {"mountPath": "/var", "volumeClaimName": "pvc1"},
                {"mountPath": "/var", "volumeClaimName": "pvc2"},
            ],
        ),
        "duplicated mountPath: /var",
    ),
    (
        "C37",
        volcano(task("t"), volumes=[{"mountPath": "/var"}]),
        "either VolumeClaim or VolumeClaimName",
    ),
    (
        "V21",
        volcano(
            task("t"), volumes=[{"mountPath": "/v", "volumeClaimName": "a", "volumeClaim": {}}]
        ),
        "conflict",
    ),
    (
        "V22",
        volcano(task("t"), volumes=[{"mountPath": "/v", "volumeClaimName": "Bad_"}]),
        "Invalid value",
    ),
    ("C41", volcano(task("t1"), task("t2", dependsOn={"name": ["t3"]})), "directed acyclic graph"),
    ("C60 self", volcano(task("t1", dependsOn={"name": ["t1"]})), "directed acyclic graph"),
    (
        "C60 cycle",
        volcano(task("t1", dependsOn={"name": ["t2"]}), task("t2", dependsOn={"name": ["t1"]})),
        "graph",
    ),
    (
        "C43",
        volcano(task("t", 8, partitionPolicy={"totalPartitions": 3, "partitionSize": 2})),
        "TotalPartitions*PartitionSize",
    ),
    ("C45 job", volcano(task("t"), networkTopology=TIERS), "simultaneously"),
    (
        "C45 part",
        volcano(task("t", 4, partitionPolicy={**PARTITION, "networkTopology": TIERS})),
        "simultaneously",
    ),
    (
        "C48",
        volcano(task("t", 4, minAvailable=4, partitionPolicy={**PARTITION, "minPartitions": 1})),
        "MinPartitions*PartitionSize",
    ),
    (
        "C52",
        volcano(task("worker"), plugins={"mpi": ["--master=launcher"]}),
        "mpi master task was not found",
    ),
    ("C53", volcano(task("t"), queue="root"), "can not submit job to root queue"),
    (
        "C54",
        volcano(
            task(
                "t",
                1,
                container(resources={"limits": {"cpu": "500m"}}),
                topologyPolicy="restricted",
            )
        ),
        "isn't an integer",
    ),
    ("V4", volcano(task("t", 1, minAvailable=2), task("u", 5)), "is greater than 'replicas'"),
    ("V7", volcano(task("t" * 50), name="a" * 12), "no more than 63 characters"),
    ("V8", volcano(task("t", 1, container("Bad_Name"))), "Invalid value"),
    (
        "5.12 env",
        volcano(task("t", 1, container(env=[{"name": "1BAD", "value": "x"}]))),
        "not start with a digit",
    ),
    ("5.12 restart", volcano(task("t", 1, container(restartPolicy="Always"))), "Forbidden"),
    (
        "5.12 sleep",
        volcano(task("t", 1, container(lifecycle={"preStop": {"sleep": {"seconds": 0}}}))),
        "greater than 0",
    ),
    ("7: no spec", {**volcano(), "spec": None}, "cannot patch"),
]


@pytest.mark.parametrize(("origin", "job", "text"), REFUSED, ids=[c[0] for c in REFUSED])
def test_refused(origin: str, job: Json, text: str) -> None:
    del origin
    found = said(job)
    assert any(text in p.message for p in found), [p.message for p in found]
    assert {(p.name, p.stage, p.authority) for p in found} == {
        ("webhook-refusal", "apply", "volcano")
    }
    assert all(p.help for p in found)


def init(name: str, **more: Any) -> Json:
    t = task("t")
    t["template"]["spec"]["initContainers"] = [container(name, **more)]
    return t


ALLOWED: list[tuple[str, Json]] = [
    ("C17", volcano(task("t"))),
    ("C18", volcano(task("t"), policies=[{"event": "PodEvicted", "action": "RestartTask"}])),
    ("C39", volcano(init("i", securityContext={"privileged": True}))),
    ("C40", volcano(task("t1"), task("t2", dependsOn={"name": ["t1"]}))),
    ("C44", volcano(task("t", 8, partitionPolicy={"totalPartitions": 4, "partitionSize": 2}))),
    ("C46", volcano(task("t"), networkTopology={"highestTierName": "t"})),
    (
        "C47",
        volcano(
            task(
                "t",
                8,
                partitionPolicy={"totalPartitions": 2, "partitionSize": 4, "minPartitions": 1},
            )
        ),
    ),
    (
        "C49",
        volcano(task("t", 4, minAvailable=4, partitionPolicy={**PARTITION, "minPartitions": 2})),
    ),
    ("C50", volcano(task("t", 4, minAvailable=4, partitionPolicy=PARTITION))),
    ("C51", volcano(task("launcher"), plugins={"mpi": ["--master=launcher"]})),
    ("C53 leaf", volcano(task("t"), queue="leaf")),
    (
        "C54",
        volcano(
            task("t", 1, container(resources={"limits": {"cpu": "1"}}), topologyPolicy="restricted")
        ),
    ),
    (
        "1.5: repeated in one policy",
        volcano(task("t"), policies=[policy(event="PodFailed", events=["PodFailed"])]),
    ),
    ("1.4: replicas 0 everywhere", volcano(task("t", 0))),
    ("1.4: plugin arguments", volcano(task("t"), plugins={"pytorch": ["--port=abc", "junk"]})),
    ("5.12: image with outer spaces", volcano(task("t", 1, {"name": "c", "image": " x "}))),
]


@pytest.mark.parametrize(("origin", "job"), ALLOWED, ids=[c[0] for c in ALLOWED])
def test_allowed(origin: str, job: Json) -> None:
    del origin
    assert [p.message for p in said(job)] == []


def test_a_repeated_task_name_ends_the_task_loop() -> None:
    """Source: docs/facts/volcano.md#the-validating-webhook, V5."""
    bad = task("t", 1, container("Bad_Name"))
    assert len(said(volcano(task("t"), bad, bad))) == 1


def default(job: Json) -> Json:
    return dict(admission(job).default(job)["spec"])


def test_unset_fields_get_defaults() -> None:
    """Source: docs/facts/volcano.md#the-mutating-webhook."""
    spec = default(volcano(task("", 2), task("b", 3), maxRetry=0, minAvailable=0, queue=""))
    assert (spec["queue"], spec["schedulerName"], spec["maxRetry"]) == ("default", "volcano", 3)
    assert spec["minAvailable"] == 5
    assert [(t["name"], t["maxRetry"], t["minAvailable"]) for t in spec["tasks"]] == [
        ("default0", 3, 2),
        ("b", 3, 3),
    ]


def test_a_plugin_adds_the_plugins_that_it_needs() -> None:
    """Source: docs/facts/volcano.md#the-mutating-webhook."""
    assert default(volcano(task("master"), plugins={"mpi": []}))["plugins"] == {
        "mpi": [],
        "svc": [],
        "ssh": [],
    }
    assert default(volcano(task("t"), plugins={"env": []}))["plugins"] == {"env": []}


def test_readme_through_go_and_back() -> None:
    """A missing name becomes "", and a task without template gains `containers: null` (operators/README.md)."""
    job = volcano({"name": "t"}, task("u", 1, {"image": "x", "env": [None, {"value": "1"}]}))
    first, second = default(job)["tasks"]
    assert first["template"] == {"spec": {"containers": None}}
    made = second["template"]["spec"]["containers"][0]
    assert (made["name"], made["env"]) == ("", [{"name": ""}, {"value": "1", "name": ""}])


def test_manifest_is_not_changed() -> None:
    job = volcano(task("", 2), plugins={"mpi": None, "pytorch": []}, queue=None)
    before = repr(job)
    default(job)
    assert repr(job) == before


LATER: list[tuple[str, Json, tuple[Any, ...] | None]] = [
    (
        "README: dots with svc",
        volcano(task("t"), name="a.b", plugins={"svc": []}),
        ("metadata", "name"),
    ),
    ("3.1: dots without svc", volcano(task("t"), name="a.b"), None),
    ("3.1: 59 with svc", volcano(task("t"), name="a" * 59, plugins={"svc": []}), None),
    (
        "3.1: 60 with svc",
        volcano(task("t"), name="a" * 60, plugins={"svc": []}),
        ("metadata", "name"),
    ),
    (
        "3.1: 50 with volumes",
        volcano(task("t"), name="a" * 50, volumes=[{"mountPath": "/x", "volumeClaimName": "c"}]),
        None,
    ),
    (
        "3.1: 51 with volumes",
        volcano(task("t"), name="a" * 51, volumes=[{"mountPath": "/x", "volumeClaimName": "c"}]),
        ("metadata", "name"),
    ),
    ("3.1: hosts to replica 9", volcano(task("t", 10), name="a" * 59, plugins={"svc": []}), None),
    (
        "3.1: hosts from replica 10",
        volcano(task("t", 11), name="a" * 59, plugins={"svc": []}),
        ("spec", "tasks", 0, "name"),
    ),
    (
        "2.2: port name taken",
        volcano(
            task("master", 1, container(ports=[{"name": "pytorchjob-port", "containerPort": 1}])),
            plugins={"pytorch": []},
        ),
        ("spec", "tasks", 0, "template", "spec", "containers", 0, "ports", 0, "name"),
    ),
    (
        "2.2: port there",
        volcano(
            task("master", 1, container(ports=[{"name": "x", "containerPort": 23456}])),
            plugins={"pytorch": []},
        ),
        None,
    ),
    (
        "2.1: port 0",
        volcano(task("master"), plugins={"pytorch": ["--port=abc"]}),
        ("spec", "plugins", "pytorch"),
    ),
    (
        "2.1: port too high",
        volcano(task("master"), plugins={"pytorch": ["--port=99999"]}),
        ("spec", "plugins", "pytorch"),
    ),
    ("2.1: no master", volcano(task("t"), plugins={"pytorch": ["--port=99999"]}), None),
    ("2.5: ray without head", volcano(task("t"), plugins={"ray": []}), ("spec", "plugins", "ray")),
    ("3.1: the queue is a label", volcano(task("t"), queue="q" * 64), ("spec", "queue")),
]


@pytest.mark.parametrize(("origin", "job", "path"), LATER, ids=[c[0] for c in LATER])
def test_refused_later(origin: str, job: Json, path: tuple[Any, ...] | None) -> None:
    del origin
    found = later(job)
    assert [p.path for p in found] == ([path] if path else [])
    assert all(p.stage == "pod" and p.help for p in found)


def test_a_leading_digit_is_rejected_before_kubernetes_1_36() -> None:
    """Source: docs/facts/volcano.md#names."""
    job = volcano(task("t"), name="5b", plugins={"svc": []})
    assert later(job) == []
    assert one(later(job, versions=Versions(kubernetes=(1, 35)))).path == ("metadata", "name")


@pytest.mark.parametrize(
    ("action", "since"), [("RestartPod", 12), ("RestartPartition", 14), ("RestartJob", 1)]
)
def test_an_action_is_rejected_before_its_release(action: str, since: int) -> None:
    """Source: docs/facts/volcano.md#what-releases-changed."""
    job = volcano(task("t"), policies=[{"event": "PodFailed", "action": action}])
    assert said(job, versions=Versions(volcano=(1, since))) == []
    before = said(job, versions=Versions(volcano=(1, since - 1)))
    assert len(before) == (0 if action == "RestartJob" else 1)


@pytest.mark.parametrize(
    ("path", "count"),
    [
        (("spec", "minAvailable"), 0),
        (("spec", "priorityClassName"), 0),
        (("spec", "queue"), 1),
        (("spec", "tasks", "[0]", "replicas"), 0),
        (("spec", "tasks", "[0]", "minAvailable"), 0),
        (("spec", "tasks", "[0]", "template", "spec"), 1),
        (("spec", "tasks", "[0]", "name"), 1),
        (("metadata", "labels"), 0),
    ],
)
def test_changes_of_a_job(path: tuple[str, ...], count: int) -> None:
    """Volcano 1.16, pkg/webhooks/admission/jobs/validate: specDeepEqual."""
    job = volcano(task("a"))
    assert len(list(validate_update(Update(job, job, Versions(), (path,))))) == count
    more = volcano(task("a"), task("b"))
    assert [problem.path for problem in validate_update(Update(job, more, Versions(), ()))] == [
        ("spec", "tasks")
    ]
    assert not list(validate_update(Update(job, job, Versions(), ())))
