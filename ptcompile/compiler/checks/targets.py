"""Checks for what no target can express: names that are too long, and queues and gangs that the
profile lacks.

An operator names pods, host names, Services, PodGroups and label values after the job. Names that
are too long are not always rejected: a PyTorchJob with a long name is accepted, but its Services
are never created. So the checks find the tightest derived name before anything is written, and
report the longest name that leaves room for it.

`queues` and `queue_systems` map queues and gangs to the fields of each target. The checks here
cover the rest: an error if a target lacks the field, a warning if the operator treats it
differently.
"""

from __future__ import annotations

from functools import lru_cache

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Problems, own_problem, problem_at
from ptcompile.ir.job import SUBDOMAIN, Derived, IndexedGroup, Job, Target
from ptcompile.kubernetes import names
from ptcompile.operators.queues import queue_systems
from ptcompile.operators.queues.queues import (
    can_share_domain,
    gang_scheduler,
    gang_scheduler_of,
    gang_system,
    level_of,
    object_labels,
    queue_of,
    system_named,
    topology_system,
)
from ptcompile.operators.shared.emitting import (
    RUN_POLICY,
    SPEC,
    TOPOLOGY,
    check_node_label,
    done_differently,
    role_path,
    unsupported_by_target,
)
from ptcompile.operators.table import BY_GANG_SCHEDULER, OPERATORS, has_feature, main_kind
from ptcompile.spec.checks import NON_SCHEDULERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile


class Room(NamedTuple):
    """The maximum length of a job's name, and the derived name that determines it, with `<name>`
    for the job's.
    """

    longest: int
    derived_name: str
    pattern: str
    limit: int


def room(job: Job, target: Target) -> Room:
    """Return the maximum length of a job's name that leaves room for every derived name of these
    pods.
    """
    return _tightest_room(
        target.derived or _OBJECT_NAME, tuple(target.groups(job)) or (IndexedGroup("", job.nodes),)
    )


_OBJECT_NAME = (Derived("the object", "{job}", "facts/api-server", SUBDOMAIN),)
"""For a plugin's target that lists no names."""


@lru_cache(256)
def _tightest_room(names: tuple[Derived, ...], groups: tuple[IndexedGroup, ...]) -> Room:
    rooms = (_room(derived, group) for derived in names for group in groups)
    return min(rooms, key=lambda candidate: candidate.longest)


def _room(derived: Derived, group: IndexedGroup) -> Room:
    """Return how long the job's name may be for one derived name of a group."""
    last = {"last": max(0, group.pods - 1), "last_job": max(0, group.jobs - 1)}
    pattern = derived.pattern.format(job="<name>", group=group.name, **last)
    longest = derived.limit - (len(pattern) - len("<name>"))
    return Room(max(0, longest), derived.what, pattern, derived.limit)


def too_long(job: Job, target: Target) -> Problems:
    """Yield an error if the job's name leaves no room for a name that is derived from it."""
    least = room(job, target)
    if len(job.name) > least.longest:
        safe = job.name[: least.longest].rstrip("-.")
        yield problem_at(
            "name-too-long",
            ("metadata", "name"),
            f"{job.name!r} has {len(job.name)} characters and leaves no room for "
            f"{least.derived_name} {least.pattern}, which has a limit of {least.limit}",
            f"use at most {least.longest} characters, such as {safe!r}",
        )


_QUEUE = (*SPEC, "queue")
_PRIORITY = (*SPEC, "priority")


def unsupported_queueing(job: Job, cluster: ClusterProfile, target: Target) -> Problems:
    """Yield an error or a warning for a job's queue and placement on this target; paths are
    those of a spec.
    """
    yield from _check_label_values(job, cluster, target.name)
    yield from _check_queue(job, cluster, target.name)
    if cluster.spec.multi_kueue and queue_of(job, cluster):
        yield from _check_multi_kueue(cluster, target.name)
    if job.priority is not None:
        yield from _check_priority(job, cluster, target.name)
    if job.topology is not None:
        yield from _check_topology(job, cluster, target)
    yield from _check_gang(job, cluster, target)


def unread_annotations(job: Job, target: Target) -> Problems:
    """Yield a warning for each annotation of the job by which another operator would place its
    pods.
    """
    if not job.annotations:
        return

    for operator in OPERATORS:
        for key, purpose in operator.placing_annotations.items():
            if key in job.annotations and operator.target_name != target.name:
                path = ("metadata", "annotations", key)
                owner = operator.title or f"{main_kind(operator).name} objects"
                message = f"{purpose} with {owner} alone; {target.name} ignores it"
                help = f"remove it, or use the target {operator.target_name}"
                yield own_problem(
                    "not-carried-over", path, message, help, "warning", "run", on_key=True
                )


def _check_label_values(job: Job, cluster: ClusterProfile, target: str) -> Problems:
    """Yield an error for a queue or priority name that is not a valid label value.

    Kueue and KAI read labels of the object, Volcano a label of its pods (Volcano 1.16).
    """
    if queue_of(job, cluster) is None and job.priority is None:
        return

    labels = object_labels(job, cluster)
    queue = labels.get(queue_systems.KUEUE_QUEUE) or labels.get(queue_systems.KAI_QUEUE)
    priority = labels.get(queue_systems.KUEUE_PRIORITY) or labels.get(queue_systems.KAI_PRIORITY)
    if target == "volcano":
        queue = queue_of(job, cluster)
        priority = None
    for path, value in ((_QUEUE, queue), (_PRIORITY, priority)):
        if value and (reason := names.why_not_label_value(value)):
            text = f"{value!r} becomes the value of a label, which {reason}"
            help = f"use a {path[-1]} with another name"
            is_default = path == _QUEUE and job.queue is None
            if is_default:
                text = f"the profile's defaults.queue {text}"
            yield problem_at(
                "spec-invalid-value",
                SPEC if is_default else path,
                text,
                help,
                stage="pod" if target == "volcano" else "apply",
            )


def _check_queue(job: Job, cluster: ClusterProfile, target: str) -> Problems:
    queue = queue_of(job, cluster)
    system = cluster.spec.queue_system
    if queue is None:
        yield from _note_unqueued(job, cluster, target)
        return

    if target == "volcano" and system == "kai":
        yield unsupported_by_target(
            _QUEUE,
            "a Volcano Job needs a Volcano queue, but this cluster's queues are KAI's",
            "use another target",
        )

    versions = cluster.versions()
    patched = has_feature("kueue-runtime-patches", versions) and not has_feature(
        "runtime-patches", versions
    )
    if target == "trainjob" and system == "kueue" and patched:
        message = (
            "Kueue starts TrainJobs through runtimePatches, so on Trainer before 2.2 the job "
            "would never start"
        )
        yield unsupported_by_target(
            _QUEUE, message, "use the target jobset, or a newer Trainer", "kueue"
        )

    is_explicit = "queue_system" in cluster.spec.model_fields_set and not cluster.spec.multi_kueue
    if target == "volcano" and system == "kueue" and is_explicit:
        yield done_differently(
            _QUEUE,
            "Kueue does not know Volcano's Job: it needs a Volcano queue",
            "use another target",
        )
    if job.run_policy.suspend and system == "kueue" and target not in {"volcano", "pod"}:
        path = (*RUN_POLICY, "suspend")
        message = "Kueue starts a suspended job as soon as its queue admits it"
        yield done_differently(
            path, message, "remove queue if something else should start the job", "kueue"
        )


def _note_unqueued(job: Job, cluster: ClusterProfile, target: str) -> Problems:
    """Yield a note if the profile names Kueue as its queue system, but the job neither names a
    queue nor opts out.

    A priority without a queue is an error already.
    """
    is_explicit = (
        "queue_system" in cluster.spec.model_fields_set and cluster.spec.queue_system == "kueue"
    )
    has_queue = (
        job.queue is not None or job.priority is not None or queue_systems.KUEUE_QUEUE in job.labels
    )
    if not is_explicit or has_queue or target == "volcano" or cluster.spec.multi_kueue:
        return

    message = (
        "is not set, but the profile's queueSystem is kueue: the job waits for no quota, unless "
        "its namespace has a LocalQueue named default"
    )
    help = (
        "add queue, set defaults.queue in the profile, or write queue: null for a job outside of "
        "all queues"
    )
    yield problem_at(
        "unqueued-job", _QUEUE, message, help, severity="note", stage="run", authority="kueue"
    )


def _check_multi_kueue(cluster: ClusterProfile, target: str) -> Problems:
    """Yield an error if the kind's own controller does not leave the object to MultiKueue
    (facts/kueue; Kueue 0.19).
    """
    since = {
        "job": ("job-managed-by", "Kubernetes leaves a Job to Kueue only since 1.32"),
        "pytorchjob": (
            "training-managed-by",
            "the training-operator leaves a PyTorchJob to Kueue only since 1.9",
        ),
        "trainjob": ("trainjob-managed-by", "Trainer leaves a TrainJob to Kueue only since 2.3"),
    }

    system = cluster.spec.queue_system
    if system != "kueue":
        message = (
            f"the profile's multiKueue leaves jobs to Kueue, but its queues are {system}'s: "
            "nothing would start the job"
        )
        yield unsupported_by_target(
            _QUEUE, message, "remove multiKueue or queueSystem from the profile"
        )
    elif target == "volcano":
        yield unsupported_by_target(
            _QUEUE,
            "MultiKueue does not know Volcano's Job",
            "use the target job, jobset or pytorchjob",
        )
    elif target in since:
        feature, condition = since[target]
        if not has_feature(feature, cluster.versions()):
            yield unsupported_by_target(
                _QUEUE,
                f"{condition}: the job would also run in this cluster",
                "use the target jobset, or a newer release",
            )


def _check_priority(job: Job, cluster: ClusterProfile, target: str) -> Problems:
    system = cluster.spec.queue_system
    queue = queue_of(job, cluster)
    if target == "volcano" or system == "kai":
        return

    if queue is None and (system == "kueue" or gang_scheduler_of(job, cluster) == "none"):
        help = "add queue, or use priorityClassName, which is for the pods"
        yield unsupported_by_target(
            _PRIORITY, "priority orders the jobs of a queue, but this job has no queue", help
        )
    elif system == "volcano" and target in {"pod", "trainjob"}:
        owner = "Volcano" if target == "pod" else "Trainer"
        for role in job.roles:
            pod_priority = role.template.extra.get("priorityClassName")
            if pod_priority not in {None, job.priority}:
                path = (*role_path(role), "priorityClassName")
                message = (
                    f"{owner} takes the job's priority from its pods, but {pod_priority} is not "
                    f"{job.priority}"
                )
                yield unsupported_by_target(
                    path, message, "set the same in both, or use the target volcano, job or jobset"
                )


def _check_topology(job: Job, cluster: ClusterProfile, target: Target) -> Problems:
    placer = topology_system(job, cluster, target.name)
    groups = target.groups(job)
    if placer is None:
        help = "add a queue of Kueue, or use the target volcano"
        yield unsupported_by_target(
            TOPOLOGY,
            "nothing places these pods by network topology: the job uses no Kueue queue, Volcano "
            "or KAI",
            help,
        )
    elif placer != "kueue":
        yield from system_named(placer).check_topology(job, cluster, target)
    elif level_of(job, cluster).node_label is None:
        yield from check_node_label(job, cluster, "Kueue")
    elif len(groups) > 1 and not can_share_domain(groups):
        message = (
            f"Kueue keeps each of the {len(groups)} pod sets close together, but not all of them"
        )
        help = "use one pod template for all nodes, and at most one other pod"
        yield done_differently(TOPOLOGY, message, help, "kueue")


def _check_gang(job: Job, cluster: ClusterProfile, target: Target) -> Problems:
    is_queued = (
        cluster.spec.queue_system not in NON_SCHEDULERS and queue_of(job, cluster) is not None
    )
    scheduler = gang_scheduler(cluster)
    if target.name == "volcano" and scheduler not in {"none", "volcano"} and not is_queued:
        message = (
            "Volcano places the pods of its Jobs itself, not "
            f"{BY_GANG_SCHEDULER[scheduler].title or scheduler}"
        )
        yield done_differently(SPEC, message, "use another target", "volcano")
    else:
        yield from gang_system(job, cluster).check(job, cluster, target)
