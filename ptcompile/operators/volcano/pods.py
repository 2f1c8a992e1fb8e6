"""Pods of a Volcano Job: templates, expansion, gang, restarts and behavior on failure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile._internal.limits import limits
from ptcompile.diagnostics import Problem, problem_at
from ptcompile.kinds import templates
from ptcompile.kinds.model import KindContext, LostPod, Retry, StartOrder, kubelet_retry
from ptcompile.kinds.pods import ExpandedRole, Expansion, PodView, Shares, unreadable_names
from ptcompile.kinds.templates import Template, indexed_mappings, limit_sentences, restart_sentences
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_int,
    as_string,
    as_strings,
    namespace_of,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_strings,
    nested_value,
    object_name,
)
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.queues.queue_systems import first_pods_of_roles
from ptcompile.operators.table import has_feature
from ptcompile.operators.volcano.facts import DEFAULT_MAX_RETRY, RESTART_POD_HANGS, default_plugins
from ptcompile.operators.volcano.plugins import PLUGINS, DefaultedJob, PodTransform, VolcanoTask

_UID = "<uid>"
_PREFIX = "volcano.sh/"
_INHERITED_ANNOTATIONS = ("preemptable", "cooldown-time", "revocable-zone")
_BUDGET_ANNOTATIONS = ("jdb-min-available", "jdb-max-unavailable")


def expand(manifest: Json, request: KindContext) -> Expansion:
    """Return the pods of each task in list order, and the objects that the plugins add.

    Volcano runs its plugins in random order for each pod; here they run in the order of their
    names.
    """
    job = read_job(manifest, request)
    plugins = {
        name: PLUGINS[name](job, args)
        for name, args in sorted(job.plugins.items())
        if name in PLUGINS
    }
    changes = [p.change for p in plugins.values() if p.change]
    job_annotations = nested_string_map(manifest, "metadata", "annotations")
    roles = tuple(
        _expand_task(job, task, _base_spec(job, task), changes, job_annotations)
        for task in job.tasks
    )
    notes = [note for p in plugins.values() for note in p.notes]
    notes.extend(
        f"unknown plugin {name!r}: it does nothing" for name in job.plugins if name not in PLUGINS
    )
    if "RestartPod" in _actions(job.spec) and not has_feature(
        "volcano-kept-group", request.versions
    ):
        notes.append(RESTART_POD_HANGS)

    failures = tuple(p.failure for p in plugins.values() if p.failure)
    failures += unreadable_names([task.source for task in job.tasks])

    return Expansion(
        roles=() if failures else roles,
        services=tuple(s for p in plugins.values() for s in p.services),
        configmaps_of=lambda: tuple(c for p in plugins.values() for c in p.configmaps_of()),
        pod_group=_pod_group(job),
        notes=tuple(notes),
        refused=failures,
    )


def read_job(manifest: Json, request: KindContext) -> DefaultedJob:
    """Return the job after the mutating webhook's defaults: task names, queue, scheduler,
    plugins that others need.
    """
    spec = nested_map(manifest, "spec")
    tasks = tuple(
        VolcanoTask(
            name=_task_name(t, i),
            replicas=max(0, nested_int(t, "replicas")),
            metadata=nested_map(t, "template", "metadata"),
            spec=nested_map(t, "template", "spec"),
            source=t,
        )
        for i, t in enumerate(nested_maps(spec, "tasks"))
    )
    plugins = {
        str(name): as_strings(args)
        for name, args in default_plugins(nested_map(spec, "plugins")).items()
    }

    return DefaultedJob(
        object_name(manifest),
        namespace_of(manifest),
        spec,
        tasks,
        plugins,
        request.versions.volcano,
    )


_MAX_SIMULATED_TASKS = 256
"""Maximum number of tasks whose pods rules examine, if each pod lists the hosts of every task."""


def is_crowded(manifest: Json, versions: Versions) -> bool:
    """Return whether the svc plugin gives each pod the hosts of more tasks than rules examine."""
    tasks = nested_maps(manifest, "spec", "tasks")
    return (
        len(tasks) > _MAX_SIMULATED_TASKS
        and "svc" in read_job(manifest, KindContext(versions=versions)).plugins
    )


def _base_spec(job: DefaultedJob, task: VolcanoTask) -> Json:
    """Return a task's pod spec before the plugins: job-wide scheduler, priority, volumes."""
    spec: JsonDict = dict(task.spec)
    spec["schedulerName"] = (
        nested_string(spec, "schedulerName")
        or nested_string(job.spec, "schedulerName")
        or "volcano"
    )
    task_priority = nested_string(spec, "priorityClassName")
    if priority := task_priority or nested_string(job.spec, "priorityClassName"):
        spec["priorityClassName"] = priority
    if spec.get("hostNetwork") is True and not nested_string(spec, "dnsPolicy"):
        spec["dnsPolicy"] = "ClusterFirstWithHostNet"

    return _with_volumes(spec, nested_maps(job.spec, "volumes"), job.name)


def _with_volumes(spec: Json, volumes: Sequence[Json], job: str) -> Json:
    """Add the job's volumes to every main container; a second entry for one claim is dropped
    with its mount.
    """
    claims: dict[str, str] = {}
    for i, volume in enumerate(volumes):
        claim = nested_string(volume, "volumeClaimName") or f"{job}-pvc-<random{i}>"
        claims.setdefault(claim, nested_string(volume, "mountPath"))
    names = {claim: f"{job}-<random{i}>" for i, claim in enumerate(claims)}
    sources = [
        {
            "name": names[c],
            "persistentVolumeClaim": {"claimName": c},
        }
        for c in claims
    ]
    mounts = [{"name": names[c], "mountPath": path} for c, path in claims.items()]
    with_sources = templates.with_items(spec, "volumes", sources)

    return templates.with_containers(
        with_sources, lambda c: templates.with_items(c, "volumeMounts", mounts)
    )


def _expand_task(
    job: DefaultedJob,
    task: VolcanoTask,
    base: Json,
    changes: Sequence[PodTransform],
    job_annotations: Mapping[str, str],
) -> ExpandedRole:
    labels = _fixed_labels(job, task)
    annotations = {**_fixed_annotations(job, task), **_inherited_annotations(job_annotations)}

    def build(index: int) -> PodView:
        name = job.pod_name(task, index)
        spec = base
        added_annotations = dict[str, str]()
        for change in changes:
            spec = change(task, index, spec, added_annotations)
        hostname = nested_string(spec, "hostname") or None
        subdomain = nested_string(spec, "subdomain") or None
        dns = None
        if "svc" in job.plugins and subdomain == job.name:
            dns = templates.cluster_host_name(hostname or name, subdomain, job.namespace)

        return PodView(
            name=name,
            role=task.name,
            index=index,
            namespace=job.namespace,
            hostname=hostname,
            subdomain=subdomain,
            dns=dns,
            labels={**labels, f"{_PREFIX}task-index": str(index), **_partition_label(task, index)},
            annotations={**annotations, f"{_PREFIX}task-index": str(index), **added_annotations},
            spec=spec,
        )

    return ExpandedRole(task.name, task.replicas, build)


def _inherited_annotations(job_annotations: Mapping[str, str]) -> dict[str, str]:
    """Return the job's annotations that its pods inherit; of the two disruption budgets, the
    first that exists.
    """
    budget = [name for name in _BUDGET_ANNOTATIONS if _PREFIX + name in job_annotations][:1]
    return {
        _PREFIX + name: job_annotations[_PREFIX + name]
        for name in (*_INHERITED_ANNOTATIONS, *budget)
        if _PREFIX + name in job_annotations
    }


def _partition_label(task: VolcanoTask, index: int) -> dict[str, str]:
    """Return the label of a partitioned task's pod: index // size, or `0` for a size below 1."""
    policy = task.source.get("partitionPolicy")
    if not isinstance(policy, Mapping):
        return {}
    size = nested_int(policy, "partitionSize")
    return {f"{_PREFIX}partition-id": str(index // size if size > 0 else 0)}


def _fixed_labels(job: DefaultedJob, task: VolcanoTask) -> dict[str, str]:
    return {
        **nested_string_map(task.metadata, "labels"),
        f"{_PREFIX}job-name": job.name,
        f"{_PREFIX}job-namespace": job.namespace,
        f"{_PREFIX}queue-name": job.queue,
        f"{_PREFIX}task-spec": task.name,
    }


def _fixed_annotations(job: DefaultedJob, task: VolcanoTask) -> dict[str, str]:
    annotations = {
        **nested_string_map(task.metadata, "annotations"),
        "scheduling.k8s.io/group-name": f"{job.name}-{_UID}",
        f"{_PREFIX}job-name": job.name,
        f"{_PREFIX}job-retry-count": "0",
        f"{_PREFIX}job-version": "0",
        f"{_PREFIX}queue-name": job.queue,
        f"{_PREFIX}task-spec": task.name,
        f"{_PREFIX}template-uid": f"{job.name}-{task.name}",
    }
    if nested_string(task.source, "topologyPolicy"):
        annotations[f"{_PREFIX}numa-topology-policy"] = nested_string(task.source, "topologyPolicy")

    return annotations


def _pod_group(job: DefaultedJob) -> Json:
    """Return the PodGroup: how many pods of the job and of each task must fit at once."""
    task_minimums = {task.name: task.min_available for task in job.tasks}
    return {
        "name": f"{job.name}-{_UID}",
        "minMember": nested_int(job.spec, "minAvailable") or sum(task_minimums.values()),
        "minTaskMember": task_minimums,
        "queue": job.queue,
        "priorityClassName": nested_string(job.spec, "priorityClassName"),
    }


def gang_scheduler(manifest: Json) -> str:
    """Return `volcano`, or "" if another scheduler places the pods (Volcano 1.16; the webhook's
    default is volcano).
    """
    if nested_map(manifest, "spec").get("schedulerName", "volcano") == "volcano":
        return "volcano"
    return ""


_RESTART_ACTIONS = frozenset({"RestartJob", "RestartTask", "RestartPod", "RestartPartition"})


def is_recreated(manifest: Json, template: Template) -> bool:
    """Return whether a lost pod of a task is recreated."""
    actions = _actions(nested_map(manifest, "spec"))
    return (
        not _RESTART_ACTIONS.isdisjoint(actions)
        or nested_value(template.template, "spec", "restartPolicy") == "OnFailure"
    )


def _all_policies(spec: Json) -> Iterator[Json]:
    """Yield the policies of a job and of its tasks."""
    for part in (spec, *nested_maps(spec, "tasks")):
        yield from nested_maps(part, "policies")


def _actions(spec: Json) -> set[str]:
    return {nested_string(policy, "action") for policy in _all_policies(spec)}


_RECREATION: dict[str, LostPod] = {
    "RestartJob": LostPod("job", "all pods are recreated"),
    "RestartTask": LostPod("role", "all pods of its task are recreated"),
    "RestartPartition": LostPod("role", "all pods of its partition are recreated"),
    "RestartPod": LostPod("pod", "only the pod is recreated, and it is counted"),
    "AbortJob": LostPod("none", "the job is aborted"),
    "TerminateJob": LostPod("none", "the job fails"),
    "CompleteJob": LostPod("none", "the job is completed"),
}
"""By the action of the policy that answers a lost pod (Volcano 1.16)."""
_NO_POLICY = LostPod("pod", "only the pod is recreated, and it is not counted")


def lost_pod(manifest: Json, role: str) -> LostPod:
    """Return what the controller does about a lost pod whose process ends with an error."""
    spec = nested_map(manifest, "spec")
    _, action = _answer_to_loss(_policies_for(spec, _task_named(spec, role)))
    lost = _RECREATION.get(action)
    if lost is None:
        return _NO_POLICY
    if lost.recreated != "none" and max_retry(spec) == 1:
        return LostPod("none", "the job fails, as maxRetry 1 allows no restart")
    return lost


def _task_named(spec: Json, role: str) -> Json:
    return next(
        (task for i, task in enumerate(nested_maps(spec, "tasks")) if _task_name(task, i) == role),
        {},
    )


def _policies_for(spec: Json, task: Json) -> Sequence[Json]:
    """Return the policies that decide about a task's pods, in the order in which they do."""
    return (*nested_maps(task, "policies"), *nested_maps(spec, "policies"))


def max_retry(holder: Json) -> int:
    """Return maxRetry of a job or a task; unset and 0 are the webhook's default."""
    return nested_int(holder, "maxRetry") or DEFAULT_MAX_RETRY


_SIGTERM_EXIT_CODE = 143


def _answer_to_loss(policies: Sequence[Json]) -> tuple[str, str]:
    """Return the event and the action that answer a lost pod whose process ends with an error; no
    action if no policy has one.

    The kubelet, or the collector of a lost node's pods, sets the phase Failed before the pod is
    deleted: PodFailed comes first. PodEvicted alone is a pod that exits 0 on SIGTERM, never ran or
    is deleted by force (Kubernetes 1.35, Volcano 1.15, run).
    """
    for event, exit_code in (("PodFailed", _SIGTERM_EXIT_CODE), ("PodEvicted", None)):
        if action := _first_action(policies, event, exit_code):
            return event, action
    return "PodEvicted", ""


def restarts(manifest: Json, role: str, exit_code: int | None) -> tuple[Retry, ...]:
    """Return what answers a failed pod of a task: the kubelet, else the first matching policy; see
    `Kind.restarts`.

    Without a policy for PodFailed a failed pod stays failed. The restart that reaches maxRetry
    fails the job, also that of a single pod (Volcano 1.16).
    """
    spec = nested_map(manifest, "spec")
    task = _task_named(spec, role)
    policies = _policies_for(spec, task)
    if exit_code is None:
        event, action = _answer_to_loss(policies)
        if action:
            return _policy_retry(spec, event, action)
        return (Retry("pod", None, "job", "no policy"),)
    if (nested_string(task, "template", "spec", "restartPolicy") or "Always") == "Never":
        return _policy_retry(spec, "PodFailed", _first_action(policies, "PodFailed", exit_code))

    action = _first_action(policies, "TaskFailed", None)
    if action:
        limit = max_retry(task)
        in_place = kubelet_retry(limit - 1, "role", f"maxRetry {limit}")
    else:
        in_place = kubelet_retry(None, "role", "restartPolicy")

    return (in_place, *_policy_retry(spec, "TaskFailed", action))


def _first_action(policies: Sequence[Json], event: str, exit_code: int | None) -> str:
    """Return the action of the first policy for an event or an exit status, or ""."""
    for policy in policies:
        has_exit_code = exit_code is not None and policy.get("exitCode") == exit_code
        if has_exit_code or {event, "*"} & set(events_of(policy)):
            return nested_string(policy, "action")
    return ""


def _policy_retry(spec: Json, event: str, action: str) -> tuple[Retry, ...]:
    scope = _RECREATION.get(action, LostPod("none", "")).recreated
    if scope == "none":
        return ()
    limit = max_retry(spec)
    return (Retry(scope, limit - 1, "job", f"{event} -> {action}, maxRetry {limit}"),)


def pod_templates(manifest: Json) -> Iterator[Template]:
    """Yield the tasks' pod templates; a task without a name is called `default` and its index."""
    for i, task in indexed_mappings(nested_value(manifest, "spec", "tasks")):
        yield Template(
            ("spec", "tasks", i, "template"),
            task.get("template"),
            _task_name(task, i),
            nested_int(task, "replicas"),
        )


def start_orders(manifest: Json) -> Iterator[StartOrder]:
    """Yield each dependency between tasks: a task is created when the task that it depends on is
    ready.
    """
    tasks = [*indexed_mappings(nested_value(manifest, "spec", "tasks"))]
    depends = {index: nested_strings(task, "dependsOn", "name") for index, task in tasks}
    exist = sum(nested_int(task, "replicas") for index, task in tasks if not depends[index])
    for index, task in tasks:
        for first in depends[index]:
            yield StartOrder(
                ("spec", "tasks", index, "dependsOn"),
                first,
                exist,
                f"{nested_string(task, 'name')} is created when {first} is ready",
                "remove it",
            )


def too_many_tasks(manifest: Json) -> Problem | None:
    """Return the finding for too many tasks to simulate, or None: with the svc plugin each pod lists
    the hosts of every task.
    """
    tasks = nested_value(manifest, "spec", "tasks")
    limit = limits().roles
    if not isinstance(tasks, list) or len(tasks) <= limit:
        return None
    if "svc" not in nested_map(manifest, "spec", "plugins"):
        return None

    return problem_at(
        "too-large",
        ("spec", "tasks"),
        f"more than {limit} tasks whose pods list the hosts of all: its pods are not simulated",
        "merge tasks that are alike, or remove the plugin svc",
        "warning",
        "run",
        "ptcompile",
    )


def describe_failures(manifest: Json) -> Iterator[str]:
    """Yield sentences about what a Volcano Job does on failure and at its end."""
    spec = nested_map(manifest, "spec")
    tasks = nested_maps(spec, "tasks")
    for i, task in enumerate(tasks):
        name = _task_name(task, i)
        pod = nested_map(task, "template", "spec")
        for sentence in restart_sentences(pod, "Always"):
            yield f"{name} {sentence}"
        for policy in nested_maps(task, "policies"):
            yield f"{name}: {_describe_policy(policy)}"

    for policy in nested_maps(spec, "policies"):
        yield f"any task: {_describe_policy(policy)}"

    if not any(
        {"PodFailed", "*"} & set(events_of(policy)) or policy.get("exitCode")
        for policy in _all_policies(spec)
    ):
        yield "no policy for PodFailed: a failed pod is not recreated, and the others wait for it"
    elif tasks and all(
        nested_string(task, "template", "spec", "restartPolicy") != "Never" for task in tasks
    ):
        yield (
            "the policy for PodFailed never applies: the kubelet restarts containers, so no pod "
            "fails"
        )

    yield from _describe_evictions(spec, tasks)
    if spec.get("minSuccess") is not None:
        yield f"minSuccess {spec.get('minSuccess')}: the job is done when that many pods succeeded"
    limit = max_retry(spec)
    if limit == 2**31 - 1:
        yield f"maxRetry {limit}: restarts are unlimited"
    else:
        yield f"maxRetry {limit}: the restart with that number fails the job instead"
    yield from limit_sentences(
        {"ttlSecondsAfterFinished": spec.get("ttlSecondsAfterFinished")}, "the job"
    )


def _task_name(task: Json, i: int) -> str:
    return nested_string(task, "name") or f"default{i}"


def _describe_evictions(spec: Json, tasks: Sequence[Json]) -> Iterator[str]:
    """Yield sentences about the pods of a drained node, and the tasks that no policy for
    PodEvicted restarts.
    """
    named_tasks = [(_task_name(task, i), _policies_for(spec, task)) for i, task in enumerate(tasks)]
    if any(_answer_to_loss(policies)[0] == "PodFailed" for _, policies in named_tasks):
        yield (
            "a drained pod that ends with an error is PodFailed, as after a crash; PodEvicted is "
            "one that exits 0, never ran or is deleted by force"
        )

    recreated_alone = []
    for name, policies in named_tasks:
        if _first_action(policies, "TaskCompleted", None) == "CompleteJob":
            yield (
                f"{name}: a process that exits 0 on SIGTERM completes the job when its node is "
                "drained"
            )
        if not _first_action(policies, "PodEvicted", None):
            recreated_alone.append(name)

    if recreated_alone:
        prefix = "" if len(recreated_alone) == len(tasks) else f"{', '.join(recreated_alone)}: "
        yield f"{prefix}no policy for PodEvicted: {_NO_POLICY.text}"


def events_of(policy: Json) -> list[str]:
    """Return `event` and `events` of a policy as one list."""
    return [*filter(None, [nested_string(policy, "event")]), *nested_strings(policy, "events")]


def _describe_policy(policy: Json) -> str:
    events = " or ".join(events_of(policy)) or f"exit code {policy.get('exitCode')}"
    delay = f" after {nested_string(policy, 'timeout')}" if policy.get("timeout") else ""
    return f"{events} -> {nested_string(policy, 'action') or 'nothing'}{delay}"


def gang_shares(group: Json, roles: tuple[ExpandedRole, ...]) -> Shares:
    """Return each task's minimum, then filled up; the first pods only if the job requires fewer
    than its tasks.
    """
    task_minimums = {str(name): as_int(n) for name, n in nested_map(group, "minTaskMember").items()}
    min_member = nested_int(group, "minMember")
    if min_member < sum(task_minimums.values()):
        return first_pods_of_roles(min_member, roles)

    remaining = min_member - sum(task_minimums.values())
    shares: Shares = []
    for role in roles:
        minimum = min(role.count, task_minimums.get(as_string(role.name), 0))
        more = min(remaining, role.count - minimum)
        shares.append((role, minimum + more))
        remaining -= more

    return shares
