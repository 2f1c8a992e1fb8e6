"""The Volcano target: its manifests, and why each field is written.

Why each field (Volcano 1.16.0-alpha.1):
- One task has node 0 and another has the others: the pytorch plugin sets RANK per task, and does
  nothing if the task named by --master does not exist. torchrun reads none of its variables, so
  they are in the command.
- svc with --publish-not-ready-addresses: names resolve before pods are ready.
- minAvailable, of the job and of each task, is the number of pods for a fixed job: fewer would hold
  GPUs and wait for missing ranks. For a range it is the minimum.
- queue, priorityClassName and networkTopology are set on the Job; Volcano copies them into its
  PodGroup. The job's priority overrides that of its pods.
- An auxiliary role is a separate task, to which the plugin gives no RANK and which it does not
  count (since 1.12); its pods are `<name>-<role>-<i>.<name>`. It belongs to the gang: nodes without
  their data loader would hold GPUs and wait, and a gang that counts pods which dependsOn holds back
  never starts (issues 2298, 2944).
- The module `endings` covers how the job ends and what is retried.
"""

from __future__ import annotations

from ptcompile.diagnostics import Problems
from ptcompile.ir import pods as pod_template
from ptcompile.ir.job import SUBDOMAIN, Derived, IndexedGroup, Job, Role, Target, Wiring, backend
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.operators.queues.queues import network_topology
from ptcompile.operators.shared.emitting import (
    RUN_POLICY,
    SPEC,
    auxiliary_hosts,
    check_restart_policies,
    check_service_name,
    object_metadata,
    plain_env,
    rank_source,
    reject_host_names,
    role_path,
    unsupported_by_target,
)
from ptcompile.operators.shared.endings import (
    NEVER_FOR_NODES_TEXT,
    check_clean_pod_policy,
    reject_restart_in_place,
)
from ptcompile.operators.table import has_feature
from ptcompile.operators.volcano import endings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile


_VOLCANO = "facts/volcano, Volcano 1.16"
_UID = "123e4567-e89b-12d3-a456-426614174000"

DERIVED = (
    Derived("the last pod's host name", "{job}-{group}-{last}", _VOLCANO),
    Derived("the svc plugin's volume", "{job}-svc", _VOLCANO),
    Derived("the Service and the label volcano.sh/job-name", "{job}", _VOLCANO),
    Derived("the PodGroup", f"{{job}}-{_UID}", _VOLCANO, SUBDOMAIN),
)


_TASK_INDEX = "metadata.annotations['volcano.sh/task-index']"


def _has_one_task(job: Job) -> bool:
    """Return whether all nodes are pods of one task, which the pytorch plugin cannot rank."""
    return job.names.task is not None and len(job.training_roles) == 1


def _wiring(job: Job) -> Wiring:
    if _has_one_task(job):
        host = f"{job.name}-{job.names.task}-0.{job.name}"
        return Wiring(
            host=host,
            node_rank="$(VC_TASK_INDEX)",
            rank_from=rank_source(_TASK_INDEX),
            env=plain_env(job, host, _TASK_INDEX),
            hosts=auxiliary_hosts(job),
        )

    host = f"{job.name}-{job.names.master}-0.{job.name}"
    # $(MASTER_ADDR) is expanded only in a command line: the plugin appends its variables to env
    expanded = job.launch is not None and job.launch.entry

    return Wiring(
        host="$(MASTER_ADDR)" if expanded else host, node_rank="$(RANK)", hosts=auxiliary_hosts(job)
    )


def _unsupported(job: Job, cluster: ClusterProfile) -> Problems:
    if not _has_one_task(job) and not has_feature("volcano-pytorch-plugin", cluster.versions()):
        yield unsupported_by_target(
            SPEC, "Volcano has its pytorch plugin only since 1.7", "use the target job or jobset"
        )

    yield from check_restart_policies(
        job, ("Never", "OnFailure"), "a pod that always restarts never completes its task"
    )
    yield from reject_restart_in_place(
        job, "Volcano's webhook rejects restart policies of containers"
    )
    policy = job.run_policy
    help = "use the target job, jobset or pytorchjob"
    if policy.active_deadline_seconds is not None:
        yield unsupported_by_target(
            (*RUN_POLICY, "activeDeadlineSeconds"), "Volcano has no deadline for jobs", help
        )
    if policy.suspend:
        yield unsupported_by_target(
            (*RUN_POLICY, "suspend"), "Volcano cannot create a suspended job", help
        )

    instead = "set ttlSecondsAfterFinished, or cleanPodPolicy: Running, which is what Volcano does"
    yield from check_clean_pod_policy(job, "a Volcano Job", "volcano", instead=instead)
    if job.launch is None and not has_feature("volcano-world-size", cluster.versions()):
        for role in job.auxiliary_roles:
            why = "Volcano before 1.12 counts its pods in WORLD_SIZE, which a plain command reads"
            yield unsupported_by_target(
                role_path(role), why, "use script or module, or use the target jobset"
            )

    yield from endings.unsupported(job, cluster)
    yield from _unsupported_static_rendezvous(job)
    if not has_feature("digit-first-service", cluster.versions()):
        yield from check_service_name(job, "the job's Service")
    yield from reject_host_names(job, "the svc plugin")
    for role in job.roles:
        if role.template.extra.get("hostNetwork") and role.template.sidecars:
            why = (
                "the pytorch plugin gives every container the same port, which only one can have "
                "on the node's network"
            )
            yield unsupported_by_target(
                (*role_path(role), "hostNetwork"), why, "remove hostNetwork or the sidecars"
            )


def _unsupported_static_rendezvous(job: Job) -> Problems:
    """Yield an error if the user's command starts torchrun and the rendezvous is static: torchrun
    would need the rank that the plugin sets.
    """
    launch = job.launch
    if _has_one_task(job) or job.peak_nodes == 1 or launch is None or launch.entry:
        return

    if backend(job, launch) == "static":
        yield unsupported_by_target(
            (*SPEC, "elastic"),
            "no variable can hold the rank that the pytorch plugin sets, so torchrun in a command "
            "needs c10d",
            "set elastic.rdzvBackend: c10d, use script or module, or use the target job or jobset",
        )


def _tasks_of(job: Job) -> list[tuple[str, int, Role]]:
    """Return Volcano's tasks, each as its name, its number of pods and the role that describes
    them.
    """
    first, *others = job.training_roles
    if _has_one_task(job):
        training = [(job.names.task or "", first.replicas, first)]
    else:
        # the trace knows a role's own number: job.nodes would be a new one
        workers = [(job.names.worker, role.replicas, role) for role in others]
        if not others:
            workers = [(job.names.worker, first.replicas - 1, first)]
        training = [(job.names.master, 1, first), *(entry for entry in workers if entry[1] > 0)]

    return training + [(role.name, role.replicas, role) for role in job.auxiliary_roles]


def _groups(job: Job) -> list[IndexedGroup]:
    return [IndexedGroup(name, count) for name, count, _ in _tasks_of(job)]


def _emit(job: Job, cluster: ClusterProfile) -> list[JsonDict]:
    spec: JsonDict = {
        "schedulerName": job.roles[0].template.extra.get("schedulerName", "volcano"),
        "minAvailable": job.min_pods,
    }
    if job.queue:
        spec["queue"] = job.queue
    if priority := job.priority or job.roles[0].template.extra.get("priorityClassName"):
        spec["priorityClassName"] = priority
    if topology := network_topology(job, cluster, "volcano"):
        spec["networkTopology"] = topology
    ending_fields = endings.job_fields(job, cluster)
    policies = ending_fields.pop("policies", None)
    spec |= ending_fields
    if job.run_policy.ttl_seconds_after_finished is not None:
        spec["ttlSecondsAfterFinished"] = job.run_policy.ttl_seconds_after_finished
    spec["plugins"] = {**_rank_plugin(job), "svc": ["--publish-not-ready-addresses"]}
    if policies:
        spec["policies"] = policies
    eviction_action = endings.task_eviction_action(job, cluster)
    spec["tasks"] = [_emit_task(job, eviction_action, *entry) for entry in _tasks_of(job)]

    return [
        {
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "kind": "Job",
            "metadata": object_metadata(job),
            "spec": spec,
        }
    ]


def _rank_plugin(job: Job) -> dict[str, list[str]]:
    if _has_one_task(job):
        return {"env": []}
    return {
        "pytorch": [
            f"--master={job.names.master}",
            f"--worker={job.names.worker}",
            f"--port={job.master_port}",
        ]
    }


def _container_name(job: Job, task: str) -> str | None:
    if _has_one_task(job):
        return job.names.container
    return job.names.container_of("master" if task == job.names.master else "worker")


def _emit_task(
    job: Job, eviction_action: str | None, name: str, count: int, role: Role
) -> JsonDict:
    has_master = not _has_one_task(job)
    is_master = has_master and name == job.names.master
    min_available = count
    if job.elastic and role.trains and not is_master:
        min_available = job.min_nodes - 1 if has_master else job.min_nodes
    task: JsonDict = {"name": name, "replicas": count, "minAvailable": min_available}
    task |= endings.task_fields(job, role, eviction_action, master=is_master)
    main = _container_name(job, name) if role.trains else None
    task["template"] = pod_template.write(
        role.template, main=main, restartPolicy=role.restart_policy or "Never"
    )

    return task


SENTENCES = {
    "schedulerName": "Volcano schedules its own jobs unless you name another scheduler.",
    "minAvailable": (
        "No pod starts before there is room for this many: all nodes or the minimum of a range, "
        "and the auxiliary pods."
    ),
    "spec.maxRetry": (
        "One more than the retries that you allow, since the attempt that reaches it fails the "
        "job; where only lost nodes restart it, the maximum."
    ),
    "minSuccess": "All nodes must succeed, and Volcano counts the pods that do.",
    "plugins": (
        "The pytorch plugin sets rank and master by task name, or env sets the index of a pod in "
        "its task; svc makes the names resolve."
    ),
    "spec.policies": "What happens when a pod or its node fails: without a policy nothing replaces a failed "
    "pod.",
    "tasks.policies": (
        "The job is done when node 0 is, a task out of retries ends it, and where auxiliary pods "
        "are replaced alone a lost node is handled by its task."
    ),
    "tasks.name": (
        "Node 0 is a separate task, because the pytorch plugin assigns ranks by task; so is each "
        "auxiliary role."
    ),
    "tasks.replicas": "One task has node 0, the other all further nodes; each auxiliary role is one task.",
    "tasks.maxRetry": (
        "Containers that the kubelet restarts are counted by their task. Elsewhere it is what "
        "Volcano would write at creation: a file without it could not be applied again."
    ),
    "restartPolicy": NEVER_FOR_NODES_TEXT,
}


VOLCANO = Target(
    name="volcano",
    title="batch.volcano.sh/v1alpha1 Job (Volcano)",
    authority="volcano",
    wiring=_wiring,
    overwrites=dict.fromkeys(("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK")),
    keeps_variables=_has_one_task,
    unsupported=_unsupported,
    emit=_emit,
    groups=_groups,
    names_scheduler=frozenset({"volcano"}),
    derived=DERIVED,
    sentences=SENTENCES,
)
