"""A Volcano Job as the words of a spec (Volcano 1.16)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import as_mappings, as_string, nested_map
from ptcompile.registry.reading import (
    MAIN,
    Read,
    ReadRole,
    as_nodes,
    count,
    main_container,
    names,
    not_importable,
    restart_policy,
    without_empty,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json

_FLAGS = {"master": "master", "worker": "worker", "port": "23456"}
"""The pytorch plugin's flags with its defaults."""


def read(manifest: Json, _others: tuple[Json, ...]) -> Iterator[Read]:
    """The tasks of the pytorch plugin as master and workers, the others as roles beside them."""
    spec = nested_map(manifest, "spec")
    tasks = as_mappings(spec.get("tasks"))
    plugins = nested_map(spec, "plugins")
    flags = _flags(plugins.get("pytorch"))
    called = [as_string(one.get("name")) for one in tasks]
    if "pytorch" not in plugins and _single(tasks):
        flags["master"] = called[0]
    elif "pytorch" not in plugins:
        others = ", ".join(sorted(plugins)) or "none"
        why = f"its pods find each other without the pytorch plugin (its plugins: {others}), so it is not a torch job"
        yield not_importable("volcano", ("spec", "plugins"), why, "add the pytorch plugin, if it trains with torch")
        return
    if flags["master"] not in called:
        why = f"no task is named {flags['master']!r}, which has rank 0 for the pytorch plugin (PTC440)"
        yield not_importable("volcano", ("spec", "tasks"), why, "rename the task, or set --master of the plugin")
        return
    yield _job(spec, tasks, called, flags)


def _single(tasks: Sequence[Json]) -> bool:
    return len(tasks) == 1 and count(tasks[0].get("replicas")) == 1


def _flags(arguments: Any) -> dict[str, str]:
    said = (as_string(one).lstrip("-").partition("=") for one in arguments or () if isinstance(one, str))
    return _FLAGS | {name: value for name, _, value in said if name in _FLAGS and value}


def _job(spec: Json, tasks: Sequence[Json], called: Sequence[str], flags: dict[str, str]) -> Read:
    trainers: list[ReadRole] = []
    for role in ("master", "worker"):
        if flags[role] in called:
            trainers.append(_pods(role, called.index(flags[role]), tasks))
    beside = [
        _pods(name, index, tasks, trains=False)
        for index, name in enumerate(called)
        if name not in (flags["master"], flags["worker"])
    ]
    roles, words = as_nodes(trainers)
    words["runPolicy"] = without_empty({"ttlSecondsAfterFinished": spec.get("ttlSecondsAfterFinished")})
    words |= without_empty({"queue": spec.get("queue"), "priority": spec.get("priorityClassName")})
    if flags["port"] != _FLAGS["port"] and flags["port"].isdigit():
        words["masterPort"] = int(flags["port"])
    worker = flags["worker"] if flags["worker"] != flags["master"] else "worker"
    words |= names(container=trainers[0].main, master=flags["master"], worker=worker)
    return Read("volcano", (*roles, *beside), words)


def _pods(role: str, index: int, tasks: Sequence[Json], *, trains: bool = True) -> ReadRole:
    task = tasks[index]
    template = nested_map(task, "template")
    path: Path = ("spec", "tasks", index, "template")
    main = main_container(template, MAIN if trains else role)
    return ReadRole(role, count(task.get("replicas")), template, path, main, restart_policy(template, "Always"), trains)
