"""Parts of a draft that become spec fields: run policy, pod security, queue, torchrun's options.

No mapping is inverted by hand. Candidate fields are compiled, the fewest first, so the result stays
right when a target changes.

torchrun's options are read from the simulated pods: flags override PET_* variables, which override
torchrun's defaults. The caller compiles and compares the lifted spec to decide whether it means the
same.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator, Sequence
from itertools import islice, product

from ptcompile._internal.schema_files import load_table
from ptcompile._internal.spelling import is_short_number
from ptcompile.diagnostics import Path
from ptcompile.importer.candidate import (
    Candidate,
    compile_candidate,
    compile_manifests,
    compile_with_policies,
    without_env,
)
from ptcompile.importer.draft import blocks
from ptcompile.importer.residue import all_gaps, gaps, without_fields
from ptcompile.kinds.reading import Read
from ptcompile.kubernetes.commands import PROCESS_WORDS
from ptcompile.kubernetes.index import SERVICE
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_int,
    as_mapping,
    as_mappings,
    as_string,
    kind_of,
    nested_map,
    nested_string,
    object_name,
    placed_values,
    values_in,
    without_falsy,
    without_keys,
    without_none,
)
from ptcompile.operators.queues.queue_systems import (
    EMITTED_PREFIXES,
    QUEUE_ANNOTATION,
    QUEUE_LABELS,
)
from ptcompile.shell.calls import single_command
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.launchers.command import Invocation, container_invocation
from ptcompile.simulator.launchers.rendezvous import DEFAULTS, Rendezvous
from ptcompile.simulator.launchers.torchrun import conf_of
from ptcompile.simulator.meeting import training_roles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.importer.draft import SpecData
    from ptcompile.kubernetes.index import Objects
    from ptcompile.spec.cluster_profile import ClusterProfile


_FAILURE = (None, "RestartPod", "RestartJob")
_DISRUPTION = (None, "Ignore", "Count", "FailJob")
_SUCCESS = (None, "Node0", "AllNodes")
_RUN_POLICY_FIELDS = ("backoffLimit", "onPodFailure", "onDisruption", "successPolicy")
_UNLIMITED = 2**31 - 1
_TABLE = load_table("importer/fields.json")
_ENDING_FIELDS = frozenset(_TABLE["endings"])
"""Manifest fields that say how a job ends."""
_LIMIT_FIELDS = frozenset({"backoffLimit", "maxRestarts", "maxRetry"})
_ROLES = frozenset({"master", "worker", "roles"})


def lift_run_policy(
    candidate: Candidate, manifest: Json, read: Read, related: Objects, cluster: ClusterProfile
) -> Candidate:
    """Return the spec with the run policy that leaves the fewest differences outside the pod
    templates, which is searched for once for all jobs of a stream that end alike.
    """
    spec = candidate.spec
    job = spec["spec"]
    if "runtimeRef" in job:
        return candidate  # the runtime sets the run policy

    theirs, *others = (
        _without_names(_without_pods(obj, read, index))
        for index, obj in enumerate((manifest, *read.objects))
    )
    pods = tuple([pods._replace(template={}) for pods in read.pods])
    bare = read._replace(pods=pods, objects=tuple(others), fields={})
    settings = [(path, _ending_settings(block)) for path, block in blocks(job)]
    # cached by the whole spec if it does not compile: any of its values may be the reason
    ending = (spec if candidate.run is None else settings), theirs, bare
    policy = related.cached(
        (lift_run_policy, repr(ending)), lambda: _closest_policy(candidate, theirs, bare, cluster)
    )
    if not policy:
        return candidate

    return compile_candidate({**spec, "spec": {**job, "runPolicy": {**policy}}}, cluster, candidate)


def _without_names(manifest: Json) -> Json:
    """Return an object without parts that hold the job's name and do not affect its end: metadata,
    and the selector of a Service.
    """
    if kind_of(manifest) == SERVICE:
        return without_keys(manifest, "metadata", "spec")
    return without_keys(manifest, "metadata")


def _ending_settings(block: SpecData) -> JsonDict:
    """Return a block without its roles and without the values on which no ending depends."""
    return {
        field: None if field in _TABLE["plain"] else value
        for field, value in block.items()
        if field not in _ROLES
    }


def _closest_policy(
    candidate: Candidate, theirs: Json, read: Read, cluster: ClusterProfile
) -> Json | None:
    """Return the run policy with which the spec ends most nearly as the manifest does, or None if
    compile accepts none. Manifest and reading have no pods.
    """
    closest: Json | None = None
    fewest = sys.maxsize
    own = nested_map(candidate.spec, "spec", "runPolicy")
    policies = ({**own, **fields} for fields in _run_policies(candidate.spec, theirs, read))
    compared: list[list[Json]] = []
    for with_policy in compile_with_policies(without_env(candidate), policies, cluster):
        *others, job = with_policy.manifests or ()
        ours = [*(_without_pods(obj, read, 1) for obj in others), _without_pods(job, read, 0)]
        if ours in compared:  # many policies mean the same to a target
            continue

        compared.append(ours)
        ending_gaps = (
            gap for gap in all_gaps(ours, theirs, read) if not _ENDING_FIELDS.isdisjoint(gap.path)
        )
        gap_count = sum(1 for _ in islice(ending_gaps, fewest))
        if gap_count < fewest:
            closest = with_policy.spec["spec"]["runPolicy"]
            fewest = gap_count
        if gap_count == 0:
            break

    return closest


def _run_policies(spec: SpecData, manifest: Json, read: Read) -> Iterator[JsonDict]:
    """Yield the fields of candidate run policies, those with the fewest fields first.

    If containers of nodes restart in their pods, no pod fails, and compile rejects onPodFailure.
    """
    limits: list[Any] = [None]
    if read.target in {"pytorchjob", "pod"} and "backoffLimit" not in nested_map(
        manifest, "spec", "runPolicy"
    ):
        limits = ["Unlimited", None]  # the meaning of an absent limit for these kinds

    limits += [
        number for number in _candidate_limits((manifest, *read.objects)) if number not in limits
    ]
    several = sum(pods.replicas for pods in read.pods if pods.trains) > 1
    nodes = [block for path, block in blocks(spec["spec"]) if path[1:2] != ("roles",)]
    fails = all(block.get("restartPolicy") in {None, "Never"} for block in nodes)
    every = product(
        limits, _FAILURE if fails else (None,), _DISRUPTION, _SUCCESS if several else (None,)
    )
    for values in sorted(every, key=lambda values: -values.count(None)):
        yield without_none(dict(zip(_RUN_POLICY_FIELDS, values, strict=True)))


def _candidate_limits(objects: tuple[Json, ...]) -> list[Any]:
    """Return the limits that the objects set and the default of a Job without one."""
    limits: dict[Any, None] = {}
    stack: list[Any] = [nested_map(obj, "spec") for obj in objects]
    while stack:
        value = stack.pop(0)
        for key, inner in as_mapping(value).items():
            if key in _LIMIT_FIELDS and isinstance(inner, int):
                number = as_int(inner) - (key == "maxRetry")
                limits["Unlimited" if inner >= _UNLIMITED else max(0, number)] = None
            stack.append(inner)
        if isinstance(value, list):
            stack += value

    return [*limits, *(number for number in (6, 0, 2) if number not in limits)]


def _without_pods(manifest: Json, read: Read, holder: int) -> Json:
    """Return an object without its pod templates."""
    paths = [pods.path[:-1] for pods in read.pods if pods.path and pods.holder == holder]
    if paths or holder or any(pods.holder for pods in read.pods):
        bare: Json = _without_templates(manifest, paths)
        return bare
    return without_keys(manifest, "spec")


def _without_templates(value: Any, holders: Sequence[Path]) -> Any:
    """Return a value without the pod templates, and their restart policies, of the mappings at
    these paths. Everything else is shared with the value.
    """
    if not isinstance(value, dict | list) or not holders:
        return value

    if isinstance(value, dict) and () in holders:
        value = without_keys(value, "template", "restartPolicy")
    below: dict[str | int, list[Path]] = {}
    for path in holders:
        if path:
            below.setdefault(path[0], []).append(path[1:])
    if isinstance(value, list):
        return [
            _without_templates(inner, below.get(index, ())) for index, inner in enumerate(value)
        ]

    return {key: _without_templates(inner, below.get(key, ())) for key, inner in value.items()}


def lift_pod_security(candidate: Candidate, cluster: ClusterProfile) -> Candidate:
    """Return the spec with `podSecurity` instead of the single fields if it compiles to the same
    objects, else unchanged.
    """
    spec = candidate.spec
    job = spec["spec"]
    if "podSecurity" in job or "allowPrivilegeEscalation" not in str(job):
        return candidate
    restricted = {**spec, "spec": {**_unrestricted_block(job), "podSecurity": "restricted"}}
    return _if_same(candidate, restricted, cluster)


def _if_same(candidate: Candidate, spec: SpecData, cluster: ClusterProfile) -> Candidate:
    """Return the candidate with this spec if it compiles to the same manifests, else unchanged."""
    manifests = candidate.manifests
    if manifests and compile_manifests(spec, cluster) == manifests:
        return Candidate(spec, manifests)
    return candidate


def _unrestricted_block(block: Json) -> JsonDict:
    """Return the job or a role without the fields that `podSecurity: restricted` fills in."""
    out = _unrestricted_container(
        _without_defaults(block, "podSecurityContext", _TABLE["restrictedPod"])
    )
    for role in {"master", "worker"} & out.keys():
        out[role] = _unrestricted_block(out[role])
    for name, role in out.get("roles", {}).items():
        out["roles"] = {**out["roles"], name: _unrestricted_block(role)}
    if pod := nested_map(out, "podTemplate", "spec"):
        pod_patch = {"spec": _unrestricted_pod(pod)} if _unrestricted_pod(pod) else {}
        template = {**without_keys(out["podTemplate"], "spec"), **pod_patch}
        out = without_keys(out, "podTemplate")
        if template:
            out["podTemplate"] = template

    return out


def _unrestricted_pod(pod: Json) -> JsonDict:
    out = _without_defaults(pod, "securityContext", _TABLE["restrictedPod"])
    if out.get("automountServiceAccountToken") is False:
        del out["automountServiceAccountToken"]
    for key in {"containers", "initContainers"} & out.keys():
        out[key] = [_unrestricted_container(container) for container in as_mappings(out[key])]
    return out


def _unrestricted_container(container: Json) -> JsonDict:
    """Return a container or spec block without the restricted defaults. Added capabilities stay."""
    out = _without_defaults(container, "securityContext", _TABLE["restrictedContainer"])
    added = nested_map(out, "securityContext", "capabilities")
    if added.get("drop") == ["ALL"]:
        capabilities = without_keys(added, "drop")
        out["securityContext"] = {**out["securityContext"], "capabilities": capabilities}
    return out


def _without_defaults(holder: Json, key: str, filled: Json) -> JsonDict:
    """Return the mapping with the filled-in fields removed from its security context, and an
    empty context removed.
    """
    context = nested_map(holder, key)
    kept = {
        field: value
        for field, value in context.items()
        if field not in filled or value != filled[field]
    }
    out = without_keys(holder, key)
    return {**out, key: kept} if kept else out


_SWITCHES = frozenset({"standalone", "module"})
_VARIABLE = re.compile(r"\$(?:\{(?P<braced>\w+)\}|(?P<bare>\w+))")


def lift_launch(spec: SpecData, job: SimulatedJob) -> SpecData | None:
    """Return the spec with torchrun's options as fields, or None if its command line is not
    understood.
    """
    fields = spec["spec"]
    roles = training_roles(job)
    command = fields.get("command")
    args = fields.get("args") or []
    if not command or not roles or not all(isinstance(field, str) for field in (*command, *args)):
        return None

    first, _, rendezvous = roles[0]
    main = job.pod(first, 0).main
    # only variables that the container sets, without those of the runtime or the image
    variables = {nested_string(entry, "name") for entry in (main.env if main else ())}
    launch = _parse_launch(command, args, variables)
    if launch is None or launch.options.keys() - DEFAULTS.keys() - _SWITCHES or not launch.entry:
        return None

    elastic = _elastic_fields(rendezvous, sum(role.count for role, _, _ in roles))
    if elastic is None:
        return None

    if (
        "runtimeRef" in fields
        and "nproc-per-node" not in launch.options
        and "elastic" not in fields
    ):
        del elastic["nprocPerNode"]  # the runtime decides it

    entry, *arguments = launch.entry
    if entry.split() != [entry]:
        return None  # `script` takes no spaces

    start = {"module" if launch.options.get("module") else "script": entry}
    kept = without_keys(fields, "command", "args", "elastic")
    lifted = {**kept, **start, **({"args": arguments} if arguments else {}), "elastic": elastic}

    return {**spec, "spec": {**lifted, **_master_port(rendezvous, fields)}}


def _parse_launch(
    command: Sequence[str], args: Sequence[str], variables: Collection[str]
) -> Invocation | None:
    """Return the launch with its arguments as the kubelet expands them, or None if a shell runs
    more than one command.

    The options keep the shell's variables: their values are read from the simulated pods.
    """
    launch = container_invocation(command, args, {})
    if launch.launcher != "torchrun":
        return None
    if not launch.in_shell:
        return None if "torch.distributed.launch" in command else launch

    words = single_command([*command, *args])
    if words is None:
        return None

    launch = container_invocation(words, [], {})
    entry = [_to_kubelet_variables(arg, variables) for arg in launch.entry]
    if None in entry:
        return None

    return launch._replace(entry=tuple([arg for arg in entry if arg is not None]))


def _to_kubelet_variables(arg: str, variables: Collection[str]) -> str | None:
    """Rewrite a shell's `$X` as the kubelet's `$(X)`, or return None if the container has no such
    variable, or the shell computes the value.
    """
    names = [braced or bare for braced, bare in _VARIABLE.findall(arg)]
    if any(name not in variables for name in names) or "$" in _VARIABLE.sub("", arg):
        return None
    return _VARIABLE.sub(lambda match: f"$({match['braced'] or match['bare']})", arg)


def _elastic_fields(rendezvous: Rendezvous, pods: int) -> JsonDict | None:
    options = rendezvous.options
    if "nproc-per-node" not in options or rendezvous.nodes is None:
        return None  # no pod runs it: only the template has the launch
    least, most = rendezvous.nodes
    if least == most != pods:
        return None  # each pod would train alone

    processes = options["nproc-per-node"]
    interval = options["monitor-interval"]
    if not is_short_number(processes) and processes not in PROCESS_WORDS:
        return None
    if interval != DEFAULTS["monitor-interval"] and not is_short_number(interval):
        return None
    if not is_short_number(options["max-restarts"]):
        return None

    conf = conf_of(options["rdzv-conf"])
    backend = options["rdzv-backend"]
    several = max(pods, most) > 1
    out: JsonDict = without_none(
        {
            "nnodes": f"{least}:{most}" if least < most else None,
            "nprocPerNode": int(processes) if is_short_number(processes) else processes,
            "maxRestarts": int(options["max-restarts"]),
            "startMethod": options["start-method"],
            "rdzvBackend": backend if several or backend == "static" else None,
            "rdzvEndpoint": rendezvous.endpoint if backend.startswith("etcd") else None,
        }
    )
    if several:
        out["rdzvId"] = options["rdzv-id"] if options["rdzv-id"] != DEFAULTS["rdzv-id"] else None
        out["rdzvConfigs"] = {"timeout": None, "join_timeout": None, **conf}
    elif conf:
        out["rdzvConfigs"] = conf

    out["monitorInterval"] = int(interval) if is_short_number(interval) else None
    return out


def _master_port(rendezvous: Rendezvous, fields: SpecData) -> SpecData:
    """Return the port at which the nodes join, unless the object sets one itself."""
    port = rendezvous.port
    is_set = (
        "masterPort" in fields
        or fields["target"] == "pytorchjob"
        or rendezvous.backend.startswith("etcd")
        or not is_short_number(port)
        or port == "0"
    )
    return {} if is_set else {"masterPort": int(port)}


_TORCHRUN_VARIABLES = frozenset(
    {"OMP_NUM_THREADS", "TORCH_DISABLE_SHARE_RDZV_TCP_STORE", "PET_LOCAL_ADDR"}
)
"""Variables that compile adds unless torchrun's defaults apply."""


_ENVIRONMENTS = frozenset({("spec", "env"), ("spec", "master", "env"), ("spec", "worker", "env")})


def lift_torchrun_defaults(candidate: Candidate, cluster: ClusterProfile) -> Candidate:
    """Return the spec with `elastic.defaults` instead of the nulls that leave settings to torchrun,
    if it compiles to the same objects.
    """
    spec = candidate.spec
    nulls = [
        path
        for path, value in placed_values(spec)
        if value is None
        and (
            path[:2] == ("spec", "elastic")
            or (path[:-1] in _ENVIRONMENTS and path[-1] in _TORCHRUN_VARIABLES)
        )
    ]
    if not nulls:
        return candidate

    job = without_fields(spec, nulls)["spec"]
    elastic = {"defaults": "torchrun", **job.get("elastic", {})}
    return _if_same(candidate, {**spec, "spec": {**job, "elastic": elastic}}, cluster)


def lift_queue(
    spec: SpecData, manifest: Json, related: Objects, cluster: ClusterProfile
) -> Candidate:
    """Return the spec with queue, priority and topology fields if that leaves fewer differences
    than labels and annotations.
    """
    best = compile_candidate(spec, cluster)
    fewest = None
    for queued_spec in _queued_specs(spec, manifest, related, cluster):
        if fewest is None:
            fewest = _count_differences(best, manifest, related)
        if fewest == 0:
            break
        candidate = compile_candidate(queued_spec, cluster)
        count = _count_differences(candidate, manifest, related)
        if count < fewest:
            best = candidate
            fewest = count

    return best


def _count_differences(candidate: Candidate, manifest: Json, related: Objects) -> int:
    if candidate.manifests is None:
        return 1 << 30

    total = 0
    for obj in candidate.manifests:
        kind = kind_of(obj)
        name = object_name(obj)
        theirs = (
            [manifest]
            if (kind_of(manifest), object_name(manifest)) == (kind, name)
            else related.by_name(kind, name)
        )
        total += sum(1 for _ in gaps(obj, theirs[-1] if theirs else {}))

    return total


def _queued_specs(
    spec: SpecData, manifest: Json, related: Objects, cluster: ClusterProfile
) -> Iterator[SpecData]:
    queue_fields = _queue_fields(manifest, related, cluster)
    levels = product(cluster.spec.topology.levels, ("required", "preferred"))
    topologies = [{"topology": {kind: level}} for level, kind in levels]
    bare = _without_queue_metadata(spec, cluster)
    for topology in ({}, *topologies):
        fields = {**queue_fields, **topology}
        if fields:
            yield {**bare, "spec": {**bare["spec"], **fields}}


def _queue_fields(manifest: Json, related: Objects, cluster: ClusterProfile) -> dict[str, str]:
    """Return queue and priority as the objects set them for the profile's queue system."""
    system = cluster.spec.queue_system
    labels = nested_map(manifest, "metadata", "labels")
    spec = nested_map(manifest, "spec")
    if system in QUEUE_LABELS:
        queue, priority = (labels.get(label) for label in QUEUE_LABELS[system])
    else:
        group = next(
            (nested_map(obj, "spec") for obj in related if kind_of(obj).name == "PodGroup"), {}
        )
        policy = nested_map(spec, "runPolicy", "schedulingPolicy")
        queue = (
            policy.get("queue")
            or spec.get("queue")
            or group.get("queue")
            or _annotated_queue((manifest, *related))
        )
        priority = policy.get("priorityClass") or group.get("priorityClassName")

    return without_falsy({"queue": as_string(queue), "priority": as_string(priority)})


def _annotated_queue(objects: Sequence[Any]) -> str:
    """Return the queue from the first annotation that names one, anywhere in the objects."""
    queues = (nested_string(value, "annotations", QUEUE_ANNOTATION) for value in values_in(objects))
    return next(filter(None, queues), "")


def _without_queue_metadata(spec: SpecData, cluster: ClusterProfile) -> SpecData:
    """Return the spec without the labels and annotations that compile writes for a queue."""
    labels = frozenset(QUEUE_LABELS.get(cluster.spec.queue_system, ()))
    metadata = {**spec["metadata"]}
    job = {**spec["spec"]}
    for holder, names, written in (
        (metadata, ("labels", "annotations"), labels),
        (job, ("podLabels", "podAnnotations"), labels),
    ):
        for field in names:
            kept = {
                k: v
                for k, v in (holder.get(field) or {}).items()
                if k not in written and not k.startswith(EMITTED_PREFIXES)
            }
            if kept:
                holder[field] = kept
            else:
                holder.pop(field, None)

    return {**spec, "metadata": metadata, "spec": job}
