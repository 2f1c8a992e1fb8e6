"""Comparison of two simulated jobs: number of pods, resources, rendezvous, and what rank 0 and a
worker see.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import pluralize
from ptcompile.diagnostics.codes import CODES
from ptcompile.differ.model import Fact
from ptcompile.kubernetes import amounts
from ptcompile.kubernetes.amounts import is_accelerator
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.unstructured import kind_of, without_keys
from ptcompile.report.layout import shell_quote
from ptcompile.shell.calls import single_command
from ptcompile.simulator.as_json import env_sources, node_requirements
from ptcompile.simulator.as_text import pod_group_lines, service_lines, volume_text
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.launchers.command import entry_arguments
from ptcompile.simulator.launchers.rendezvous import DEFAULTS
from ptcompile.simulator.pod import Pod
from ptcompile.simulator.rendezvous import JobRendezvous, volume_sources

MAX_ARGUMENTS = 200
"""Number of arguments above which command lines are shown whole."""

_RANK_0_AND_WORKERS = "rank 0 and workers"


class WorldComparison(NamedTuple):
    """What two simulated jobs have in common, in words, and how they differ."""

    same: tuple[str, ...]
    facts: tuple[Fact, ...]


class _FactRow(NamedTuple):
    """One property of both sides; `same_text` describes it if both sides are equal."""

    what: str
    before: str | None
    after: str | None
    same_text: str = ""


def compare_worlds(old: SimulatedJob, new: SimulatedJob) -> WorldComparison:
    """Return what two simulated jobs have in common and how they differ."""
    old_rendezvous = old.rendezvous
    new_rendezvous = new.rendezvous
    rows = [*_job_rows(old, new), *_rendezvous_rows(old_rendezvous, new_rendezvous)]
    for name, before, after in _compare_quantities(old.totals(), new.totals()):
        rows.append(_FactRow(f"{name} in all", before, after, f"{before} {name}"))
    same = tuple(row.same_text for row in rows if row.before == row.after and row.same_text)
    facts = [
        Fact("job", row.what, row.before, row.after) for row in rows if row.before != row.after
    ]
    facts += _sentence_facts(old, new)
    facts += _node_facts(_sample_nodes(old, old_rendezvous), _sample_nodes(new, new_rendezvous))
    facts += _auxiliary_facts(
        _auxiliary_pods(old, old_rendezvous), _auxiliary_pods(new, new_rendezvous)
    )

    return WorldComparison(same, tuple(facts))


def _job_rows(old: SimulatedJob, new: SimulatedJob) -> Iterator[_FactRow]:
    for what, x, y in (
        ("kind", " ".join(kind_of(old.manifest)), " ".join(kind_of(new.manifest))),
        ("name", old.name, new.name),
        ("namespace", old.namespace, new.namespace),
    ):
        yield _FactRow(what, x, y)
    yield _FactRow("pods", str(old.size), str(new.size), pluralize(old.size, "pod"))


def _rendezvous_rows(a: JobRendezvous | None, b: JobRendezvous | None) -> Iterator[_FactRow]:
    if a is None or b is None:
        return

    x = a.first
    y = b.first
    yield _FactRow(
        "processes", a.processes_text, b.processes_text, f"processes: {a.processes_text}"
    )
    yield _FactRow("nodes", x.nodes_text, y.nodes_text)
    yield _FactRow("started by", x.launcher, y.launcher, f"started by {x.launcher}")
    yield _FactRow("rendezvous", x.backend, y.backend, f"rendezvous {x.backend}")
    yield _FactRow("rendezvous at", x.endpoint or None, y.endpoint or None)
    yield _FactRow("torchrun's restarts", x.max_restarts, y.max_restarts)


def _compare_quantities(
    a: dict[str, Quantity], b: dict[str, Quantity]
) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield quantities by name, accelerators first; equal quantities get the same text."""
    for name in sorted(
        {*a, *b}, key=lambda n: (not is_accelerator(n), n not in ("cpu", "memory"), n)
    ):
        x = a.get(name)
        y = b.get(name)
        after = x if x == y else y
        yield name, None if x is None else str(x), None if after is None else str(after)


def _sentence_facts(old: SimulatedJob, new: SimulatedJob) -> Iterator[Fact]:
    """Yield the sentences of one side that the other does not have. The first are about what
    certainly keeps its training pods from meeting.
    """
    yield from _one_sided_texts(
        "job", "rendezvous fails", _obstacle_texts(old), _obstacle_texts(new)
    )
    for what, x, y in (
        ("service", service_lines(old), service_lines(new)),
        ("pod group", pod_group_lines(old.pod_group), pod_group_lines(new.pod_group)),
        ("on failure", old.failure, new.failure),
        ("note", old.notes, new.notes),
        ("refused", old.expansion.refused, new.expansion.refused),
    ):
        yield from _one_sided_facts("job", what, x, y)


def _obstacle_texts(job: SimulatedJob) -> dict[str, str]:
    """Return the sentence of each certain obstacle with the code of its lint rule, by its name."""
    texts: dict[str, str] = {}
    for obstacle in job.obstacles:
        if obstacle.is_certain:
            code = CODES.get(obstacle.name)
            texts[obstacle.name] = f"{obstacle.sentence} ({code})" if code else obstacle.sentence
    return texts


def _one_sided_facts(subject: str, what: str, x: Iterable[str], y: Iterable[str]) -> Iterator[Fact]:
    yield from _one_sided_texts(
        subject, what, {line: line for line in x}, {line: line for line in y}
    )


def _one_sided_texts(
    subject: str, what: str, before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[Fact]:
    """Yield the texts whose key only one side has."""
    yield from (Fact(subject, what, text, None) for key, text in before.items() if key not in after)
    yield from (Fact(subject, what, None, text) for key, text in after.items() if key not in before)


def _sample_nodes(job: SimulatedJob, rendezvous: JobRendezvous | None) -> list[Pod]:
    """Return node 0 and the first other node; all further nodes differ from that one only in their
    index.
    """
    roles = [role for role, _ in rendezvous.roles] if rendezvous is not None else []
    return [job.pod(role, i) for role in roles for i in range(min(role.count, 2))][:2]


def _auxiliary_pods(job: SimulatedJob, rendezvous: JobRendezvous | None) -> dict[str, Pod]:
    """Return the first pod of each auxiliary role, by role name."""
    training = rendezvous.role_names if rendezvous is not None else set()
    return {role.name: pod for role, pod in job.first_pods if role.name not in training}


def _node_facts(a: list[Pod], b: list[Pod]) -> Iterator[Fact]:
    """Yield the facts of rank 0 and of a worker; a difference that both share appears once."""
    if not a or not b:
        return

    first = list(_pod_facts("rank 0", a[0], b[0]))
    if len(a) < 2 or len(b) < 2:
        yield from first
        return

    second = list(_pod_facts("workers", a[1], b[1]))
    alike = {fact[1:] for fact in first} & {fact[1:] for fact in second}
    yield from (fact._replace(subject=_RANK_0_AND_WORKERS) for fact in first if fact[1:] in alike)
    yield from (fact for fact in (*first, *second) if fact[1:] not in alike)


def _auxiliary_facts(a: dict[str, Pod], b: dict[str, Pod]) -> Iterator[Fact]:
    for name in dict.fromkeys((*a, *b)):
        if name in a and name in b:
            yield from _pod_facts(f"role {name}", a[name], b[name])
        else:
            before, after = ("there" if name in side else None for side in (a, b))
            yield Fact(f"role {name}", "pods", before, after)


def _pod_facts(subject: str, old: Pod, new: Pod) -> Iterator[Fact]:
    """Yield the differences between two pods: what they run, what they see and where they may be
    placed.
    """
    for what, x, y in (
        ("host name", old.hostname, new.hostname),
        ("DNS name", old.dns, new.dns),
        ("image", old.main and old.main.image, new.main and new.main.image),
        ("restartPolicy", old.view.restart_policy, new.view.restart_policy),
        ("QoS class", old.qos, new.qos),
    ):
        if x != y:
            yield Fact(subject, what, x or None, y or None)

    yield from _command_facts(subject, old, new)
    for kind in ("requests", "limits"):
        for name, before, after in _compare_quantities(
            _main_resources(old, kind), _main_resources(new, kind)
        ):
            if before != after:
                yield Fact(subject, f"{kind} {name}", before, after)

    yield from _env_facts(subject, old, new)
    yield from _one_sided_facts(subject, "env from", env_sources(old), env_sources(new))
    yield from _one_sided_facts(
        subject, "node", node_requirements(old.view.spec), node_requirements(new.view.spec)
    )
    yield from _one_sided_facts(subject, "volume", _volume_texts(old), _volume_texts(new))


def _main_resources(pod: Pod, kind: str) -> dict[str, Quantity]:
    """Return resources of the main container; an unset request equals the limit."""
    if kind == "requests":
        return amounts.container_requests(pod.resources)
    return amounts.quantities_of(pod.resources, kind)


def _volume_texts(pod: Pod) -> list[str]:
    return [volume_text(*claim) for claim in volume_sources(pod.view.spec)]


def _command_line(pod: Pod) -> list[str]:
    """Return the unexpanded command line; it reveals no variable's value."""
    return pod.main.argv if pod.main else []


def _command_facts(subject: str, old: Pod, new: Pod) -> Iterator[Fact]:
    """Yield the arguments that were removed, added or replaced."""
    x = _command_line(old)
    y = _command_line(new)
    if x != y and _start_alike(old, new):
        # spelled differently, but torchrun reads the same settings
        return
    if not x or not y or len(x) + len(y) > MAX_ARGUMENTS:
        if x != y:
            yield Fact(subject, "command", shell_quote(x) or None, shell_quote(y) or None)
        return

    for tag, i, j, k, m in SequenceMatcher(None, x, y, autojunk=False).get_opcodes():
        if tag != "equal":
            yield Fact(subject, "command", shell_quote(x[i:j]) or None, shell_quote(y[k:m]) or None)


def _start_alike(old: Pod, new: Pod) -> bool:
    """Return whether torchrun starts the same processes in both pods."""
    settings = _torchrun_settings(old)
    return settings is not None and settings == _torchrun_settings(new)


def _torchrun_settings(pod: Pod) -> tuple[object, ...] | None:
    """Return torchrun's settings in a pod and the script it starts, or None if the pod runs
    something else or more.
    """
    launch = pod.launch
    shell_does_more = launch.in_shell and single_command(pod.argv) is None
    if launch.launcher != "torchrun" or shell_does_more:
        return None

    other_options = without_keys(launch.options, *DEFAULTS, "module", "standalone")
    rendezvous = pod.rendezvous
    options = {
        name: value
        for name, value in rendezvous.options.items()
        if name != "nnodes" or rendezvous.nodes is None
    }

    return options, rendezvous.nodes, other_options, entry_arguments(launch)


_OVERWRITTEN_VARIABLES = frozenset({"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"})


def is_for_torchrun(variable: str) -> bool:
    """Return whether only torchrun reads a variable, or torchrun overwrites it for its processes
    (PyTorch 2.13).
    """
    return variable in _OVERWRITTEN_VARIABLES or variable.startswith("PET_")


def _env_facts(subject: str, old: Pod, new: Pod) -> Iterator[Fact]:
    """Yield the variables that differ, without those that only torchrun reads or that it
    overwrites.
    """
    x = old.env
    y = new.env
    changed = [name for name in dict.fromkeys((*x, *y)) if x.get(name) != y.get(name)]
    starts_alike = any(map(is_for_torchrun, changed)) and _start_alike(old, new)
    for name in changed:
        if not (starts_alike and is_for_torchrun(name)):
            yield Fact(subject, f"env {name}", x.get(name), y.get(name))
