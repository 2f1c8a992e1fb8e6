"""Wide roles in a few words: all pods are as the first one, but for what counts on with their index."""

from __future__ import annotations

from ptcompile.operators.pods import Role
from ptcompile.simulation.job import Job
from ptcompile.simulation.pod import Pod


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


def ends(job: Job, role: Role, start: int) -> list[Pod]:
    """The first two pods and the last one of a role from an index on."""
    return [job.pod(role, i) for i in sorted({start, min(start + 1, role.count - 1), role.count - 1})]


def _only_by_env(pod: Pod, like: Pod) -> bool:
    """Whether two command lines are written alike, and differ by the values of variables alone."""
    one, other = pod.main, like.main
    return one is not None and other is not None and (one.command, one.args) == (other.command, other.args)


def span(job: Job, role: Role, start: int) -> str:
    """`job-worker-1..job-worker-254`, the random parts marked."""
    first, last = job.pod(role, start), job.pod(role, role.count - 1)
    return first.shown if start == role.count - 1 else f"{first.shown} .. {last.shown}"


def injected(pod: Pod) -> frozenset[int]:
    """Which of the main container's env entries, by position, stand in no manifest: the operator adds them."""
    entries = pod.main.env if pod.main else ()
    return frozenset(i for i, entry in enumerate(entries) if not pod.job.given.writes(entry))
