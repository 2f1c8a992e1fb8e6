"""The TrainJob target: its manifests, and why each field is written.

A TrainJob needs a runtime. The rule: the built-in ClusterTrainingRuntime `torch-distributed` if it
does what the job requires. That runtime restarts failed containers in place, up to six times:
restartPolicy OnFailure without a backoffLimit, as on every target. All differences from it must
also be within the reach of a TrainJob's own fields and of podSpecOverrides (2.0),
podTemplateOverrides (2.1) or runtimePatches (2.2). Every other job brings its own TrainingRuntime
of the same name, emitted before it, with the whole pod template.

Why each field (Trainer 2.3):
- `trainer` is always set: without it the torch policy gives the pods no PET_* variables (issue
  4076).
- The replicatedJob and its container are called `node`, with the label trainjob-ancestor-step:
  trainer: the runtime's webhook requires the container, and PET_MASTER_ADDR is the literal
  `<name>-node-0-0.<name>`.
- The torch policy injects PET_NNODES, PET_NODE_RANK, PET_MASTER_ADDR, PET_NPROC_PER_NODE and
  PET_MASTER_PORT, so a static rendezvous needs no arguments. Trainer's port is always 29500; a port
  that is neither that nor ptcompile's default is an argument, which torchrun prefers. A user's own
  values of these five PET_* variables are rejected.
- numProcPerNode is a number (all that 2.2 accepts). The words auto, cpu and gpu are torchrun's and
  stay an argument. For a plain command on accelerators without "gpu" in their name (MIG, TPU,
  Gaudi, Neuron) the number is written too, since Trainer would count CPUs. For torchrun the pass
  `processes` has set it.
- Trainer knows no range of nodes: c10d arguments override PET_NNODES.
- A TrainJob has no fields for retries and success, but the runtime's JobSet has (`jobset.endings`).
  activeDeadlineSeconds is the TrainJob's since 2.2, and before that the runtime's Job's. With a TTL
  on the JobSet, Trainer would recreate it (issue 3779), so the spec's TTL is rejected.
- A plain command gets MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK from ptcompile: Trainer sets
  only PET_*.
- An auxiliary role is a replicatedJob of the runtime without the ancestor label, which Trainer does
  not change: pods `<name>-<role>-0-<i>.<name>`. successPolicy of the runtime's JobSet targets only
  `node`, so the TrainJob ends with its nodes. A PodGroup counts all pods.
- A gang scheduler is a podGroupPolicy of the runtime, which names no scheduler, so the pod template
  does. Trainer takes Volcano's queue from an annotation of the runtime's template and the
  PodGroup's priority from the pods' class.
"""

from __future__ import annotations

from ptcompile.diagnostics import Problems
from ptcompile.ir import pods as pod_template
from ptcompile.ir.job import (
    OF_RUNTIME,
    SUBDOMAIN,
    Derived,
    IndexedGroup,
    Job,
    Role,
    Target,
    Wiring,
    accelerators_in,
    map_templates,
)
from ptcompile.kubernetes.commands import PROCESS_WORDS
from ptcompile.kubernetes.unstructured import JsonDict, without_falsy, without_none
from ptcompile.operators.jobset import endings as jobset_endings
from ptcompile.operators.jobset.emit import kai_min_member
from ptcompile.operators.queues.queue_systems import VOLCANO_QUEUE
from ptcompile.operators.shared import endings
from ptcompile.operators.shared.emitting import (
    RUN_POLICY,
    SPEC,
    auxiliary_hosts,
    check_container_name,
    check_equal_roles,
    check_restart_policies,
    check_service_name,
    done_differently,
    managed_by,
    object_metadata,
    plain_env,
    pod_group,
    pod_group_policy,
    reject_host_names,
    unsupported_by_target,
    with_pod_group,
    with_priority,
)
from ptcompile.operators.shared.endings import JOBSET_ENDING_SENTENCES
from ptcompile.operators.table import has_feature
from ptcompile.operators.trainer.patches import NODE, split_template
from ptcompile.operators.trainer.runtimes import ANCESTOR, API_VERSION, GROUP
from ptcompile.spec import devices as hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.operators.trainer.patches import TrainerParts
    from ptcompile.spec.cluster_profile import ClusterProfile


_TRAINER = "facts/trainer, Trainer 2.3"

DERIVED = (
    Derived("the last pod", "{job}-{group}-0-{last}-xxxxx", _TRAINER),
    Derived("the Job", "{job}-{group}-0", _TRAINER),
    Derived("the Service and the label jobset.sigs.k8s.io/jobset-name", "{job}", _TRAINER),
    Derived("the ConfigMap of the runtime", "{job}-runtime-snapshot", _TRAINER, SUBDOMAIN),
    Derived("the TrainingRuntime and the PodGroup", "{job}", _TRAINER, SUBDOMAIN),
)


_RUNTIME = "torch-distributed"
_PORTS = (29500, 23456)
"""Trainer's port, and ptcompile's if the user sets none."""


def _wiring(job: Job) -> Wiring:
    host = "localhost" if job.peak_nodes == 1 else f"{job.name}-{NODE}-0-0.{job.name}"
    hosts = auxiliary_hosts(job, "-0")
    if job.launch is None:
        return Wiring(host=host, env=() if job.runtime else plain_env(job, host), hosts=hosts)

    processes = job.launch.nproc_per_node
    if isinstance(processes, int) or processes == OF_RUNTIME:
        injected = {"nproc-per-node"}
    else:
        injected = set()
    # without a command line the options would be variables, which the webhook reserves
    if job.runtime is not None and not job.launch.entry:
        injected |= {"nproc-per-node", "nnodes", "node-rank", "master-addr"}
        if job.master_port in _PORTS:
            injected |= {"master-port"}
    if job.peak_nodes > 1:
        injected |= {"node-rank", "master-addr"}
        if not job.elastic:
            injected |= {"nnodes"}
        if job.master_port in _PORTS:
            injected |= {"master-port"}

    return Wiring(host=host, injected=frozenset(injected), hosts=hosts)


def _num_proc_per_node(job: Job, cluster: ClusterProfile) -> int | None:
    """Return the TrainJob's numProcPerNode, or None if torchrun's or Trainer's own count is
    right.
    """
    if job.runtime is not None and job.launch is None:
        return None
    if job.launch is not None:
        if isinstance(job.launch.nproc_per_node, int):
            return job.launch.nproc_per_node
        return None

    template = job.roles[0].template

    return accelerators_in(job.claims, template.extra) or hardware.uncounted_processes(
        cluster, template.main.resources.limits, job.accelerator
    )


def _unsupported(job: Job, cluster: ClusterProfile) -> Problems:
    if not has_feature("trainjob", cluster.versions()):
        yield unsupported_by_target(
            SPEC,
            "TrainJob came with Trainer 2.0, and the profile names an older release",
            "use the target pytorchjob",
        )

    yield from check_equal_roles(job, "a TrainJob")
    yield from check_restart_policies(job, ("Never", "OnFailure"), "the pods of a TrainJob end")
    instead = "use cleanPodPolicy: Running, which is what Trainer does"
    yield from endings.check_clean_pod_policy(job, "a TrainJob", "trainer", instead=instead)
    if job.run_policy.ttl_seconds_after_finished is not None:
        yield unsupported_by_target(
            (*RUN_POLICY, "ttlSecondsAfterFinished"),
            "a TrainJob has no time to live, and its JobSet would be recreated when it is deleted",
            "remove it and delete the TrainJob, or use the target jobset",
        )

    yield from jobset_endings.check_endings(job, cluster, "a TrainJob", by_role=False)
    yield from reject_host_names(job, "Trainer's JobSet")
    yield from check_service_name(job, "a TrainJob and its Service")
    yield from check_container_name(job, NODE, "a TrainJob")
    if pod_group_policy(job, cluster) is not None:
        waits = f"Trainer's PodGroup waits for all {job.nodes} nodes, not for"
        help = "use the target jobset, job or pytorchjob"
        if job.elastic:
            yield done_differently(
                (*SPEC, "elastic", "nnodes"), f"{waits} {job.min_nodes}", help, "trainer"
            )
        if job.min_available is not None and job.min_pods != job.nodes:
            yield unsupported_by_target(
                (*SPEC, "minAvailable"), f"{waits} {job.min_available}", help
            )
    if job.runtime is not None:
        yield from _unsupported_over_runtime(job, cluster)


def _unsupported_over_runtime(job: Job, cluster: ClusterProfile) -> Problems:
    """Yield errors for spec fields that a TrainJob cannot set over an existing runtime."""
    path = (*SPEC, "runtimeRef")
    policy = job.run_policy
    role, *_ = job.roles
    if job.auxiliary_roles or split_template(role.template, cluster.versions()) is None:
        yield unsupported_by_target(
            path,
            "a TrainJob cannot change all of this in the pods of an existing runtime",
            "set it in the runtime, or remove runtimeRef so that the job brings its own",
        )
    if (
        job.launch is not None
        and not job.launch.entry
        and job.launch.nproc_per_node in PROCESS_WORDS
    ):
        yield unsupported_by_target(
            (*SPEC, "elastic", "nprocPerNode"),
            "Trainer passes only a number of processes to the command of a runtime",
            "write the number of processes, or start the job with script or module",
        )

    fields = {
        "backoffLimit": policy.backoff_limit,
        "onPodFailure": policy.on_pod_failure,
        "onDisruption": policy.on_disruption,
        "successPolicy": policy.success_policy,
        "restartInPlace": policy.restart_in_place,
    }
    for field in without_none(fields):
        yield unsupported_by_target(
            (*RUN_POLICY, field),
            "the runtime decides how it ends",
            "remove it, or remove runtimeRef",
        )

    if role.restart_policy is not None:
        yield unsupported_by_target(
            (*SPEC, "restartPolicy"), "the runtime decides it", "remove it, or remove runtimeRef"
        )


def _groups(job: Job) -> list[IndexedGroup]:
    return [
        IndexedGroup(NODE, job.nodes),
        *(IndexedGroup(role.name, role.replicas) for role in job.auxiliary_roles),
    ]


def _emit(job: Job, cluster: ClusterProfile) -> list[JsonDict]:
    runtimes: list[JsonDict] = []
    if job.runtime is not None:
        ref = dict(job.runtime)
        parts = split_template(job.roles[0].template, cluster.versions())
    else:
        ref = {"apiGroup": GROUP, "kind": "ClusterTrainingRuntime", "name": _RUNTIME}
        parts = _over_builtin_runtime(job, cluster)
        if parts is None:
            ref = {"apiGroup": GROUP, "kind": "TrainingRuntime", "name": job.name}
            runtimes = [_emit_runtime(job, cluster)]

    trainer, changes = parts or ({}, {})
    if not job.runtime_nodes:
        trainer["numNodes"] = job.nodes
    if (processes := _num_proc_per_node(job, cluster)) is not None:
        trainer["numProcPerNode"] = processes
    spec: JsonDict = {"suspend": True} if job.run_policy.suspend else {}
    deadline = job.run_policy.active_deadline_seconds
    if deadline is not None and has_feature("trainjob-deadline", cluster.versions()):
        spec["activeDeadlineSeconds"] = deadline
    spec |= managed_by(job, cluster)
    spec["runtimeRef"] = ref
    if trainer or job.runtime is None:
        spec["trainer"] = pod_template.with_keys_first(trainer, ("numNodes", "numProcPerNode"))
    spec |= changes
    train_job = {
        "apiVersion": API_VERSION,
        "kind": "TrainJob",
        "metadata": object_metadata(job, cluster, "trainjob"),
        "spec": spec,
    }

    return [*_pod_groups(job, cluster), *runtimes, train_job]


def _pod_groups(job: Job, cluster: ClusterProfile) -> list[JsonDict]:
    """Return the PodGroup of a scheduler for which Trainer makes none."""
    if pod_group_policy(job, cluster) is not None:
        return []
    return pod_group(job, cluster, "trainjob")


def _over_builtin_runtime(job: Job, cluster: ClusterProfile) -> TrainerParts | None:
    """Return the job's fields over the built-in runtime, or None if that runtime behaves
    differently.
    """
    versions = cluster.versions()
    policy = job.run_policy
    role, *_ = job.roles
    if role.restart_policy != "OnFailure" or policy.backoff_limit is not None:
        return None
    if job.auxiliary_roles or job.elastic or endings.ends_with_node_0(job):
        return None
    if _runtime_deadline(job, cluster) is not None:
        return None
    if pod_group_policy(job, cluster) or _pod_groups(job, cluster):
        return None

    return split_template(role.template, versions)


def _runtime_deadline(job: Job, cluster: ClusterProfile) -> int | None:
    """Return the deadline in seconds that the runtime's Job must enforce, since the TrainJob has
    no field for it.
    """
    if has_feature("trainjob-deadline", cluster.versions()):
        return None
    return job.run_policy.active_deadline_seconds


def _emit_runtime(job: Job, cluster: ClusterProfile) -> JsonDict:
    """Return the job's own TrainingRuntime: the whole pod template, and how its Job and JobSet
    end.
    """
    deadline = _runtime_deadline(job, cluster)
    policy = pod_group_policy(job, cluster)
    by_volcano = policy is not None and "volcano" in policy
    if by_volcano:
        pods = map_templates(job, lambda template: with_priority(template, job, cluster))
    elif policy is None:
        pods = map_templates(job, lambda template: with_pod_group(template, job, cluster))
    else:
        pods = job

    node = {
        "name": NODE,
        "template": {
            "metadata": {
                "labels": {ANCESTOR: "trainer"},
                **kai_min_member(job, cluster).get("metadata", {}),
            },
            "spec": _child_job(job, pods.roles[0], deadline, main=NODE),
        },
    }
    auxiliary = [
        {
            "name": role.name,
            "replicas": 1,
            "template": {"spec": _child_job(job, role, deadline)},
        }
        for role in pods.auxiliary_roles
    ]
    jobset: JsonDict = {}
    if by_volcano and cluster.spec.queue_system == "volcano" and job.queue:
        jobset["metadata"] = {"annotations": {VOLCANO_QUEUE: job.queue}}
    policies = {
        "successPolicy": jobset_endings.success_policy(job, [NODE]),
        "failurePolicy": jobset_endings.failure_policy(job, deadline),
    }
    jobset["spec"] = {**without_falsy(policies), "replicatedJobs": [node, *auxiliary]}
    spec: JsonDict = {"mlPolicy": {"torch": {}}}
    if policy is not None:
        spec["podGroupPolicy"] = policy
    metadata = object_metadata(job)
    metadata["labels"] = {**metadata.get("labels", {}), f"{GROUP}/framework": "torch"}

    return {
        "apiVersion": API_VERSION,
        "kind": "TrainingRuntime",
        "metadata": pod_template.with_keys_first(metadata, ("name", "namespace", "labels")),
        "spec": {**spec, "template": jobset},
    }


def _child_job(job: Job, role: Role, deadline: int | None, main: str | None = None) -> JsonDict:
    """Return a Job spec of the runtime. Trainer sets the node count; counts of other roles are
    written.
    """
    template = pod_template.write(
        role.template, main=main, restartPolicy=role.restart_policy or "Never"
    )
    count = {} if role.trains else {"completions": role.replicas, "parallelism": role.replicas}
    ending = jobset_endings.child_job(job, role, deadline, by_role=False)
    return {"completionMode": "Indexed", **count, **ending, "template": template}


_PET = ("NNODES", "NPROC_PER_NODE", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT")

_COUNT_SENTENCE = (
    "Trainer sets the number of nodes; pods of other roles are counted here. All run at once."
)

SENTENCES = {
    **JOBSET_ENDING_SENTENCES,
    "completions": _COUNT_SENTENCE,
    "parallelism": _COUNT_SENTENCE,
    "replicas": "An auxiliary role is one Job.",
    "runtimeRef": (
        "A TrainJob needs a runtime: the built-in torch-distributed if that does what the job asks "
        "for, else one of its own."
    ),
    "trainer.numNodes": "The number of nodes belongs to the TrainJob, not to its runtime.",
    "trainer.numProcPerNode": "Trainer passes it on as PET_NPROC_PER_NODE.",
    "containers.name": (
        "Trainer names the container that trains `node`, and its webhook requires it; others are "
        "named after their role."
    ),
    "replicatedJobs.name": "Trainer names the replicatedJob that trains `node`; others are named after their role.",
    "mlPolicy": "The torch policy gives the pods their PET_* variables.",
    "podGroupPolicy": "Trainer creates the PodGroup from it, whose pods start together.",
    "trainer.kubeflow.org/framework": "The runtime is for PyTorch.",
    "trainer.kubeflow.org/trainjob-ancestor-step": "Trainer finds the replicatedJob that trains by this label.",
    "scheduling.volcano.sh/queue-name": "Volcano reads the queue from this annotation, which Trainer passes on.",
    "runtimePatches": "What a TrainJob changes in the pods of the built-in runtime is a patch (Trainer 2.2 on).",
    "podTemplateOverrides": "What a TrainJob changes in pods of the built-in runtime is an override (Trainer 2.1).",
    "podSpecOverrides": "What a TrainJob changes in pods of the built-in runtime is an override (Trainer 2.0).",
}


TRAINJOB = Target(
    name="trainjob",
    title="trainer.kubeflow.org/v1alpha1 TrainJob (Kubeflow Trainer), with its TrainingRuntime "
    "where it needs one",
    authority="trainer",
    wiring=_wiring,
    overwrites=dict.fromkeys((*(f"PET_{name}" for name in _PET), "JOB_COMPLETION_INDEX")),
    unsupported=_unsupported,
    emit=_emit,
    main_container=NODE,
    groups=_groups,
    derived=DERIVED,
    sentences=SENTENCES,
)
