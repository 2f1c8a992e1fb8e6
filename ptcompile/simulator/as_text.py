"""A world and a pod as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.unstructured import (
    as_mapping,
    as_mappings,
    as_string,
    kind_of,
    nested_map,
    object_name,
    string_map,
)
from ptcompile.registry.pods import ContainerView, ExpandedRole, env_entry
from ptcompile.report.layout import join_printable, shell_quote, shorten, table, with_label
from ptcompile.simulator import kubelet
from ptcompile.simulator.amounts import is_accelerator
from ptcompile.simulator.as_json import env_from, node_requirements, shown_jobs, shown_pod
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.launchers.rendezvous import AT_RENDEZVOUS
from ptcompile.simulator.meeting import JobRendezvous, claims, job_rendezvous
from ptcompile.simulator.pod import Pod, claim_text, device_claims, owner_of
from ptcompile.simulator.world import World
from ptcompile.source.secrets.names import MASK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json


def but(run: list[Pod], like: Pod) -> list[str]:
    """The variables in which pods differ from another one, as `RANK=1`, or `RANK=2..255` for a run of them.

    `run` holds the first two pods and the last one of the run, or fewer where it is short.
    """
    pod, base = run[0], like.env
    envs = [one.env for one in run]
    out = [f"without {name}" for name in base if name not in envs[0]]
    for name, value in envs[0].items():
        values = [env.get(name, "") for env in envs]
        if base.get(name) != value or any(one != value for one in values):
            out.append(f"{name}={_run(values, [one.index for one in run])}")
    if (pod.command, pod.args) != (like.command, like.args) and not _only_by_env(pod, like):
        out.append("another command")
    if pod.requests != like.requests:
        out.append("other resources")
    return out


def _run(values: list[str], indexes: list[int]) -> str:
    """Values that count on with the index as `first..last`; others one by one."""
    if len(set(values)) == 1:
        return values[0]
    numbers = [int(value) if value.isascii() and value.isdigit() and len(value) < 12 else -1 for value in values]
    counted = -1 not in numbers and len({n - i for n, i in zip(numbers, indexes, strict=True)}) == 1
    if counted:
        return f"{values[0]}..{values[-1]}"
    return " .. ".join((", ".join(values[:-1]), values[-1]))


def ends(job: SimulatedJob, role: ExpandedRole, start: int) -> list[Pod]:
    """The first two pods and the last one of a role from an index on."""
    return [job.pod(role, i) for i in sorted({start, min(start + 1, role.count - 1), role.count - 1})]


def _only_by_env(pod: Pod, like: Pod) -> bool:
    """Whether two command lines are written alike, and differ by the values of variables alone."""
    one, other = pod.main, like.main
    return one is not None and other is not None and (one.command, one.args) == (other.command, other.args)


def span(job: SimulatedJob, role: ExpandedRole, start: int) -> str:
    """`job-worker-1..job-worker-254`, the random parts marked."""
    first, last = job.pod(role, start), job.pod(role, role.count - 1)
    return first.shown if start == role.count - 1 else f"{first.shown} .. {last.shown}"


def injected(pod: Pod) -> frozenset[int]:
    """Which of the main container's env entries, by position, stand in no manifest: the operator adds them."""
    entries = pod.main.env if pod.main else ()
    return frozenset(i for i, entry in enumerate(entries) if not pod.job.given.writes(entry))


VALUE = 96
"""Characters of a value that the overview shows; --pod shows all."""


def overview(world: World) -> str:
    """All jobs of a world; wide roles folded, secrets hidden."""
    blocks = [list(_job(job)) for job in shown_jobs(world.jobs)]
    lines = [line for i, block in enumerate(blocks) for line in ([""] if i else []) + block]
    if world.skipped:
        lines += ["" * bool(lines), f"makes no pods: {', '.join(world.skipped)}"]
    return join_printable(lines)


def _job(job: SimulatedJob) -> Iterator[str]:
    target = f", target {job.target}" if job.target else ""
    yield f"{job.title}  ({kind_of(job.manifest)[0]}, namespace {job.namespace}{target})"
    found = job_rendezvous(job)
    for label, lines in facts(job, found):
        yield from with_label(label, lines)
    if found is not None:
        yield ""
        yield from table(pod_rows(job, found), cut=80)
        yield ""
        yield from _environment(job, found)


def facts(job: SimulatedJob, found: JobRendezvous | None) -> Iterator[tuple[str, Sequence[str]]]:
    """What there is to say of a job as a whole, under short labels. `found` is its meeting."""
    yield "refused", job.expansion.refused
    yield "pods", [_pods(job)]
    if found is not None:
        yield from _meeting(found)
        yield "runs", _runs_lines(job)
    yield "asks for", [asked(job.totals()) or "nothing"]
    yield "node", _union(list(node_requirements(pod.view.spec)) for _, pod in job.firsts())
    yield "volumes", _union([volume_text(*one) for one in claims(pod.view.spec)] for _, pod in job.firsts())
    yield "claims", _union([claim_text(*one) for one in device_claims(pod)] for _, pod in job.firsts())
    yield "services", service_lines(job)
    yield "pod group", group_lines(job.pod_group)
    yield "on failure", job.failure
    yield "notes", [*(found.notes if found else ()), *job.notes]


def _pods(job: SimulatedJob) -> str:
    roles = ", ".join(f"{role.count} {role.name}" for role in job.roles)
    return f"{job.size} ({roles})" if len(job.roles) > 1 else f"{job.size}"


def _meeting(found: JobRendezvous) -> Iterator[tuple[str, Sequence[str]]]:
    first = found.first
    each = f"{found.nodes} {'pod' if found.nodes == 1 else 'pods'} with {first.processes_text} each"
    yield "processes", [f"{found.processes_text} in all: {each}"]
    yield "rendezvous", [rendezvous_text(found)]


def _runs_lines(job: SimulatedJob) -> list[str]:
    runs = {role.name: _runs(pod) for role, pod in job.firsts()}
    same = len(set(runs.values())) == 1
    return list(runs.values())[:1] if same else [f"{name}: {line}" for name, line in runs.items()]


def _runs(pod: Pod) -> str:
    """The command line with its variables as they are written: it differs by their values alone."""
    main, launch = pod.main, pod.launch
    words = [*(main.command or ()), *(main.args or ())] if main else []
    shown = shorten(shell_quote(words), 160) if words else "the image's own command"
    return shown + (f"  ({launch.launcher} in a shell)" if launch.in_shell and launch.launcher != "command" else "")


def rendezvous_text(found: JobRendezvous) -> str:
    """The rendezvous in one line: backend, endpoint and who answers there, nodes, how ranks are given."""
    first = found.first
    if first.backend == "none":
        return "none: each process is on its own"
    where = (
        "nothing in this stream" if found.host is None and not found.outside else found.host or "outside this stream"
    )
    wait = f"{first.nodes_text} {'node' if first.nodes == (1, 1) else 'nodes'}"
    if first.backend == "env":
        wait = f"WORLD_SIZE {first.nodes_text}"
    rank = f"node rank {AT_RENDEZVOUS}" if first.node_rank == AT_RENDEZVOUS else "node rank set for each pod"
    restarts = f", up to {first.max_restarts} restarts" if first.max_restarts != "0" else ""
    name = {"env": "MASTER_ADDR and RANK"}.get(first.backend, first.backend)
    return f"{name} at {first.endpoint or '?'} ({where}), {wait}, {rank}{restarts}"


def asked(totals: dict[str, Quantity]) -> str:
    """Accelerators first, then CPU and memory, then the rest."""
    order = sorted(totals, key=lambda n: (not is_accelerator(n), n not in ("cpu", "memory"), n))
    return ", ".join(f"{totals[name]} {name}" for name in order)


def volume_text(name: str, sort: str, source: str) -> str:
    """A volume in words, such as `data: claim datasets`."""
    words = {"memory": "shared memory", "scratch": "empty directory"}.get(sort, sort)
    return f"{name}: {words} {source}".rstrip()


def _union(parts: Iterator[list[str]]) -> list[str]:
    return list(dict.fromkeys(line for part in parts for line in part))


def service_lines(job: SimulatedJob) -> list[str]:
    """The Services that the operator makes, one line each; of very many the first."""
    services = job.expansion.services
    if len(services) > 4:
        return [f"{object_name(services[0])} .. : headless, one for each of the {job.size} pods"]
    return [_service(service) for service in services]


def _service(service: Json) -> str:
    spec = nested_map(service, "spec")
    ports = ", ".join(str(port.get("port")) for port in as_mappings(spec.get("ports")))
    early = (
        "answers before pods are ready" if spec.get("publishNotReadyAddresses") is True else "answers for ready pods"
    )
    headless = "headless, " if spec.get("clusterIP") == "None" else ""
    return f"{object_name(service)}: {headless}{early}" + (f", ports {ports}" if ports else "")


def group_lines(group: Json | None) -> list[str]:
    """The pod group in one line, or nothing."""
    if group is None:
        return []
    if group.get("missing"):
        return [f"{group.get('name')} is in no file: the pods wait until it exists"]
    least = ", ".join(f"{amount} {name}" for name, amount in sorted(as_mapping(group.get("minResources")).items()))
    only = f" (only with {group['onlyWith']})" if group.get("onlyWith") else ""
    queue = f", queue {group['queue']}" if group.get("queue") else ""
    return [f"minMember {group.get('minMember')}{queue}, minResources {least or 'none'}{only}"]


def pod_rows(job: SimulatedJob, found: JobRendezvous) -> list[list[str]]:
    """A table of the job's pods, with a heading; of each role the first pod and all others in one row."""
    return [["POD", "HOST NAME", "DNS NAME", "RANK", "QOS"], *_rows(job, {role.name for role, _ in found.roles})]


def _rows(job: SimulatedJob, trains: set[str]) -> Iterator[list[str]]:
    for role in job.roles:
        ranked = role.name in trains
        if role.count:
            yield _row(job.pod(role, 0), ranked=ranked)
        if role.count == 2:
            yield _row(job.pod(role, 1), ranked=ranked)
        if role.count > 2:
            yield [span(job, role, 1), *_others(job, role, ranked=ranked)]


def _row(pod: Pod, *, ranked: bool) -> list[str]:
    seen = pod.rendezvous
    rank = {AT_RENDEZVOUS: "at rendezvous"}.get(seen.node_rank, seen.node_rank) if ranked else "none"
    return [pod.shown, "the node's" if pod.on_host else pod.hostname or "random", pod.dns or "none", rank, pod.qos]


def _others(job: SimulatedJob, role: ExpandedRole, *, ranked: bool) -> list[str]:
    second, last = (_row(job.pod(role, i), ranked=ranked) for i in (1, role.count - 1))
    rank = second[3] if second[3] == last[3] else f"{second[3]}..{last[3]}"
    host = second[1] if second[1] == last[1] else "likewise"
    return [host, "none" if last[2] == "none" else "likewise", rank, second[4]]


def _environment(job: SimulatedJob, found: JobRendezvous) -> Iterator[str]:
    """The variables of the first training pod; the other pods by their differences."""
    lead = found.roles[0][0]
    first = job.pod(lead, 0)
    yield from env_table(first, cut=VALUE)
    unknown = dict.fromkeys(source for _, pod in job.firsts() for source in env_from(pod))
    if unknown:
        yield f"  envFrom adds the names of {', '.join(unknown)}, which only the cluster knows"
    for pods, differences in others(job, lead):
        same = "but " + ", ".join(shorten(one, 60) for one in differences) if differences else "in all"
        yield f"  {pods}: as {first.shown} {same}"


def others(job: SimulatedJob, lead: ExpandedRole) -> Iterator[tuple[str, list[str]]]:
    """The pods other than the first one of a role, role by role, and the variables in which they differ from it."""
    first = job.pod(lead, 0)
    for role in job.roles:
        start = 1 if role is lead else 0
        if role.count > start:
            yield span(job, role, start), but(ends(job, role, start), first)


def env_table(pod: Pod, *, cut: int = 0, indent: str = "  ") -> list[str]:
    """The main container's variables in order: `+` before what the operator adds, what was written behind."""
    if pod.main is None:
        return []
    if not pod.main.env:
        return [f"{indent}no variables in {pod.shown}, container {pod.main.name}"]
    rows = env_rows(pod)
    head = f"{indent}environment of {pod.shown}, container {pod.main.name}" + (
        "  (+ set by the operator)" if any(row[0] == "+" for row in rows) else ""
    )
    return [head, *table(rows, indent + "  ", cut=cut)]


def env_rows(pod: Pod) -> list[list[str]]:
    """The main container's variables: `+` where the operator adds it, name, value, how it was written."""
    added, values = injected(pod), pod.env
    return [
        ["+" if i in added else " ", str(entry.get("name") or ""), *_value(entry, values)]
        for i, entry in enumerate(pod.main.env if pod.main else ())
    ]


def _value(entry: Json, values: dict[str, str]) -> list[str]:
    """The value after expansion, and behind it what was written where that is something else."""
    name, written = str(entry.get("name") or ""), entry.get("value")
    value = values.get(name, "")
    if value == MASK:
        return [value]
    source = nested_map(entry, "valueFrom")
    if "fieldRef" in source:
        return (
            [value, f"from {nested_map(source, 'fieldRef').get('fieldPath')}"] if not value.startswith("<") else [value]
        )
    if not isinstance(written, str) or not written or written == value:
        return [value or '""']
    return [value, f"written {written}" if "$(" in written else "an earlier value; the later one wins"]


def in_full(pod: Pod, job: SimulatedJob | None = None) -> str:
    """Everything about a pod that its processes or its node can see, but for its secrets.

    `job` is its job as `hidden.shown_jobs` gives it, for a caller that shows many of its pods.
    """
    pod = shown_pod(pod, job)
    return join_printable([*_head(pod), *_rendezvous(pod), *_containers(pod)])


def _head(pod: Pod) -> Iterator[str]:
    view = pod.view
    yield f"Pod/{pod.shown}  ({pod.role} {pod.index} of {pod.job.title}, namespace {view.namespace})"
    yield from with_label("made by", [owner_of(pod)])
    yield from with_label("host name", ["the node's (hostNetwork)" if pod.on_host else pod.hostname or "random"])
    yield from with_label("DNS name", [pod.dns or "none: no Service gives it one"])
    yield from with_label("asks for", [asked(pod.requests) or "nothing"])
    yield from with_label("QoS class", [pod.qos])
    yield from with_label("restarts", [f"restartPolicy {view.restart_policy}"])
    yield from with_label("node", list(node_requirements(view.spec)))
    yield from with_label("volumes", [volume_text(*one) for one in claims(view.spec)])
    yield from with_label("labels", [f"{k}={v}" for k, v in view.labels.items()])
    yield from with_label("annotations", [f"{k}={v}" for k, v in view.annotations.items()])


def _rendezvous(pod: Pod) -> Iterator[str]:
    seen, found = pod.rendezvous, job_rendezvous(pod.job)
    yield ""
    yield "  rendezvous, as this pod sees it"
    answer = found.host if found and found.first.endpoint == seen.endpoint else None
    pairs = {
        "launcher": seen.launcher,
        "backend": seen.backend,
        "endpoint": f"{seen.endpoint or 'none'}" + (f" ({answer})" if answer else ""),
        "nodes": seen.nodes_text,
        "node rank": seen.node_rank,
        "processes": seen.processes_text,
        "world size": seen.world_text,
        "restarts": seen.max_restarts,
    }
    if seen.node_rank.isdigit() and seen.processes and seen.backend != AT_RENDEZVOUS:
        first = int(seen.node_rank) * seen.processes
        pairs["ranks"] = str(first) if seen.processes == 1 else f"{first} to {first + seen.processes - 1}"
    for label, value in pairs.items():
        yield from with_label(label, [value], "    ")
    yield from with_label("notes", list(seen.notes), "    ")


def _containers(pod: Pod) -> Iterator[str]:
    main = pod.main
    for container in pod.containers:
        yield ""
        sort = "init container" if container.init else "container"
        yield f"  {sort} {container.name}" + ("  (trains)" if container == main else "")
        yield from with_label("image", [container.image or "none"], "    ")
        yield from _line(pod, container)
        yield from with_label("ports", [_port(port) for port in container.ports], "    ")
        for kind in ("requests", "limits"):
            amounts = [f"{amount} {name}" for name, amount in nested_map(container.resources, kind).items()]
            yield from with_label(kind, [", ".join(amounts)] if amounts else [], "    ")
        mounts = [f"{as_string(m.get('mountPath'))} from {as_string(m.get('name'))}" for m in container.mounts]
        yield from with_label("mounts", mounts, "    ")
        if container == main:
            yield from with_label("env from", env_from(pod), "    ")
            yield from env_table(pod, indent="    ")
        else:
            values = kubelet.environment(container, pod.view)
            yield from with_label("env", [f"{name}={value}" for name, value in values.items()], "    ")


def _line(pod: Pod, container: ContainerView) -> Iterator[str]:
    """Command and arguments after expansion, and as they are written where that is something else."""
    expanded = kubelet.command_line(container, kubelet.environment(container, pod.view))
    for label, words, written in zip(("command", "args"), expanded, (container.command, container.args), strict=True):
        if words is None or written is None:
            continue
        yield from with_label(label, [shell_quote(words)], "    ")
        if tuple(words) != written:
            yield from with_label("  as written", [shell_quote(written)], "    ")
    if container.command is None:
        yield from with_label("command", ["the image's own"], "    ")


def _port(port: Json) -> str:
    name = as_string(port.get("name"))
    return f"{port.get('containerPort')}/{as_string(port.get('protocol')) or 'TCP'}" + (f" ({name})" if name else "")


def env_file(pod: Pod) -> str:
    """The main container's variables for `docker run --env-file`: values as they are, without quotes.

    What no manifest holds (a Secret's value, a pod's IP), and what such a file cannot say (line breaks), is a comment.
    """
    lines = [f"# {pod.shown}: container {pod.main.name if pod.main else '(none)'} of {pod.job.title}"]
    lines += [f"# all of {source}" for source in env_from(pod)]
    lines += _env_lines(pod)
    return join_printable(lines)


def _env_lines(pod: Pod) -> Iterator[str]:
    values, found, unknown = pod.env, _configmaps(pod), set[str]()
    entries = {as_string(entry.get("name")): entry for entry in (pod.main.env if pod.main else ())}
    for name, value in values.items():
        shown = env_entry(entries[name])
        source = as_string(shown.get("from"))
        known = found.get(source)
        if known is not None:
            value = known
        elif "value" not in shown and value.startswith("<"):
            unknown.add(name)
            yield f"# {name}: {value.strip('<>')}"
            continue
        if any(f"$({other})" in as_string(shown.get("value")) for other in unknown):
            unknown.add(name)
            yield f"# {name}: {value}"
        elif not name or "\n" in value or "\r" in value or any(c.isspace() or c == "=" for c in name):
            yield f"# {name}: {value!r} cannot be written to such a file"
        else:
            yield f"{name}={value}"


def _configmaps(pod: Pod) -> dict[str, str]:
    """The values of ConfigMaps that the stream or the operator holds, as `configmap:NAME/KEY`."""
    maps = [one for one in pod.job.given if kind_of(one) == ("v1", "ConfigMap")]
    made = pod.job.expansion.configmaps
    return {
        f"configmap:{object_name(one)}/{key}": value
        for one in (*made, *maps)
        for key, value in string_map(as_mapping(one).get("data")).items()
    }
