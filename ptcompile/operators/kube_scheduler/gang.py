"""Gangs of kube-scheduler: a PodGroup that the pods name in schedulingGroup, and what each release
and target lacks.

The scheduler holds the pods back until minCount of them exist, then places that many at once or
none; it reads the PodGroup alone, so no Workload is written (Kubernetes 1.37,
pkg/scheduler/framework/plugins/gangscheduling). 1.35 has no PodGroup: its groups are a list in a
Workload, which the pods name in workloadRef. The group has the pods' priority class, because the
scheduler queues and preempts a group by its own priority, and is preempted as a whole unless the
job survives with fewer nodes. See docs/facts/gangs.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Problem, Problems, problem_at
from ptcompile.kinds.model import GangSystem
from ptcompile.kubernetes.unstructured import JsonDict, nested_map
from ptcompile.kubernetes.versions import Version, is_on
from ptcompile.operators.queues.queues import level_of, topology_system
from ptcompile.operators.shared.emitting import (
    SPEC,
    TOPOLOGY,
    check_node_label,
    done_differently,
    object_metadata,
    unsupported_by_target,
)
from ptcompile.operators.table import has_feature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.ir.job import Job, Target
    from ptcompile.ir.pods import PodTemplate
    from ptcompile.spec.cluster_profile import ClusterProfile


_FIRST: Version = (1, 35)
_FIRST_POD_GROUP: Version = (1, 36)
_BETA: Version = (1, 37)
_ITEM = "pods"
"""Name of the only group in a Workload."""

GROUP_GATES = ("GenericWorkload", "GangScheduling")
"""Gates of a gang; the second is part of the first since 1.37."""
_TOPOLOGY_GATE = "TopologyAwareWorkloadScheduling"
_PRIORITY_GATE = "WorkloadAwarePreemption"


def api_version(kubernetes: Version) -> str:
    """Return the newest apiVersion of the groups of a release."""
    if kubernetes >= _BETA:
        return "scheduling.k8s.io/v1beta1"
    if kubernetes >= _FIRST_POD_GROUP:
        return "scheduling.k8s.io/v1alpha2"
    return "scheduling.k8s.io/v1alpha1"


def gates_off(cluster: ClusterProfile) -> list[str]:
    """Return the feature gates of gangs that the profile leaves off."""
    needed = GROUP_GATES[:1] if cluster.versions().kubernetes >= _BETA else GROUP_GATES
    return [gate for gate in needed if not _is_on(gate, cluster)]


def _is_on(gate: str, cluster: ClusterProfile) -> bool:
    return is_on("kubernetes", gate, cluster.versions())


def _group(job: Job, cluster: ClusterProfile, target: str) -> JsonDict | None:
    if job.runtime is not None or all(
        "schedulingGroup" in role.template.extra for role in job.roles
    ):
        return None

    kubernetes = cluster.versions().kubernetes
    policy = {"gang": {"minCount": job.min_pods}}
    kind = "PodGroup"
    spec: JsonDict = {"schedulingPolicy": policy, **_placement(job, cluster, target)}
    if kubernetes < _FIRST_POD_GROUP:
        kind = "Workload"
        spec = {"podGroups": [{"name": _ITEM, "policy": policy}]}

    return {
        "apiVersion": api_version(kubernetes),
        "kind": kind,
        "metadata": object_metadata(job),
        "spec": spec,
    }


def _placement(job: Job, cluster: ClusterProfile, target: str) -> JsonDict:
    """Return where the pods of a PodGroup run, and how they are preempted."""
    fields: JsonDict = {}
    if job.topology is not None and topology_system(job, cluster, target) == "kubernetes":
        fields["schedulingConstraints"] = {"topology": [{"key": level_of(job, cluster).node_label}]}
    is_beta = cluster.versions().kubernetes >= _BETA
    if not is_beta and not _is_on(_PRIORITY_GATE, cluster):
        return fields

    if len(classes := _priority_classes(job)) == 1 and (name := classes.pop()):
        fields["priorityClassName"] = name
    if not job.elastic:
        fields["disruptionMode"] = {"all": {}} if is_beta else "PodGroup"

    return fields


def _priority_classes(job: Job) -> set[str | None]:
    return {role.template.extra.get("priorityClassName") for role in job.roles}


def _with_group(template: PodTemplate, job: Job, cluster: ClusterProfile) -> PodTemplate:
    if cluster.versions().kubernetes < _FIRST_POD_GROUP:
        mark: JsonDict = {"workloadRef": {"name": job.name, "podGroup": _ITEM}}
    else:
        mark = {"schedulingGroup": {"podGroupName": job.name}}
    return template._replace(extra={**mark, **template.extra})


def _check(job: Job, cluster: ClusterProfile, target: Target) -> Problems:
    if reason := _why_unsupported(cluster, target.name):
        yield unsupported_by_target(SPEC, *reason)
        return

    release = f"Kubernetes {'.'.join(map(str, cluster.versions().kubernetes))}"
    if off := gates_off(cluster):
        yield _gate_off(SPEC, f"{release} schedules no gangs", off)
    if job.runtime is not None:
        message = (
            "the pods of an existing runtime cannot name a PodGroup, so they are scheduled one by "
            "one"
        )
        yield done_differently(
            (*SPEC, "runtimeRef"), message, "remove runtimeRef so that the job brings its own"
        )
    if len(_priority_classes(job)) > 1:
        message = "a PodGroup has one priority, but the roles have different ones: it gets none"
        yield done_differently(
            SPEC, message, "write the same priorityClassName for all roles", "kube-apiserver"
        )


def _why_unsupported(cluster: ClusterProfile, target: str) -> tuple[str, str] | None:
    """Return why the pods of a target cannot name a group, and what to do, or None if they can."""
    versions = cluster.versions()
    if versions.kubernetes < _FIRST:
        return (
            "Kubernetes schedules gangs only since 1.35",
            "use another gangScheduler, or a newer Kubernetes",
        )

    if target == "pytorchjob":
        return (
            "a PyTorchJob has the pods of Kubernetes 1.31, which cannot name a PodGroup",
            "use the target job or jobset",
        )
    if versions.kubernetes < _FIRST_POD_GROUP and target not in {"job", "pod"}:
        return (
            "on Kubernetes 1.35, only the pods of a Job can name a Workload",
            "use the target job",
        )

    for name, title in (("jobset", "JobSet 0.12"), ("trainjob", "Trainer 2.3")):
        if target == name and not has_feature(f"{name}-scheduling-group", versions):
            return (
                f"pods of this target can name a PodGroup only since {title}",
                "use the target job, or a newer release",
            )

    return None


def _gate_off(path: tuple[str, ...], effect: str, gates: list[str]) -> Problem:
    listed = " and ".join(gates)
    are_off = f"gate {listed} is off" if len(gates) == 1 else f"gates {listed} are off"
    return problem_at(
        "gate-off",
        path,
        f"{effect} while the feature {are_off}, which is the default",
        f"if the cluster enables it, set {listed} to true in spec.featureGates.kubernetes of the "
        "profile",
        "warning",
        "run",
        authority="kube-apiserver",
    )


def _check_topology(job: Job, cluster: ClusterProfile, _target: Target) -> Problems:
    if job.topology is None:
        return

    if cluster.versions().kubernetes < _FIRST_POD_GROUP:
        yield unsupported_by_target(
            TOPOLOGY, "groups have a topology only since Kubernetes 1.36", "remove it"
        )
    elif not job.topology.required:
        yield unsupported_by_target(
            TOPOLOGY,
            "kube-scheduler places a group within one domain or not at all: it knows no preference",
            "write required, or add a queue of Kueue",
        )
    elif level_of(job, cluster).node_label is None:
        yield from check_node_label(job, cluster, "kube-scheduler")
    elif not _is_on(_TOPOLOGY_GATE, cluster):
        yield _gate_off(
            TOPOLOGY, "the API server drops the topology of a PodGroup", [_TOPOLOGY_GATE]
        )


def _needs(group: JsonDict) -> Iterator[tuple[str, str, str]]:
    """Yield what the cluster must have for a group: the kind of setting, its name, and where it is
    set.
    """
    api = str(group.get("apiVersion"))
    spec = nested_map(group, "spec")
    is_beta = "beta" in api
    yield "api", api, f"kube-apiserver --runtime-config={api}=true"
    for gate in GROUP_GATES[:1] if is_beta else GROUP_GATES:
        if gate == GROUP_GATES[1]:
            components = "kube-scheduler"
        else:
            components = "all components of the control plane"
        yield "gate", gate, f"in {components}"

    if "schedulingConstraints" in spec:
        yield "gate", _TOPOLOGY_GATE, "in kube-apiserver and kube-scheduler"
    if not is_beta and not {"priorityClassName", "disruptionMode"}.isdisjoint(spec):
        yield "gate", _PRIORITY_GATE, "in kube-apiserver and kube-scheduler"


GANGS = GangSystem(
    places_topology=True,
    group=_group,
    with_group=_with_group,
    check=_check,
    check_topology=_check_topology,
    needs=_needs,
    gated_fields=frozenset({"schedulingGroup", "workloadRef", "schedulingConstraints"}),
)
