"""Human-readable text for a world, a job and a pod."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import is_short_number, pluralize
from ptcompile.kinds.pods import ContainerView, ExpandedRole, env_entry
from ptcompile.kubernetes.amounts import is_accelerator
from ptcompile.kubernetes.nodes import NodeGroup
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.unstructured import (
    Json,
    kind_of,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
    object_name,
)
from ptcompile.report.layout import (
    escape_unprintable,
    join_escaped,
    safe_text,
    shell_quote,
    table,
    with_label,
)
from ptcompile.simulator import kubelet
from ptcompile.simulator.as_json import env_sources, mask_jobs, mask_pod, node_requirements
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.launchers.rendezvous import AT_RENDEZVOUS, IntRange
from ptcompile.simulator.pod import Pod, claim_text, device_claims, owner_of
from ptcompile.simulator.rendezvous import JobRendezvous, volume_sources
from ptcompile.simulator.world import World
from ptcompile.source.secrets.names import MASK


def differing_variables(run: list[Pod], base_pod: Pod) -> list[str]:
    """Return how a run of pods differs from another pod: `RANK=1`, or `RANK=2..255` for several
    pods.

    `run` holds the first two pods and the last pod of the run, or fewer if it is short.
    """
    first = run[0]
    base = base_pod.env
    envs = [pod.env for pod in run]
    differences = [f"without {name}" for name in base if name not in first.env]
    for name, value in first.env.items():
        values = [env.get(name, "") for env in envs]
        if base.get(name) != value or any(run_value != value for run_value in values):
            differences.append(f"{name}={_format_values(values, [pod.index for pod in run])}")

    if (first.command, first.args) != (
        base_pod.command,
        base_pod.args,
    ) and not _differ_only_in_variables(first, base_pod):
        differences.append("another command")
    if first.requests != base_pod.requests:
        differences.append("other resources")

    return differences


def _format_values(values: list[str], indexes: list[int]) -> str:
    """Return `first..last` if the values grow with the index, else the list of values."""
    *others, last = values
    if len(set(values)) == 1:
        return last

    numbers = [int(value) if is_short_number(value, 12) else -1 for value in values]
    is_sequence = (
        -1 not in numbers
        and len({number - index for number, index in zip(numbers, indexes, strict=True)}) == 1
    )
    if is_sequence:
        return f"{values[0]}..{last}"

    return " .. ".join((", ".join(others), last))


def _differ_only_in_variables(pod: Pod, base_pod: Pod) -> bool:
    """Return whether two command lines are written identically, so only the values of variables
    differ.
    """
    a = pod.main
    b = base_pod.main
    return a is not None and b is not None and (a.command, a.args) == (b.command, b.args)


def pod_range(job: SimulatedJob, role: ExpandedRole, start: int) -> str:
    """Return the names of a role's pods from index `start` as `job-worker-1 .. job-worker-254`."""
    first = job.pod(role, start)
    last = job.last_pod(role)
    if start == role.count - 1:
        return first.display_name
    return f"{first.display_name} .. {last.display_name}"


def overview(world: World) -> str:
    """Return the text for all jobs of a world. Wide roles are folded and secrets are masked."""
    blocks = [list(_job_lines(job, world.nodes)) for job in mask_jobs(world.jobs)]
    lines = [line for i, block in enumerate(blocks) for line in ([""] if i else []) + block]
    if world.skipped:
        lines += ["" * bool(lines), f"makes no pods: {', '.join(world.skipped)}"]
    return join_escaped(lines)


def _job_lines(job: SimulatedJob, nodes: Sequence[NodeGroup]) -> Iterator[str]:
    target = f", target {job.target}" if job.target else ""
    api_version, _ = kind_of(job.manifest)
    yield f"{job.title}  ({api_version}, namespace {job.namespace}{target})"
    rendezvous = job.rendezvous
    for label, lines in job_facts(job, rendezvous):
        yield from with_label(label, lines)
    yield from with_label("where", job.where(nodes))
    if rendezvous is not None:
        yield ""
        yield from table(pod_rows(job, rendezvous))
        yield ""
        yield from _environment_lines(job, rendezvous)


def job_facts(
    job: SimulatedJob, rendezvous: JobRendezvous | None
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the facts about a job as a whole, each with a short label."""
    yield "refused", job.expansion.refused
    roles = ", ".join(f"{role.count} {role.name}" for role in job.roles)
    yield "pods", [f"{job.size} ({roles})" if len(job.roles) > 1 else f"{job.size}"]

    if rendezvous is not None:
        yield from _rendezvous_facts(rendezvous)
        yield "runs", _command_lines(job)
    yield "asks for", [totals_text(job.totals()) or "nothing"]

    yield (
        "node",
        _distinct_lines(list(node_requirements(pod.view.spec)) for _, pod in job.first_pods),
    )
    yield (
        "volumes",
        _distinct_lines(
            [volume_text(*volume) for volume in volume_sources(pod.view.spec)]
            for _, pod in job.first_pods
        ),
    )
    yield (
        "claims",
        _distinct_lines(
            [claim_text(*claim) for claim in device_claims(pod)] for _, pod in job.first_pods
        ),
    )

    yield "services", service_lines(job)
    yield "pod group", pod_group_lines(job.pod_group)
    yield "on failure", job.failure
    yield "notes", [*(rendezvous.notes if rendezvous else ()), *job.notes]


def _rendezvous_facts(rendezvous: JobRendezvous) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the labels and the lines about the processes and their rendezvous."""
    first = rendezvous.first
    if first.backend == "ray":
        yield "processes", ["placed by Ray"]
        yield (
            "rendezvous",
            [
                f"Ray at {first.endpoint}"
                if first.endpoint
                else "none: the pod starts a head of Ray"
            ],
        )
        return

    pods = pluralize(rendezvous.nodes, "pod")
    if first.processes is None:
        yield "processes", [f"{first.processes_text}, in each of {pods}"]
    else:
        yield (
            "processes",
            [f"{rendezvous.processes_text} in all: {pods} with {first.processes_text} each"],
        )

    yield "rendezvous", [rendezvous_text(rendezvous)]


def _command_lines(job: SimulatedJob) -> list[str]:
    runs = {role.name: _command_text(pod) for role, pod in job.first_pods}
    is_uniform = len(set(runs.values())) == 1
    if is_uniform:
        return list(runs.values())[:1]
    return [f"{name}: {line}" for name, line in runs.items()]


def _command_text(pod: Pod) -> str:
    """Return the command line as written, which pods that differ only in variables share."""
    main = pod.main
    launch = pod.launch
    words = main.argv if main else []
    text = shell_quote(words) if words else "the image's own command"
    return text + (
        f"  ({launch.launcher} in a shell)"
        if launch.in_shell and launch.launcher != "command"
        else ""
    )


def rendezvous_text(rendezvous: JobRendezvous) -> str:
    """Return the rendezvous in one line: backend, endpoint and its target, nodes, and how ranks
    are assigned.
    """
    first = rendezvous.first
    if first.backend == "none":
        return "none: each process is on its own"

    if rendezvous.host is None and not rendezvous.outside:
        target = "nothing in this stream"
    else:
        target = rendezvous.host or "outside this stream"

    noun = "node" if first.nodes == (1, 1) else "nodes"
    wait = f"{first.nodes_text} {noun}"
    if first.backend == "env":
        wait = f"WORLD_SIZE {first.nodes_text}"
    if first.node_rank == AT_RENDEZVOUS:
        rank = f"node rank {AT_RENDEZVOUS}"
    else:
        rank = "node rank set for each pod"

    restarts = f", up to {first.max_restarts} restarts" if first.max_restarts != "0" else ""
    name = {"env": "MASTER_ADDR and RANK"}.get(first.backend, first.backend)

    return f"{name} at {first.endpoint or '?'} ({target}), {wait}, {rank}{restarts}"


def totals_text(totals: dict[str, Quantity]) -> str:
    """Return quantities as text: accelerators first, then cpu and memory, then the rest."""
    order = sorted(
        totals,
        key=lambda resource: (
            not is_accelerator(resource),
            resource not in ("cpu", "memory"),
            resource,
        ),
    )
    return ", ".join(f"{totals[name]} {name}" for name in order)


def volume_text(name: str, volume_type: str, source: str) -> str:
    """Return a volume as text, such as `data: claim datasets`."""
    type_text = {"memory": "shared memory", "scratch": "empty directory"}.get(
        volume_type, volume_type
    )
    return f"{name}: {type_text} {source}".rstrip()


def _distinct_lines(parts: Iterator[list[str]]) -> list[str]:
    return list(dict.fromkeys(line for part in parts for line in part))


def service_lines(job: SimulatedJob) -> list[str]:
    """Return one line per Service that the operator creates, or one line for all if there are
    more than four.
    """
    services = job.expansion.services
    if len(services) > 4:
        return [f"{object_name(services[0])} .. : headless, one for each of the {job.size} pods"]
    return [_service_text(service) for service in services]


def _service_text(service: Json) -> str:
    spec = nested_map(service, "spec")
    ports = ", ".join(str(port.get("port")) for port in nested_maps(spec, "ports"))
    if spec.get("publishNotReadyAddresses") is True:
        early = "answers before pods are ready"
    else:
        early = "answers for ready pods"
    headless = "headless, " if spec.get("clusterIP") == "None" else ""
    return f"{object_name(service)}: {headless}{early}" + (f", ports {ports}" if ports else "")


def pod_group_lines(group: Json | None) -> list[str]:
    """Return the pod group in one line, or an empty list if the job has no gang."""
    if group is None:
        return []
    if group.get("missing"):
        return [f"{group.get('name')} is in no file: the pods wait until it exists"]
    if "minResources" not in group:
        size = group.get("minMember")
        gang = f"waits until {size} pods exist, then schedules {size} of them at once or none"
        how = gang if size else "schedules its pods one by one"
        return [f"{group.get('name')}: {group.get('scheduler')} {how}", *_placement_lines(group)]

    least = ", ".join(
        f"{amount} {name}" for name, amount in sorted(nested_map(group, "minResources").items())
    )
    only = f" (only with {group['onlyWith']})" if group.get("onlyWith") else ""
    queue = f", queue {group['queue']}" if group.get("queue") else ""

    return [f"minMember {group.get('minMember')}{queue}, minResources {least or 'none'}{only}"]


def _placement_lines(group: Json) -> Iterator[str]:
    """Yield where the pods of a group without resources run, and how they are preempted."""
    levels = nested_maps(group, "topology")
    if levels:
        yield f"all of them in one domain of {levels[0].get('key')}"
    if group.get("preemptedTogether"):
        yield "preempted all at once"


def pod_rows(job: SimulatedJob, rendezvous: JobRendezvous) -> list[list[str]]:
    """Return a table of the job's pods with a heading; each role has one row for its first pod
    and one for the rest.
    """
    training_roles = rendezvous.role_names
    return [
        ["POD", "HOST NAME", "DNS NAME", "RANK", "QOS"],
        *map(list, _role_rows(job, training_roles)),
    ]


class _PodRow(NamedTuple):
    """A row of the table of pods."""

    pod: str
    host: str
    dns: str
    rank: str
    qos: str


def _role_rows(job: SimulatedJob, training_roles: set[str]) -> Iterator[_PodRow]:
    for role in job.roles:
        is_ranked = role.name in training_roles
        if role.count:
            yield _pod_row(job.pod(role, 0), ranked=is_ranked)
        if role.count == 2:
            yield _pod_row(job.pod(role, 1), ranked=is_ranked)
        if role.count > 2:
            yield _remaining_pods_row(job, role, ranked=is_ranked)


def _pod_row(pod: Pod, *, ranked: bool) -> _PodRow:
    rendezvous = pod.rendezvous
    if ranked:
        rank = {AT_RENDEZVOUS: "at rendezvous"}.get(rendezvous.node_rank, rendezvous.node_rank)
    else:
        rank = "none"

    return _PodRow(
        pod=pod.display_name,
        host="the node's" if pod.on_host else pod.hostname or "random",
        dns=pod.dns or "none",
        rank=rank,
        qos=pod.qos,
    )


def _remaining_pods_row(job: SimulatedJob, role: ExpandedRole, *, ranked: bool) -> _PodRow:
    second = _pod_row(job.pod(role, 1), ranked=ranked)
    last = _pod_row(job.last_pod(role), ranked=ranked)
    return _PodRow(
        pod=pod_range(job, role, 1),
        host=second.host if second.host == last.host else "likewise",
        dns="none" if last.dns == "none" else "likewise",
        rank=second.rank if second.rank == last.rank else f"{second.rank}..{last.rank}",
        qos=second.qos,
    )


def _environment_lines(job: SimulatedJob, rendezvous: JobRendezvous) -> Iterator[str]:
    """Yield the variables of the first training pod, then how the other pods differ."""
    lead, _ = rendezvous.roles[0]
    first = job.pod(lead, 0)
    yield from env_table(first)
    sources = dict.fromkeys(source for _, pod in job.first_pods for source in env_sources(pod))
    if sources:
        yield f"  envFrom adds the variables of {', '.join(sources)}, which only the cluster knows"
    for pods, differences in differences_by_role(job, lead):
        comparison = f"but {', '.join(differences)}" if differences else "in all"
        yield f"  {pods}: as {first.display_name} {comparison}"


def differences_by_role(job: SimulatedJob, lead: ExpandedRole) -> Iterator[tuple[str, list[str]]]:
    """Yield the pods other than the first one of role `lead`, role by role, and how they differ
    from it.
    """
    first = job.pod(lead, 0)
    for role in job.roles:
        start = 1 if role is lead else 0
        if role.count > start:
            indexes = {start, min(start + 1, role.count - 1), role.count - 1}
            ends = [job.pod(role, index) for index in sorted(indexes)]
            yield pod_range(job, role, start), differing_variables(ends, first)


def env_table(pod: Pod, *, indent: str = "  ") -> list[str]:
    """Return the main container's variables in order, with `+` for those of the operator and the
    values as written.
    """
    if pod.main is None:
        return []
    if not pod.main.env:
        return [f"{indent}no variables in {pod.display_name}, container {pod.main.name}"]
    rows = env_rows(pod)
    head = f"{indent}environment of {pod.display_name}, container {pod.main.name}" + (
        "  (+ set by the operator)" if any(row[0] == "+" for row in rows) else ""
    )
    return [head, *table(rows, indent + "  ")]


def env_rows(pod: Pod) -> list[list[str]]:
    """Return one row per variable of the main container: `+` if the operator adds it, name,
    value, origin.
    """
    is_written = pod.job.stream.writes
    values = pod.env
    return [
        [
            " " if is_written(entry) else "+",
            str(entry.get("name") or ""),
            *_value_cells(entry, values),
        ]
        for entry in pod.env_entries
    ]


def _value_cells(entry: Json, values: dict[str, str]) -> list[str]:
    """Return the expanded value, followed by the value as written if it differs."""
    name = str(entry.get("name") or "")
    written = entry.get("value")
    value = values.get(name, "")
    if value == MASK:
        return [value]

    source = nested_map(entry, "valueFrom")
    if "fieldRef" in source:
        if not value.startswith("<"):
            return [value, f"from {nested_value(source, 'fieldRef', 'fieldPath')}"]
        return [value]
    if not isinstance(written, str) or not written or written == value:
        return [value or '""']

    return [
        value,
        f"written {written}" if "$(" in written else "an earlier value; the later one wins",
    ]


def pod_text(pod: Pod, job: SimulatedJob | None = None) -> str:
    """Return everything that the pod's processes or its node can see, with secrets masked.

    `job` is the pod's job as `mask_jobs` returns it, for a caller that prints many of its pods.
    """
    pod = mask_pod(pod, job)
    return join_escaped([*_pod_lines(pod), *_rendezvous_lines(pod), *_container_lines(pod)])


def _pod_lines(pod: Pod) -> Iterator[str]:
    view = pod.view
    yield (
        f"Pod/{pod.display_name}  ({pod.role} {pod.index} of {pod.job.title}, namespace "
        f"{view.namespace})"
    )
    yield from with_label("made by", [owner_of(pod)])
    yield from with_label(
        "host name", ["the node's (hostNetwork)" if pod.on_host else pod.hostname or "random"]
    )
    yield from with_label("DNS name", [pod.dns or "none: no Service gives it one"])
    yield from with_label("asks for", [totals_text(pod.requests) or "nothing"])
    yield from with_label("QoS class", [pod.qos])
    yield from with_label("restarts", [f"restartPolicy {view.restart_policy}"])
    yield from with_label("node", list(node_requirements(view.spec)))
    yield from with_label("volumes", [volume_text(*volume) for volume in volume_sources(view.spec)])
    yield from with_label("labels", [f"{k}={v}" for k, v in view.labels.items()])
    yield from with_label("annotations", [f"{k}={v}" for k, v in view.annotations.items()])


def _rendezvous_lines(pod: Pod) -> Iterator[str]:
    rendezvous = pod.rendezvous
    job_view = pod.job.rendezvous
    yield ""
    yield "  rendezvous, as this pod sees it"
    answer = job_view.host if job_view and job_view.first.endpoint == rendezvous.endpoint else None
    pairs = {
        "launcher": rendezvous.launcher,
        "backend": rendezvous.backend,
        "endpoint": f"{rendezvous.endpoint or 'none'}" + (f" ({answer})" if answer else ""),
        "nodes": rendezvous.nodes_text,
        "node rank": rendezvous.node_rank,
        "processes": rendezvous.processes_text,
        "world size": rendezvous.world_size_text,
        "restarts": rendezvous.max_restarts,
    }
    if (
        is_short_number(rendezvous.node_rank)
        and rendezvous.processes
        and rendezvous.backend != AT_RENDEZVOUS
    ):
        first = int(rendezvous.node_rank) * rendezvous.processes
        pairs["ranks"] = IntRange(first, first + rendezvous.processes - 1).text

    for label, value in pairs.items():
        yield from with_label(label, [value], "    ")
    yield from with_label("notes", list(rendezvous.notes), "    ")


def _container_lines(pod: Pod) -> Iterator[str]:
    main = pod.main
    for container in pod.containers:
        yield ""
        container_type = "init container" if container.init else "container"
        yield f"  {container_type} {container.name}" + ("  (trains)" if container == main else "")
        yield from with_label("image", [container.image or "none"], "    ")
        yield from _command_line(pod, container)
        yield from with_label("ports", [_port_text(port) for port in container.ports], "    ")
        for kind in ("requests", "limits"):
            amounts = [
                f"{amount} {name}" for name, amount in nested_map(container.resources, kind).items()
            ]
            yield from with_label(kind, [", ".join(amounts)] if amounts else [], "    ")

        mounts = [
            f"{nested_string(m, 'mountPath')} from {nested_string(m, 'name')}"
            for m in container.mounts
        ]
        yield from with_label("mounts", mounts, "    ")
        if container == main:
            yield from with_label("env from", env_sources(pod), "    ")
            yield from env_table(pod, indent="    ")
        else:
            values = kubelet.environment(container, pod.view)
            yield from with_label(
                "env", [f"{name}={value}" for name, value in values.items()], "    "
            )


def _command_line(pod: Pod, container: ContainerView) -> Iterator[str]:
    """Yield command and arguments after expansion, and as written if that differs."""
    expanded = kubelet.command_line(container, kubelet.environment(container, pod.view))
    for label, arguments, written in zip(
        ("command", "args"), expanded, (container.command, container.args), strict=True
    ):
        if arguments is None or written is None:
            continue
        yield from with_label(label, [shell_quote(arguments)], "    ")
        if tuple(arguments) != written:
            yield from with_label("  as written", [shell_quote(written)], "    ")

    if container.command is None:
        yield from with_label("command", ["the image's own"], "    ")


def _port_text(port: Json) -> str:
    name = nested_string(port, "name")
    return f"{port.get('containerPort')}/{nested_string(port, 'protocol') or 'TCP'}" + (
        f" ({name})" if name else ""
    )


def env_file(pod: Pod) -> str:
    """Return the main container's variables for `docker run --env-file`: unquoted values.

    Values that no manifest holds (a Secret's value, a pod's IP) or that the format cannot express
    (line breaks) become comments.
    """
    container = pod.main.name if pod.main else "(none)"
    lines = [f"# {pod.display_name}: container {container} of {pod.job.title}"]
    lines += [f"# all of {source}" for source in env_sources(pod)]
    lines += _env_lines(pod)

    text = ""
    for line in lines:
        printable = safe_text(line) if line.startswith("#") else escape_unprintable(line)
        text += f"{printable}\n"
    return text


def _env_lines(pod: Pod) -> Iterator[str]:
    values = pod.env
    unknown = set[str]()
    entries = {nested_string(entry, "name"): entry for entry in pod.env_entries}

    for name, value in values.items():
        written = env_entry(entries[name])
        source = nested_string(written, "from")
        configmap, _, key = source.removeprefix("configmap:").partition("/")
        if source.startswith("configmap:"):
            configmap_value = pod.job.configmap_text(configmap, key)
        else:
            configmap_value = None
        if configmap_value is not None:
            value = configmap_value
        elif "value" not in written and value.startswith("<"):
            unknown.add(name)
            yield f"# {name}: {value.strip('<>')}"
            continue
        if any(f"$({unknown_name})" in nested_string(written, "value") for unknown_name in unknown):
            unknown.add(name)
            yield f"# {name}: {value}"
        elif (
            not name or "\n" in value or "\r" in value or any(c.isspace() or c == "=" for c in name)
        ):
            yield f"# {name}: {value!r} cannot be written to an env file"
        else:
            yield f"{name}={value}"
