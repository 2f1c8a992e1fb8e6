"""Fields of a draft lifted into words: run policy, pod security, queue, torchrun's launch.

Nothing is inverted by hand. Words are tried, the fewest first, so what is found stays right when a target changes.

What torchrun was told is asked of the simulated pods: flags over PET_* variables over its own defaults. Whether the
lifted spec means the same is not decided here: it is compiled and compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from ptcompile.importer.residue import all_gaps, gaps, manifests
from ptcompile.kubernetes.unstructured import (
    as_int,
    as_mapping,
    as_mappings,
    as_string,
    kind_of,
    nested_map,
    object_name,
)
from ptcompile.registry.queue_systems import LABELS, QUEUE_ANNOTATION, WRITTEN
from ptcompile.registry.reading import Read
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.launchers.command import Invocation, of_container
from ptcompile.simulator.launchers.rendezvous import DEFAULTS, Rendezvous
from ptcompile.simulator.launchers.shell import one_command
from ptcompile.simulator.launchers.torchrun import conf_of
from ptcompile.simulator.meeting import training_roles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.importer.draft import SpecData
    from ptcompile.kubernetes.index import Objects
    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.spec.cluster_profile import ClusterProfile


_FAILURE = (None, "RestartPod", "RestartJob")
_DISRUPTION = (None, "Ignore", "Count", "FailJob")
_SUCCESS = (None, "Node0", "AllNodes")
_WORDS = ("backoffLimit", "onPodFailure", "onDisruption", "successPolicy")
_UNLIMITED = 2**31 - 1
_FIELDS = frozenset(
    {
        "backoffLimit", "failurePolicy", "maxRetry", "minSuccess", "podFailurePolicy", "policies", "restartPolicy",
        "runPolicy", "successPolicy",
    }
)  # fmt: skip
"""Fields in which objects say how they end."""
_LIMITS = frozenset({"backoffLimit", "maxRestarts", "maxRetry"})


def with_endings(spec: SpecData, manifest: Json, read: Read, cluster: ClusterProfile) -> SpecData:
    """The spec with the words of its end that leave the fewest differences beside the pod templates."""
    if "runtimeRef" in spec["spec"]:
        return spec  # the runtime decides it
    fewest: tuple[int, SpecData] | None = None
    theirs, bare = _bare(manifest, read, 0), tuple(_bare(one, read, index) for index, one in enumerate(read.objects, 1))
    others = read._replace(objects=bare)
    for words in _run_policies(manifest, read):
        said = {word: value for word, value in words.items() if value is not None}
        tried = {**spec, "spec": {**spec["spec"], "runPolicy": {**spec["spec"].get("runPolicy", {}), **said}}}
        made = manifests(tried, cluster)
        if made is None:
            continue
        mine = [*(_bare(one, read, 1) for one in made[:-1]), _bare(made[-1], read, 0)]
        left = sum(not _FIELDS.isdisjoint(gap.path) for gap in all_gaps(mine, theirs, others))
        if fewest is None or left < fewest[0]:
            fewest = (left, tried)
        if left == 0:
            break
    return fewest[1] if fewest is not None else spec


def _run_policies(manifest: Json, read: Read) -> Iterator[dict[str, Any]]:
    """Combinations of words, those with fewer words first."""
    limits: list[Any] = [None]
    if read.target in {"pytorchjob", "pod"} and "backoffLimit" not in nested_map(manifest, "spec", "runPolicy"):
        limits = ["Unlimited", None]  # what an absent limit means there
    limits += [number for number in _numbers((manifest, *read.objects)) if number not in limits]
    several = read.pods and sum(pods.replicas for pods in read.pods if pods.trains) > 1
    every = product(limits, _FAILURE, _DISRUPTION, _SUCCESS if several else (None,))
    yield from (
        dict(zip(_WORDS, words, strict=True))
        for words in sorted(every, key=lambda words: len(words) - words.count(None))
    )


def _numbers(objects: tuple[Json, ...]) -> list[Any]:
    """The limits that the objects speak of, and what a Job's absent one means."""
    found: dict[Any, None] = {}
    stack: list[Any] = [nested_map(one, "spec") for one in objects]
    while stack:
        value = stack.pop(0)
        for key, inner in as_mapping(value).items():
            if key in _LIMITS and isinstance(inner, int):
                number = as_int(inner) - (key == "maxRetry")
                found["Unlimited" if inner >= _UNLIMITED else max(0, number)] = None
            stack.append(inner)
        stack += value if isinstance(value, list) else []
    return [*found, *(number for number in (6, 0, 2) if number not in found)]


def _bare(manifest: Json, read: Read, holder: int) -> Json:
    """An object without the pods themselves."""
    paths = {pods.path[:-1] for pods in read.pods if pods.path and pods.holder == holder}
    if paths or holder or any(pods.holder for pods in read.pods):
        bare: Json = _without_holders(manifest, paths, ())
        return bare
    return {key: value for key, value in manifest.items() if key != "spec"}


def _without_holders(value: Any, holders: set[tuple[str | int, ...]], path: tuple[str | int, ...]) -> Any:
    if isinstance(value, dict):
        dropped = {"template", "restartPolicy"} if path in holders else set()
        return {k: _without_holders(inner, holders, (*path, k)) for k, inner in value.items() if k not in dropped}
    if isinstance(value, list):
        return [_without_holders(inner, holders, (*path, index)) for index, inner in enumerate(value)]
    return value


_OF_A_POD: Final = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
_OF_A_CONTAINER: Final = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def hardened(spec: SpecData, cluster: ClusterProfile) -> SpecData:
    """The spec with the word in place of the fields, if it compiles to the same objects; else as it is."""
    job = spec["spec"]
    if "podSecurity" in job or "allowPrivilegeEscalation" not in str(job):
        return spec
    tried = {**spec, "spec": {**_bare_block(job), "podSecurity": "restricted"}}
    wanted = manifests(spec, cluster)
    return tried if wanted is not None and manifests(tried, cluster) == wanted else spec


def _bare_block(block: Json) -> dict[str, Any]:
    """The job or a role without what the level fills in."""
    out = _bare_container(_without_filled(block, "podSecurityContext", _OF_A_POD))
    for role in {"master", "worker"} & out.keys():
        out[role] = _bare_block(out[role])
    for name, role in out.get("roles", {}).items():
        out["roles"] = {**out["roles"], name: _bare_block(role)}
    if pod := nested_map(out, "podTemplate", "spec"):
        left = {"spec": _bare_pod(pod)} if _bare_pod(pod) else {}
        template = {**{key: value for key, value in out["podTemplate"].items() if key != "spec"}, **left}
        out = {**{key: value for key, value in out.items() if key != "podTemplate"}}
        out |= {"podTemplate": template} if template else {}
    return out


def _bare_pod(pod: Json) -> dict[str, Any]:
    out = _without_filled(pod, "securityContext", _OF_A_POD)
    if out.get("automountServiceAccountToken") is False:
        del out["automountServiceAccountToken"]
    for key in {"containers", "initContainers"} & out.keys():
        out[key] = [_bare_container(one) for one in as_mappings(out[key])]
    return out


def _bare_container(container: Json) -> dict[str, Any]:
    """A container, or what a block says of its own. Beside `drop`, capabilities may add some."""
    out = _without_filled(container, "securityContext", _OF_A_CONTAINER)
    added = nested_map(out, "securityContext", "capabilities")
    if added.get("drop") == ["ALL"]:
        capabilities = {key: value for key, value in added.items() if key != "drop"}
        out["securityContext"] = {**out["securityContext"], "capabilities": capabilities}
    return out


def _without_filled(holder: Json, key: str, filled: Json) -> dict[str, Any]:
    """A mapping whose security context lacks the fields that are filled in, or that has none."""
    own = nested_map(holder, key)
    left = {field: value for field, value in own.items() if field not in filled or value != filled[field]}
    out = {other: value for other, value in holder.items() if other != key}
    return {**out, key: left} if left else out


_SWITCHES = frozenset({"standalone", "module"})
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def lifted(spec: SpecData, job: SimulatedJob) -> SpecData | None:
    """The spec with torchrun's own launch in its words; None where its command is not understood."""
    words = spec["spec"]
    leads = training_roles(job)
    command, args = words.get("command"), words.get("args") or []
    if not command or not leads or not all(isinstance(word, str) for word in (*command, *args)):
        return None
    launch = _launch(command, args, words.get("env") or {})
    if launch is None or launch.options.keys() - DEFAULTS.keys() - _SWITCHES or not launch.entry:
        return None
    elastic = _elastic(leads[0][2], sum(role.count for role, _, _ in leads))
    if elastic is None:
        return None
    entry, *arguments = launch.entry
    start = {"module" if launch.options.get("module") else "script": entry}
    left = {word: value for word, value in words.items() if word not in {"command", "args", "elastic"}}
    said = {**left, **start, **({"args": arguments} if arguments else {}), "elastic": elastic}
    return {**spec, "spec": {**said, **_port(leads[0][2], words)}}


def _launch(command: Sequence[str], args: Sequence[str], env: Mapping[str, Any]) -> Invocation | None:
    """The launch, its words as the kubelet expands them; None where a shell does more than start one command."""
    found = of_container(command, args, {})
    if found.launcher != "torchrun":
        return None
    if not found.in_shell:
        return None if "torch.distributed.launch" in command else found
    script = one_command([*command, *args])
    if script is None:
        return None
    told = [_expanded(word, env) for word in script]
    return None if None in told else of_container([word for word in told if word is not None], [], {})


def _expanded(word: str, env: Mapping[str, Any]) -> str | None:
    """`$X` of a shell as the kubelet's `$(X)`; None where no variable of the container is called so."""
    names = [one or other for one, other in _VARIABLE.findall(word)]
    if any(name not in env for name in names):
        return None
    return _VARIABLE.sub(lambda found: f"$({found[1] or found[2]})", word)


def _elastic(seen: Rendezvous, pods: int) -> dict[str, Any] | None:
    options, nodes = seen.options, seen.nodes
    if "nproc-per-node" not in options:
        return None  # no pod runs it: the launch is in the template alone
    if nodes is None or (nodes[0] == nodes[1] != pods):
        return None  # each pod would be a world of its own
    processes, interval = options["nproc-per-node"], options["monitor-interval"]
    if not processes.isdecimal() and processes not in {"auto", "cpu", "gpu"}:
        return None
    if interval != DEFAULTS["monitor-interval"] and not interval.isdecimal():
        return None
    conf = conf_of(options["rdzv-conf"])
    out: dict[str, Any] = {
        "nnodes": f"{nodes[0]}:{nodes[1]}" if nodes[0] < nodes[1] else None,
        "nprocPerNode": int(processes) if processes.isdecimal() else processes,
        "maxRestarts": int(options["max-restarts"]) if options["max-restarts"].isdecimal() else 0,
        "startMethod": options["start-method"],
        "rdzvBackend": options["rdzv-backend"] if pods > 1 or nodes[1] > 1 else None,
        "rdzvEndpoint": seen.endpoint if options["rdzv-backend"].startswith("etcd") else None,
    }
    out = {word: value for word, value in out.items() if value is not None}
    if max(pods, nodes[1]) > 1:
        out["rdzvId"] = options["rdzv-id"] if options["rdzv-id"] != DEFAULTS["rdzv-id"] else None
        out["rdzvConfigs"] = {"timeout": None, "join_timeout": None, **conf}
    elif conf:
        out["rdzvConfigs"] = conf
    out["monitorInterval"] = int(interval) if interval.isdecimal() else None
    return out


def _port(seen: Rendezvous, words: SpecData) -> SpecData:
    """The port where the nodes meet, unless the object itself says one."""
    port = seen.endpoint.rpartition(":")[2]
    said = "masterPort" in words or words["target"] == "pytorchjob" or seen.backend.startswith("etcd")
    said = said or not port.isdecimal() or port == "0"
    return {} if said else {"masterPort": int(port)}


def queued(spec: SpecData, manifest: Json, beside: Objects, cluster: ClusterProfile) -> SpecData:
    """The spec with these words, where fewer fields differ so than with labels and annotations as they stand."""
    best, fewest = spec, _differences(spec, manifest, beside, cluster)
    for tried in _queued_specs(spec, manifest, beside, cluster):
        if fewest == 0:
            break
        left = _differences(tried, manifest, beside, cluster)
        if left < fewest:
            best, fewest = tried, left
    return best


def _differences(spec: SpecData, manifest: Json, beside: Objects, cluster: ClusterProfile) -> int:
    made = manifests(spec, cluster)
    if made is None:
        return 1 << 30
    total = 0
    for one in made:
        kind, name = kind_of(one), object_name(one)
        theirs = [manifest] if (kind_of(manifest), object_name(manifest)) == (kind, name) else beside.named(kind, name)
        total += len(gaps(one, theirs[-1] if theirs else {}))
    return total


def _queued_specs(spec: SpecData, manifest: Json, beside: Objects, cluster: ClusterProfile) -> Iterator[SpecData]:
    said = _said(manifest, beside, cluster)
    levels: list[Any] = [None]
    for level, word in product(cluster.spec.topology.levels, ("required", "preferred")):
        levels.append({word: level})
    if not said and len(levels) == 1:
        return
    bare = _without_marks(spec, cluster)
    for topology in levels:
        words = {**said, **({"topology": topology} if topology else {})}
        if words:
            yield {**bare, "spec": {**bare["spec"], **words}}


def _said(manifest: Json, beside: Objects, cluster: ClusterProfile) -> dict[str, str]:
    """Queue and priority as the objects have them, for the profile's queue system."""
    system = cluster.spec.queue_system
    labels, spec = nested_map(manifest, "metadata", "labels"), nested_map(manifest, "spec")
    if system in LABELS:
        queue, priority = (labels.get(one) for one in LABELS[system])
    else:
        group = next((nested_map(one, "spec") for one in beside if kind_of(one)[1] == "PodGroup"), {})
        policy = nested_map(spec, "runPolicy", "schedulingPolicy")
        queue = policy.get("queue") or spec.get("queue") or group.get("queue") or _marked((manifest, *beside))
        priority = policy.get("priorityClass") or group.get("priorityClassName")
    found = {"queue": as_string(queue), "priority": as_string(priority)}
    return {word: name for word, name in found.items() if name}


def _marked(objects: Sequence[Any]) -> str:
    """The queue in its annotation, wherever in the objects it is."""
    stack = list(objects)
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            if queue := as_string(nested_map(one, "annotations").get(QUEUE_ANNOTATION)):
                return queue
            stack += one.values()
        elif isinstance(one, list | tuple):
            stack += as_mappings(one)
    return ""


def _without_marks(spec: SpecData, cluster: ClusterProfile) -> SpecData:
    """The spec without the labels and annotations that compile writes for a queue."""
    labels = frozenset(LABELS.get(cluster.spec.queue_system, ()))
    metadata = {**spec["metadata"]}
    job = {**spec["spec"]}
    for holder, names, marks in (
        (metadata, ("labels", "annotations"), labels),
        (job, ("podLabels", "podAnnotations"), labels),
    ):
        for word in names:
            left = {k: v for k, v in (holder.get(word) or {}).items() if k not in marks and not k.startswith(WRITTEN)}
            if left:
                holder[word] = left
            else:
                holder.pop(word, None)
    return {**spec, "metadata": metadata, "spec": job}
