"""What the processes of each pod will see in an environment variable, as `simulate` says it."""

from __future__ import annotations

from typing import Final

from ptcompile.server.document import Object, Open
from ptcompile.simulation.hidden import shown_jobs
from ptcompile.simulation.job import Job
from ptcompile.simulation.pod import Pod
from ptcompile.simulation.rendezvous import AT_RENDEZVOUS

_MOST: Final = 8
"""Pods of a role that have a line of their own."""
_TORCHRUN: Final = frozenset({"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"})
"""Variables that torchrun sets for each process (torch/distributed/elastic/agent/server/local_elastic_agent.py)."""


def seen_by_pods(opened: Open, one: Object, name: str) -> str:
    """A table of the pods of an object and the variable's value in each, as Markdown; empty where it has no pods."""
    jobs = shown_jobs(opened.jobs.get((one.document.index, one.under), []))
    rows = [row for job in jobs for row in _rows(job, name)]
    if not rows:
        return ""
    values = {value for _, value in rows}
    total = sum(job.size for job in jobs)
    if len(values) == 1 and len(rows) > 1:
        return f"**{name}** is {_code(values.pop())} in {_all(total)}"
    table = [f"| `{pod}` | {_code(value)} |" for pod, value in rows]
    left = total - len(rows)
    more = [f"| and {left} more | |"] if left > 0 else []
    return "\n".join([f"| Pod | {name} |", "|---|---|", *table, *more])


def _all(total: int) -> str:
    return "both pods" if total == 2 else f"all {total} pods"


def _rows(job: Job, name: str) -> list[tuple[str, str | None]]:
    found: list[tuple[str, str | None]] = []
    for role in job.roles:
        indexes = range(role.count) if role.count <= _MOST else (*range(_MOST - 1), role.count - 1)
        for index in indexes:
            pod = job.pod(role, index)
            found.append((pod.shown, _value(pod, name)))
    return found if any(value is not None for _, value in found) else []


def _value(pod: Pod, name: str) -> str | None:
    """The value in the processes of a pod; None where there is no such variable."""
    if name in _TORCHRUN and pod.rendezvous.launcher == "torchrun" and (value := _by_torchrun(pod, name)):
        return value
    return pod.env.get(name)


def _by_torchrun(pod: Pod, name: str) -> str | None:
    """What torchrun sets for the processes of a pod."""
    seen = pod.rendezvous
    if name == "WORLD_SIZE":
        return seen.world_text
    if name == "LOCAL_WORLD_SIZE":
        return seen.processes_text
    if seen.processes is None:
        return None
    if name == "LOCAL_RANK":
        return _range(0, seen.processes)
    if name == "RANK":
        fixed = seen.node_rank.isdigit()
        return _range(int(seen.node_rank) * seen.processes, seen.processes) if fixed else AT_RENDEZVOUS
    if seen.backend != "static":
        return AT_RENDEZVOUS
    return seen.host if name == "MASTER_ADDR" else seen.endpoint.rpartition(":")[2]


def _range(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first} to {first + count - 1}"


def _code(value: str | None) -> str:
    if value is None:
        return "not set"
    short = value if len(value) <= 120 else f"{value[:117]}..."
    return "`" + short.replace("`", "'").replace("|", "\\|").replace("\n", "\\n") + "`"
