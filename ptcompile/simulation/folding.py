"""Wide roles in a few words: all pods are as the first one, but for what counts on with their index."""

from __future__ import annotations

from ptcompile.expand import Role
from ptcompile.plain import Json, at, items
from ptcompile.simulation.world import Job, Pod


def but(pod: Pod, like: Pod, last: Pod | None = None) -> list[str]:
    """The variables in which pods differ from another one, as `RANK=1`, or `RANK=2..255` for a run of them.

    `last` is the end of the run that begins with `pod`.
    """
    base, env = like.env, pod.env
    ends = env if last is None else last.env
    out = [f"without {name}" for name in base if name not in env]
    steps = 0 if last is None else last.index - pod.index
    out += [
        f"{name}={_run(value, ends.get(name, ''), steps)}"
        for name, value in env.items()
        if not base.get(name) == value == ends.get(name)
    ]
    if (pod.command, pod.args) != (like.command, like.args) and not _only_by_env(pod, like):
        out.append("another command")
    if pod.requests != like.requests:
        out.append("other resources")
    return out


def _run(first: str, last: str, steps: int) -> str:
    if first == last:
        return first
    counted = first.isdigit() and last.isdigit() and int(last) - int(first) == steps
    return f"{first}..{last}" if counted else f"{first} .. {last}"


def _only_by_env(pod: Pod, like: Pod) -> bool:
    """Whether two command lines are written alike, and differ by the values of variables alone."""
    one, other = pod.main, like.main
    return one is not None and other is not None and (one.command, one.args) == (other.command, other.args)


def span(job: Job, role: Role, start: int) -> str:
    """`job-worker-1..job-worker-254`, the random parts marked."""
    first, last = job.pod(role, start), job.pod(role, role.count - 1)
    return first.shown if start == role.count - 1 else f"{first.shown} .. {last.shown}"


def names_of(names: list[str]) -> str:
    """A list of names, the middle of a long one left out."""
    return ", ".join(names) if len(names) <= 4 else f"{names[0]}, {names[1]} .. {names[-1]} ({len(names)})"


def injected(pod: Pod) -> frozenset[int]:
    """Which of the main container's env entries, by position, stand in no manifest: the operator adds them."""
    written = _written((pod.job.manifest, *pod.job.given))
    entries = pod.main.env if pod.main else ()
    return frozenset(i for i, entry in enumerate(entries) if _key(entry) not in written)


def _key(entry: Json) -> str:
    return repr((entry.get("name"), entry.get("value"), entry.get("valueFrom")))


def _written(documents: tuple[Json, ...]) -> set[str]:
    """Every env entry of some objects, wherever it stands."""
    out: set[str] = set()
    left: list[object] = [at({"": one}, "") for one in documents]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            out.update(_key(entry) for entry in items(node.get("env")))
            left.extend(node.values())
        elif isinstance(node, list):
            left.extend(node)
    return out


