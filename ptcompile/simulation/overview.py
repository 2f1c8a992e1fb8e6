"""A world for people: a paragraph a job, a table of its pods, the variables of the first one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.untyped import at, items, kind_of, mapping, object_name
from ptcompile.operators.pods import Role
from ptcompile.secrets.names import HIDDEN
from ptcompile.simulation import folding
from ptcompile.simulation.amounts import is_accelerator
from ptcompile.simulation.as_json import env_from, node_requirements
from ptcompile.simulation.claims import claim_text, device_claims
from ptcompile.simulation.hidden import shown_jobs
from ptcompile.simulation.job import Job
from ptcompile.simulation.layout import finished, labelled, quoted, shortened, table
from ptcompile.simulation.meeting import Meeting, claims, meeting
from ptcompile.simulation.pod import Pod
from ptcompile.simulation.rendezvous import AT_RENDEZVOUS
from ptcompile.simulation.world import World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json

VALUE = 96
"""Characters of a value that the overview shows; --pod shows all."""


def overview(world: World) -> str:
    """All jobs of a world; wide roles folded, secrets hidden."""
    blocks = [list(_job(job)) for job in shown_jobs(world.jobs)]
    lines = [line for i, block in enumerate(blocks) for line in ([""] if i else []) + block]
    if world.skipped:
        lines += ["" * bool(lines), f"makes no pods: {', '.join(world.skipped)}"]
    return finished(lines)


def _job(job: Job) -> Iterator[str]:
    target = f", target {job.target}" if job.target else ""
    yield f"{job.title}  ({kind_of(job.manifest)[0]}, namespace {job.namespace}{target})"
    found = meeting(job)
    for label, lines in facts(job, found):
        yield from labelled(label, lines)
    if found is not None:
        yield ""
        yield from table(pod_rows(job, found), cut=80)
        yield ""
        yield from _environment(job, found)


def facts(job: Job, found: Meeting | None) -> Iterator[tuple[str, Sequence[str]]]:
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


def _pods(job: Job) -> str:
    roles = ", ".join(f"{role.count} {role.name}" for role in job.roles)
    return f"{job.size} ({roles})" if len(job.roles) > 1 else f"{job.size}"


def _meeting(found: Meeting) -> Iterator[tuple[str, Sequence[str]]]:
    first = found.first
    each = f"{found.nodes} {'pod' if found.nodes == 1 else 'pods'} with {first.processes_text} each"
    yield "processes", [f"{found.processes_text} in all: {each}"]
    yield "rendezvous", [rendezvous_text(found)]


def _runs_lines(job: Job) -> list[str]:
    runs = {role.name: _runs(pod) for role, pod in job.firsts()}
    same = len(set(runs.values())) == 1
    return list(runs.values())[:1] if same else [f"{name}: {line}" for name, line in runs.items()]


def _runs(pod: Pod) -> str:
    """The command line with its variables as they are written: it differs by their values alone."""
    main, launch = pod.main, pod.launch
    words = [*(main.command or ()), *(main.args or ())] if main else []
    shown = shortened(quoted(words), 160) if words else "the image's own command"
    return shown + (f"  ({launch.launcher} in a shell)" if launch.in_shell and launch.launcher != "command" else "")


def rendezvous_text(found: Meeting) -> str:
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


def service_lines(job: Job) -> list[str]:
    """The Services that the operator makes, one line each; of very many the first."""
    services = job.expansion.services
    if len(services) > 4:
        return [f"{object_name(services[0])} .. : headless, one for each of the {job.size} pods"]
    return [_service(service) for service in services]


def _service(service: Json) -> str:
    spec = at(service, "spec")
    ports = ", ".join(str(port.get("port")) for port in items(spec.get("ports")))
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
    least = ", ".join(f"{amount} {name}" for name, amount in sorted(mapping(group.get("minResources")).items()))
    only = f" (only with {group['onlyWith']})" if group.get("onlyWith") else ""
    queue = f", queue {group['queue']}" if group.get("queue") else ""
    return [f"minMember {group.get('minMember')}{queue}, minResources {least or 'none'}{only}"]


def pod_rows(job: Job, found: Meeting) -> list[list[str]]:
    """A table of the job's pods, with a heading; of each role the first pod and all others in one row."""
    return [["POD", "HOST NAME", "DNS NAME", "RANK", "QOS"], *_rows(job, {role.name for role, _ in found.roles})]


def _rows(job: Job, trains: set[str]) -> Iterator[list[str]]:
    for role in job.roles:
        ranked = role.name in trains
        if role.count:
            yield _row(job.pod(role, 0), ranked=ranked)
        if role.count == 2:
            yield _row(job.pod(role, 1), ranked=ranked)
        if role.count > 2:
            yield [folding.span(job, role, 1), *_others(job, role, ranked=ranked)]


def _row(pod: Pod, *, ranked: bool) -> list[str]:
    seen = pod.rendezvous
    rank = {AT_RENDEZVOUS: "at rendezvous"}.get(seen.node_rank, seen.node_rank) if ranked else "none"
    return [pod.shown, "the node's" if pod.on_host else pod.hostname or "random", pod.dns or "none", rank, pod.qos]


def _others(job: Job, role: Role, *, ranked: bool) -> list[str]:
    second, last = (_row(job.pod(role, i), ranked=ranked) for i in (1, role.count - 1))
    rank = second[3] if second[3] == last[3] else f"{second[3]}..{last[3]}"
    host = second[1] if second[1] == last[1] else "likewise"
    return [host, "none" if last[2] == "none" else "likewise", rank, second[4]]


def _environment(job: Job, found: Meeting) -> Iterator[str]:
    """The variables of the first training pod; the other pods by their differences."""
    lead = found.roles[0][0]
    first = job.pod(lead, 0)
    yield from env_table(first, cut=VALUE)
    unknown = dict.fromkeys(source for _, pod in job.firsts() for source in env_from(pod))
    if unknown:
        yield f"  envFrom adds the names of {', '.join(unknown)}, which only the cluster knows"
    for pods, differences in others(job, lead):
        same = "but " + ", ".join(shortened(one, 60) for one in differences) if differences else "in all"
        yield f"  {pods}: as {first.shown} {same}"


def others(job: Job, lead: Role) -> Iterator[tuple[str, list[str]]]:
    """The pods other than the first one of a role, role by role, and the variables in which they differ from it."""
    first = job.pod(lead, 0)
    for role in job.roles:
        start = 1 if role is lead else 0
        if role.count > start:
            yield folding.span(job, role, start), folding.but(folding.ends(job, role, start), first)


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
    added, values = folding.injected(pod), pod.env
    return [
        ["+" if i in added else " ", str(entry.get("name") or ""), *_value(entry, values)]
        for i, entry in enumerate(pod.main.env if pod.main else ())
    ]


def _value(entry: Json, values: dict[str, str]) -> list[str]:
    """The value after expansion, and behind it what was written where that is something else."""
    name, written = str(entry.get("name") or ""), entry.get("value")
    value = values.get(name, "")
    if value == HIDDEN:
        return [value]
    source = at(entry, "valueFrom")
    if "fieldRef" in source:
        return [value, f"from {at(source, 'fieldRef').get('fieldPath')}"] if not value.startswith("<") else [value]
    if not isinstance(written, str) or not written or written == value:
        return [value or '""']
    return [value, f"written {written}" if "$(" in written else "an earlier value; the later one wins"]
