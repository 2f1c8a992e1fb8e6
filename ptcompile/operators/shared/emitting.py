"""Shared parts of the targets' `emit` modules: metadata, unsupported settings, PodGroups, device
claims.

resource.k8s.io is v1 since Kubernetes 1.34, which enables device claims by default; 1.33 has
v1beta2 and 1.32 v1beta1, with the feature gate DynamicResourceAllocation. A ComputeDomain creates
the claim template of its channels itself (dra-driver-nvidia-gpu,
api/nvidia.com/resource/v1beta1/computedomain.go, 2026-08). Its numNodes is 0 since 25.8, because
torchrun waits for the nodes; older drivers delay the pods until that many nodes have joined.

A gang scheduler's PodGroup is written by `gang.py` of its folder. Its minimum is that of the nodes
plus all auxiliary pods: without those, the nodes would hold their resources and wait. minResources
are the requests of that many pods, as operators write it, so a full queue does not admit the job.
The PodGroup has no owner: like the Service, it exists until it is deleted.
"""

from __future__ import annotations

from ptcompile.diagnostics import Path, Problem, Problems, problem_at
from ptcompile.ir.job import Job, JobClaim, Role, channel_template
from ptcompile.ir.pods import PodTemplate
from ptcompile.kubernetes import names, quantity
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.unstructured import Json, JsonDict, without_none
from ptcompile.kubernetes.versions import Version, is_on, version_text
from ptcompile.operators.queues.queue_systems import MULTI_KUEUE, VOLCANO_QUEUE
from ptcompile.operators.queues.queues import (
    gang_scheduler_of,
    gang_system,
    level_of,
    object_annotations,
    object_labels,
    queue_of,
)
from ptcompile.spec import devices as hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.diagnostics.terms import Authority
    from ptcompile.spec.cluster_profile import ClusterProfile


COMPLETION_INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
"""Field path of a pod's index in an Indexed Job (Kubernetes 1.36)."""

SPEC = ("spec",)
TOPOLOGY = ("spec", "topology")
RUN_POLICY = ("spec", "runPolicy")


def rank_source(field_path: str) -> Json:
    """Return the source of a variable: the pod field that holds the rank."""
    return {"valueFrom": {"fieldRef": {"fieldPath": field_path}}}


def plain_env(job: Job, host: str, rank: str | None = COMPLETION_INDEX) -> tuple[Json, ...]:
    """Return the variables that a plain command needs for its rendezvous, counting nodes, or () if
    torchrun starts the job.

    `rank` is the field path of the pod's rank, or None for a single pod.
    """
    if job.launch is not None:
        return ()
    return (
        {"name": "MASTER_ADDR", "value": host},
        {"name": "MASTER_PORT", "value": str(job.master_port)},
        {"name": "WORLD_SIZE", "value": str(job.nodes)},
        {"name": "RANK", **({"value": "0"} if rank is None else rank_source(rank))},
    )


def object_metadata(job: Job, cluster: ClusterProfile | None = None, target: str = "") -> JsonDict:
    """Return the metadata of an object with the job's name. With a cluster, include what Kueue or
    KAI needs to admit it.
    """
    metadata: JsonDict = {"name": job.name}
    if job.namespace:
        metadata["namespace"] = job.namespace
    labels = object_labels(job, cluster) if cluster is not None else {}
    annotations = object_annotations(job, cluster, target) if cluster is not None else {}
    for field, job_values, added in (
        ("labels", job.labels, labels),
        ("annotations", job.annotations, annotations),
    ):
        if not job_values and not added:
            continue

        values = {**job_values, **added}
        # null in the job removes what would be added
        for name, text in job_values.items():
            if text is None:
                del values[name]
        if values:
            metadata[field] = values

    return metadata


def managed_by(job: Job, cluster: ClusterProfile) -> dict[str, str]:
    """Return the field that leaves an object to Kueue on a MultiKueue manager (Kueue 0.19).

    Kueue sets it itself for its MultiKueue queues; setting it here keeps the job from starting
    while Kueue's webhook is down.
    """
    dispatched = cluster.spec.multi_kueue and queue_of(job, cluster) is not None
    return {"managedBy": MULTI_KUEUE} if dispatched else {}


def unsupported_by_target(
    path: Path, message: str, help: str | None = None, authority: Authority = "ptcompile"
) -> Problem:
    """Return the error that the target cannot express the spec field at `path`."""
    return problem_at("unsupported-by-target", path, message, help, authority=authority)


def done_differently(
    path: Path, message: str, help: str, authority: Authority = "ptcompile"
) -> Problem:
    """Return the warning that the queue system, gang scheduler or operator does something
    different.
    """
    return problem_at("queued-differently", path, message, help, "warning", "run", authority)


def check_node_label(job: Job, cluster: ClusterProfile, placer: str) -> Problems:
    """Yield an error if the profile gives the job's topology level no node label, which `placer`
    requires.
    """
    if level_of(job, cluster).node_label is None:
        level = job.topology.level if job.topology else ""
        yield unsupported_by_target(
            TOPOLOGY,
            f"the profile {cluster.metadata.name!r} gives {level} no node label, which {placer} "
            "requires",
            "add its nodeLabel",
        )


def role_path(role: Role) -> Path:
    """Return the spec path of a role: its own block, or the job's for a job of equal nodes.

    Fields that the block inherits are located when the problem is placed
    (`compiler.frontend.parts.settle`).
    """
    if not role.trains:
        return ("spec", "roles", role.name)
    return SPEC if role.name == "node" else ("spec", role.name)


def check_restart_policies(job: Job, allowed: tuple[str, ...], why: str) -> Problems:
    """Yield an error for each role whose restart policy the target does not support."""
    for role in job.roles:
        if role.restart_policy is not None and role.restart_policy not in allowed:
            yield unsupported_by_target(
                (*role_path(role), "restartPolicy"),
                f"restartPolicy {role.restart_policy} is not possible here: {why}",
                f"use {' or '.join(allowed)}",
            )


def reject_auxiliary_roles(job: Job, kind: str) -> Problems:
    """Yield an error for each auxiliary role: every pod of this kind is a node."""
    for role in job.auxiliary_roles:
        why = f"{kind} has no pods other than those that train"
        yield unsupported_by_target(
            role_path(role), why, "use the target volcano, trainjob or jobset"
        )._replace(on_key=True)


def auxiliary_hosts(job: Job, between: str = "") -> dict[str, tuple[str, ...]]:
    """Return the host names of each auxiliary role's pods in the job's headless Service; `between`
    precedes the index.
    """
    hosts: dict[str, tuple[str, ...]] = {}
    for role in job.auxiliary_roles:
        prefix = f"{job.name}-{role.name}{between}"
        hosts[role.name] = tuple(f"{prefix}-{i}.{job.name}" for i in range(role.replicas))

    return hosts


def check_service_name(job: Job, object_name: str) -> Problems:
    """Yield an error if the job's name is not valid for a Service (DNS-1035: a letter first)."""
    if not names.is_dns_1035_label(job.name) and len(job.name) <= 63:
        yield problem_at(
            "spec-invalid-value",
            ("metadata", "name"),
            f"{job.name!r} cannot name {object_name}: "
            "lower-case letters, digits and '-', a letter first, no '-' at the end",
            "use a name such as 'llama-sft'",
        )


def check_container_name(job: Job, name: str, kind: str) -> Problems:
    """Yield a warning if the spec names the training container differently than the kind
    requires.
    """
    fields = {
        "container": job.names.container,
        "masterContainer": job.names.master_container,
        "workerContainer": job.names.worker_container,
    }

    for field, container in fields.items():
        if container not in {None, name}:
            yield problem_at(
                "done-differently",
                (*SPEC, "names", field),
                f"{kind} requires the training container to be named {name!r}, so ptcompile renames "
                "it",
                f"write {name}, or remove it",
                "warning",
                "run",
            )


def check_equal_roles(job: Job, kind: str) -> Problems:
    """Yield an error if the roles' templates differ but the kind has only one template."""
    first, *others = job.training_roles
    for role in others:
        if role.template != first.template or role.restart_policy != first.restart_policy:
            yield unsupported_by_target(
                ("spec", role.name),
                f"{kind} has one pod template, and {role.name} differs from {first.name}",
                "use the target pytorchjob, volcano or jobset, or set the same for both",
            )


def reject_host_names(job: Job, giver: str) -> Problems:
    """Yield an error for a host name or subdomain in a pod template if `giver` names each pod."""
    for role in job.roles:
        for field in ("hostname", "subdomain"):
            if field in role.template.extra:
                yield unsupported_by_target(
                    (*role_path(role), "podTemplate", "spec", field),
                    f"a pod template's {field} overrides the names that {giver} gives each pod",
                    f"remove {field}",
                )


_CLAIMS_BY_DEFAULT: Version = (1, 34)
_CLAIMS_GATE = "DynamicResourceAllocation"
_CLAIMS_SINCE: Version = (1, 32)
_NO_WAIT_SINCE: Version = (25, 8)


def device_objects(job: Job, cluster: ClusterProfile) -> list[JsonDict]:
    """Return the objects that must exist before the job's pods, in the order of applying."""
    versions = cluster.versions()
    claims = [_claim_template(job, claim, versions.kubernetes) for claim in job.claims]
    if not job.compute_domain:
        return claims

    domain = {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomain",
        "metadata": object_metadata(job),
        "spec": {
            "numNodes": job.peak_nodes if waits_for_nodes(versions.nvidia_dra) else 0,
            "channel": {"resourceClaimTemplate": {"name": channel_template(job.name)}},
        },
    }
    return [domain, *claims]


def waits_for_nodes(release: Version) -> bool:
    """Return whether the driver delays pods until numNodes nodes have joined; its releases after
    25.12 are numbered 0.x.
    """
    return (1, 0) < release < _NO_WAIT_SINCE


def _claim_template(job: Job, claim: JobClaim, kubernetes: Version) -> JsonDict:
    exactly: JsonDict = {"deviceClassName": claim.device_class, "allocationMode": "ExactCount"}
    exactly["count"] = claim.count
    if claim.selectors:
        exactly["selectors"] = [
            {"cel": {"expression": expression}} for expression in claim.selectors
        ]

    flat = kubernetes < (1, 33)
    request = {"name": claim.name, **(exactly if flat else {"exactly": exactly})}
    version = "v1beta1" if flat else "v1beta2"
    if kubernetes >= _CLAIMS_BY_DEFAULT:
        version = "v1"

    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "ResourceClaimTemplate",
        "metadata": {**object_metadata(job), "name": claim.template},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }


def check_claim_support(job: Job, cluster: ClusterProfile) -> Problems:
    """Yield problems if the cluster's Kubernetes cannot express the job's claims; paths are
    those of a spec.
    """
    if job.fabric is None and cluster.spec.gpu.claim is None:
        return

    path = _claims_path(job, cluster)
    kubernetes = cluster.versions().kubernetes
    if path is None or kubernetes >= _CLAIMS_BY_DEFAULT:
        return

    release = version_text(kubernetes)
    if kubernetes < _CLAIMS_SINCE:
        yield unsupported_by_target(
            path,
            f"claims of devices need Kubernetes 1.32, but the cluster has {release}",
            "use Kubernetes 1.34",
        )
        return
    if is_on("kubernetes", _CLAIMS_GATE, cluster.versions()):
        return

    yield problem_at(
        "kubernetes-too-old",
        path,
        f"Kubernetes {release} drops claims of devices unless the feature gate {_CLAIMS_GATE} is "
        "on",
        f"use Kubernetes 1.34; if the gate is on, set spec.featureGates.kubernetes.{_CLAIMS_GATE} "
        "in the profile",
        severity="warning",
        stage="run",
        authority="kube-apiserver",
    )


def _claims_path(job: Job, cluster: ClusterProfile) -> Path | None:
    """Return the spec path of the field that makes pods claim devices, or None if none does."""
    fabric = hardware.fabric(cluster, job.fabric, job.accelerator)
    if fabric is not None and (fabric.compute_domain or fabric.claims):
        return (*SPEC, "fabric")

    has_accelerators = any(
        hardware.count_accelerators(cluster, role.template.main.resources.limits)
        for role in job.roles
    )
    by_claim = cluster.spec.gpu.claim is not None
    if by_claim and (has_accelerators or job.resources.limits):
        return (*SPEC, "resources")

    return None


def pod_group(job: Job, cluster: ClusterProfile, target: str) -> list[JsonDict]:
    """Return the job's PodGroup, to be applied before the job, or [] if no scheduler would read
    it.
    """
    group = gang_system(job, cluster).group(job, cluster, target)
    return [] if group is None else [group]


def with_pod_group(template: PodTemplate, job: Job, cluster: ClusterProfile) -> PodTemplate:
    """Return the template with the mark of the job's PodGroup."""
    return gang_system(job, cluster).with_group(template, job, cluster)


def with_single_pod_queue(template: PodTemplate, job: Job, cluster: ClusterProfile) -> PodTemplate:
    """Return the template of a single Pod with its queue and priority, because Volcano itself
    creates its PodGroup.
    """
    queue = queue_of(job, cluster)
    if gang_scheduler_of(job, cluster) != "volcano" or queue is None:
        return template
    return with_priority(template, job, cluster)._replace(
        annotations={VOLCANO_QUEUE: queue, **template.annotations}
    )


def with_priority(template: PodTemplate, job: Job, cluster: ClusterProfile) -> PodTemplate:
    """Return the template with the priority class of its Volcano PodGroup."""
    priority = without_none(
        {"priorityClassName": volcano_fields(job, cluster)["priorityClassName"]}
    )
    return template._replace(extra={**priority, **template.extra})


def scheduling_policy(job: Job, cluster: ClusterProfile) -> JsonDict | None:
    """Return PyTorchJob's schedulingPolicy, from which the operator makes the PodGroup
    (training-operator 1.9).
    """
    written = None if job.min_available is None else {"minAvailable": job.min_available}
    return gang_system(job, cluster).scheduling_policy(job, cluster) or written


def pod_group_policy(job: Job, cluster: ClusterProfile) -> JsonDict | None:
    """Return podGroupPolicy of Trainer's runtime. Its PodGroup always waits for all pods (Trainer
    2.3, facts/trainer).
    """
    return gang_system(job, cluster).runtime_policy(job, cluster)


def volcano_fields(job: Job, cluster: ClusterProfile) -> JsonDict:
    """Return queue and priority class of a Volcano PodGroup, both None if a different system
    queues the job.
    """
    if cluster.spec.queue_system != "volcano":
        return {"queue": None, "priorityClassName": None}
    return {"queue": queue_of(job, cluster), "priorityClassName": job.priority}


def minimum_resources(job: Job) -> dict[str, dict[str, str]]:
    """Return `minResources` of a PodGroup: the total requests of the minimum number of nodes and of
    all auxiliary pods, including sidecars; or {} if they request nothing.
    """
    total: dict[str, Quantity] = {}
    remaining = max(0, job.min_pods - job.pods + job.nodes)
    for role in job.roles:
        count = min(remaining, role.replicas) if role.trains else role.replicas
        if role.trains:
            remaining -= count
        sidecars = [
            (sidecar.get("resources") or {}).get("requests") or {}
            for sidecar in role.template.sidecars
        ]
        for amounts in (role.template.main.resources.requests, *sidecars):
            for name, text in amounts.items():
                amount = quantity.parse(text)
                if amount is not None and count:
                    total[name] = total[name] + amount * count if name in total else amount * count

    if total:
        return {"minResources": {name: str(amount) for name, amount in total.items()}}

    return {}
