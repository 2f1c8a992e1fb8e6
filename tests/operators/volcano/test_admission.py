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
from tests.operators.admission import admission, errors_of, later, only
from tests.operators.making import Json, container, task, volcano

KIND = ("batch.volcano.sh/v1alpha1", "Job")


def policy(**fields: Any) -> Json:
    return {"action": "RestartJob", **fields}


FAILED = policy(event="PodFailed")
PARTITION = {"totalPartitions": 2, "partitionSize": 2}
TIERS = {"highestTierAllowed": 1, "highestTierName": "t"}

REFUSED = [
    pytest.param(
        volcano(task("duplicated-task-1"), task("duplicated-task-1")),
        "duplicated task name duplicated-task-1",
        id="C22",
    ),
    pytest.param(
        volcano(task("t"), policies=[FAILED, FAILED]), "duplicate event PodFailed", id="C23"
    ),
    pytest.param(
        volcano(task("t"), minAvailable=2),
        "'minAvailable' should not be greater than total replicas",
        id="C24",
    ),
    pytest.param(
        volcano(task("t"), plugins={"big_plugin": []}),
        "unable to find job plugin: big_plugin",
        id="C25",
    ),
    pytest.param({**volcano(), "spec": {}}, "No task specified in job spec", id="C26"),
    pytest.param(
        volcano(task("t"), policies=[policy(event="PodFailed", exitCode=1)]),
        "must not specify event and exitCode",
        id="C28",
    ),
    pytest.param(
        volcano(task("t"), policies=[policy()]),
        "either event and exitCode should be specified",
        id="C29",
    ),
    pytest.param(
        volcano(task("t"), policies=[policy(event="someFakeEvent")]),
        "invalid policy event",
        id="C30",
    ),
    pytest.param(
        volcano(task("t"), policies=[policy(event="OutOfSync")]),
        "invalid policy event",
        id="1.5: OutOfSync",
    ),
    pytest.param(
        volcano(task("t"), policies=[{"event": "PodFailed", "action": "someFakeAction"}]),
        "invalid policy action",
        id="C31",
    ),
    pytest.param(
        volcano(task("t"), policies=[{"event": "PodFailed", "action": "SyncJob"}]),
        "invalid policy action",
        id="1.5: SyncJob",
    ),
    pytest.param(
        volcano(task("t"), policies=[policy(exitCode=0)]), "0 is not a valid error code", id="C32"
    ),
    pytest.param(
        volcano(task("t"), policies=[policy(exitCode=1), policy(exitCode=1)]),
        "duplicate exitCode 1",
        id="C33",
    ),
    pytest.param(
        volcano(task("t"), policies=[policy(event="*"), FAILED]), "if there's * here", id="C34 job"
    ),
    pytest.param(
        volcano(task("t", policies=[policy(events=["*", "PodFailed"])])),
        "if there's * here",
        id="C34 task",
    ),
    pytest.param(
        volcano(task("t"), volumes=[{"mountPath": ""}]), "mountPath is required", id="C35"
    ),
    pytest.param(
        volcano(
            task("t"),
            volumes=[
                {"mountPath": "/var", "volumeClaimName": "pvc1"},
                {"mountPath": "/var", "volumeClaimName": "pvc2"},
            ],
        ),
        "duplicated mountPath: /var",
        id="C36",
    ),
    pytest.param(
        volcano(task("t"), volumes=[{"mountPath": "/var"}]),
        "either VolumeClaim or VolumeClaimName",
        id="C37",
    ),
    pytest.param(
        volcano(
            task("t"), volumes=[{"mountPath": "/v", "volumeClaimName": "a", "volumeClaim": {}}]
        ),
        "conflict",
        id="V21",
    ),
    pytest.param(
        volcano(task("t"), volumes=[{"mountPath": "/v", "volumeClaimName": "Bad_"}]),
        "Invalid value",
        id="V22",
    ),
    pytest.param(
        volcano(task("t1"), task("t2", dependsOn={"name": ["t3"]})),
        "directed acyclic graph",
        id="C41",
    ),
    pytest.param(
        volcano(task("t1", dependsOn={"name": ["t1"]})), "directed acyclic graph", id="C60 self"
    ),
    pytest.param(
        volcano(task("t1", dependsOn={"name": ["t2"]}), task("t2", dependsOn={"name": ["t1"]})),
        "graph",
        id="C60 cycle",
    ),
    pytest.param(
        volcano(task("t", 8, partitionPolicy={"totalPartitions": 3, "partitionSize": 2})),
        "TotalPartitions*PartitionSize",
        id="C43",
    ),
    pytest.param(volcano(task("t"), networkTopology=TIERS), "simultaneously", id="C45 job"),
    pytest.param(
        volcano(task("t", 4, partitionPolicy={**PARTITION, "networkTopology": TIERS})),
        "simultaneously",
        id="C45 part",
    ),
    pytest.param(
        volcano(task("t", 4, minAvailable=4, partitionPolicy={**PARTITION, "minPartitions": 1})),
        "MinPartitions*PartitionSize",
        id="C48",
    ),
    pytest.param(
        volcano(task("worker"), plugins={"mpi": ["--master=launcher"]}),
        "mpi master task was not found",
        id="C52",
    ),
    pytest.param(volcano(task("t"), queue="root"), "can not submit job to root queue", id="C53"),
    pytest.param(
        volcano(
            task(
                "t",
                1,
                container(resources={"limits": {"cpu": "500m"}}),
                topologyPolicy="restricted",
            )
        ),
        "isn't an integer",
        id="C54",
    ),
    pytest.param(
        volcano(task("t", 1, minAvailable=2), task("u", 5)), "is greater than 'replicas'", id="V4"
    ),
    pytest.param(volcano(task("t" * 50), name="a" * 12), "no more than 63 characters", id="V7"),
    pytest.param(volcano(task("t", 1, container("Bad_Name"))), "Invalid value", id="V8"),
    pytest.param(
        volcano(task("t", 1, container(env=[{"name": "1BAD", "value": "x"}]))),
        "not start with a digit",
        id="5.12 env",
    ),
    pytest.param(
        volcano(task("t", 1, container(restartPolicy="Always"))), "Forbidden", id="5.12 restart"
    ),
    pytest.param(
        volcano(task("t", 1, container(lifecycle={"preStop": {"sleep": {"seconds": 0}}}))),
        "greater than 0",
        id="5.12 sleep",
    ),
    pytest.param({**volcano(), "spec": None}, "cannot patch", id="7: no spec"),
]


@pytest.mark.parametrize(("job", "text"), REFUSED)
def test_the_webhook_rejects_mistakes(job: Json, text: str) -> None:
    errors = errors_of(job)
    assert any(text in p.message for p in errors), [p.message for p in errors]
    assert {(p.name, p.stage, p.authority) for p in errors} == {
        ("webhook-refusal", "apply", "volcano")
    }
    assert all(p.help for p in errors)


def init(name: str, **more: Any) -> Json:
    t = task("t")
    t["template"]["spec"]["initContainers"] = [container(name, **more)]
    return t


ALLOWED = [
    pytest.param(volcano(task("t")), id="C17"),
    pytest.param(
        volcano(task("t"), policies=[{"event": "PodEvicted", "action": "RestartTask"}]), id="C18"
    ),
    pytest.param(volcano(init("i", securityContext={"privileged": True})), id="C39"),
    pytest.param(volcano(task("t1"), task("t2", dependsOn={"name": ["t1"]})), id="C40"),
    pytest.param(
        volcano(task("t", 8, partitionPolicy={"totalPartitions": 4, "partitionSize": 2})), id="C44"
    ),
    pytest.param(volcano(task("t"), networkTopology={"highestTierName": "t"}), id="C46"),
    pytest.param(
        volcano(
            task(
                "t",
                8,
                partitionPolicy={"totalPartitions": 2, "partitionSize": 4, "minPartitions": 1},
            )
        ),
        id="C47",
    ),
    pytest.param(
        volcano(task("t", 4, minAvailable=4, partitionPolicy={**PARTITION, "minPartitions": 2})),
        id="C49",
    ),
    pytest.param(volcano(task("t", 4, minAvailable=4, partitionPolicy=PARTITION)), id="C50"),
    pytest.param(volcano(task("launcher"), plugins={"mpi": ["--master=launcher"]}), id="C51"),
    pytest.param(volcano(task("t"), queue="leaf"), id="C53 leaf"),
    pytest.param(
        volcano(
            task("t", 1, container(resources={"limits": {"cpu": "1"}}), topologyPolicy="restricted")
        ),
        id="C54",
    ),
    pytest.param(
        volcano(task("t"), policies=[policy(event="PodFailed", events=["PodFailed"])]),
        id="1.5: repeated in one policy",
    ),
    pytest.param(volcano(task("t", 0)), id="1.4: replicas 0 everywhere"),
    pytest.param(
        volcano(task("t"), plugins={"pytorch": ["--port=abc", "junk"]}), id="1.4: plugin arguments"
    ),
    pytest.param(
        volcano(task("t", 1, {"name": "c", "image": " x "})), id="5.12: image with outer spaces"
    ),
]


@pytest.mark.parametrize("job", ALLOWED)
def test_the_webhook_accepts_what_the_server_does(job: Json) -> None:
    assert [p.message for p in errors_of(job)] == []


def test_a_repeated_task_name_ends_the_task_loop() -> None:
    """Source: docs/facts/volcano.md#the-validating-webhook, V5."""
    bad = task("t", 1, container("Bad_Name"))
    assert len(errors_of(volcano(task("t"), bad, bad))) == 1


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
    defaulted = second["template"]["spec"]["containers"][0]
    assert (defaulted["name"], defaulted["env"]) == ("", [{"name": ""}, {"value": "1", "name": ""}])


def test_manifest_is_not_changed() -> None:
    job = volcano(task("", 2), plugins={"mpi": None, "pytorch": []}, queue=None)
    before = repr(job)
    default(job)
    assert repr(job) == before


LATER = [
    pytest.param(
        volcano(task("t"), name="a.b", plugins={"svc": []}),
        ("metadata", "name"),
        id="README: dots with svc",
    ),
    pytest.param(volcano(task("t"), name="a.b"), None, id="3.1: dots without svc"),
    pytest.param(
        volcano(task("t"), name="a" * 59, plugins={"svc": []}), None, id="3.1: 59 with svc"
    ),
    pytest.param(
        volcano(task("t"), name="a" * 60, plugins={"svc": []}),
        ("metadata", "name"),
        id="3.1: 60 with svc",
    ),
    pytest.param(
        volcano(task("t"), name="a" * 50, volumes=[{"mountPath": "/x", "volumeClaimName": "c"}]),
        None,
        id="3.1: 50 with volumes",
    ),
    pytest.param(
        volcano(task("t"), name="a" * 51, volumes=[{"mountPath": "/x", "volumeClaimName": "c"}]),
        ("metadata", "name"),
        id="3.1: 51 with volumes",
    ),
    pytest.param(
        volcano(task("t", 10), name="a" * 59, plugins={"svc": []}),
        None,
        id="3.1: hosts to replica 9",
    ),
    pytest.param(
        volcano(task("t", 11), name="a" * 59, plugins={"svc": []}),
        ("spec", "tasks", 0, "name"),
        id="3.1: hosts from replica 10",
    ),
    pytest.param(
        volcano(
            task("master", 1, container(ports=[{"name": "pytorchjob-port", "containerPort": 1}])),
            plugins={"pytorch": []},
        ),
        ("spec", "tasks", 0, "template", "spec", "containers", 0, "ports", 0, "name"),
        id="2.2: port name taken",
    ),
    pytest.param(
        volcano(
            task("master", 1, container(ports=[{"name": "x", "containerPort": 23456}])),
            plugins={"pytorch": []},
        ),
        None,
        id="2.2: port there",
    ),
    pytest.param(
        volcano(task("master"), plugins={"pytorch": ["--port=abc"]}),
        ("spec", "plugins", "pytorch"),
        id="2.1: port 0",
    ),
    pytest.param(
        volcano(task("master"), plugins={"pytorch": ["--port=99999"]}),
        ("spec", "plugins", "pytorch"),
        id="2.1: port too high",
    ),
    pytest.param(
        volcano(task("t"), plugins={"pytorch": ["--port=99999"]}), None, id="2.1: no master"
    ),
    pytest.param(
        volcano(task("t"), plugins={"ray": []}),
        ("spec", "plugins", "ray"),
        id="2.5: ray without head",
    ),
    pytest.param(
        volcano(task("leader"), plugins={"ray": ["--port=6380", "--head=leader"]}),
        None,
        id="2.5: ray with a head after another flag",
    ),
    pytest.param(
        volcano(task("t"), queue="q" * 64), ("spec", "queue"), id="3.1: the queue is a label"
    ),
]


@pytest.mark.parametrize(("job", "path"), LATER)
def test_some_mistakes_are_rejected_with_the_pods(job: Json, path: tuple[Any, ...] | None) -> None:
    problems = later(job)
    assert [p.path for p in problems] == ([path] if path else [])
    assert all(p.stage == "pod" and p.help for p in problems)


def test_a_leading_digit_is_rejected_before_kubernetes_1_36() -> None:
    """Source: docs/facts/volcano.md#names."""
    job = volcano(task("t"), name="5b", plugins={"svc": []})
    assert later(job) == []
    assert only(later(job, versions=Versions(kubernetes=(1, 35)))).path == ("metadata", "name")


@pytest.mark.parametrize(
    ("action", "since"), [("RestartPod", 12), ("RestartPartition", 14), ("RestartJob", 1)]
)
def test_an_action_is_rejected_before_its_release(action: str, since: int) -> None:
    """Source: docs/facts/volcano.md#what-releases-changed."""
    job = volcano(task("t"), policies=[{"event": "PodFailed", "action": action}])
    assert errors_of(job, versions=Versions(volcano=(1, since))) == []
    before = errors_of(job, versions=Versions(volcano=(1, since - 1)))
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
def test_only_some_fields_of_a_job_may_change(path: tuple[str, ...], count: int) -> None:
    """Volcano 1.16, pkg/webhooks/admission/jobs/validate: specDeepEqual."""
    job = volcano(task("a"))
    assert len(list(validate_update(Update(job, job, Versions(), (path,))))) == count
    more = volcano(task("a"), task("b"))
    assert [problem.path for problem in validate_update(Update(job, more, Versions(), ()))] == [
        ("spec", "tasks")
    ]
    assert not list(validate_update(Update(job, job, Versions(), ())))
