"""Checks for what no target can express: names that are too long, and queues and gangs that the profile lacks.

An operator names pods, host names, Services, PodGroups and label values after the job. Names that are too long are not
always rejected: a PyTorchJob with a long name is accepted, but its Services are never created. So the checks find the
tightest derived name before anything is written, and report the longest name that leaves room for it.

`registry.queues` and `registry.queue_systems` map queues and gangs to the fields of each target. The checks here cover
the rest: an error if a target lacks the field, a warning if the operator treats it differently.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.ir.job import SUBDOMAIN, Derived, IndexedGroup, Job, Target
from ptcompile.kubernetes import names
from ptcompile.registry import queue_systems, queues
from ptcompile.registry.emitting import RUN_POLICY, SPEC, role_path, unsupported_by_target
from ptcompile.registry.queues import (
    can_share_domain,
    gang_scheduler,
    gang_scheduler_of,
    level_of,
    queue_of,
    topology_system,
)
from ptcompile.registry.table import OPERATORS, has_feature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.diagnostics.terms import Authority
    from ptcompile.spec.cluster_profile import ClusterProfile


class Room(NamedTuple):
    """The maximum length of a job's name, and the derived name that determines it, with `<name>` for the job's."""

    longest: int
    derived_name: str
    pattern: str
    limit: int


def room(job: Job, target: Target) -> Room:
    """Return the maximum length of a job's name that leaves room for every derived name of these pods."""
    return _tightest_room(target.derived or _OBJECT_NAME, tuple(target.groups(job)) or (IndexedGroup("", job.nodes),))


_OBJECT_NAME = (Derived("the object", "{job}", "facts/api-server", SUBDOMAIN),)
"""For a plugin's target that lists no names."""


@lru_cache(256)
def _tightest_room(names: tuple[Derived, ...], groups: tuple[IndexedGroup, ...]) -> Room:
    rooms = (_room(derived, group) for derived in names for group in groups)
    return min(rooms, key=lambda candidate: candidate.longest)


def _room(derived: Derived, group: IndexedGroup) -> Room:
    last = {"last": max(0, group.pods - 1), "last_job": max(0, group.jobs - 1)}
    pattern = derived.pattern.format(job="<name>", group=group.name, **last)
    longest = derived.limit - (len(pattern) - len("<name>"))
    return Room(max(0, longest), derived.what, pattern, derived.limit)


def too_long(job: Job, target: Target) -> Iterator[Problem]:
    """Yield an error if the job's name leaves no room for a name that is derived from it."""
    least = room(job, target)
    if len(job.name) > least.longest:
        safe = job.name[: least.longest].rstrip("-.")
        yield Problem(
            "name-too-long",
            ("metadata", "name"),
            f"metadata.name: {job.name!r} has {len(job.name)} characters and leaves no room for {least.derived_name} "
            f"{least.pattern}, which has a limit of {least.limit}",
            f"use at most {least.longest} characters, such as {safe!r}",
        )


_QUEUE = (*SPEC, "queue")
_PRIORITY = (*SPEC, "priority")
_TOPOLOGY = (*SPEC, "topology")


def unsupported_queueing(job: Job, cluster: ClusterProfile, target: Target) -> Iterator[Problem]:
    """Yield an error or a warning for a job's queue and placement on this target; paths are those of a spec."""
    yield from _check_label_values(job, cluster, target.name)
    yield from _check_queue(job, cluster, target.name)
    if cluster.spec.multi_kueue and queue_of(job, cluster):
        yield from _check_multi_kueue(cluster, target.name)
    if job.priority is not None:
        yield from _check_priority(job, cluster, target.name)
    if job.topology is not None:
        yield from _check_topology(job, job.topology.level, cluster, target)
    yield from _check_gang(job, cluster, target.name)


def unread_annotations(job: Job, target: Target) -> Iterator[Problem]:
    """Yield a warning for each annotation of the job by which another operator would place its pods."""
    for operator in OPERATORS if job.annotations else ():
        for key, purpose in operator.placing_annotations.items():
            if key in job.annotations and operator.target_name != target.name:
                path = ("metadata", "annotations", key)
                message = f"{field_path(path)}: {purpose} with {operator.title} alone; {target.name} ignores it"
                help = f"remove it, or use the target {operator.target_name}"
                yield Problem("not-carried-over", path, message, help, "warning", "run", "ptcompile", on_key=True)


def _queued_differently(path: Path, message: str, help: str | None, authority: Authority = "ptcompile") -> Problem:
    text = f"{field_path(path)}: {message}"
    return Problem("queued-differently", path, text, help, severity="warning", stage="run", authority=authority)


def _check_label_values(job: Job, cluster: ClusterProfile, target: str) -> Iterator[Problem]:
    """Yield an error for a queue or priority name that is not a valid label value.

    Kueue and KAI read labels of the object, Volcano a label of its pods (Volcano 1.16).
    """
    if queue_of(job, cluster) is None and job.priority is None:
        return
    labels = queues.object_labels(job, cluster)
    queue = labels.get(queue_systems.KUEUE_QUEUE) or labels.get(queue_systems.KAI_QUEUE)
    priority = labels.get(queue_systems.KUEUE_PRIORITY) or labels.get(queue_systems.KAI_PRIORITY)
    if target == "volcano":
        queue, priority = queue_of(job, cluster), None
    for path, value in ((_QUEUE, queue), (_PRIORITY, priority)):
        if value and (reason := names.why_not_label_value(value)):
            is_explicit = path == _PRIORITY or job.queue is not None
            statement = f"{value!r} becomes the value of a label, which {reason}"
            text = (
                f"{field_path(path)}: {statement}" if is_explicit else f"spec: the profile's defaults.queue {statement}"
            )
            problem_path: Path = path if is_explicit else SPEC
            help = f"use a {path[-1]} with another name"
            yield Problem(
                "spec-invalid-value", problem_path, text, help, stage="pod" if target == "volcano" else "apply"
            )


def _check_queue(job: Job, cluster: ClusterProfile, target: str) -> Iterator[Problem]:
    queue, system = queue_of(job, cluster), cluster.spec.queue_system
    if queue is None:
        return
    if target == "volcano" and system == "kai":
        yield unsupported_by_target(
            _QUEUE, "a Volcano Job needs a Volcano queue, but this cluster's queues are KAI's", "use another target"
        )
    versions = cluster.versions()
    patched = has_feature("kueue-runtime-patches", versions) and not has_feature("runtime-patches", versions)
    if target == "trainjob" and system == "kueue" and patched:
        message = "Kueue starts TrainJobs through runtimePatches, so on Trainer before 2.2 the job would never start"
        yield unsupported_by_target(_QUEUE, message, "use the target jobset, or a newer Trainer", "kueue")
    is_explicit = "queue_system" in cluster.spec.model_fields_set and not cluster.spec.multi_kueue
    if target == "volcano" and system == "kueue" and is_explicit:
        yield _queued_differently(
            _QUEUE, "Kueue does not know Volcano's Job: it needs a Volcano queue", "use another target"
        )
    if job.run_policy.suspend and system == "kueue" and target not in {"volcano", "pod"}:
        path = (*RUN_POLICY, "suspend")
        message = "Kueue starts a suspended job as soon as its queue admits it"
        yield _queued_differently(path, message, "remove queue if something else should start the job", "kueue")


def _check_multi_kueue(cluster: ClusterProfile, target: str) -> Iterator[Problem]:
    """Yield an error if the kind's own controller does not leave the object to MultiKueue (facts/kueue; Kueue 0.19)."""
    versions = cluster.versions()
    since = {
        "job": ("job-managed-by", "Kubernetes leaves a Job to Kueue only since 1.32"),
        "pytorchjob": ("training-managed-by", "the training-operator leaves a PyTorchJob to Kueue only since 1.9"),
        "trainjob": ("trainjob-managed-by", "Trainer leaves a TrainJob to Kueue only since 2.3"),
    }
    system = cluster.spec.queue_system
    if system != "kueue":
        message = (
            f"the profile's multiKueue leaves jobs to Kueue, but its queues are {system}'s: nothing would start the job"
        )
        yield unsupported_by_target(_QUEUE, message, "remove multiKueue or queueSystem from the profile")
    elif target == "volcano":
        yield unsupported_by_target(
            _QUEUE, "MultiKueue does not know Volcano's Job", "use the target job, jobset or pytorchjob"
        )
    elif target in since and not has_feature(since[target][0], versions):
        yield unsupported_by_target(
            _QUEUE,
            f"{since[target][1]}: the job would also run in this cluster",
            "use the target jobset, or a newer release",
        )


def _check_priority(job: Job, cluster: ClusterProfile, target: str) -> Iterator[Problem]:
    system, queue = cluster.spec.queue_system, queue_of(job, cluster)
    if target == "volcano" or system == "kai":
        return
    if queue is None and (system == "kueue" or gang_scheduler_of(job, cluster) == "none"):
        help = "add queue, or use priorityClassName, which is for the pods"
        yield unsupported_by_target(_PRIORITY, "priority orders the jobs of a queue, but this job has no queue", help)
    elif system == "volcano" and target in {"pod", "trainjob"}:
        owner = "Volcano" if target == "pod" else "Trainer"
        for role in job.roles:
            pod_priority = role.template.extra.get("priorityClassName")
            if pod_priority not in {None, job.priority}:
                path = (*role_path(role), "priorityClassName")
                message = f"{owner} takes the job's priority from its pods, but {pod_priority} is not {job.priority}"
                yield unsupported_by_target(
                    path, message, "set the same in both, or use the target volcano, job or jobset"
                )


def _check_topology(job: Job, name: str, cluster: ClusterProfile, target: Target) -> Iterator[Problem]:
    placer, level, profile = topology_system(job, cluster, target.name), level_of(job, cluster), cluster.metadata.name
    groups = target.groups(job)
    if placer is None:
        help = "add a queue of Kueue, or use the target volcano"
        yield unsupported_by_target(
            _TOPOLOGY,
            "nothing places these pods by network topology: the job uses no Kueue queue, Volcano or KAI",
            help,
        )
    elif placer == "volcano" and level.tier is None:
        yield unsupported_by_target(
            _TOPOLOGY, f"the profile {profile!r} gives {name} no tier, which Volcano requires", "add its tier"
        )
    elif placer != "volcano" and level.node_label is None:
        message = f"the profile {profile!r} gives {name} no node label, which {placer.capitalize()} requires"
        yield unsupported_by_target(_TOPOLOGY, message, "add its nodeLabel")
    elif placer == "kueue" and len(groups) > 1 and not can_share_domain(groups):
        message = f"Kueue keeps each of the {len(groups)} pod sets close together, but not all of them"
        help = "use one pod template for all nodes, and at most one other pod"
        yield _queued_differently(_TOPOLOGY, message, help, "kueue")
    elif placer == "kai" and cluster.spec.topology.name is None:
        message = f"the profile {profile!r} does not name the Topology object that KAI requires"
        yield unsupported_by_target(_TOPOLOGY, message, "add spec.topology.name to the profile")
    elif placer == "volcano" and not has_feature("volcano-topology", cluster.versions()):
        yield unsupported_by_target(
            _TOPOLOGY, "Volcano has network topology only since 1.11", "remove it, or use a newer Volcano"
        )
    elif placer == "volcano" and target.name == "pytorchjob":
        message = "the training-operator creates the PodGroup and has no field for it"
        yield unsupported_by_target(_TOPOLOGY, message, "use the target volcano, trainjob, jobset or job")


def _check_gang(job: Job, cluster: ClusterProfile, target: str) -> Iterator[Problem]:
    placer, versions = gang_scheduler_of(job, cluster), cluster.versions()
    is_kai_job = cluster.spec.queue_system == "kai" and queue_of(job, cluster) is not None
    if target == "trainjob" and placer == "volcano" and not has_feature("trainer-volcano", versions):
        path = _QUEUE if job.queue else SPEC
        help = "use the target volcano or pytorchjob, or a newer Trainer"
        yield unsupported_by_target(path, "Trainer supports Volcano only since 2.1", help)
    elif target == "trainjob" and job.elastic and placer in {"volcano", "scheduler-plugins"}:
        message = f"Trainer's PodGroup waits for all {job.nodes} nodes, not for {job.min_nodes}"
        yield _queued_differently(
            (*SPEC, "elastic", "nnodes"), message, "use the target jobset, job or pytorchjob", "trainer"
        )
    elif target == "volcano" and gang_scheduler(cluster) in {"scheduler-plugins", "kai"} and not is_kai_job:
        message = f"Volcano places the pods of its Jobs itself, not {gang_scheduler(cluster)}"
        yield _queued_differently(SPEC, message, "use another target", "volcano")
    one_by_one = target in {"job", "trainjob"} and placer == "kai" and not has_feature(f"kai-{target}", versions)
    if one_by_one and job.pods > 1:
        message = f"KAI {'.'.join(map(str, versions.kai))} schedules the pods of this target one by one"
        yield _queued_differently(SPEC, message, "use the target pytorchjob or jobset, or a newer KAI")
