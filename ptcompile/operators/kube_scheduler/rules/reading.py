"""Which pods of a stream name which group of kube-scheduler."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import kind_of, nested_maps, nested_string, nested_value
from ptcompile.linter.rule import Subject, subject_of
from ptcompile.operators.queues.gangs import NamedGroup, named_groups
from ptcompile.operators.table import RUNS_PODS
from ptcompile.world.templates import ManifestTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.world.workload import Stream

SCHEDULER = "kube-scheduler"


class Member(NamedTuple):
    """The pods of one role that name a group."""

    subject: Subject
    role: str
    pods: int
    """How many of them exist at a time."""
    group: NamedGroup
    priority_class: str


class GroupSize(NamedTuple):
    """The number of pods for which a group waits."""

    path: Path
    size: int
    members: list[Member]


def group_of_template(template: ManifestTemplate, subject: Subject) -> NamedGroup | None:
    """Return the group of kube-scheduler that a written template names."""
    return next(
        (group for group in groups_of_template(template, subject) if group.scheduler == SCHEDULER),
        None,
    )


def groups_of_template(template: ManifestTemplate, subject: Subject) -> list[NamedGroup]:
    """Return the groups of all gang schedulers that a written template names."""
    return list(named_groups(template.data, subject.stream.objects.in_namespace(subject.namespace)))


def group_sizes(subject: Subject) -> Iterator[GroupSize]:
    """Yield each group of a PodGroup or a Workload that waits for pods, if pods of the stream
    name it.
    """
    by_member: dict[str, list[Member]] = {}
    for member in subject.stream.cached(_members).get(id(subject.manifest), ()):
        by_member.setdefault(member.group.member, []).append(member)
    items = {
        nested_string(item, "name"): index
        for index, item in enumerate(nested_maps(subject.spec, "podGroups"))
    }
    for name, members in by_member.items():
        size = members[0].group.size
        below = ("podGroups", items[name], "policy") if name in items else ("schedulingPolicy",)
        if size is not None:
            yield GroupSize(("spec", *below, "gang", "minCount"), size, members)


def members_of(subject: Subject) -> list[Member]:
    """Return the pods of the stream that name a PodGroup or a Workload."""
    return subject.stream.cached(_members).get(id(subject.manifest), [])


def _members(stream: Stream) -> dict[int, list[Member]]:
    """Return the members of each group in the stream, keyed by the identity of its manifest."""
    members: dict[int, list[Member]] = {}
    for manifest in stream.objects:
        if kind_of(manifest) in RUNS_PODS:
            for member in _members_of_job(subject_of(manifest, stream)):
                members.setdefault(id(member.group.manifest), []).append(member)
    return members


def _members_of_job(subject: Subject) -> Iterator[Member]:
    if subject.job is None:
        return

    objects = subject.stream.objects.in_namespace(subject.namespace)
    if kind_of(subject.manifest) == ("batch/v1", "Job"):
        parallelism = subject.spec.get("parallelism")
    else:
        parallelism = None

    for role, pod in subject.job.first_pods:
        view = pod.view
        data = {
            "metadata": {"annotations": view.annotations, "labels": view.labels},
            "spec": view.spec,
        }
        for group in named_groups(data, objects):
            if group.scheduler == SCHEDULER and group.manifest is not None:
                count = min(role.count, parallelism) if type(parallelism) is int else role.count
                priority = nested_value(data, "spec", "priorityClassName")
                yield Member(
                    subject, role.name, count, group, priority if type(priority) is str else ""
                )
