"""What Volcano's webhooks reject of a Job, at creation and on updates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.apiserver import roundtrip
from ptcompile.apiserver.validation.pod import pod_spec
from ptcompile.apiserver.validation.values import is_equal
from ptcompile.apiserver.webhooks import allowed_values_help, decode_problems, webhook_rejection
from ptcompile.diagnostics import Path, Problem
from ptcompile.kubernetes import names, quantity
from ptcompile.kubernetes.goflags import parse
from ptcompile.kubernetes.unstructured import (
    as_int,
    as_mapping,
    as_mappings,
    as_string,
    as_strings,
    nested_map,
    object_name,
    string_map,
)
from ptcompile.kubernetes.versions import Version, Versions
from ptcompile.registry.model import ApiServer, Established, KindContext, Update

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kubernetes.unstructured import Json


_ANY = "*"
EVENTS = (_ANY, "PodFailed", "PodEvicted", "PodPending", "Unknown", "TaskCompleted", "TaskFailed", "JobUpdated")
ACTIONS = (
    "AbortJob", "RestartJob", "RestartTask", "RestartPod", "RestartPartition", "TerminateJob", "CompleteJob",
    "ResumeJob",
)  # fmt: skip


_SINCE = {"PodPending": (1, 12), "RestartPod": (1, 12), "RestartPartition": (1, 14)}


def policies(value: Any, path: Path, version: Version) -> Iterator[Problem]:
    """The first mistake of a list of policies, as the webhook stops there, and `*` beside other events."""
    events: set[str] = set()
    codes: set[int] = set()
    for i, policy in enumerate(as_mappings(value)):
        problem = _policy(policy, (*path, i), events, codes, version)
        if problem:
            yield problem
            break
    if _ANY in events and len(events) > 1:
        yield _say(path, "if there's * here, no other policy should be here", "keep `*` alone, or name the events")


def _policy(policy: Json, path: Path, events: set[str], codes: set[int], version: Version) -> Problem | None:
    one, code = as_string(policy.get("event")), policy.get("exitCode")
    listed = list(dict.fromkeys([*as_strings(policy.get("events")), *([one] if one else [])]))
    if listed and code is not None:
        return _say(path, "must not specify event and exitCode simultaneously", "split it into two policies")
    if listed:
        return _events(listed, as_string(policy.get("action")), path, events, version)
    if code is None:
        return _say(path, "either event and exitCode should be specified", "set the event that triggers the action")
    if code == 0:
        return _say((*path, "exitCode"), "Invalid value: 0 is not a valid error code", "use a code other than 0")
    if isinstance(code, int) and code in codes:
        return _say((*path, "exitCode"), f"Duplicate value: duplicate exitCode {code}", "keep one of the policies")
    codes.add(code if isinstance(code, int) else -1)
    return None


def _events(listed: list[str], action: str, path: Path, events: set[str], version: Version) -> Problem | None:
    for event in listed:
        if event not in EVENTS or not _there(event, version):
            text_ = f'Invalid value: "{event}": invalid policy event'
            return _say((*path, "event"), text_, allowed_values_help(event, EVENTS))
        if action not in ACTIONS or not _there(action, version):
            text_ = f'Invalid value: "{action}": invalid policy action'
            return _say((*path, "action"), text_, allowed_values_help(action, ACTIONS))
        if event in events:
            return _say(path, f"Duplicate value: duplicate event {event} across different policy", "keep one policy")
        events.add(event)
    return None


def _there(word: str, version: Version) -> bool:
    """Whether this release of Volcano knows an event or action."""
    return version >= _SINCE.get(word, version)


def template(task: Json, path: Path, versions: Versions, known: Established) -> Iterator[Problem]:
    """What the webhook says to a task's template, at stage "apply" and with Volcano's authority."""
    spec = nested_map(task, "template").get("spec")
    here = (*path, "template", "spec")
    if spec is not None and as_mapping(spec).get("containers") is not None:
        if not (known.pods and _is_pod_too(task["template"])):
            context = ApiServer(kubernetes=versions.kubernetes)
            for problem in pod_spec(spec, here, context, template=True):
                if problem.severity == "error" and not _looser(problem):
                    yield problem._replace(name="webhook-refusal", stage="apply", authority="volcano")
        yield from _labels(task, (*path, "template", "metadata"))
        yield from _stricter(as_mapping(spec), here)


def _is_pod_too(pod_template: Json) -> bool:
    """Whether nothing is wrong with a template if nothing is with the Pod made of it.

    Of a Pod more is filled in and more is asked. Resources of the pod as a whole are the one exception: there, what is
    filled in later is not asked for.
    """
    spec = pod_template["spec"]
    return type(pod_template) is dict and type(spec) is dict and spec.get("resources") is None


def _looser(problem: Problem) -> bool:
    """What Volcano's older rules let through: the pod is rejected when it is created."""
    last, before = problem.path[-1:], problem.path[-2:-1]
    if last == ("restartPolicy",) and before and isinstance(before[0], int):
        return "Required" in problem.message
    return False


def _labels(task: Json, path: Path) -> Iterator[Problem]:
    metadata = nested_map(task, "template", "metadata")
    for kind in ("labels", "annotations"):
        for key, value in string_map(metadata.get(kind)).items():
            why = names.why_not_qualified_name(key if kind == "labels" else key.lower())
            why = why or (names.why_not_label_value(value) if kind == "labels" else None)
            if why:
                yield _say((*path, kind, key), f'Invalid value: "{key}": {why}', "correct the key or the value")


def _stricter(spec: Json, path: Path) -> Iterator[Problem]:
    """What Volcano's rules refuse and a 1.36 API server takes."""
    for key, init in (("initContainers", True), ("containers", False)):
        for i, container in enumerate(as_mappings(spec.get(key))):
            here = (*path, key, i)
            yield from _env(container, here)
            yield from _restart(container, here, init=init)
            sleep = nested_map(container, "lifecycle", "preStop").get("sleep")
            if as_mapping(sleep).get("seconds") == 0:
                at_sleep = (*here, "lifecycle", "preStop", "sleep")
                yield _say(at_sleep, "Invalid value: 0: must be greater than 0", "sleep at least 1 second")
            if init and as_mappings(container.get("resizePolicy")) and container.get("restartPolicy") != "Always":
                yield _say((*here, "resizePolicy"), "Forbidden: must not be set for init containers", "remove it")
            if nested_map(container, "lifecycle").get("stopSignal") and not as_string(
                nested_map(spec, "os").get("name")
            ):
                signal = (*here, "lifecycle", "stopSignal")
                yield _say(signal, "Forbidden: may not be set for containers with an empty os name", "set spec.os.name")
    for i, search in enumerate(as_strings(nested_map(spec, "dnsConfig").get("searches"))):
        if "_" in search:
            yield _say((*path, "dnsConfig", "searches", i), "Invalid value: must have no underscore", "rename it")


def _env(container: Json, path: Path) -> Iterator[Problem]:
    for j, entry in enumerate(as_mappings(container.get("env"))):
        name = as_string(entry.get("name"))
        if names.is_env_name(name) and (why := names.why_not_classic_env_name(name)):
            help = "rename the variable: Volcano's webhook applies the older rule"
            yield _say((*path, "env", j, "name"), f'Invalid value: "{name}": {why}', help)
    for j, source in enumerate(as_mappings(container.get("envFrom"))):
        prefix = as_string(source.get("prefix"))
        if prefix and names.is_env_name(prefix) and (why := names.why_not_classic_env_name(prefix)):
            yield _say((*path, "envFrom", j, "prefix"), f'Invalid value: "{prefix}": {why}', "rename the prefix")


def _restart(container: Json, path: Path, *, init: bool) -> Iterator[Problem]:
    policy = as_string(container.get("restartPolicy"))
    here = (*path, "restartPolicy")
    if policy and not init:
        yield _say(here, "Forbidden: may not be set for non-init containers", "remove it")
    elif policy in ("OnFailure", "Never"):
        yield _say(here, f'Unsupported value: "{policy}": supported values: "Always"', "use Always, or remove it")


def whole_cpus(task: Json, path: Path) -> Iterator[Problem]:
    """A topology policy of the task at `path` pins CPUs, so each container needs a whole number of them."""
    if as_string(task.get("topologyPolicy")) in ("", "none"):
        return
    for j, container in enumerate(as_mappings(as_mapping(nested_map(task, "template").get("spec")).get("containers"))):
        resources = nested_map(container, "resources")
        amounts = as_mapping(resources.get("requests")) or as_mapping(resources.get("limits"))
        cpu = quantity.parse(amounts.get("cpu"))
        if cpu is None or not cpu.is_integer or cpu.value < 1:
            text_ = "the cpu request isn't an integer, and topologyPolicy needs one"
            here = (*path, "template", "spec", "containers", j, "resources")
            yield _say(here, text_, "request whole CPUs, or remove topologyPolicy")
            return


_say = webhook_rejection("volcano")
PLUGINS = ("ssh", "env", "svc", "tensorflow", "mpi", "pytorch", "hcclrank", "ray")
_NEED_SVC = frozenset({"tensorflow", "mpi", "pytorch", "ray"})
_TASKS: roundtrip.FieldShapes = {
    roundtrip.ZERO: {"template": {}},
    "template": roundtrip.POD_TEMPLATE,
    "policies": [{"events": roundtrip.STRINGS}],
    "dependsOn": {"name": roundtrip.STRINGS},
    "partitionPolicy": {roundtrip.ZERO: {"totalPartitions": 0, "partitionSize": 0}},
}
SPEC: roundtrip.FieldShapes = {"tasks": [_TASKS]}
LOOSE: roundtrip.FieldShapes = {"tasks": [{roundtrip.ZERO: {"template": {}}}]}


def default(manifest: Json, *, complete: bool = False) -> Json:
    """Queue, scheduler, retries, task names, minimal sizes, and the plugins that others need (1.3 of the webhook)."""
    spec = roundtrip.as_go_reads(manifest.get("spec"), SPEC, LOOSE, complete=complete)
    if not isinstance(spec, Mapping):
        return manifest
    out = {**spec}
    for key, value in (("queue", "default"), ("schedulerName", "volcano"), ("maxRetry", 3)):
        if not out.get(key) and not isinstance(out.get(key), bool):
            out[key] = value
    tasks = spec.get("tasks")
    if isinstance(tasks, list):
        out["tasks"] = [_task(task, i) for i, task in enumerate(tasks)]
        if not out.get("minAvailable"):
            out["minAvailable"] = sum(as_int(t.get("minAvailable")) for t in as_mappings(out["tasks"]))
    if isinstance(spec.get("plugins"), Mapping):
        out["plugins"] = _plugins(spec["plugins"])
    return {**manifest, "spec": out}


def _task(task: Any, index: int) -> Any:
    if not isinstance(task, Mapping):
        return task
    out = {**task}
    if not out.get("name"):
        out["name"] = f"default{index}"
    if not out.get("maxRetry"):
        out["maxRetry"] = 3
    if out.get("minAvailable") is None:
        policy = nested_map(task, "partitionPolicy")
        least = as_int(policy.get("minPartitions"))
        out["minAvailable"] = least * as_int(policy.get("partitionSize")) if least > 0 else as_int(out.get("replicas"))
    pod = nested_map(task, "template", "spec")
    if pod.get("hostNetwork") is True and not pod.get("dnsPolicy"):
        out["template"] = {**nested_map(task, "template"), "spec": {**pod, "dnsPolicy": "ClusterFirstWithHostNet"}}
    return out


def _plugins(given: Mapping[str, Any]) -> dict[str, Any]:
    out = {k: v for k, v in given.items() if v is not None}
    if _NEED_SVC & out.keys():
        out.setdefault("svc", [])
    if "mpi" in out:
        out.setdefault("ssh", [])
    return out


def validate(manifest: Json, request: KindContext) -> Iterator[Problem]:
    """Conditions V1 to V27 of the webhook, those of them that need no cluster. Queues are taken to exist."""
    spec = manifest.get("spec")
    if not isinstance(spec, Mapping):
        if spec is None:
            help = "add a spec with tasks"
            yield _say(("spec",), "Required value: the mutating webhook cannot patch a job without spec", help)
        return
    tasks = as_mappings(spec.get("tasks"))
    if not tasks:
        if not isinstance(spec.get("tasks"), list):  # an empty list is refused by the schema
            yield _say(("spec", "tasks"), "Required value: No task specified in job spec", "add a task")
        return
    missing = _mpi_master(spec, tasks)
    if missing:
        yield missing
        return
    name = object_name(manifest)
    if not request.established.decodes:
        yield from decode_problems(spec, _say, ("spec",))
    yield from _topology(nested_map(spec, "networkTopology"), ("spec", "networkTopology"))
    yield from _tasks(name, tasks, request.versions, request.established)
    yield from _job(name, spec, tasks, request.versions)


def _mpi_master(spec: Json, tasks: Sequence[Json]) -> Problem | None:
    args = nested_map(spec, "plugins").get("mpi")
    if args is None:
        return None
    flags, _ = parse(as_strings(args), {"master": "master", "worker": "worker", "port": 22})
    if any(t.get("name") == flags["master"] for t in tasks):
        return None
    text_ = f"The specified mpi master task was not found: no task is named {flags['master']!r}"
    return _say(("spec", "plugins", "mpi"), text_, "name the task with --master=NAME")


def _topology(topology: Json, path: Path) -> Iterator[Problem]:
    if topology.get("highestTierAllowed") is not None and as_string(topology.get("highestTierName")):
        text_ = "must not specify 'highestTierAllowed' and 'highestTierName' simultaneously"
        yield _say((*path, "highestTierName"), text_, "keep one of the two")


def _tasks(job: str, tasks: Sequence[Json], versions: Versions, known: Established) -> Iterator[Problem]:
    seen: set[str] = set()
    clean: Any = None
    for i, task in enumerate(tasks):
        path: Path = ("spec", "tasks", i)
        name, count = as_string(task.get("name")), as_int(task.get("replicas"))
        if partition := nested_map(task, "partitionPolicy"):
            yield from _topology(
                nested_map(partition, "networkTopology"), (*path, "partitionPolicy", "networkTopology")
            )
            yield from _partition(task, partition, path)
        least = task.get("minAvailable")
        if isinstance(least, int) and least > count:
            text_ = f"Invalid value: {least}: 'minAvailable' is greater than 'replicas' ({count}) in task {name}"
            yield _say((*path, "minAvailable"), text_, "lower it, or raise replicas")
        if name in seen:
            yield _say((*path, "name"), f"Duplicate value: duplicated task name {name}", "rename the task")
            return  # the webhook looks at no later task
        seen.add(name)
        if task.get("policies"):
            yield from policies(task["policies"], (*path, "policies"), versions.volcano)
        yield from _pod_name(f"{job}-{name}-{i}", job, (*path, "name"))
        if not is_equal(task.get("template"), clean, exact=known.exact):
            said = list(template(task, path, versions, known))
            yield from said
            clean = clean if said else task.get("template")
        yield from whole_cpus(task, path)


def _pod_name(pod: str, job: str, path: Path) -> Iterator[Problem]:
    # What is wrong with the job's own name is said once, of the job.
    if names.is_qualified_name(job) and (why := names.why_not_qualified_name(pod)):
        yield _say(path, f"Invalid value: create pod with name {pod}: {why}", "shorten the task's or the job's name")


def _partition(task: Json, policy: Json, path: Path) -> Iterator[Problem]:
    total, size = as_int(policy.get("totalPartitions")), as_int(policy.get("partitionSize"))
    if total <= 0 or size <= 0:  # said by the schema
        return
    count, least = as_int(task.get("replicas")), as_int(policy.get("minPartitions"))
    if count != total * size:
        text_ = f"Invalid value: {count}: 'Replicas' are not equal to TotalPartitions*PartitionSize ({total * size})"
        yield _say((*path, "replicas"), text_, f"use {total * size} replicas, or change the partitions")
    elif least > 0 and isinstance(task.get("minAvailable"), int) and task["minAvailable"] != least * size:
        text_ = f"Invalid value: {task['minAvailable']}: 'MinAvailable' is not equal to MinPartitions*PartitionSize"
        yield _say((*path, "minAvailable"), text_, f"use {least * size}, or leave minAvailable out")


def _job(name: str, spec: Json, tasks: Sequence[Json], versions: Versions) -> Iterator[Problem]:
    if names.is_dns_subdomain(name) and (why := names.why_not_qualified_name(name)):
        yield _say(("metadata", "name"), f"Invalid value: create job with name {name}: {why}", "rename the job")
    total = sum(as_int(t.get("replicas")) for t in tasks)
    least = spec.get("minAvailable")
    if isinstance(least, int) and least > total:
        text_ = (
            f"Invalid value: {least}: job 'minAvailable' should not be greater than total replicas in tasks ({total})"
        )
        yield _say(("spec", "minAvailable"), text_, f"use at most {total}, or raise the replicas")
    yield from policies(spec.get("policies"), ("spec", "policies"), versions.volcano)
    for plugin in nested_map(spec, "plugins"):
        if plugin not in PLUGINS:
            help = allowed_values_help(plugin, PLUGINS)
            yield _say(("spec", "plugins", plugin), f"unable to find job plugin: {plugin}", help)
    yield from _volumes(as_mappings(spec.get("volumes")))
    if spec.get("queue") == "root":
        yield _say(("spec", "queue"), "Invalid value: can not submit job to root queue", "name another queue")
    yield from _dependencies(tasks)


def _volumes(volumes: Sequence[Json]) -> Iterator[Problem]:
    """The first mistake alone, as the webhook stops there."""
    seen: set[str] = set()
    for i, volume in enumerate(volumes):
        path: Path = ("spec", "volumes", i)
        mount, claim = as_string(volume.get("mountPath")), as_string(volume.get("volumeClaimName"))
        made = volume.get("volumeClaim") is not None
        if not mount:
            yield _say((*path, "mountPath"), "Required value: mountPath is required", "set mountPath")
        elif mount in seen:
            yield _say((*path, "mountPath"), f"Duplicate value: duplicated mountPath: {mount}", "use another path")
        elif not claim and not made:
            text_ = "Required value: either VolumeClaim or VolumeClaimName must be specified"
            yield _say(path, text_, "name a claim, or describe one")
        elif claim and made:
            text_ = "conflict: if you want to use an existing PVC, just specify VolumeClaimName"
            yield _say((*path, "volumeClaim"), text_, "keep one of the two")
        elif claim and (why := names.why_not_dns_subdomain(claim)):
            yield _say((*path, "volumeClaimName"), f'Invalid value: "{claim}": {why}', "correct the claim's name")
        else:
            seen.add(mount)
            continue
        return


def _dependencies(tasks: Sequence[Json]) -> Iterator[Problem]:
    """`dependsOn` has to be a graph without circles over tasks that exist."""
    wanted = {as_string(t.get("name")): as_strings(nested_map(t, "dependsOn").get("name")) for t in tasks}
    left = dict(wanted)
    while ready := [n for n, needs in left.items() if not any(d in left or d not in wanted for d in needs)]:
        for name in ready:
            del left[name]
    if not left:
        return
    index = next(i for i, t in enumerate(tasks) if as_string(t.get("name")) in left)
    unknown = [d for d in wanted[as_string(tasks[index].get("name"))] if d not in wanted]
    help = f"use another name: there is no task {unknown[0]!r}" if unknown else "break the cycle"
    text_ = "job has dependencies between tasks, but doesn't form a directed acyclic graph(DAG)"
    yield _say(("spec", "tasks", index, "dependsOn"), text_, help)


_WHY: Final = (
    "job updates may not change fields other than `minAvailable`, `tasks[*].replicas under spec` "
    "and `PriorityClassName`"
)
_FREE: Final = ("minAvailable", "priorityClassName")
_FREE_OF_TASKS: Final = ("replicas", "minAvailable")


def validate_update(update: Update) -> Iterator[Problem]:
    """What the webhook answers to a change; what differs is `update.touched`."""
    help = "delete the job and apply again, or give it another name for each run"
    before, after = (nested_map(one, "spec").get("tasks") for one in (update.old, update.new))
    if isinstance(before, list) and isinstance(after, list) and len(before) != len(after):
        yield Problem(
            "webhook-refusal", ("spec", "tasks"), "job updates may not add or remove tasks", help, authority="volcano"
        )
        return
    for path in update.touched:
        if path[:1] != ("spec",) or path[1:2] in tuple((name,) for name in _FREE):
            continue
        if path[1:2] == ("tasks",) and path[3:4] in tuple((name,) for name in _FREE_OF_TASKS):
            continue
        yield Problem("webhook-refusal", ("spec",), f"spec: {_WHY}", help, authority="volcano")
        return
