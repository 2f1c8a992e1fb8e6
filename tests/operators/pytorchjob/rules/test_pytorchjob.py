"""Differences between a PyTorchJob's manifest and what training-operator runs."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ptcompile.linter import run
from tests.linter.rules.launch.making import names, pytorchjob

Json = dict[str, Any]
RUN = ["torchrun", "t.py"]
CPU = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
}
MEAN = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "AverageValue", "averageValue": "2"}},
}


def elastic(workers: int = 2, **policy: Any) -> Json:
    return pytorchjob(worker=RUN, workers=workers, elasticPolicy=policy)


def policy(**fields: Any) -> Json:
    return pytorchjob(master=RUN, runPolicy={"backoffLimit": 3, **fields})


def restarting(role: str, words: str | None, manifest: Json | None = None) -> Json:
    out = copy.deepcopy(manifest or pytorchjob(master=RUN, worker=RUN))
    out["spec"]["pytorchReplicaSpecs"][role]["restartPolicy"] = words
    return out


def templated(**spec: Any) -> Json:
    out = pytorchjob(master=RUN)
    out["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"].update(spec)
    return out


def imaged(worker: str) -> Json:
    out = pytorchjob(master=RUN, worker=RUN)
    out["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]["image"] = (
        worker
    )
    return out


STORE = {"shared-rendezvous-store"}
"""The finding for c10d with restarts if the variable that makes restarts work is not set."""

CASES: list[tuple[str, Json, set[str]]] = [
    ("a plain job", pytorchjob(master=RUN, worker=RUN), set()),
    ("a range that fits", elastic(3, minReplicas=2, maxReplicas=4, maxRestarts=3), STORE),
    ("one bound is copied to the other", elastic(2, maxReplicas=2), set()),
    ("a range from nothing", elastic(2, minReplicas=0, maxReplicas=2), {"elastic-range-reversed"}),
    ("a reversed range", elastic(2, minReplicas=3, maxReplicas=2), {"elastic-range-reversed"}),
    (
        "too few Workers",
        elastic(1, minReplicas=2, maxReplicas=2),
        {"elastic-replicas-out-of-range"},
    ),
    (
        "too many Workers",
        elastic(3, minReplicas=1, maxReplicas=2, maxRestarts=3),
        {"elastic-replicas-out-of-range", *STORE},
    ),
    (
        "an autoscaler brings them in",
        elastic(1, minReplicas=2, maxReplicas=4, maxRestarts=3, metrics=[CPU]),
        set(),
    ),
    (
        "an autoscaler without a range",
        elastic(2, minReplicas=2, metrics=[CPU]),
        {"hpa-without-range"},
    ),
    ("etcd at home", elastic(2, rdzvBackend="etcd-v2", rdzvId="x"), {"etcd-on-a-worker"}),
    (
        "etcd elsewhere",
        elastic(2, rdzvBackend="etcd-v2", rdzvId="x", rdzvHost="etcd", rdzvPort=2379),
        set(),
    ),
    (
        "etcd of many",
        elastic(2, rdzvBackend="etcd-v2", rdzvHost="etcd", rdzvPort=2379),
        {"etcd-without-id"},
    ),
    ("a gang of all", policy(schedulingPolicy={"minAvailable": 1}), set()),
    (
        "a gang of more",
        policy(schedulingPolicy={"minAvailable": 2}),
        {"min-available-above-replicas"},
    ),
    (
        "a gang of fewer, elastic",
        pytorchjob(
            worker=RUN,
            elasticPolicy={},
            runPolicy={"backoffLimit": 1, "schedulingPolicy": {"minAvailable": 1}},
        ),
        set(),
    ),
    (
        "a gang of fewer",
        pytorchjob(
            master=RUN,
            worker=RUN,
            runPolicy={"backoffLimit": 1, "schedulingPolicy": {"minAvailable": 1}},
        ),
        {"min-available-below-replicas"},
    ),
    ("no limit", pytorchjob(master=RUN, runPolicy={}), {"restarts-for-ever"}),
    (
        "a deadline is a limit",
        pytorchjob(master=RUN, runPolicy={"activeDeadlineSeconds": 9}),
        set(),
    ),
    (
        "no limit, and no GPU",
        pytorchjob(master=RUN, runPolicy={}, nprocPerNode="1", container={"resources": {}}),
        set(),
    ),
    (
        "Never needs no limit",
        restarting("Master", "Never", pytorchjob(master=RUN, runPolicy={})),
        set(),
    ),
    (
        "a limit that nobody counts",
        restarting("Master", "ExitCode", pytorchjob(master=RUN)),
        {"uncounted-restarts"},
    ),
    ("a limit that some count", restarting("Master", "ExitCode"), set()),
    ("a Master forever", restarting("Master", "Always"), {"endless-restart-policy"}),
    ("Workers forever end with their Master", restarting("Worker", "Always"), set()),
    ("no time at all", policy(activeDeadlineSeconds=0), {"past-deadline"}),
    ("an unknown word", policy(cleanPodPolicy="Terminated"), {"unknown-clean-pod-policy"}),
    ("a known word", policy(cleanPodPolicy="All"), set()),
    ("the template's policy", templated(restartPolicy="Always"), {"ignored-restart-policy"}),
    ("the same policy twice", templated(restartPolicy="OnFailure"), set()),
    ("another release", imaged("ghcr.io/acme/train:1.1"), {"roles-with-different-images"}),
    ("another image", imaged("ghcr.io/acme/serve:1.1"), set()),
    ("a registry with a port", imaged("ghcr.io:443/acme/train:1.0"), set()),
]


@pytest.mark.parametrize(
    ("manifest", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_rules_about_pytorchjobs_fire(manifest: Json, expected: set[str]) -> None:
    assert names(manifest) == expected


def test_metrics_with_an_absolute_value_need_no_request() -> None:
    bare = {"resources": {"limits": {"nvidia.com/gpu": 1}}}
    for metric, expected in ((CPU, {"hpa-without-requests", *STORE}), (MEAN, STORE)):
        policy = {"maxRestarts": 3, "minReplicas": 2, "maxReplicas": 4, "metrics": [metric]}
        assert names(pytorchjob(worker=RUN, elasticPolicy=policy, container=bare)) == expected


@pytest.mark.parametrize(
    ("scheduler", "field", "ignored"),
    [
        ("volcano", {"scheduleTimeoutSeconds": 9}, True),
        ("volcano", {"queue": "q"}, False),
        ("scheduler-plugins-scheduler", {"queue": "q"}, True),
        ("scheduler-plugins-scheduler", {"scheduleTimeoutSeconds": 9}, False),
        ("mine", {"queue": "q", "scheduleTimeoutSeconds": 9}, False),
    ],
)
def test_fields_of_another_scheduler_are_ignored(
    scheduler: str, field: Json, *, ignored: bool
) -> None:
    manifest = templated(schedulerName=scheduler)
    manifest["spec"]["runPolicy"]["schedulingPolicy"] = field
    assert names(manifest) == ({"ignored-scheduling-policy"} if ignored else set())


@pytest.mark.parametrize(("word", "safe"), [("running", True), ("Runing", False)])
def test_only_a_wrong_case_is_fixed_safely(word: str, *, safe: bool) -> None:
    (problem,) = run(policy(cleanPodPolicy=word))
    assert problem.fix is not None
    assert (problem.fix.edits[0].value, problem.fix.safe) == ("Running", safe)
