"""Volcano Job: the mutating and the validating webhook of Volcano 1.14 to 1.16."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.kubernetes import names
from ptcompile.kubernetes.goflags import parse
from ptcompile.kubernetes.untyped import at, integer, items, object_name, text, texts
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.common import roundtrip
from ptcompile.operators.common.decode import undecodable
from ptcompile.operators.common.verdict import hint, refusal
from ptcompile.operators.record import Known, Request
from ptcompile.operators.volcano.webhook_policies import policies
from ptcompile.operators.volcano.webhook_template import template, whole_cpus
from ptcompile.validate.same import same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.untyped import Json

_say = refusal("volcano")
PLUGINS = ("ssh", "env", "svc", "tensorflow", "mpi", "pytorch", "hcclrank", "ray")
_NEED_SVC = frozenset({"tensorflow", "mpi", "pytorch", "ray"})
_TASKS: roundtrip.Shape = {
    roundtrip.ZERO: {"template": {}},
    "template": roundtrip.POD_TEMPLATE,
    "policies": [{"events": roundtrip.STRINGS}],
    "dependsOn": {"name": roundtrip.STRINGS},
    "partitionPolicy": {roundtrip.ZERO: {"totalPartitions": 0, "partitionSize": 0}},
}
SPEC: roundtrip.Shape = {"tasks": [_TASKS]}
LOOSE: roundtrip.Shape = {"tasks": [{roundtrip.ZERO: {"template": {}}}]}


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
            out["minAvailable"] = sum(integer(t.get("minAvailable")) for t in items(out["tasks"]))
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
        policy = at(task, "partitionPolicy")
        least = integer(policy.get("minPartitions"))
        out["minAvailable"] = (
            least * integer(policy.get("partitionSize")) if least > 0 else integer(out.get("replicas"))
        )
    pod = at(task, "template", "spec")
    if pod.get("hostNetwork") is True and not pod.get("dnsPolicy"):
        out["template"] = {**at(task, "template"), "spec": {**pod, "dnsPolicy": "ClusterFirstWithHostNet"}}
    return out


def _plugins(given: Mapping[str, Any]) -> dict[str, Any]:
    out = {k: v for k, v in given.items() if v is not None}
    if _NEED_SVC & out.keys():
        out.setdefault("svc", [])
    if "mpi" in out:
        out.setdefault("ssh", [])
    return out


def check(manifest: Json, request: Request) -> Iterator[Problem]:
    """Conditions V1 to V27 of the webhook, those of them that need no cluster. Queues are taken to exist."""
    spec = manifest.get("spec")
    if not isinstance(spec, Mapping):
        if spec is None:
            help = "add a spec with tasks"
            yield _say(("spec",), "Required value: the mutating webhook cannot patch a job without spec", help)
        return
    tasks = items(spec.get("tasks"))
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
        yield from undecodable(spec, _say, ("spec",))
    yield from _topology(at(spec, "networkTopology"), ("spec", "networkTopology"))
    yield from _tasks(name, tasks, request.versions, request.established)
    yield from _job(name, spec, tasks, request.versions)


def _mpi_master(spec: Json, tasks: Sequence[Json]) -> Problem | None:
    args = at(spec, "plugins").get("mpi")
    if args is None:
        return None
    flags, _ = parse(texts(args), {"master": "master", "worker": "worker", "port": 22})
    if any(t.get("name") == flags["master"] for t in tasks):
        return None
    text_ = f"The specified mpi master task was not found: no task is named {flags['master']!r}"
    return _say(("spec", "plugins", "mpi"), text_, "name the task with --master=NAME")


def _topology(topology: Json, path: Path) -> Iterator[Problem]:
    if topology.get("highestTierAllowed") is not None and text(topology.get("highestTierName")):
        text_ = "must not specify 'highestTierAllowed' and 'highestTierName' simultaneously"
        yield _say((*path, "highestTierName"), text_, "keep one of the two")


def _tasks(job: str, tasks: Sequence[Json], versions: Versions, known: Known) -> Iterator[Problem]:
    seen: set[str] = set()
    clean: Any = None
    for i, task in enumerate(tasks):
        path: Path = ("spec", "tasks", i)
        name, count = text(task.get("name")), integer(task.get("replicas"))
        if partition := at(task, "partitionPolicy"):
            yield from _topology(at(partition, "networkTopology"), (*path, "partitionPolicy", "networkTopology"))
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
        if not same(task.get("template"), clean, exact=known.exact):
            said = list(template(task, path, versions, known))
            yield from said
            clean = clean if said else task.get("template")
        yield from whole_cpus(task, path)


def _pod_name(pod: str, job: str, path: Path) -> Iterator[Problem]:
    # What is wrong with the job's own name is said once, of the job.
    if names.is_qualified_name(job) and (why := names.why_not_qualified_name(pod)):
        yield _say(path, f"Invalid value: create pod with name {pod}: {why}", "shorten the task's or the job's name")


def _partition(task: Json, policy: Json, path: Path) -> Iterator[Problem]:
    total, size = integer(policy.get("totalPartitions")), integer(policy.get("partitionSize"))
    if total <= 0 or size <= 0:  # said by the schema
        return
    count, least = integer(task.get("replicas")), integer(policy.get("minPartitions"))
    if count != total * size:
        text_ = f"Invalid value: {count}: 'Replicas' are not equal to TotalPartitions*PartitionSize ({total * size})"
        yield _say((*path, "replicas"), text_, f"use {total * size} replicas, or change the partitions")
    elif least > 0 and isinstance(task.get("minAvailable"), int) and task["minAvailable"] != least * size:
        text_ = f"Invalid value: {task['minAvailable']}: 'MinAvailable' is not equal to MinPartitions*PartitionSize"
        yield _say((*path, "minAvailable"), text_, f"use {least * size}, or leave minAvailable out")


def _job(name: str, spec: Json, tasks: Sequence[Json], versions: Versions) -> Iterator[Problem]:
    if names.is_dns_subdomain(name) and (why := names.why_not_qualified_name(name)):
        yield _say(("metadata", "name"), f"Invalid value: create job with name {name}: {why}", "rename the job")
    total = sum(integer(t.get("replicas")) for t in tasks)
    least = spec.get("minAvailable")
    if isinstance(least, int) and least > total:
        text_ = (
            f"Invalid value: {least}: job 'minAvailable' should not be greater than total replicas in tasks ({total})"
        )
        yield _say(("spec", "minAvailable"), text_, f"use at most {total}, or raise the replicas")
    yield from policies(spec.get("policies"), ("spec", "policies"), versions.volcano)
    for plugin in at(spec, "plugins"):
        if plugin not in PLUGINS:
            help = hint(plugin, PLUGINS)
            yield _say(("spec", "plugins", plugin), f"unable to find job plugin: {plugin}", help)
    yield from _volumes(items(spec.get("volumes")))
    if spec.get("queue") == "root":
        yield _say(("spec", "queue"), "Invalid value: can not submit job to root queue", "name another queue")
    yield from _dependencies(tasks)


def _volumes(volumes: Sequence[Json]) -> Iterator[Problem]:
    """The first mistake alone, as the webhook stops there."""
    seen: set[str] = set()
    for i, volume in enumerate(volumes):
        path: Path = ("spec", "volumes", i)
        mount, claim = text(volume.get("mountPath")), text(volume.get("volumeClaimName"))
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
    wanted = {text(t.get("name")): texts(at(t, "dependsOn").get("name")) for t in tasks}
    left = dict(wanted)
    while ready := [n for n, needs in left.items() if not any(d in left or d not in wanted for d in needs)]:
        for name in ready:
            del left[name]
    if not left:
        return
    index = next(i for i, t in enumerate(tasks) if text(t.get("name")) in left)
    unknown = [d for d in wanted[text(tasks[index].get("name"))] if d not in wanted]
    help = f"use another name: there is no task {unknown[0]!r}" if unknown else "break the cycle"
    text_ = "job has dependencies between tasks, but doesn't form a directed acyclic graph(DAG)"
    yield _say(("spec", "tasks", index, "dependsOn"), text_, help)
