"""Two jobs as their pods would live: how many, what they ask for, where they meet, what rank 0 and a worker see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.differ.model import Fact
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.report.layout import shell_quote
from ptcompile.simulator import amounts
from ptcompile.simulator.amounts import is_accelerator
from ptcompile.simulator.as_json import env_from, node_requirements
from ptcompile.simulator.as_text import group_lines, service_lines, volume_text
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.launchers.command import entry_words
from ptcompile.simulator.launchers.rendezvous import DEFAULTS
from ptcompile.simulator.launchers.shell import one_command
from ptcompile.simulator.meeting import JobRendezvous, claims, job_rendezvous
from ptcompile.simulator.pod import Pod

WORDS = 200
"""A command line of more words is shown whole."""

_BOTH = "rank 0 and workers"


class WorldComparison(NamedTuple):
    """What two jobs have in common, in words, and what not."""

    same: tuple[str, ...]
    facts: tuple[Fact, ...]


class _Row(NamedTuple):
    """One thing of both sides; `said` is how it reads where it is the same."""

    what: str
    before: str | None
    after: str | None
    said: str = ""


def compare_worlds(one: SimulatedJob, other: SimulatedJob) -> WorldComparison:
    """What is the same and what differs between the worlds of two jobs."""
    first, second = job_rendezvous(one), job_rendezvous(other)
    rows = [*_head(one, other), *_together(first, second), *_totals(one, other)]
    same = tuple(row.said for row in rows if row.before == row.after and row.said)
    facts = [Fact("job", row.what, row.before, row.after) for row in rows if row.before != row.after]
    facts += _lists(one, other)
    facts += _training(_ranks(one, first), _ranks(other, second))
    facts += _others(_apart(one, first), _apart(other, second))
    return WorldComparison(same, tuple(facts))


def _head(one: SimulatedJob, other: SimulatedJob) -> Iterator[_Row]:
    for what, x, y in (
        ("kind", " ".join(kind_of(one.manifest)), " ".join(kind_of(other.manifest))),
        ("name", one.name, other.name),
        ("namespace", one.namespace, other.namespace),
    ):
        yield _Row(what, x, y)
    yield _Row("pods", str(one.size), str(other.size), f"{one.size} pod{'' if one.size == 1 else 's'}")


def _together(a: JobRendezvous | None, b: JobRendezvous | None) -> Iterator[_Row]:
    if a is None or b is None:
        return
    x, y = a.first, b.first
    yield _Row("processes", a.processes_text, b.processes_text, f"processes: {a.processes_text}")
    yield _Row("nodes", x.nodes_text, y.nodes_text)
    yield _Row("started by", x.launcher, y.launcher, f"started by {x.launcher}")
    yield _Row("rendezvous", x.backend, y.backend, f"rendezvous {x.backend}")
    yield _Row("rendezvous at", x.endpoint or None, y.endpoint or None)
    yield _Row("torchrun's restarts", x.max_restarts, y.max_restarts)


def _totals(one: SimulatedJob, other: SimulatedJob) -> Iterator[_Row]:
    for name, before, after in _amounts(one.totals(), other.totals()):
        yield _Row(f"{name} in all", before, after, f"{before} {name}")


def _amounts(a: dict[str, Quantity], b: dict[str, Quantity]) -> Iterator[tuple[str, str | None, str | None]]:
    """Amounts by name, the same text for the same amount: accelerators, CPU and memory, the rest."""
    for name in sorted({*a, *b}, key=lambda n: (not is_accelerator(n), n not in ("cpu", "memory"), n)):
        x, y = a.get(name), b.get(name)
        after = x if x == y else y
        yield name, None if x is None else str(x), None if after is None else str(after)


def _lists(one: SimulatedJob, other: SimulatedJob) -> Iterator[Fact]:
    """What each side says in sentences: those that only one of them has."""
    for what, x, y in (
        ("service", service_lines(one), service_lines(other)),
        ("pod group", group_lines(one.pod_group), group_lines(other.pod_group)),
        ("on failure", one.failure, other.failure),
        ("note", one.notes, other.notes),
        ("refused", one.expansion.refused, other.expansion.refused),
    ):
        yield from _only("job", what, x, y)


def _only(subject: str, what: str, x: Iterable[str], y: Iterable[str]) -> Iterator[Fact]:
    before, after = dict.fromkeys(x), dict.fromkeys(y)
    yield from (Fact(subject, what, line, None) for line in before if line not in after)
    yield from (Fact(subject, what, None, line) for line in after if line not in before)


def _ranks(job: SimulatedJob, found: JobRendezvous | None) -> list[Pod]:
    """The first training pod, and the first of those that follow: the others differ from it by their index alone."""
    roles = [role for role, _ in found.roles] if found is not None else []
    return [job.pod(role, i) for role in roles for i in range(min(role.count, 2))][:2]


def _apart(job: SimulatedJob, found: JobRendezvous | None) -> dict[str, Pod]:
    """The first pods of the roles that do not train, by role."""
    training = {role.name for role, _ in found.roles} if found is not None else set()
    return {role.name: pod for role, pod in job.firsts() if role.name not in training}


def _training(a: list[Pod], b: list[Pod]) -> Iterator[Fact]:
    """Rank 0 and a worker; what differs alike in both is said once."""
    if not a or not b:
        return
    first = list(_pod("rank 0", a[0], b[0]))
    if len(a) < 2 or len(b) < 2:
        yield from first
        return
    second = list(_pod("workers", a[1], b[1]))
    alike = {fact[1:] for fact in first} & {fact[1:] for fact in second}
    yield from (fact._replace(subject=_BOTH) for fact in first if fact[1:] in alike)
    yield from (fact for fact in (*first, *second) if fact[1:] not in alike)


def _others(a: dict[str, Pod], b: dict[str, Pod]) -> Iterator[Fact]:
    for name in dict.fromkeys((*a, *b)):
        if name in a and name in b:
            yield from _pod(f"role {name}", a[name], b[name])
        else:
            before, after = ("there" if name in side else None for side in (a, b))
            yield Fact(f"role {name}", "pods", before, after)


def _pod(subject: str, one: Pod, other: Pod) -> Iterator[Fact]:
    """What two pods have that is not the same: what they run, what they see, where they may live."""
    for what, x, y in (
        ("host name", one.hostname, other.hostname),
        ("DNS name", one.dns, other.dns),
        ("image", one.main and one.main.image, other.main and other.main.image),
        ("restartPolicy", one.view.restart_policy, other.view.restart_policy),
        ("QoS class", one.qos, other.qos),
    ):
        if x != y:
            yield Fact(subject, what, x or None, y or None)
    yield from _command(subject, one, other)
    for kind in ("requests", "limits"):
        for name, before, after in _amounts(_asked(one, kind), _asked(other, kind)):
            if before != after:
                yield Fact(subject, f"{kind} {name}", before, after)
    yield from _env(subject, one, other)
    yield from _only(subject, "env from", env_from(one), env_from(other))
    yield from _only(subject, "node", node_requirements(one.view.spec), node_requirements(other.view.spec))
    yield from _only(subject, "volume", _volumes(one), _volumes(other))


def _asked(pod: Pod, kind: str) -> dict[str, Quantity]:
    """Of the main container; a request that is not written is the limit."""
    return amounts.requests(pod.resources) if kind == "requests" else amounts.amounts(pod.resources, kind)


def _volumes(pod: Pod) -> list[str]:
    return [volume_text(*one) for one in claims(pod.view.spec)]


def _words(pod: Pod) -> list[str]:
    """The command line as it is written, so that no value of a variable shows."""
    return [*(pod.main.command or ()), *(pod.main.args or ())] if pod.main else []


def _command(subject: str, one: Pod, other: Pod) -> Iterator[Fact]:
    """The words of the command line that were taken out, put in, or replaced."""
    x, y = _words(one), _words(other)
    if x != y and (start := _torchrun(one)) is not None and start == _torchrun(other):
        return  # spelt differently, and torchrun holds the same
    if not x or not y or len(x) + len(y) > WORDS:
        if x != y:
            yield Fact(subject, "command", shell_quote(x) or None, shell_quote(y) or None)
        return
    for sort, i, j, k, m in SequenceMatcher(None, x, y, autojunk=False).get_opcodes():
        if sort != "equal":
            yield Fact(subject, "command", shell_quote(x[i:j]) or None, shell_quote(y[k:m]) or None)


def _torchrun(pod: Pod) -> tuple[object, ...] | None:
    """All that torchrun holds in a pod, and what it starts; None where something else starts, or more than it."""
    launch = pod.launch
    shell_does_more = launch.in_shell and one_command([*(pod.command or ()), *(pod.args or ())]) is None
    if launch.launcher != "torchrun" or shell_does_more:
        return None
    others = {name: value for name, value in launch.options.items() if name not in (*DEFAULTS, "module", "standalone")}
    seen = pod.rendezvous
    held = {name: value for name, value in seen.options.items() if name != "nnodes" or seen.nodes is None}
    return held, seen.nodes, others, entry_words(launch)


def _env(subject: str, one: Pod, other: Pod) -> Iterator[Fact]:
    x, y = one.env, other.env
    for name in dict.fromkeys((*x, *y)):
        if x.get(name) != y.get(name):
            yield Fact(subject, f"env {name}", x.get(name), y.get(name))
