"""The Volcano webhooks' validation of a Job, at creation and on updates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver import roundtrip
from ptcompile.apiserver.stored import new_values
from ptcompile.apiserver.validation.field import CheckScope, FieldValue
from ptcompile.apiserver.validation.pod import check_pod_spec
from ptcompile.apiserver.validation.values import is_equal
from ptcompile.apiserver.webhooks import allowed_values_help, decode_problems, webhook_rejection
from ptcompile.diagnostics import Path, Problem, Problems
from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kinds.model import Established, KindContext, Rejections
from ptcompile.kubernetes import names, quantity
from ptcompile.kubernetes.goflags import parse
from ptcompile.kubernetes.index import objects
from ptcompile.kubernetes.requests import ApiServer, Update
from ptcompile.kubernetes.unstructured import (
    Json,
    as_mapping,
    as_mappings,
    as_strings,
    get,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_strings,
    nested_value,
    object_name,
)
from ptcompile.kubernetes.versions import Version, Versions
from ptcompile.operators.volcano.controller import check_children, controller_errors
from ptcompile.operators.volcano.facts import DEFAULT_MAX_RETRY, default_plugins
from ptcompile.operators.volcano.plugins import FLAGS

_ANY_EVENT = "*"
EVENTS = (
    _ANY_EVENT,
    "PodFailed",
    "PodEvicted",
    "PodPending",
    "Unknown",
    "TaskCompleted",
    "TaskFailed",
    "JobUpdated",
)
ACTIONS = (
    "AbortJob",
    "RestartJob",
    "RestartTask",
    "RestartPod",
    "RestartPartition",
    "TerminateJob",
    "CompleteJob",
    "ResumeJob",
)
_SINCE = {"PodPending": (1, 12), "RestartPod": (1, 12), "RestartPartition": (1, 14)}


def check_policies(value: Any, path: Path, version: Version) -> Problems:
    """Yield the first mistake in a list of policies, as the webhook stops there, and `*` next to
    other events.
    """
    events: set[str] = set()
    codes: set[int] = set()
    for i, policy in enumerate(as_mappings(value)):
        problem = _check_policy(policy, (*path, i), events, codes, version)
        if problem:
            yield problem
            break

    if _ANY_EVENT in events and len(events) > 1:
        yield _rejection(
            path,
            "if there's * here, no other policy should be here",
            "keep `*` alone, or name the events",
        )


def _check_policy(
    policy: Json, path: Path, events: set[str], codes: set[int], version: Version
) -> Problem | None:
    event = nested_string(policy, "event")
    code = policy.get("exitCode")
    all_events = list(
        dict.fromkeys([*nested_strings(policy, "events"), *([event] if event else [])])
    )
    if all_events and code is not None:
        return _rejection(
            path, "must not specify event and exitCode simultaneously", "split it into two policies"
        )
    if all_events:
        return _check_events(all_events, nested_string(policy, "action"), path, events, version)
    if code is None:
        return _rejection(
            path,
            "either event and exitCode should be specified",
            "set the event that triggers the action",
        )
    if code == 0:
        return _rejection(
            (*path, "exitCode"),
            "Invalid value: 0 is not a valid error code",
            "use a code other than 0",
        )
    if isinstance(code, int) and code in codes:
        return _rejection(
            (*path, "exitCode"),
            f"Duplicate value: duplicate exitCode {code}",
            "keep one of the policies",
        )

    codes.add(code if isinstance(code, int) else -1)
    return None


def _check_events(
    listed_events: list[str], action: str, path: Path, events: set[str], version: Version
) -> Problem | None:
    for event in listed_events:
        if event not in EVENTS or not _is_served(event, version):
            message = f'Invalid value: "{event}": invalid policy event'
            return _rejection((*path, "event"), message, allowed_values_help(event, EVENTS))
        if action not in ACTIONS or not _is_served(action, version):
            message = f'Invalid value: "{action}": invalid policy action'
            return _rejection((*path, "action"), message, allowed_values_help(action, ACTIONS))
        if event in events:
            return _rejection(
                path,
                f"Duplicate value: duplicate event {event} across different policy",
                "keep one policy",
            )
        events.add(event)

    return None


def _is_served(name: str, version: Version) -> bool:
    """Return whether this Volcano release knows an event or action."""
    return version >= _SINCE.get(name, version)


def check_task_template(
    task: Json, path: Path, versions: Versions, established: Established
) -> Problems:
    """Yield the webhook's rejections of a task's template, at stage "apply" and with Volcano's
    authority.
    """
    spec = nested_value(task, "template", "spec")
    spec_path = (*path, "template", "spec")
    if spec is None or nested_value(spec, "containers") is None:
        return

    if not (established.pods and _is_valid_if_pod_is(task["template"])):
        context = ApiServer(versions.kubernetes, gates=versions.gates_of("kubernetes"))
        problems = FieldErrors()
        pod = FieldValue(spec, spec_path, CheckScope(context, problems))
        check_pod_spec(pod, template=True)
        for problem in problems:
            if problem.severity == "error" and not _is_missing_container_policy(problem):
                yield problem._replace(name="webhook-refusal", stage="apply", authority="volcano")

    yield from _check_metadata(task, (*path, "template", "metadata"))
    yield from _check_older_rules(as_mapping(spec), spec_path)


def _is_missing_container_policy(problem: Problem) -> bool:
    """Return whether a container lacks a restartPolicy that its rules need. Volcano's older rules
    allow that: the pod is rejected at its creation.
    """
    *_, parent, key = ("", "", *problem.path)
    is_of_container = key == "restartPolicy" and isinstance(parent, int)
    return is_of_container and problem.name == "required-value"


def _is_valid_if_pod_is(pod_template: Json) -> bool:
    """Return whether a template is valid if the Pod created from it is.

    The API server fills in and checks more for a Pod, except for pod-level resources: those it
    completes only later.
    """
    spec = pod_template["spec"]
    return type(pod_template) is dict and type(spec) is dict and spec.get("resources") is None


def _check_metadata(task: Json, path: Path) -> Problems:
    metadata = nested_map(task, "template", "metadata")
    for kind in ("labels", "annotations"):
        for key, value in nested_string_map(metadata, kind).items():
            if kind == "labels":
                why = names.why_not_qualified_name(key) or names.why_not_label_value(value)
            else:
                why = names.why_not_qualified_name(key.lower())
            if why:
                yield _rejection(
                    (*path, kind, key),
                    f'Invalid value: "{key}": {why}',
                    "correct the key or the value",
                )


def _check_older_rules(spec: Json, path: Path) -> Problems:
    """Yield what Volcano's rules reject but a 1.36 API server accepts."""
    has_os = bool(nested_string(spec, "os", "name"))
    for key, init in (("initContainers", True), ("containers", False)):
        for i, container in enumerate(nested_maps(spec, key)):
            container_path = (*path, key, i)
            yield from _check_env(container, container_path)
            yield from _check_restart_policy(container, container_path, init=init)
            if nested_value(container, "lifecycle", "preStop", "sleep", "seconds") == 0:
                yield _rejection(
                    (*container_path, "lifecycle", "preStop", "sleep"),
                    "Invalid value: 0: must be greater than 0",
                    "sleep at least 1 second",
                )

            is_sidecar = container.get("restartPolicy") == "Always"
            if init and not is_sidecar and nested_maps(container, "resizePolicy"):
                yield _rejection(
                    (*container_path, "resizePolicy"),
                    "Forbidden: must not be set for init containers",
                    "remove it",
                )
            if nested_value(container, "lifecycle", "stopSignal") and not has_os:
                yield _rejection(
                    (*container_path, "lifecycle", "stopSignal"),
                    "Forbidden: may not be set for containers with an empty os name",
                    "set spec.os.name",
                )

    for i, search in enumerate(nested_strings(spec, "dnsConfig", "searches")):
        if "_" in search:
            yield _rejection(
                (*path, "dnsConfig", "searches", i),
                "Invalid value: must have no underscore",
                "rename it",
            )


def _check_env(container: Json, path: Path) -> Problems:
    for j, entry in enumerate(nested_maps(container, "env")):
        name = nested_string(entry, "name")
        if names.is_env_name(name) and (why := names.why_not_classic_env_name(name)):
            yield _rejection(
                (*path, "env", j, "name"),
                f'Invalid value: "{name}": {why}',
                "rename the variable: Volcano's webhook applies the older rule",
            )

    for j, source in enumerate(nested_maps(container, "envFrom")):
        prefix = nested_string(source, "prefix")
        if prefix and names.is_env_name(prefix) and (why := names.why_not_classic_env_name(prefix)):
            yield _rejection(
                (*path, "envFrom", j, "prefix"),
                f'Invalid value: "{prefix}": {why}',
                "rename the prefix",
            )


def _check_restart_policy(container: Json, path: Path, *, init: bool) -> Problems:
    policy = nested_string(container, "restartPolicy")
    policy_path = (*path, "restartPolicy")
    if policy and not init:
        yield _rejection(
            policy_path, "Forbidden: may not be set for non-init containers", "remove it"
        )
    elif policy in ("OnFailure", "Never"):
        yield _rejection(
            policy_path,
            f'Unsupported value: "{policy}": supported values: "Always"',
            "use Always, or remove it",
        )


def check_whole_cpus(task: Json, path: Path) -> Problems:
    """Check that each container requests whole CPUs if the task at `path` has a topology policy
    that pins CPUs.
    """
    if nested_string(task, "topologyPolicy") in ("", "none"):
        return

    containers = nested_maps(task, "template", "spec", "containers")
    for j, container in enumerate(containers):
        resources = nested_map(container, "resources")
        amounts = nested_map(resources, "requests") or nested_map(resources, "limits")
        cpu = quantity.parse(amounts.get("cpu"))
        if cpu is None or not cpu.is_integer or cpu.value < 1:
            yield _rejection(
                (*path, "template", "spec", "containers", j, "resources"),
                "the cpu request isn't an integer, and topologyPolicy needs one",
                "request whole CPUs, or remove topologyPolicy",
            )
            return


_rejection = webhook_rejection("volcano")
_TASKS: roundtrip.FieldShapes = {
    roundtrip.ZERO: {"template": {}},
    "template": roundtrip.POD_TEMPLATE,
    "policies": [{"events": roundtrip.STRINGS}],
    "dependsOn": {"name": roundtrip.STRINGS},
    "partitionPolicy": {roundtrip.ZERO: {"totalPartitions": 0, "partitionSize": 0}},
}
SPEC: roundtrip.FieldShapes = {"tasks": [_TASKS]}
LOOSE: roundtrip.FieldShapes = {"tasks": [{roundtrip.ZERO: {"template": {}}}]}


def default(manifest: Json, *, complete: bool) -> Json:
    """Fill in queue, scheduler, retries, task names, minimum sizes, and the plugins that others
    need (Volcano 1.16).
    """
    spec = roundtrip.as_go_reads(manifest.get("spec"), SPEC, LOOSE, complete=complete)
    if not isinstance(spec, Mapping):
        return manifest

    defaulted = {**spec}
    defaults = {"queue": "default", "schedulerName": "volcano", "maxRetry": DEFAULT_MAX_RETRY}
    for key, value in defaults.items():
        if not defaulted.get(key) and not isinstance(defaulted.get(key), bool):
            defaulted[key] = value

    tasks = spec.get("tasks")
    if isinstance(tasks, list):
        defaulted["tasks"] = [_default_task(task, i) for i, task in enumerate(tasks)]
        if not defaulted.get("minAvailable"):
            minimums = [nested_int(t, "minAvailable") for t in as_mappings(defaulted["tasks"])]
            defaulted["minAvailable"] = sum(minimums)
    if isinstance(spec.get("plugins"), Mapping):
        defaulted["plugins"] = default_plugins(spec["plugins"])

    return {**manifest, "spec": defaulted}


def _default_task(task: Any, index: int) -> Any:
    if not isinstance(task, Mapping):
        return task

    defaulted = {**task}
    if defaulted.get("name") in (None, ""):
        defaulted["name"] = f"default{index}"
    if not defaulted.get("maxRetry"):
        defaulted["maxRetry"] = DEFAULT_MAX_RETRY
    if defaulted.get("minAvailable") is None:
        policy = nested_map(task, "partitionPolicy")
        min_partitions = nested_int(policy, "minPartitions")
        defaulted["minAvailable"] = (
            min_partitions * nested_int(policy, "partitionSize")
            if min_partitions > 0
            else nested_int(defaulted, "replicas")
        )

    pod = nested_map(task, "template", "spec")
    if pod.get("hostNetwork") is True and not pod.get("dnsPolicy"):
        defaulted["template"] = {
            **nested_map(task, "template"),
            "spec": {**pod, "dnsPolicy": "ClusterFirstWithHostNet"},
        }

    return defaulted


_QUEUE = ("scheduling.volcano.sh/v1beta1", "Queue")


def validate(manifest: Json, request: KindContext) -> Problems:
    """Yield what the webhook rejects at creation, by its conditions V1 to V27
    (docs/facts/volcano.md#the-validating-webhook). Queues are assumed to exist.
    """
    spec = manifest.get("spec")
    if not isinstance(spec, Mapping):
        if spec is None:
            yield _rejection(
                ("spec",),
                "Required value: the mutating webhook cannot patch a job without spec",
                "add a spec with tasks",
            )
        return

    tasks = nested_maps(spec, "tasks")
    if not tasks:
        if not isinstance(spec.get("tasks"), list):  # the schema rejects an empty list
            yield _rejection(
                ("spec", "tasks"), "Required value: No task specified in job spec", "add a task"
            )
        return

    missing = _missing_mpi_master(spec, tasks)
    if missing:
        yield missing
        return

    name = object_name(manifest)
    if not request.established.decodes:
        yield from decode_problems(spec, _rejection, ("spec",))
    yield from _check_topology(nested_map(spec, "networkTopology"), ("spec", "networkTopology"))
    yield from _check_tasks(name, tasks, request.versions, request.established)
    yield from _check_job(name, spec, tasks, request.versions)
    queue = spec.get("queue") or "default"
    queues = objects(request.related).of_kind(_QUEUE)
    child = next((q for q in queues if nested_value(q, "spec", "parent") == queue), None)
    if child is not None:
        message = (
            f"Invalid value: can only submit job to leaf queue, and queue '{queue}' has children"
        )
        path = ("spec", "queue") if spec.get("queue") else ("spec",)
        yield _rejection(path, message, f"name one of its children, such as {object_name(child)}")


def _missing_mpi_master(spec: Json, tasks: Sequence[Json]) -> Problem | None:
    args = nested_value(spec, "plugins", "mpi")
    if args is None:
        return None
    flags, _ = parse(as_strings(args), FLAGS["mpi"])
    if any(t.get("name") == flags["master"] for t in tasks):
        return None
    return _rejection(
        ("spec", "plugins", "mpi"),
        f"The specified mpi master task was not found: no task is named {flags['master']!r}",
        "name the task with --master=NAME",
    )


def _check_topology(topology: Json, path: Path) -> Problems:
    tier_name = nested_string(topology, "highestTierName")
    if topology.get("highestTierAllowed") is not None and tier_name:
        yield _rejection(
            (*path, "highestTierName"),
            "must not specify 'highestTierAllowed' and 'highestTierName' simultaneously",
            "keep one of the two",
        )


def _check_tasks(
    job: str, tasks: Sequence[Json], versions: Versions, established: Established
) -> Problems:
    task_names: set[str] = set()
    clean = None
    for i, task in enumerate(tasks):
        path = ("spec", "tasks", i)
        name = nested_string(task, "name")
        count = nested_int(task, "replicas")
        if partition := nested_map(task, "partitionPolicy"):
            yield from _check_topology(
                nested_map(partition, "networkTopology"),
                (*path, "partitionPolicy", "networkTopology"),
            )
            yield from _check_partitions(task, partition, path)

        min_available = task.get("minAvailable")
        if isinstance(min_available, int) and min_available > count:
            yield _rejection(
                (*path, "minAvailable"),
                f"Invalid value: {min_available}: 'minAvailable' is greater than 'replicas' "
                f"({count}) in task {name}",
                "lower it, or raise replicas",
            )
        if name in task_names:
            yield _rejection(
                (*path, "name"), f"Duplicate value: duplicated task name {name}", "rename the task"
            )
            return  # the webhook checks no later task

        task_names.add(name)
        if task.get("policies"):
            yield from check_policies(task["policies"], (*path, "policies"), versions.volcano)
        yield from _check_pod_name(f"{job}-{name}-{i}", job, (*path, "name"))
        if not is_equal(task.get("template"), clean, exact=established.exact):
            problems = list(check_task_template(task, path, versions, established))
            yield from problems
            if not problems:
                clean = task.get("template")

        yield from check_whole_cpus(task, path)


def _check_pod_name(pod: str, job: str, path: Path) -> Problems:
    # mistakes in the job's own name are reported once, for the job
    if names.is_qualified_name(job) and (why := names.why_not_qualified_name(pod)):
        yield _rejection(
            path,
            f"Invalid value: create pod with name {pod}: {why}",
            "shorten the task's or the job's name",
        )


def _check_partitions(task: Json, policy: Json, path: Path) -> Problems:
    total = nested_int(policy, "totalPartitions")
    size = nested_int(policy, "partitionSize")
    if total <= 0 or size <= 0:  # reported by the schema
        return

    count = nested_int(task, "replicas")
    min_partitions = nested_int(policy, "minPartitions")
    if count != total * size:
        message = (
            f"Invalid value: {count}: 'Replicas' are not equal to TotalPartitions*PartitionSize "
            f"({total * size})"
        )
        yield _rejection(
            (*path, "replicas"), message, f"use {total * size} replicas, or change the partitions"
        )
    elif (
        min_partitions > 0
        and isinstance(task.get("minAvailable"), int)
        and task["minAvailable"] != min_partitions * size
    ):
        message = (
            f"Invalid value: {task['minAvailable']}: 'MinAvailable' is not equal to "
            "MinPartitions*PartitionSize"
        )
        yield _rejection(
            (*path, "minAvailable"),
            message,
            f"use {min_partitions * size}, or leave minAvailable out",
        )


def _check_job(name: str, spec: Json, tasks: Sequence[Json], versions: Versions) -> Problems:
    if names.is_dns_subdomain(name) and (why := names.why_not_qualified_name(name)):
        yield _rejection(
            ("metadata", "name"),
            f"Invalid value: create job with name {name}: {why}",
            "rename the job",
        )

    total = sum(nested_int(t, "replicas") for t in tasks)
    min_available = spec.get("minAvailable")
    if isinstance(min_available, int) and min_available > total:
        expected = (
            f"job 'minAvailable' should not be greater than total replicas in tasks ({total})"
        )
        yield _rejection(
            ("spec", "minAvailable"),
            f"Invalid value: {min_available}: {expected}",
            f"use at most {total}, or raise the replicas",
        )

    yield from check_policies(spec.get("policies"), ("spec", "policies"), versions.volcano)
    for plugin in nested_map(spec, "plugins"):
        if plugin not in FLAGS:
            yield _rejection(
                ("spec", "plugins", plugin),
                f"unable to find job plugin: {plugin}",
                allowed_values_help(plugin, tuple(FLAGS)),
            )

    yield from _check_volumes(nested_maps(spec, "volumes"))
    if spec.get("queue") == "root":
        yield _rejection(
            ("spec", "queue"),
            "Invalid value: can not submit job to root queue",
            "name another queue",
        )

    yield from _check_dependencies(tasks)


def _check_volumes(volumes: Sequence[Json]) -> Problems:
    """Yield only the first mistake, as the webhook stops there."""
    mount_paths: set[str] = set()
    for i, volume in enumerate(volumes):
        path = ("spec", "volumes", i)
        mount = nested_string(volume, "mountPath")
        claim = nested_string(volume, "volumeClaimName")
        has_template = volume.get("volumeClaim") is not None
        if not mount:
            yield _rejection(
                (*path, "mountPath"), "Required value: mountPath is required", "set mountPath"
            )
        elif mount in mount_paths:
            yield _rejection(
                (*path, "mountPath"),
                f"Duplicate value: duplicated mountPath: {mount}",
                "use another path",
            )
        elif not claim and not has_template:
            message = "Required value: either VolumeClaim or VolumeClaimName must be specified"
            yield _rejection(path, message, "name a claim, or describe one")
        elif claim and has_template:
            message = "conflict: if you want to use an existing PVC, just specify VolumeClaimName"
            yield _rejection((*path, "volumeClaim"), message, "keep one of the two")
        elif claim and (why := names.why_not_dns_subdomain(claim)):
            yield _rejection(
                (*path, "volumeClaimName"),
                f'Invalid value: "{claim}": {why}',
                "correct the claim's name",
            )
        else:
            mount_paths.add(mount)
            continue

        return


def _check_dependencies(tasks: Sequence[Json]) -> Problems:
    """Check that `dependsOn` forms an acyclic graph of existing tasks."""
    dependencies = {nested_string(t, "name"): nested_strings(t, "dependsOn", "name") for t in tasks}
    ordered: set[str] = set()
    # a task can be ordered once all tasks that it depends on are
    while ready := [
        name
        for name, required in dependencies.items()
        if name not in ordered and ordered.issuperset(required)
    ]:
        ordered.update(ready)

    if len(ordered) == len(dependencies):
        return

    task_names = [nested_string(task, "name") for task in tasks]
    index = next(i for i, name in enumerate(task_names) if name not in ordered)
    unknown = [name for name in dependencies[task_names[index]] if name not in dependencies]
    help = f"use another name: there is no task {unknown[0]!r}" if unknown else "break the cycle"
    yield _rejection(
        ("spec", "tasks", index, "dependsOn"),
        "job has dependencies between tasks, but doesn't form a directed acyclic graph(DAG)",
        help,
    )


_IMMUTABLE_MESSAGE = (
    "job updates may not change fields other than `minAvailable`, `tasks[*].replicas under spec` "
    "and `PriorityClassName`"
)
_MUTABLE_FIELDS = frozenset({"minAvailable", "priorityClassName"})
_MUTABLE_TASK_FIELDS = frozenset({"replicas", "minAvailable"})


def validate_update(update: Update) -> Problems:
    """Yield the webhook's errors for a change; `update.touched` lists the paths that differ."""
    help = "delete the job and apply again, or give it another name for each run"
    before, after = update.values("spec", "tasks")
    if isinstance(before, list) and isinstance(after, list) and len(before) != len(after):
        yield _rejection(("spec", "tasks"), "job updates may not add or remove tasks", help)
        return

    for path in update.under("spec"):
        if _MUTABLE_FIELDS.isdisjoint(path[1:2]) and _MUTABLE_TASK_FIELDS.isdisjoint(path[3:4]):
            yield _rejection(("spec",), _IMMUTABLE_MESSAGE, help)
            return

    for *parent, field in new_values(update.new, default(update.new, complete=True)):
        stored = get(update.old, (*parent, field))
        if stored is not None and field not in _MUTABLE_FIELDS | _MUTABLE_TASK_FIELDS:
            help = (
                f"write {field}: {stored}, which Volcano's webhook sets only when the job is "
                "created"
            )
            yield _rejection(tuple(parent), _IMMUTABLE_MESSAGE, help)
            return


REJECTIONS = Rejections(
    validate=validate,
    controller_errors=controller_errors,
    check_children=check_children,
    validate_update=validate_update,
)
