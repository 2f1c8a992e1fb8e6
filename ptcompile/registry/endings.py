"""Retries and endings decided from a spec, and the sentences that say why.

The innermost that may try again does: torchrun starts its processes (elastic.maxRestarts), the kubelet a container in
its pod (restartPolicy OnFailure), the operator a pod or all of them (onPodFailure), and backoffLimit counts what
torchrun does not. With pods that never restart in place, a container that fails is a pod that fails.

A pod that comes back alone meets the others by c10d, whose store is node 0's process: the loss of node 0 fails every
torchrun. The others' processes fail with any node (a broken connection), so they need restarts of torchrun too: only
changes of membership are not counted (PyTorch 2.13, `_invoke_run` of torch.distributed.elastic).

Auxiliary roles have no rank and join no rendezvous: onDisruption, spot, successPolicy and the number of
retries are about the pods that train. By default their containers are restarted in place; one failure more than
`restarts` fails the job, and a pod of theirs whose node goes is made again without the others. A role that says Never
is as careful as the trainers: its pod that fails, or whose node goes, is followed by what follows one of theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.ir.job import Job, Role, backend
from ptcompile.registry.emitting import RUN_POLICY, SPEC, unsupported_by_target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.diagnostics.terms import Authority
    from ptcompile.ir.job import OnDisruption, OnPodFailure


RETRIES = 6
"""How many, where a spec asks for restarts and gives no backoffLimit: a batch/v1 Job's default (Kubernetes 1.36).

Where pods are counted one by one, as many for each node: the loss of node 0 fails them all, within 3 seconds (measured
with PyTorch 2.13), and would use up six at once.
"""

ON_POD_FAILURE = (*RUN_POLICY, "onPodFailure")
ON_DISRUPTION = (*RUN_POLICY, "onDisruption")
SUCCESS_POLICY = (*RUN_POLICY, "successPolicy")
CLEAN_POD_POLICY = (*RUN_POLICY, "cleanPodPolicy")


def retries(job: Job) -> int:
    """How many failures are tried again: the user's limit, else `RETRIES` where the spec asks for any, else none."""
    limit, said = job.run_policy.backoff_limit, job.run_policy.on_pod_failure
    if limit is not None:
        return limit
    in_place = any(role.restart_policy == "OnFailure" for role in job.training_roles)
    if said in {"RestartPod", "RestartJob"} or in_place:
        one_by_one = (in_place or said == "RestartPod") and meets_by_c10d(job)
        return RETRIES * job.peak_nodes if one_by_one else RETRIES
    return 0


def meets_by_c10d(job: Job) -> bool:
    """Whether several nodes meet through torchrun's c10d store, which is a process of node 0."""
    return job.peak_nodes > 1 and job.launch is not None and backend(job, job.launch) == "c10d"


def restarts(job: Job, role: Role) -> int:
    """How many failures of a role's containers the kubelet restarts in place, where its restartPolicy is OnFailure.

    An auxiliary role restarts so by itself, and asks for no retries of theirs.
    """
    limit = job.run_policy.backoff_limit
    if limit is not None:
        return limit
    return retries(job) if role.trains else RETRIES


def on_pod_failure(job: Job, *, whole: bool) -> OnPodFailure:
    """What follows when a pod fails. `whole`: the operator can start all pods again.

    Alone it is started again where it can join a running job, which is one of a range of nodes.
    """
    if retries(job) == 0:
        return "FailJob"
    return job.run_policy.on_pod_failure or ("RestartJob" if whole and not job.elastic else "RestartPod")


def on_disruption(job: Job) -> OnDisruption:
    """What follows when a node goes: a job of spot nodes or of a range of nodes outlives it."""
    return job.run_policy.on_disruption or ("Ignore" if job.spot or job.elastic else "Count")


def restarts_alone(job: Job) -> bool:
    """Whether a pod whose node goes is started again without the others, where the operator can do both."""
    said = job.run_policy.on_pod_failure
    return said == "RestartPod" or (said != "RestartJob" and job.elastic)


def ends_with_node_0(job: Job) -> bool:
    """Whether the success of node 0 is the job's, where the operator leaves the choice."""
    said = job.run_policy.success_policy
    return job.elastic if said is None else said == "Node0" and job.peak_nodes > 1


def restarts_in_place(role: Role) -> bool:
    """Whether the kubelet restarts a failed container, so that no pod fails by it."""
    return role.restart_policy not in {None, "Never"}


def returns_alone(role: Role) -> bool:
    """Whether it is an auxiliary role whose pods restart alone."""
    return not role.trains and restarts_in_place(role)


def approximation(path: Path, message: str, help: str | None, authority: Authority) -> Problem:
    """A warning: this target does what the spec says at `path`, but not in all respects."""
    return Problem("done-differently", path, f"{field_path(path)}: {message}", help, "warning", "run", authority)


def pods_left(job: Job, kind: str, authority: Authority, *, instead: str) -> Iterator[Problem]:
    """cleanPodPolicy for a kind that, when it is over, deletes the pods that still run and keeps the others.

    All is refused; None is told where pods may still run then. `instead`: what to do about All.
    """
    if job.run_policy.clean_pod_policy == "All":
        yield unsupported_by_target(CLEAN_POD_POLICY, f"{kind} keeps its finished pods as long as it exists", instead)
    elif job.run_policy.clean_pod_policy == "None" and (job.peak_nodes > 1 or job.auxiliary_roles):
        why = f"{kind} deletes the pods that still run when it is over, and has no other policy"
        told = approximation(CLEAN_POD_POLICY, why, "remove it, or use the target pytorchjob", authority)
        yield told._replace(severity="note")


def outliving(job: Job) -> Path | None:
    """Where the user's own words ask that the job outlives a node; None where none do."""
    if job.run_policy.on_disruption is not None:
        return ON_DISRUPTION if job.run_policy.on_disruption == "Ignore" else None
    return (*SPEC, "spot") if job.spot else None


def peers_fail_too(job: Job, *, each: bool) -> Iterator[Problem]:
    """A warning where a lost node takes the other pods with it and their failures count. `each`: one by one."""
    path = outliving(job)
    if path is None or job.peak_nodes == 1 or job.launch is None or job.launch.max_restarts:
        return
    if each and job.run_policy.on_pod_failure == "RestartJob":  # refused: see only_its_pod
        return
    if retries(job) == 0 or each:
        yield Problem(
            "peers-fail-too",
            path,
            f"{field_path(path)}: the processes of the other nodes fail with the lost one, and torchrun may not "
            "restart them (maxRestarts 0), so their pods fail, which counts",
            "set elastic.maxRestarts" if each else "set elastic.maxRestarts, or runPolicy.backoffLimit",
            "warning",
            "run",
            "torchrun",
        )


def node_0_fails_all(job: Job, *, each: bool) -> Iterator[Problem]:
    """A warning where a job that is to outlive nodes fails with the loss of node 0. `each`: pods start one by one."""
    path = outliving(job)
    if path is None or not meets_by_c10d(job) or job.launch is None or not job.launch.max_restarts:
        return  # without maxRestarts the loss of any node fails the others: see peers_fail_too
    if (
        (each or restarts_alone(job))
        and retries(job) < job.peak_nodes - 1
        and job.run_policy.on_pod_failure != "RestartJob"
    ):
        others = job.peak_nodes - 1
        yield Problem(
            "node-0-fails-all",
            path,
            f"{field_path(path)}: node 0 hosts the rendezvous store; when it is lost, torchrun exits with status 1 on "
            f"the other {others}, and each counts as a failure, of which {retries(job)} are retried",
            f"set runPolicy.backoffLimit to {others} or more for each loss of node 0",
            "warning",
            "run",
            "torchrun",
        )


def only_its_pod(job: Job, kind: str) -> Iterator[Problem]:
    """A refusal of RestartJob by an operator that starts no job again as a whole."""
    if job.run_policy.on_pod_failure == "RestartJob":
        message = f"{kind} cannot restart all pods, only the one that failed"
        yield unsupported_by_target(
            ON_POD_FAILURE, message, "use RestartPod, or the target jobset, trainjob or volcano"
        )


NOBODY_REJOINS = "no retries unless you allow some: a replaced pod cannot rejoin a static rendezvous"

NEVER = (
    "A failed container is not restarted in place, so that the failure counts and its log stays, unless you ask for it."
)

NEVER_A_NODE = (
    "A failed container of a node is not restarted in place, so that the failure counts and its log stays; one of "
    "an auxiliary role is, unless you say otherwise."
)

DISRUPTED = (
    "A lost node is not a failure: elastic and spot jobs survive it without counting it, unless onDisruption says "
    "otherwise."
)

DONE = (
    "The job is done when node 0 is, because you say so or because it is elastic: the others may never have been "
    "needed."
)

DONE_BESIDE = "Auxiliary roles never keep the job running: it is done when the trainers are."

ENDING: Mapping[str, str] = {
    "completionMode": "Indexed gives each pod its own number and host name.",
    "backoffLimit": f"The Job has {NOBODY_REJOINS}. Where pods are counted one by one and meet by c10d it is six for "
    "each node, since the loss of node 0 fails all pods.",
    "restartPolicy": NEVER,
    "successPolicy": DONE,
    "podFailurePolicy": DISRUPTED,
}
"""How a batch/v1 Job ends: of the targets job, jobset and trainjob."""

COUNTED: Mapping[str, str] = {
    "completions": "Every node is one pod that must succeed.",
    "parallelism": "All nodes run at once; the default of 1 would run one rank after the other.",
}
"""How many pods a Job has."""

JOBS: Mapping[str, str] = {
    **ENDING,
    "restartPolicy": NEVER_A_NODE,
    "maxRestarts": (
        "How often all Jobs are recreated when one fails: runPolicy.backoffLimit, 6 where you ask for restarts "
        "without a number, else never."
    ),
    "rules.disruption": (
        "A Job that fails because its node is lost has its own reason: the JobSet restarts without counting it, or "
        "ends where onDisruption is FailJob."
    ),
    "rules.deadline": "A Job that passes its deadline fails the JobSet, which would otherwise be retried.",
    "rules.beside": "An auxiliary role whose restarts are used up fails the JobSet, which would otherwise be retried.",
    "successPolicy.operator": DONE_BESIDE,
    "successPolicy.targetReplicatedJobs": DONE_BESIDE,
}
"""How a JobSet ends, and a TrainJob, whose runtime holds one."""
