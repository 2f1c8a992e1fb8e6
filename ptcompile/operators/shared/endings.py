"""How a job retries and ends, as decided from its spec, and the sentences that explain it.

The innermost mechanism acts first: torchrun restarts its processes (elastic.maxRestarts), the
kubelet restarts a container in its pod (restartPolicy OnFailure), the operator recreates one pod or
all of them (onPodFailure); backoffLimit counts failures that torchrun did not handle. If pods never
restart in place, a failed container is a failed pod.

A pod that is recreated alone rejoins the others by c10d, whose store is a process of node 0: losing
node 0 fails torchrun on every node. The loss of any node breaks the other nodes' connections and
fails their processes, so they need restarts of torchrun too; only membership changes are not
counted (PyTorch 2.13, `_invoke_run` of torch.distributed.elastic).

Auxiliary roles have no rank and join no rendezvous: onDisruption, spot, successPolicy and the
default number of retries apply to training roles. By default, containers of auxiliary roles restart
in place; one failure more than `restarts` fails the job, and a pod whose Kubernetes node is lost is
recreated alone. An auxiliary role with restartPolicy Never is treated like a training role: its
failed or lost pod has the same consequences.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.diagnostics import Path, Problem, Problems, problem_at
from ptcompile.ir.job import Job, Role, backend
from ptcompile.kubernetes.versions import is_on, version_text
from ptcompile.operators.shared.emitting import RUN_POLICY, SPEC, unsupported_by_target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.diagnostics.terms import Authority
    from ptcompile.ir.job import OnDisruption, OnPodFailure
    from ptcompile.spec.cluster_profile import ClusterProfile


RETRIES = 6
"""Number of retries if a spec requests restarts without a backoffLimit: the default of a batch/v1
Job (Kubernetes 1.36).

If pods are counted individually, it is this many per node: losing node 0 fails all pods, within 3
seconds (measured with PyTorch 2.13), and would use up six retries at once.
"""

ON_POD_FAILURE = (*RUN_POLICY, "onPodFailure")
ON_DISRUPTION = (*RUN_POLICY, "onDisruption")
SUCCESS_POLICY = (*RUN_POLICY, "successPolicy")
CLEAN_POD_POLICY = (*RUN_POLICY, "cleanPodPolicy")


def retries(job: Job) -> int:
    """Return how many failures are retried: the user's limit, else `RETRIES` if the spec requests
    any restarts, else 0.
    """
    limit = job.run_policy.backoff_limit
    policy = job.run_policy.on_pod_failure
    if limit is not None:
        return limit
    in_place = any(role.restart_policy == "OnFailure" for role in job.training_roles)
    if policy in {"RestartPod", "RestartJob"} or in_place:
        is_counted_per_pod = (in_place or policy == "RestartPod") and meets_by_c10d(job)
        return RETRIES * job.peak_nodes if is_counted_per_pod else RETRIES
    return 0


def meets_by_c10d(job: Job) -> bool:
    """Return whether several nodes rendezvous through torchrun's c10d store, which is a process
    of node 0.
    """
    return job.peak_nodes > 1 and job.launch is not None and backend(job, job.launch) == "c10d"


def restarts(job: Job, role: Role) -> int:
    """Return how many failures of a role's containers the kubelet restarts in place, for
    restartPolicy OnFailure.

    An auxiliary role restarts in place by default, so it needs no retries of the job.
    """
    limit = job.run_policy.backoff_limit
    if limit is not None:
        return limit
    return retries(job) if role.trains else RETRIES


def on_pod_failure(job: Job) -> OnPodFailure:
    """Return what happens when a pod fails, for operators that can restart all pods.

    By default, a pod is restarted alone if it can rejoin the running job, that is, if the job has a
    range of nodes.
    """
    if retries(job) == 0:
        return "FailJob"
    return job.run_policy.on_pod_failure or ("RestartPod" if job.elastic else "RestartJob")


def on_disruption(job: Job) -> OnDisruption:
    """Return what happens when a Kubernetes node is lost: jobs on spot nodes or with a range of
    nodes survive it by default.
    """
    return job.run_policy.on_disruption or ("Ignore" if job.spot or job.elastic else "Count")


def restarts_alone(job: Job) -> bool:
    """Return whether a pod whose Kubernetes node is lost is recreated alone, if the operator can
    also recreate all pods.
    """
    policy = job.run_policy.on_pod_failure
    return policy == "RestartPod" or (policy != "RestartJob" and job.elastic)


def ends_with_node_0(job: Job) -> bool:
    """Return whether the job succeeds when node 0 does, for operators that allow either."""
    policy = job.run_policy.success_policy
    if policy is None:
        return job.elastic
    return policy == "Node0" and job.peak_nodes > 1


def restarts_in_place(role: Role) -> bool:
    """Return whether the kubelet restarts a failed container, so its pod does not fail."""
    return role.restart_policy not in {None, "Never"}


def returns_alone(role: Role) -> bool:
    """Return whether this is an auxiliary role whose pods restart alone."""
    return not role.trains and restarts_in_place(role)


def approximation(path: Path, message: str, help: str | None, authority: Authority) -> Problem:
    """Return a warning that the target implements the spec field at `path` only approximately."""
    return problem_at("done-differently", path, message, help, "warning", "run", authority)


def check_clean_pod_policy(job: Job, kind: str, authority: Authority, *, instead: str) -> Problems:
    """Yield problems of cleanPodPolicy for a kind that deletes running pods when the job ends and
    keeps the finished ones.

    All is an error, with `instead` as its help; None gets a note if pods may still be running then.
    """
    if job.run_policy.clean_pod_policy == "All":
        yield unsupported_by_target(
            CLEAN_POD_POLICY, f"{kind} keeps its finished pods until it is deleted itself", instead
        )
    elif job.run_policy.clean_pod_policy == "None" and (job.peak_nodes > 1 or job.auxiliary_roles):
        why = f"{kind} always deletes running pods when the job ends"
        note = approximation(
            CLEAN_POD_POLICY, why, "remove it, or use the target pytorchjob", authority
        )
        yield note._replace(severity="note")


def survival_path(job: Job) -> Path | None:
    """Return the path of the field by which the user requests that the job survive the loss of a
    node, or None.
    """
    if job.run_policy.on_disruption is not None:
        if job.run_policy.on_disruption == "Ignore":
            return ON_DISRUPTION
        return None
    return (*SPEC, "spot") if job.spot else None


def peers_fail_too(job: Job, *, each: bool) -> Problems:
    """Yield a warning if losing a node fails the other pods too and their failures count. `each`:
    pods restart individually.
    """
    path = survival_path(job)
    if path is None or job.peak_nodes == 1 or job.launch is None or job.launch.max_restarts:
        return
    # `reject_restart_job` rejects this combination
    if each and job.run_policy.on_pod_failure == "RestartJob":
        return

    if retries(job) == 0 or each:
        yield problem_at(
            "peers-fail-too",
            path,
            "the processes of the other nodes fail with the lost one, and torchrun may not "
            "restart them (maxRestarts 0), so their pods fail too, and each failure counts",
            "set elastic.maxRestarts"
            if each
            else "set elastic.maxRestarts, or runPolicy.backoffLimit",
            "warning",
            "run",
            "torchrun",
        )


def node_0_fails_all(job: Job, *, each: bool) -> Problems:
    """Yield a warning if a job that should survive lost nodes fails when node 0 is lost. `each`:
    pods restart individually.
    """
    path = survival_path(job)
    if path is None or not meets_by_c10d(job) or job.launch is None or not job.launch.max_restarts:
        return  # without maxRestarts, losing any node fails the others: see peers_fail_too

    other_nodes = job.peak_nodes - 1
    pods_restart_alone = each or restarts_alone(job)
    if job.run_policy.on_pod_failure == "RestartJob" or not pods_restart_alone:
        return

    if retries(job) < other_nodes:
        yield problem_at(
            "node-0-fails-all",
            path,
            f"node 0 hosts the rendezvous store; when it is lost, torchrun exits with status 1 on "
            f"the other {other_nodes}, and each counts as a failure, of which {retries(job)} are "
            "retried",
            f"set runPolicy.backoffLimit to {other_nodes} or more for each loss of node 0",
            "warning",
            "run",
            "torchrun",
        )


def check_lost_pods(job: Job, *, each: bool, crash: str, authority: Authority) -> Problems:
    """Yield what a lost node or a crashed pod does that the spec does not expect. `each`: pods
    start one by one.

    `crash` says what the operator does with the first failed pod of a job without retries.
    """
    problems = [*peers_fail_too(job, each=each), *node_0_fails_all(job, each=each)]
    yield from problems or crash_ends_job(job, crash, authority)


def crash_ends_job(job: Job, crash: str, authority: Authority) -> Problems:
    """Yield a note if a job with a range of nodes or with maxRestarts has no retries for a pod
    that crashes.
    """
    launch = job.launch
    policy = job.run_policy
    if launch is None or job.runtime is not None or not (job.elastic or launch.max_restarts):
        return
    if policy.on_pod_failure is not None or retries(job):
        return
    if any(map(restarts_in_place, job.training_roles)):
        return

    path = (*SPEC, "elastic", "nnodes" if job.elastic else "maxRestarts")
    if launch.max_restarts:
        promise = "torchrun restarts failed processes"
    else:
        promise = "the job can run with fewer nodes"

    yield problem_at(
        "crash-ends-job",
        path,
        f"{promise}, but a pod that crashes ends the job: {crash}",
        "set runPolicy.backoffLimit to the number of failed pods to retry",
        "note",
        "run",
        authority,
    )


def reject_restart_job(job: Job, kind: str) -> Problems:
    """Yield an error for RestartJob if the operator cannot restart all pods of a job."""
    if job.run_policy.on_pod_failure == "RestartJob":
        yield unsupported_by_target(
            ON_POD_FAILURE,
            f"{kind} cannot restart all pods, only the one that failed",
            "use RestartPod, or the target jobset, trainjob or volcano",
        )


def check_restart_rules(job: Job, cluster: ClusterProfile) -> Problems:
    """Yield an error for restartInPlace if the cluster's Kubernetes has no rules for it, or
    lacks their action.
    """
    rule = job.run_policy.restart_in_place
    versions = cluster.versions()
    if rule is None:
        return

    for gate, feature, since in (
        ("ContainerRestartRules", "restart rules of containers", "1.35"),
        ("RestartAllContainersOnContainerExits", "the action RestartAllContainers", "1.36"),
    ):
        is_needed = since == "1.35" or rule.action == "RestartAllContainers"
        if is_needed and not is_on("kubernetes", gate, versions):
            release = version_text(versions.kubernetes)
            yield unsupported_by_target(
                (*RUN_POLICY, "restartInPlace"),
                f"Kubernetes {release} lacks {feature}: the feature gate {gate} is on since {since}",
                f"use Kubernetes {since}; if the gate is on, set "
                f"spec.featureGates.kubernetes.{gate} in the profile",
            )
            return


def reject_restart_in_place(job: Job, why: str) -> Problems:
    """Yield an error for restartInPlace if the operator's pods cannot have the rules for it."""
    if job.run_policy.restart_in_place is not None:
        yield unsupported_by_target(
            (*RUN_POLICY, "restartInPlace"), why, "use the target job, jobset or trainjob"
        )


NO_RETRIES_TEXT = (
    "no retries unless you allow some: a replaced pod cannot rejoin a static rendezvous"
)

NEVER_TEXT = (
    "A failed container is not restarted in place, so the failure counts and its log is kept, "
    "unless you set OnFailure."
)

NEVER_FOR_NODES_TEXT = (
    "A failed container of a node is not restarted in place, so the failure counts and its log is "
    "kept; a container of an auxiliary role is, unless you set Never."
)

DISRUPTION_TEXT = (
    "A lost node is not a failure: elastic and spot jobs survive it without counting it, unless "
    "onDisruption says otherwise."
)

NODE_0_TEXT = (
    "The job is done when node 0 is, because successPolicy says so or the job is elastic: other "
    "nodes may never have started."
)

AUXILIARY_TEXT = (
    "Auxiliary roles never keep the job running: it is done when the training roles are."
)

JOB_ENDING_SENTENCES: Mapping[str, str] = {
    "completionMode": "Indexed gives each pod its own number and host name.",
    "backoffLimit": f"The Job has {NO_RETRIES_TEXT}. Where pods are counted one by one and meet by "
    "c10d it is six for each node, since the loss of node 0 fails all pods.",
    "restartPolicy": NEVER_TEXT,
    "successPolicy": NODE_0_TEXT,
    "podFailurePolicy": DISRUPTION_TEXT,
}
"""How a batch/v1 Job ends, for the targets job, jobset and trainjob."""

POD_COUNT_SENTENCES: Mapping[str, str] = {
    "completions": "Every node is one pod that must succeed.",
    "parallelism": "All nodes run at once; the default of 1 would run one rank after the other.",
}
"""The number of pods of a Job."""

JOBSET_ENDING_SENTENCES: Mapping[str, str] = {
    **JOB_ENDING_SENTENCES,
    "restartPolicy": NEVER_FOR_NODES_TEXT,
    "maxRestarts": (
        "How often all Jobs are recreated when one fails: runPolicy.backoffLimit, 6 where you ask "
        "for restarts without a number, else never."
    ),
    "rules.disruption": (
        "A Job that fails because its node is lost has its own reason: the JobSet restarts without "
        "counting it, or ends where onDisruption is FailJob."
    ),
    "rules.deadline": "A Job that passes its deadline fails the JobSet, which would otherwise be retried.",
    "rules.beside": "An auxiliary role whose restarts are used up fails the JobSet, which would otherwise be "
    "retried.",
    "successPolicy.operator": AUXILIARY_TEXT,
    "successPolicy.targetReplicatedJobs": AUXILIARY_TEXT,
}
"""How a JobSet ends, and a TrainJob, whose runtime contains one."""
