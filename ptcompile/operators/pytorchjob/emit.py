"""The PyTorchJob target: its manifests, and why each field is written.

Why each field (training-operator 1.9.4):
- The training container is called `pytorch`: the webhook rejects a role without one.
- A fixed number of nodes is one Master, with an explicit `replicas: 1` (the webhook rejects its
  absence), and Workers. The operator then injects PET_NNODES, PET_NODE_RANK, PET_MASTER_ADDR,
  PET_MASTER_PORT and PET_NPROC_PER_NODE, so torchrun needs none of them as arguments. A role
  without pods is left out: `replicas: 0` is rejected.
- A range of nodes is Workers only, with elasticPolicy: a Master would be one torchrun more than the
  maximum.
- `spec.nprocPerNode` is a string; elasticPolicy.nProcPerNode is deprecated and not counted in
  WORLD_SIZE, but operator 1.7 passes only that one to workers without a Master.
- The module `endings` covers how the job ends and what is retried.
- The operator creates the PodGroup from schedulingPolicy if it runs with a gang scheduler, and
  fills in the scheduler's name itself.
- A port other than 23456 is a container port called pytorchjob-port, from which the operator reads
  it.
"""

from __future__ import annotations

from ptcompile.diagnostics import Problems
from ptcompile.ir import pods as pod_template
from ptcompile.ir.job import Derived, IndexedGroup, Job, Launch, Role, Target, Wiring
from ptcompile.ir.pods import PodTemplate
from ptcompile.kubernetes.unstructured import JsonDict, without_none
from ptcompile.operators.pytorchjob import endings
from ptcompile.operators.shared.emitting import (
    SPEC,
    check_container_name,
    check_restart_policies,
    check_service_name,
    managed_by,
    object_metadata,
    reject_auxiliary_roles,
    reject_host_names,
    scheduling_policy,
    unsupported_by_target,
)
from ptcompile.operators.shared.endings import meets_by_c10d, reject_restart_in_place
from ptcompile.operators.table import has_feature
from ptcompile.spec.checks import split_endpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile


_TRAINING = "facts/training-operator, training-operator 1.9"

DERIVED = (
    Derived("the last pod and its Service", "{job}-{group}-{last}", _TRAINING),
    Derived("the label training.kubeflow.org/job-name", "{job}", _TRAINING),
    Derived("the PodGroup's label on pods", "{job}", _TRAINING),
)


_PORT = 23456
_STATIC = frozenset({"nnodes", "nproc-per-node", "node-rank", "master-addr", "master-port"})
_ELASTIC = frozenset(
    {
        "nnodes",
        "nproc-per-node",
        "rdzv-backend",
        "rdzv-endpoint",
        "rdzv-id",
        "rdzv-conf",
        "max-restarts",
    }
)


def _wiring(job: Job) -> Wiring:
    if job.elastic:
        return Wiring(host=f"{job.name}-worker-0", injected=_ELASTIC)
    return Wiring(host=f"{job.name}-master-0", injected=_STATIC)


def _unsupported(job: Job, cluster: ClusterProfile) -> Problems:
    yield from reject_auxiliary_roles(job, "a PyTorchJob")
    yield from reject_restart_in_place(
        job, "a PyTorchJob has the pods of Kubernetes 1.31, without restart rules"
    )
    if not has_feature("nproc-per-node", cluster.versions()):
        yield unsupported_by_target(
            SPEC,
            "training-operator passes torchrun its nodes only since 1.7",
            "use the target job or jobset",
        )

    processes = job.launch.nproc_per_node if job.launch else 1
    if _needs_elastic_nproc(job, cluster) and not isinstance(processes, int):
        yield unsupported_by_target(
            (*SPEC, "elastic", "nprocPerNode"),
            "training-operator 1.7 passes torchrun the processes of a range only as a number",
            "write a number",
        )
    yield from check_restart_policies(
        job, ("Never", "OnFailure", "Always", "ExitCode"), "the operator has four policies"
    )
    yield from check_service_name(job, "the pods' Services")
    # c10d publishes the pod's name in /etc/hosts, which is its hostname
    if meets_by_c10d(job):
        yield from reject_host_names(job, "the operator")
    yield from endings.unsupported(job)
    yield from check_container_name(job, "pytorch", "a PyTorchJob")


def _replica_specs(job: Job) -> list[tuple[str, int, Role]]:
    """Return the operator's replica types, each as its key, its number of pods and the role that
    describes them.
    """
    first, *others = job.training_roles
    if job.elastic:
        return [("Worker", job.nodes, first)]

    # the trace knows a role's own number: job.nodes would be a new one
    workers = [("Worker", role.replicas, role) for role in others]
    if not others:
        workers = [("Worker", first.replicas - 1, first)]

    return [("Master", 1, first), *(entry for entry in workers if entry[1] > 0)]


def _needs_elastic_nproc(job: Job, cluster: ClusterProfile) -> bool:
    """Return whether spec.nprocPerNode reaches no worker: training-operator 1.7 passes it on
    only with a Master.
    """
    return job.elastic and not has_feature("nproc-without-master", cluster.versions())


def _groups(job: Job) -> list[IndexedGroup]:
    return [IndexedGroup(key.lower(), count) for key, count, _ in _replica_specs(job)]


def _emit(job: Job, cluster: ClusterProfile) -> list[JsonDict]:
    spec: JsonDict = {}
    if run_policy := _run_policy(job, cluster):
        spec["runPolicy"] = run_policy
    needs_elastic_nproc = _needs_elastic_nproc(job, cluster)
    if job.launch is not None and not needs_elastic_nproc:
        spec["nprocPerNode"] = str(job.launch.nproc_per_node)
    if job.elastic and job.launch is not None:
        spec["elasticPolicy"] = _elastic_policy(job, job.launch, sets_nproc=needs_elastic_nproc)

    spec["pytorchReplicaSpecs"] = {}
    for key, count, role in _replica_specs(job):
        spec["pytorchReplicaSpecs"][key] = {
            "replicas": count,
            "restartPolicy": endings.restart_policy(job, role),
            "template": pod_template.write(_with_port(role.template, job.master_port)),
        }

    return [
        {
            "apiVersion": "kubeflow.org/v1",
            "kind": "PyTorchJob",
            "metadata": object_metadata(job, cluster, "pytorchjob"),
            "spec": spec,
        }
    ]


def _run_policy(job: Job, cluster: ClusterProfile) -> JsonDict:
    policy = job.run_policy
    endings_fields = endings.run_policy(job)
    fields: JsonDict = {
        "cleanPodPolicy": endings_fields["cleanPodPolicy"],
        "ttlSecondsAfterFinished": policy.ttl_seconds_after_finished,
        "activeDeadlineSeconds": policy.active_deadline_seconds,
        "backoffLimit": endings_fields["backoffLimit"],
        "suspend": policy.suspend or None,
        **managed_by(job, cluster),
        "schedulingPolicy": scheduling_policy(job, cluster),
    }

    return without_none(fields)


def _elastic_policy(job: Job, launch: Launch, *, sets_nproc: bool) -> JsonDict:
    policy: JsonDict = {"minReplicas": job.min_nodes, "maxReplicas": job.peak_nodes}
    if sets_nproc:
        policy["nProcPerNode"] = launch.nproc_per_node
    policy |= {
        "maxRestarts": launch.max_restarts,
        "rdzvBackend": launch.rdzv_backend,
        **_etcd_fields(launch.rdzv_endpoint),
    }
    if launch.rdzv_id is not None:
        policy["rdzvId"] = launch.rdzv_id
    if launch.settings:
        policy["rdzvConf"] = [
            {"key": key, "value": value} for key, value in launch.settings.items()
        ]

    return policy


def _etcd_fields(endpoint: str | None) -> JsonDict:
    host_and_port = split_endpoint(endpoint or "")
    if host_and_port is None:
        return {}

    host, port = host_and_port
    return {"rdzvHost": host, "rdzvPort": port}


def _with_port(template: PodTemplate, port: int) -> PodTemplate:
    ports = template.main.extra.get("ports") or []
    if port == _PORT or any(p.get("name") == "pytorchjob-port" for p in ports):
        return template
    ports = [*ports, {"name": "pytorchjob-port", "containerPort": port}]
    return template._replace(
        main=template.main._replace(extra={**template.main.extra, "ports": ports})
    )


_PET = (
    "NNODES",
    "NODE_RANK",
    "MASTER_ADDR",
    "MASTER_PORT",
    "NPROC_PER_NODE",
    "RDZV_ENDPOINT",
    "RDZV_BACKEND",
)
_OVERWRITTEN = (
    "MASTER_ADDR",
    "MASTER_PORT",
    "WORLD_SIZE",
    "RANK",
    *(f"PET_{name}" for name in _PET),
)

SENTENCES = {
    "nprocPerNode": "The operator computes WORLD_SIZE and PET_NPROC_PER_NODE from this text.",
    "replicas": (
        "The Master is node 0, and the webhook requires its replicas to be explicit; the Workers "
        "are all other nodes, or all nodes of a range."
    ),
    "restartPolicy": (
        "Always written: Never, where a failed pod fails the job, or OnFailure, where containers "
        "are restarted and lost pods recreated."
    ),
    "backoffLimit": "It counts the restarts of containers; with OnFailure and without it there would be no "
    "limit.",
    "cleanPodPolicy": "A job that fails would leave its other pods as they are, restarting or waiting for peers.",
    "elasticPolicy": (
        "A range of nodes is Workers with an elasticPolicy, from which the operator derives "
        "torchrun's PET_* variables."
    ),
    "schedulingPolicy": (
        "The operator creates the PodGroup from it, whose pods start together when there is room "
        "for all that must run."
    ),
    "ports": "The operator reads a port other than 23456 from the container port named pytorchjob-port.",
}


PYTORCHJOB = Target(
    name="pytorchjob",
    title="kubeflow.org/v1 PyTorchJob (training-operator)",
    authority="training-operator",
    wiring=_wiring,
    overwrites={
        "PYTHONUNBUFFERED": "1",
        **dict.fromkeys((*_OVERWRITTEN, "PET_MAX_RESTARTS", "PET_RDZV_ID", "PET_RDZV_CONF")),
    },
    unsupported=_unsupported,
    emit=_emit,
    groups=_groups,
    names_scheduler=frozenset({"volcano", "scheduler-plugins"}),
    derived=DERIVED,
    sentences=SENTENCES,
)
