"""The pods of a Volcano Job: templates, expansion, gang, restarts, and what happens on failure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile._internal.limits import limits
from ptcompile.diagnostics import Problem
from ptcompile.kubernetes.unstructured import (
    as_int,
    as_mapping,
    as_mappings,
    as_string,
    as_strings,
    namespace_of,
    nested_map,
    object_name,
    string_map,
)
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.volcano.plugins import PLUGINS, DefaultedJob, PodTransform, VolcanoTask
from ptcompile.registry import templates
from ptcompile.registry.model import KindContext
from ptcompile.registry.pods import ExpandedRole, Expansion, PodView, template_parts
from ptcompile.registry.queue_systems import Shares, first
from ptcompile.registry.templates import Template, indexed_mappings, limit_sentences, pod_restart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json


_UID = "<uid>"
_PREFIX = "volcano.sh/"
_FROM_JOB = ("preemptable", "cooldown-time", "revocable-zone")
_BUDGETS = ("jdb-min-available", "jdb-max-unavailable")
_NEED_SVC = frozenset({"tensorflow", "mpi", "pytorch", "ray"})


def expand(manifest: Json, request: KindContext) -> Expansion:
    """The pods of each task in the order of the list, and what the plugins add around them.

    Volcano runs its plugins in random order, pod by pod; here they run in the order of their names.
    """
    job = read(manifest, request)
    plugins = {name: PLUGINS[name](job, args) for name, args in sorted(job.plugins.items()) if name in PLUGINS}
    changes = [p.change for p in plugins.values() if p.change]
    given = string_map(nested_map(manifest, "metadata").get("annotations"))
    roles = tuple(_role(job, task, _base(job, task), changes, given) for task in job.tasks)
    notes = [note for p in plugins.values() for note in p.notes]
    notes.extend(f"unknown plugin {name!r}: it does nothing" for name in job.plugins if name not in PLUGINS)
    refused = tuple(p.failure for p in plugins.values() if p.failure)
    return Expansion(
        roles=() if refused else roles,
        services=tuple(s for p in plugins.values() for s in p.services),
        configmaps_of=lambda: tuple(c for p in plugins.values() for c in p.configmaps_of()),
        pod_group=_pod_group(job),
        notes=tuple(notes),
        refused=refused,
    )


def read(manifest: Json, request: KindContext) -> DefaultedJob:
    """The job after the mutating webhook's defaults (1.3): task names, queue, scheduler, plugins that others need."""
    spec = nested_map(manifest, "spec")
    tasks = tuple(
        VolcanoTask(
            name=as_string(t.get("name")) or f"default{i}",
            replicas=max(0, as_int(t.get("replicas"))),
            metadata=template_parts(t.get("template"))[0],
            spec=template_parts(t.get("template"))[1],
            source=t,
        )
        for i, t in enumerate(as_mappings(spec.get("tasks")))
    )
    plugins = {str(name): as_strings(args) for name, args in nested_map(spec, "plugins").items() if args is not None}
    if _NEED_SVC & plugins.keys():
        plugins.setdefault("svc", [])
    if "mpi" in plugins:
        plugins.setdefault("ssh", [])
    return DefaultedJob(object_name(manifest), namespace_of(manifest), spec, tasks, plugins, request.versions.volcano)


_MOST_TASKS = 256
"""Tasks of a job of which rules look at the pods, if each is told the hosts of every task."""


def crowded(manifest: Json, versions: Versions) -> bool:
    """Whether the svc plugin tells each pod the hosts of more tasks than rules look at."""
    tasks = as_mappings(nested_map(manifest, "spec").get("tasks"))
    return len(tasks) > _MOST_TASKS and "svc" in read(manifest, KindContext(versions=versions)).plugins


def _base(job: DefaultedJob, task: VolcanoTask) -> Json:
    """A task's pod spec before the plugins: job-wide scheduler, priority, volumes."""
    spec: dict[str, Any] = dict(task.spec)
    spec["schedulerName"] = (
        as_string(spec.get("schedulerName")) or as_string(job.spec.get("schedulerName")) or "volcano"
    )
    priority = as_string(spec.get("priorityClassName")) or as_string(job.spec.get("priorityClassName"))
    if priority:
        spec["priorityClassName"] = priority
    if spec.get("hostNetwork") is True and not as_string(spec.get("dnsPolicy")):
        spec["dnsPolicy"] = "ClusterFirstWithHostNet"
    return _with_volumes(spec, as_mappings(job.spec.get("volumes")), job.name)


def _with_volumes(spec: Json, volumes: Sequence[Json], job: str) -> Json:
    """The job's volumes on every main container; a second entry with one claim is dropped with its mount."""
    claims: dict[str, str] = {}
    for i, volume in enumerate(volumes):
        claim = as_string(volume.get("volumeClaimName")) or f"{job}-pvc-<random{i}>"
        claims.setdefault(claim, as_string(volume.get("mountPath")))
    names = {claim: f"{job}-<random{i}>" for i, claim in enumerate(claims)}
    sources = [{"name": names[c], "persistentVolumeClaim": {"claimName": c}} for c in claims]
    mounts = [{"name": names[c], "mountPath": path} for c, path in claims.items()]
    with_sources = templates.with_items(spec, "volumes", sources)
    return templates.with_containers(
        with_sources, lambda c: templates.with_items(c, "volumeMounts", mounts), init=False
    )


def _role(
    job: DefaultedJob, task: VolcanoTask, base: Json, changes: Sequence[PodTransform], given: Mapping[str, str]
) -> ExpandedRole:
    labels, annotations = _fixed_labels(job, task), {**_fixed_annotations(job, task), **_passed_on(given)}

    def build(index: int) -> PodView:
        name = job.pod_name(task, index)
        spec, extra = base, dict[str, str]()
        for change in changes:
            spec = change(task, index, spec, extra)
        hostname, subdomain = as_string(spec.get("hostname")) or None, as_string(spec.get("subdomain")) or None
        answered = "svc" in job.plugins and subdomain == job.name
        return PodView(
            name=name,
            role=task.name,
            index=index,
            namespace=job.namespace,
            hostname=hostname,
            subdomain=subdomain,
            dns=templates.fqdn(hostname or name, subdomain, job.namespace) if answered else None,
            labels={**labels, f"{_PREFIX}task-index": str(index), **_partition(task, index)},
            annotations={**annotations, f"{_PREFIX}task-index": str(index), **extra},
            spec=spec,
        )

    return ExpandedRole(task.name, task.replicas, build)


def _passed_on(given: Mapping[str, str]) -> dict[str, str]:
    """The annotations of the job that its pods get too: of the two disruption budgets the first that is there."""
    budget = [name for name in _BUDGETS if _PREFIX + name in given][:1]
    return {_PREFIX + name: given[_PREFIX + name] for name in (*_FROM_JOB, *budget) if _PREFIX + name in given}


def _partition(task: VolcanoTask, index: int) -> dict[str, str]:
    """The label of a partitioned task's pod: index div size, `0` for a size that is not positive."""
    policy = task.source.get("partitionPolicy")
    if not isinstance(policy, Mapping):
        return {}
    size = as_int(policy.get("partitionSize"))
    return {f"{_PREFIX}partition-id": str(index // size if size > 0 else 0)}


def _fixed_labels(job: DefaultedJob, task: VolcanoTask) -> dict[str, str]:
    return {
        **string_map(task.metadata.get("labels")),
        f"{_PREFIX}job-name": job.name,
        f"{_PREFIX}job-namespace": job.namespace,
        f"{_PREFIX}queue-name": job.queue,
        f"{_PREFIX}task-spec": task.name,
    }


def _fixed_annotations(job: DefaultedJob, task: VolcanoTask) -> dict[str, str]:
    out = {
        **string_map(task.metadata.get("annotations")),
        "scheduling.k8s.io/group-name": f"{job.name}-{_UID}",
        f"{_PREFIX}job-name": job.name,
        f"{_PREFIX}job-retry-count": "0",
        f"{_PREFIX}job-version": "0",
        f"{_PREFIX}queue-name": job.queue,
        f"{_PREFIX}task-spec": task.name,
        f"{_PREFIX}template-uid": f"{job.name}-{task.name}",
    }
    if as_string(task.source.get("topologyPolicy")):
        out[f"{_PREFIX}numa-topology-policy"] = as_string(task.source.get("topologyPolicy"))
    return out


def _pod_group(job: DefaultedJob) -> Json:
    """The gang: how many pods must fit at once, of the job and of each task (3.2)."""
    mins = {task.name: task.min_available for task in job.tasks}
    return {
        "name": f"{job.name}-{_UID}",
        "minMember": as_int(job.spec.get("minAvailable")) or sum(mins.values()),
        "minTaskMember": mins,
        "queue": job.queue,
        "priorityClassName": as_string(job.spec.get("priorityClassName")),
    }


_AGAIN = frozenset({"RestartJob", "RestartTask", "RestartPod", "RestartPartition"})


def recreated(manifest: Json, template: Template) -> bool:
    """Whether a lost pod of a task is recreated."""
    spec = nested_map(manifest, "spec")
    parts = (spec, *as_mappings(spec.get("tasks")))
    policies = [one for part in parts for one in as_mappings(part.get("policies"))]
    return (
        any(one.get("action") in _AGAIN for one in policies)
        or nested_map(template.template, "spec").get("restartPolicy") == "OnFailure"
    )


def pod_templates(manifest: Json) -> Iterator[Template]:
    """The templates of the tasks; a task without a name is called `default` and its index."""
    for i, task in indexed_mappings(nested_map(manifest, "spec").get("tasks")):
        name = as_string(task.get("name")) or f"default{i}"
        yield Template(("spec", "tasks", i, "template"), task.get("template"), name, as_int(task.get("replicas")))


def too_wide(manifest: Json) -> Problem | None:
    """The finding that the pods would name each other in too many ways: the square of the tasks is written out."""
    tasks, most = nested_map(manifest, "spec").get("tasks"), limits().roles
    if not (isinstance(tasks, list) and len(tasks) > most and "svc" in nested_map(manifest, "spec", "plugins")):
        return None
    message = f"spec.tasks: more than {most} tasks whose pods are told the hosts of all: its pods are not simulated"
    help = "merge tasks that are alike, or remove the plugin svc"
    return Problem("too-large", ("spec", "tasks"), message, help, "warning", "run", "ptcompile")


def sentences(manifest: Json, _others: Sequence[Json]) -> Iterator[str]:
    """The sentences for a Volcano Job."""
    spec = nested_map(manifest, "spec")
    tasks = as_mappings(spec.get("tasks"))
    for i, task in enumerate(tasks):
        name = _task_name(task, i)
        yield f"{name} {pod_restart(nested_map(task, 'template', 'spec'), 'Always')}"
        yield from (f"{name}: {_policy(policy)}" for policy in as_mappings(task.get("policies")))
    policies = as_mappings(spec.get("policies"))
    yield from (f"any task: {_policy(policy)}" for policy in policies)
    failing = {"PodFailed", "*"}
    lists = [policies, *(as_mappings(task.get("policies")) for task in tasks)]
    if not any(failing & set(_events(policy)) or policy.get("exitCode") for one in lists for policy in one):
        yield "no policy for PodFailed: a failed pod is not recreated, and the others wait for it"
    elif tasks and all(
        as_string(nested_map(task, "template", "spec").get("restartPolicy")) != "Never" for task in tasks
    ):
        yield "the policy for PodFailed never applies: the kubelet restarts containers, so no pod fails"
    yield from _evicted_alone(tasks, policies)
    if spec.get("minSuccess") is not None:
        yield f"minSuccess {spec.get('minSuccess')}: the job is done when that many pods succeeded"
    most = as_int(spec.get("maxRetry"), 3) or 3
    yield f"maxRetry {most}: " + (
        "restarts are unlimited" if most == 2**31 - 1 else "the restart with that number fails the job instead"
    )
    if spec.get("ttlSecondsAfterFinished") is not None:
        yield from limit_sentences({"ttlSecondsAfterFinished": spec.get("ttlSecondsAfterFinished")}, "the job")


def _task_name(task: Json, i: int) -> str:
    return as_string(task.get("name")) or f"default{i}"


def _evicted_alone(tasks: Sequence[Json], policies: Sequence[Json]) -> Iterator[str]:
    """The tasks that neither their own policies nor the job's restart when a node goes."""
    alone = [
        _task_name(task, i)
        for i, task in enumerate(tasks)
        if not any({"PodEvicted", "*"} & set(_events(one)) for one in (*as_mappings(task.get("policies")), *policies))
    ]
    if alone:
        where = "" if len(alone) == len(tasks) else f"{', '.join(alone)}: "
        yield f"{where}no policy for PodEvicted: only the pod of a lost node is recreated, and it is not counted"


def _events(policy: Json) -> list[str]:
    return [*filter(None, [as_string(policy.get("event"))]), *as_strings(policy.get("events"))]


def _policy(policy: Json) -> str:
    on = " or ".join(_events(policy)) or f"exit code {policy.get('exitCode')}"
    after = f" after {as_string(policy.get('timeout'))}" if policy.get("timeout") else ""
    return f"{on} -> {as_string(policy.get('action')) or 'nothing'}{after}"


def counted(group: Json, roles: tuple[ExpandedRole, ...]) -> Shares:
    """Every task's least, then filled up; the first pods only where the job asks for fewer than the tasks do."""
    least = {str(name): as_int(n) for name, n in as_mapping(group.get("minTaskMember")).items()}
    limit = as_int(group.get("minMember"))
    if limit < sum(least.values()):
        return first(limit, roles)
    left = limit - sum(least.values())
    out: Shares = []
    for role in roles:
        wanted = min(role.count, least.get(as_string(role.name), 0))
        more = min(left, role.count - wanted)
        out.append((role, wanted + more))
        left -= more
    return out
