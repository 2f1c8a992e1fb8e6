"""The state of live objects of all six kinds, each written as its controller writes it, with the source.

Job: kubernetes 1.36 pkg/controller/job/job_controller.go; PyTorchJob: training-operator 1.9 pkg/util/status.go and
pkg/controller.v1/pytorch/pytorchjob_controller.go; Volcano: pkg/controllers/job/state; JobSet: jobset 0.12
pkg/controllers/jobset_controller.go; TrainJob: trainer 2.3 pkg/controller/trainjob_controller.go.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

import ptcompile
from ptcompile.kinds.status import Status
from tests.strategies import mutated

Json = dict[str, Any]


def condition(kind: str, status: str = "True", reason: str = "", message: str = "") -> Json:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": "2026-01-01",
    }


def live(
    version: str,
    kind: str,
    status: Json | None,
    spec: Json | None = None,
    labels: Json | None = None,
) -> Json:
    metadata = {"name": "train", "namespace": "team-a", "uid": "1-2-3", "labels": labels or {}}
    out: Json = {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec or {}}
    return out if status is None else {**out, "status": status}


def pod(status: Json | None, **spec: Any) -> Json:
    return live("v1", "Pod", status, spec)


def job(status: Json | None, **spec: Any) -> Json:
    return live("batch/v1", "Job", status, spec)


def pytorchjob(*conditions: Json, **spec: Any) -> Json:
    return live(
        "kubeflow.org/v1",
        "PyTorchJob",
        {"conditions": list(conditions)} if conditions else None,
        spec,
    )


def volcano(phase: str, **status: Any) -> Json:
    # `conditions` is a log of phases without types (job.go JobCondition)
    log = [{"status": phase, "lastTransitionTime": "2026-01-01T00:00:00Z"}]
    return live(
        "batch.volcano.sh/v1alpha1", "Job", {"state": {"phase": phase}, "conditions": log, **status}
    )


def jobset(*conditions: Json, spec: Json | None = None, **status: Any) -> Json:
    return live(
        "jobset.x-k8s.io/v1alpha2", "JobSet", {"conditions": list(conditions), **status}, spec
    )


def trainjob(*conditions: Json, spec: Json | None = None, **status: Any) -> Json:
    return live(
        "trainer.kubeflow.org/v1alpha1",
        "TrainJob",
        {"conditions": list(conditions), **status},
        spec,
    )


CREATED = condition("Created", reason="PyTorchJobCreated")
NODE = {"name": "node", "ready": 0, "active": 0, "succeeded": 0, "failed": 0, "suspended": 0}
ACTIVE = [{**NODE, "active": 1}]
QUEUE = {"kueue.x-k8s.io/queue-name": "gpus"}
CRASH = {"name": "pytorch", "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
KILLED = {"name": "pytorch", "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}
DONE = {"name": "pytorch", "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}
UNSCHEDULABLE = condition("PodScheduled", "False", "Unschedulable", "0/3 nodes are available")
FAILED_TARGET = condition("FailureTarget", reason="BackoffLimitExceeded", message="limit reached")

TABLE: dict[str, tuple[Json, str, str | None]] = {
    # Pod: the kubelet's phase; conditions from the scheduler and the component that disrupts the pod
    "pod, new": (pod(None), "created", None),
    "pod, pending": (pod({"phase": "Pending"}), "created", None),
    "pod, no node": (
        pod({"phase": "Pending", "conditions": [UNSCHEDULABLE]}),
        "created",
        "Unschedulable",
    ),
    "pod, no image": (
        pod(
            {
                "phase": "Pending",
                "containerStatuses": [
                    {"name": "c", "state": {"waiting": {"reason": "ErrImagePull"}}}
                ],
            }
        ),
        "created",
        "ErrImagePull",
    ),
    "pod, gated": (
        pod({"phase": "Pending"}, schedulingGates=[{"name": "kueue.x-k8s.io/admission"}]),
        "queued",
        "SchedulingGated",
    ),
    "pod, running": (pod({"phase": "Running"}), "running", None),
    "pod, crashing": (
        pod({"phase": "Running", "containerStatuses": [CRASH]}),
        "restarting",
        "CrashLoopBackOff",
    ),
    "pod, succeeds again and again": (
        pod({"phase": "Running", "containerStatuses": [{**CRASH, "lastState": DONE["state"]}]}),
        "restarting",
        "CrashLoopBackOff",
    ),
    "pod, node lost": (pod({"phase": "Unknown"}), "running", "NodeLost"),
    "pod, done": (pod({"phase": "Succeeded", "containerStatuses": [DONE]}), "succeeded", None),
    "pod, failed": (pod({"phase": "Failed", "containerStatuses": [KILLED]}), "failed", "OOMKilled"),
    "pod, evicted": (pod({"phase": "Failed", "reason": "Evicted"}), "failed", "Evicted"),
    "pod, too long": (
        pod({"phase": "Failed", "reason": "DeadlineExceeded"}),
        "failed",
        "DeadlineExceeded",
    ),
    "pod, preempted": (
        pod(
            {
                "phase": "Failed",
                "conditions": [condition("DisruptionTarget", reason="PreemptionByScheduler")],
            }
        ),
        "failed",
        "PreemptionByScheduler",
    ),
    # Job: conditions first, then counts
    "job, new": (job(None), "created", None),
    "job, seen": (
        job({"startTime": "2026-01-01", "ready": 0, "uncountedTerminatedPods": {}}),
        "created",
        None,
    ),
    # equal before the pods are ready and after they have ended
    "job, pods exist": (job({"startTime": "2026-01-01", "active": 2, "ready": 0}), "running", None),
    "job, pods have ended": (
        job({"ready": 0, "uncountedTerminatedPods": {"succeeded": ["a", "b"]}}),
        "running",
        None,
    ),
    "job, pods are ending": (job({"ready": 0, "terminating": 2}), "running", None),
    "job, one index has succeeded": (
        job({"active": 1, "ready": 0, "succeeded": 1, "completedIndexes": "0"}),
        "running",
        None,
    ),
    "job, suspended": (
        job({"conditions": [condition("Suspended", reason="JobSuspended")]}),
        "queued",
        "JobSuspended",
    ),
    "job, not yet seen as suspended": (job(None, suspend=True), "queued", "Suspended"),
    "job, resumed": (
        job(
            {"conditions": [condition("Suspended", "False", "JobResumed")], "active": 2, "ready": 2}
        ),
        "running",
        None,
    ),
    "job, running": (job({"active": 2, "ready": 1}), "running", None),
    "job, back-off": (job({"ready": 0, "failed": 2}), "restarting", None),
    "job, back-off after one index": (
        job({"ready": 0, "failed": 1, "succeeded": 1}),
        "restarting",
        None,
    ),
    "job, pods replaced": (job({"active": 2, "ready": 0, "failed": 1}), "running", None),
    "job, succeeds after a failure": (
        job({"ready": 0, "failed": 1, "uncountedTerminatedPods": {"succeeded": ["a"]}}),
        "running",
        None,
    ),
    "job, running after a failure": (job({"active": 2, "ready": 2, "failed": 1}), "running", None),
    "job, failing": (
        job({"conditions": [FAILED_TARGET], "active": 1, "ready": 1}),
        "running",
        "BackoffLimitExceeded",
    ),
    "job, succeeding": (
        job(
            {
                "conditions": [condition("SuccessCriteriaMet", reason="CompletionsReached")],
                "terminating": 1,
            }
        ),
        "running",
        "CompletionsReached",
    ),
    "job, done": (
        job(
            {
                "conditions": [condition("SuccessCriteriaMet"), condition("Complete")],
                "completionTime": "2026-01-01",
            }
        ),
        "succeeded",
        None,
    ),
    **{
        f"job, {reason}": (
            job({"conditions": [FAILED_TARGET, condition("Failed", reason=reason)]}),
            "failed",
            reason,
        )
        for reason in (
            "BackoffLimitExceeded",
            "DeadlineExceeded",
            "PodFailurePolicy",
            "FailedIndexes",
            "MaxFailedIndexesExceeded",
        )
    },
    # PyTorchJob: several conditions can be true at once; none changes after Failed
    "pytorchjob, new": (pytorchjob(), "created", None),
    "pytorchjob, seen": (pytorchjob(CREATED), "created", None),
    "pytorchjob, suspended": (
        pytorchjob(CREATED, condition("Suspended", reason="PyTorchJobSuspended")),
        "queued",
        "PyTorchJobSuspended",
    ),
    "pytorchjob, not yet seen as suspended": (
        pytorchjob(runPolicy={"suspend": True}),
        "queued",
        "Suspended",
    ),
    "pytorchjob, suspended while it ran": (
        pytorchjob(
            CREATED,
            condition("Running", "False"),
            condition("Suspended", reason="PyTorchJobSuspended"),
        ),
        "queued",
        "PyTorchJobSuspended",
    ),
    "pytorchjob, resumed": (
        pytorchjob(CREATED, condition("Suspended", "False", "PyTorchJobResumed")),
        "created",
        None,
    ),
    "pytorchjob, running": (
        pytorchjob(CREATED, condition("Running", reason="PyTorchJobRunning")),
        "running",
        None,
    ),
    "pytorchjob, restarting": (
        pytorchjob(CREATED, condition("Restarting", reason="PyTorchJobRestarting")),
        "restarting",
        "PyTorchJobRestarting",
    ),
    "pytorchjob, done": (
        pytorchjob(
            CREATED,
            condition("Running", "False"),
            condition("Succeeded", reason="PyTorchJobSucceeded"),
        ),
        "succeeded",
        None,
    ),
    "pytorchjob, failed": (
        pytorchjob(
            CREATED, condition("Running", "False"), condition("Failed", reason="PyTorchJobFailed")
        ),
        "failed",
        "PyTorchJobFailed",
    ),
    "pytorchjob, failed while it restarted": (
        pytorchjob(
            CREATED, condition("Restarting"), condition("Failed", reason="PyTorchJobFailed")
        ),
        "failed",
        "PyTorchJobFailed",
    ),
    # Volcano: state.phase
    "volcano, new": (live("batch.volcano.sh/v1alpha1", "Job", None), "created", None),
    "volcano, waits for its PodGroup": (volcano("Pending"), "queued", None),
    "volcano, pods wait": (volcano("Pending", pending=2), "created", None),
    "volcano, some run": (volcano("Pending", running=1, pending=1), "created", None),
    "volcano, running": (volcano("Running", running=2), "running", None),
    "volcano, restarting": (volcano("Restarting", retryCount=1), "restarting", None),
    "volcano, started again": (volcano("Pending", retryCount=1), "restarting", None),
    "volcano, completing": (volcano("Completing"), "running", "Completing"),
    "volcano, terminating": (volcano("Terminating"), "running", "Terminating"),
    "volcano, aborting": (volcano("Aborting"), "running", "Aborting"),
    "volcano, done": (
        volcano("Completed", succeeded=0, taskStatusCount={}),
        "succeeded",
        None,
    ),  # counts drop to zero
    "volcano, failed": (volcano("Failed"), "failed", None),
    "volcano, terminated": (volcano("Terminated"), "failed", "Terminated"),
    "volcano, aborted": (volcano("Aborted"), "failed", "Aborted"),
    # JobSet: conditions, terminalState, counts of child Jobs
    "jobset, new": (jobset(), "created", None),
    "jobset, seen": (jobset(replicatedJobsStatus=[NODE]), "created", None),
    "jobset, suspended": (
        jobset(
            condition("Suspended", reason="SuspendedJobs"),
            replicatedJobsStatus=[{**NODE, "suspended": 1}],
        ),
        "queued",
        "SuspendedJobs",
    ),
    "jobset, not yet seen as suspended": (jobset(spec={"suspend": True}), "queued", "Suspended"),
    "jobset, resumed": (
        jobset(condition("Suspended", "False", "ResumeJobs"), replicatedJobsStatus=ACTIVE),
        "running",
        None,
    ),
    "jobset, running": (
        jobset(replicatedJobsStatus=[{**NODE, "ready": 1, "active": 1}]),
        "running",
        None,
    ),
    "jobset, pods have ended": (
        jobset(replicatedJobsStatus=[{**NODE, "ready": 1}]),
        "running",
        None,
    ),
    "jobset, one child Job has succeeded": (
        jobset(replicatedJobsStatus=[{**NODE, "succeeded": 1}, {**NODE, "name": "loader"}]),
        "running",
        None,
    ),
    "jobset, a child Job has failed": (
        jobset(replicatedJobsStatus=[{**NODE, "failed": 1}]),
        "running",
        None,
    ),
    "jobset, restarting": (
        jobset(
            condition("RestartingJobSet", reason="Restarting"),
            restarts=1,
            replicatedJobsStatus=ACTIVE,
        ),
        "restarting",
        "Restarting",
    ),
    "jobset 0.11, restarting": (
        jobset(restarts=1, replicatedJobsStatus=[NODE]),
        "restarting",
        None,
    ),
    "jobset, runs again": (jobset(restarts=1, replicatedJobsStatus=ACTIVE), "running", None),
    "jobset, done": (
        jobset(condition("Completed", reason="AllJobsCompleted"), terminalState="Completed"),
        "succeeded",
        None,
    ),
    "jobset, done, others still there": (
        jobset(condition("Completed"), terminalState="Completed", replicatedJobsStatus=ACTIVE),
        "succeeded",
        None,
    ),
    **{
        f"jobset, {reason}": (
            jobset(condition("Failed", reason=reason), terminalState="Failed"),
            "failed",
            reason,
        )
        for reason in (
            "ReachedMaxRestarts",
            "FailedJobs",
            "FailJobSetFailurePolicyAction",
            "FailurePolicy_hosts",
        )
    },
    # TrainJob: three types of conditions, and jobsStatus
    "trainjob, new": (trainjob(), "created", None),
    "trainjob, seen": (trainjob(jobsStatus=[NODE]), "created", None),
    "trainjob, suspended": (
        trainjob(condition("Suspended", reason="Suspended")),
        "queued",
        "Suspended",
    ),
    "trainjob, not yet seen as suspended": (
        trainjob(spec={"suspend": True}),
        "queued",
        "Suspended",
    ),
    "trainjob, resumed": (
        trainjob(condition("Suspended", "False", "Resumed"), jobsStatus=ACTIVE),
        "running",
        None,
    ),
    "trainjob, pods have ended": (trainjob(jobsStatus=[{**NODE, "ready": 1}]), "running", None),
    "trainjob, a child Job has failed": (
        trainjob(jobsStatus=[{**NODE, "failed": 1}]),
        "running",
        None,
    ),
    "trainjob, running": (
        trainjob(jobsStatus=[{**NODE, "ready": 1, "active": 1}]),
        "running",
        None,
    ),
    "trainjob, done": (
        trainjob(
            condition("Suspended", "False", "Resumed"),
            condition("Complete", reason="AllJobsCompleted"),
        ),
        "succeeded",
        None,
    ),
    "trainjob, failed": (
        trainjob(condition("Failed", reason="FailedJobs")),
        "failed",
        "FailedJobs",
    ),
    "trainjob, without its runtime": (
        trainjob(
            condition("Failed", reason="TrainingRuntimeNotSupported", message="no such runtime")
        ),
        "failed",
        "TrainingRuntimeNotSupported",
    ),
    "trainjob, too long": (
        trainjob(condition("Failed", reason="DeadlineExceeded")),
        "failed",
        "DeadlineExceeded",
    ),
}


def check_state(name: str) -> None:
    given_object, state, reason = TABLE[name]
    before = copy.deepcopy(given_object)
    status = ptcompile.status(given_object)
    assert (status.state, status.reason) == (state, reason)
    assert status.done == (state in ("succeeded", "failed"))
    assert given_object == before


def test_each_kind_has_a_case_for_every_possible_state() -> None:
    states: dict[str, set[str]] = {}
    for name, (_, state, _) in TABLE.items():
        states.setdefault(name.partition(",")[0], set()).add(state)
    every = {"created", "queued", "running", "restarting", "succeeded", "failed"}
    assert states.pop("trainjob") == every - {"restarting"}  # only its JobSet reports restarts
    assert {
        name: found for name, found in states.items() if " " not in name and found != every
    } == {}


@pytest.mark.parametrize(
    "given_object",
    [
        job({"conditions": [condition("Failed", "False")]}),
        pytorchjob(CREATED, condition("Failed", "False"), condition("Succeeded", "Unknown")),
        jobset(condition("Completed", "False")),
        trainjob(condition("Complete", "False")),
    ],
    ids=lambda one: str(one["kind"]),
)
def test_condition_counts_only_if_its_status_is_true(given_object: Json) -> None:
    """The string "False" is truthy in Python."""
    assert ptcompile.status(given_object).state == "created"


@pytest.mark.parametrize(
    "version", ["kubeflow.org/v1/PyTorchJob", "batch/v1/Job", "jobset.x-k8s.io/v1alpha2/JobSet"]
)
def test_a_job_queued_by_kueue_waits_for_its_workload(version: str) -> None:
    api, _, kind = version.rpartition("/")
    status = ptcompile.status(
        live(api, kind, {"conditions": [condition("Suspended", reason="x")]}, labels=QUEUE)
    )
    assert status.state == "queued"
    assert status.message == (
        "waits for Kueue's queue gpus; its Workload (label kueue.x-k8s.io/job-uid=1-2-3) says for what"
    )


def test_pods_that_are_not_ready_are_reported() -> None:
    """The counts of a Job, JobSet and TrainJob do not show a missing image or node, only that pods are not ready."""
    message = "not all pods are ready: they may wait for a node or an image"
    for live_object in (
        job({"active": 2, "ready": 0}),
        jobset(replicatedJobsStatus=ACTIVE),
        trainjob(jobsStatus=ACTIVE),
    ):
        assert ptcompile.status(live_object) == Status("running", None, message)
    assert ptcompile.status(job({"active": 2, "ready": 1})).message is None


def test_a_restarted_container_did_not_always_fail() -> None:
    """With restartPolicy Always, a container that succeeded is started again too."""
    for name in ("pod, crashing", "pod, succeeds again and again"):
        assert (
            ptcompile.status(TABLE[name][0]).message
            == "container pytorch ended and is started again"
        )


def test_reason_is_one_string() -> None:
    assert Status("failed", "OOMKilled", "container c exited with status 137").why == (
        "OOMKilled: container c exited with status 137"
    )
    assert (Status("running").why, Status("created", "Unschedulable").why) == (
        None,
        "Unschedulable",
    )
    assert ptcompile.status(TABLE["pod, failed"][0]).to_dict() == {
        "state": "failed",
        "done": True,
        "reason": "OOMKilled",
        "message": "container pytorch exited with status 137",
    }


@pytest.mark.parametrize(
    "other", [{}, {"apiVersion": "v1", "kind": "Service"}, {"apiVersion": 1, "kind": []}], ids=str
)
def test_unsupported_kind_raises(other: Json) -> None:
    with pytest.raises(ValueError, match="PyTorchJob"):
        ptcompile.status(other)
    with pytest.raises(TypeError):
        ptcompile.status("{}")  # type: ignore[arg-type]


@given(mutated(st.sampled_from([one for one, _, _ in TABLE.values()])))
def test_any_status_has_a_state(changed: Json) -> None:
    try:
        status = ptcompile.status(changed)
    except ValueError:
        return
    json.dumps(status.to_dict())
    assert status.reason is None or isinstance(status.reason, str)
