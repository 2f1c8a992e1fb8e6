"""A job as a Volcano Job, and why each field is written.

Why each field (Volcano 1.16.0-alpha.1):
- A task with node 0 and one with the others: the pytorch plugin gives RANK by task, and nothing at all where the task
  named by --master is missing. torchrun reads none of its variables, so they stand in the command.
- svc with --publish-not-ready-addresses: names resolve before pods are ready.
- minAvailable, of the job and of each task, is the number of pods for a fixed job: fewer would hold GPUs and wait for
  ranks that are not there. For a range it is the minimum.
- queue, priorityClassName and networkTopology are the Job's; Volcano copies them into its PodGroup. The job's priority
  stands before that of its pods.
- An auxiliary role is a task of its own that the plugin gives no RANK and does not count (since 1.12); its
  pods are `<name>-<role>-<i>.<name>`. It belongs to the gang: trainers without their data loader would hold GPUs and
  wait, and a gang that counts pods which dependsOn holds back never starts (issues 2298, 2944).
- How it ends and what is tried again: `endings`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.diagnostics import Problem
from ptcompile.ir import pods as pod_template
from ptcompile.ir.job import SUBDOMAIN, Derived, IndexedGroup, Job, Role, Target, Wiring, backend
from ptcompile.operators.volcano import endings
from ptcompile.registry.emitting import (
    RUN_POLICY,
    SPEC,
    dns_1035,
    hosts_beside,
    object_metadata,
    own_host_names,
    restart_policies,
    role_path,
    unsupported_by_target,
)
from ptcompile.registry.endings import NEVER_A_NODE, pods_left
from ptcompile.registry.queues import network_topology
from ptcompile.registry.table import has_feature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.spec.cluster_profile import ClusterProfile


_VOLCANO = "facts/volcano, Volcano 1.16"
_UID = "123e4567-e89b-12d3-a456-426614174000"

DERIVED = (
    Derived("the last pod's host name", "{job}-{group}-{last}", _VOLCANO),
    Derived("the svc plugin's volume", "{job}-svc", _VOLCANO),
    Derived("the Service and the label volcano.sh/job-name", "{job}", _VOLCANO),
    Derived("the PodGroup", f"{{job}}-{_UID}", _VOLCANO, SUBDOMAIN),
)


def _wiring(job: Job) -> Wiring:
    host = f"{job.name}-{job.names.master}-0.{job.name}"
    expanded = job.launch is not None and job.launch.entry  # in a command line alone: the plugin appends its variables
    return Wiring(host="$(MASTER_ADDR)" if expanded else host, node_rank="$(RANK)", hosts=hosts_beside(job))


def _unsupported(job: Job, cluster: ClusterProfile) -> Iterator[Problem]:
    if not has_feature("volcano-pytorch-plugin", cluster.versions()):
        yield unsupported_by_target(
            SPEC, "Volcano has its pytorch plugin only since 1.7", "use the target job or jobset"
        )
    yield from restart_policies(job, ("Never", "OnFailure"), "a pod that always restarts never completes its task")
    policy = job.run_policy
    another = "use the target job, jobset or pytorchjob"
    if policy.active_deadline_seconds is not None:
        yield unsupported_by_target((*RUN_POLICY, "activeDeadlineSeconds"), "Volcano has no deadline for jobs", another)
    if policy.suspend:
        yield unsupported_by_target((*RUN_POLICY, "suspend"), "Volcano cannot create a suspended job", another)
    instead = "set ttlSecondsAfterFinished, or cleanPodPolicy: Running, which is what Volcano does"
    yield from pods_left(job, "a Volcano Job", "volcano", instead=instead)
    if job.launch is None and not has_feature("volcano-world-size", cluster.versions()):
        for role in job.beside:
            why = "Volcano before 1.12 counts its pods in WORLD_SIZE, which a plain command reads"
            yield unsupported_by_target(role_path(role), why, "use script or module, or use the target jobset")
    yield from endings.unsupported(job, cluster)
    yield from _rank_in_a_variable(job)
    if not has_feature("digit-first-service", cluster.versions()):
        yield from dns_1035(job, "the job's Service")
    yield from own_host_names(job, "the svc plugin")
    for role in job.roles:
        if role.template.extra.get("hostNetwork") and role.template.sidecars:
            why = (
                "the pytorch plugin gives every container the same port, which only one can have on the node's network"
            )
            yield unsupported_by_target((*role_path(role), "hostNetwork"), why, "remove hostNetwork or the sidecars")


def _rank_in_a_variable(job: Job) -> Iterator[Problem]:
    """A refusal of a static rendezvous for torchrun in the user's command, which reads its rank from a variable."""
    launch = job.launch
    if job.most_nodes > 1 and launch is not None and not launch.entry and backend(job, launch) == "static":
        why = "no variable can hold the rank that the pytorch plugin sets, so torchrun in a command needs c10d"
        help = "set elastic.rdzvBackend: c10d, use script or module, or use the target job or jobset"
        yield unsupported_by_target((*SPEC, "elastic"), why, help)


def _tasks(job: Job) -> list[tuple[str, int, Role]]:
    """Volcano's tasks: name, number of pods, and our role that describes them."""
    master, worker = job.names.master, job.names.worker
    first, *others = job.trainers
    workers = [(worker, role.replicas, role) for role in others]
    if not others:
        workers = [(worker, first.replicas - 1, first)]
    beside = [(role.name, role.replicas, role) for role in job.beside]
    return [(master, 1, first), *(entry for entry in workers if entry[1] > 0), *beside]


def _groups(job: Job) -> list[IndexedGroup]:
    return [IndexedGroup(name, count) for name, count, _ in _tasks(job)]


def _emit(job: Job, cluster: ClusterProfile) -> list[dict[str, Any]]:
    master, worker = job.names.master, job.names.worker
    spec: dict[str, Any] = {
        "schedulerName": job.roles[0].template.extra.get("schedulerName", "volcano"),
        "minAvailable": job.least_pods,
    }
    if job.queue:
        spec["queue"] = job.queue
    if priority := job.priority or job.roles[0].template.extra.get("priorityClassName"):
        spec["priorityClassName"] = priority
    if near := network_topology(job, cluster, "volcano"):
        spec["networkTopology"] = near
    ends = endings.of_job(job, cluster)
    policies = ends.pop("policies", None)
    spec |= ends
    if job.run_policy.ttl_seconds_after_finished is not None:
        spec["ttlSecondsAfterFinished"] = job.run_policy.ttl_seconds_after_finished
    spec["plugins"] = {
        "pytorch": [f"--master={master}", f"--worker={worker}", f"--port={job.master_port}"],
        "svc": ["--publish-not-ready-addresses"],
    }
    if policies:
        spec["policies"] = policies
    spec["tasks"] = [_task(job, cluster, *entry) for entry in _tasks(job)]
    return [
        {
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "kind": "Job",
            "metadata": object_metadata(job),
            "spec": spec,
        }
    ]


def _task(job: Job, cluster: ClusterProfile, name: str, count: int, role: Role) -> dict[str, Any]:
    least = count
    if job.elastic and role.trains:
        least = 1 if name == job.names.master else job.min_nodes - 1
    task: dict[str, Any] = {"name": name, "replicas": count, "minAvailable": least}
    task |= endings.of_task(job, role, cluster, master=name == job.names.master)
    main = job.names.container if role.trains else None
    task["template"] = pod_template.write(role.template, main=main, restartPolicy=role.restart_policy or "Never")
    return task


VOLCANO = Target(
    name="volcano",
    title="batch.volcano.sh/v1alpha1 Job (Volcano)",
    authority="volcano",
    wiring=_wiring,
    overwrites=dict.fromkeys(("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK")),
    unsupported=_unsupported,
    emit=_emit,
    groups=_groups,
    names_scheduler=frozenset({"volcano"}),
    derived=DERIVED,
)


SENTENCES: Mapping[str, str] = {
    "schedulerName": "Volcano schedules its own jobs unless you name another scheduler.",
    "minAvailable": (
        "No pod starts before there is room for this many: all nodes or the minimum of a range, and the auxiliary pods."
    ),
    "spec.maxRetry": (
        "One more than the retries that you allow, since the attempt that reaches it fails the job; where only lost "
        "nodes restart it, the maximum."
    ),
    "minSuccess": "All nodes must succeed, and Volcano counts the pods that do.",
    "plugins": "The pytorch plugin sets rank and master by task name, and svc makes the names resolve.",
    "spec.policies": "What happens when a pod fails or its node is lost: without a policy a failed pod stays as it is.",
    "tasks.policies": (
        "The job is done when node 0 is, a task out of retries ends it, and where auxiliary pods are replaced alone "
        "a lost node is handled by its task."
    ),
    "tasks.name": (
        "Node 0 is a task of its own, because the pytorch plugin assigns ranks by task; so is each auxiliary role."
    ),
    "tasks.replicas": "One task has node 0, the other all further nodes; each auxiliary role is one task.",
    "tasks.maxRetry": "Containers that the kubelet restarts are counted by their task.",
    "restartPolicy": NEVER_A_NODE,
}
