"""Spec fields read from a Volcano Job (Volcano 1.16)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import as_mappings, as_string, nested_map
from ptcompile.registry.reading import (
    MAIN_CONTAINER,
    Read,
    ReadRole,
    as_nodes,
    changed_names,
    main_container,
    pod_count,
    restart_policy,
    unreadable_object,
    without_empty,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json

_FLAGS = {"master": "master", "worker": "worker", "port": "23456"}
"""The pytorch plugin's flags with their defaults."""


def read(manifest: Json, _others: tuple[Json, ...]) -> Iterator[Read]:
    """Yield the tasks of the pytorch plugin as master and workers, and the others as auxiliary roles."""
    spec = nested_map(manifest, "spec")
    tasks = as_mappings(spec.get("tasks"))
    plugins = nested_map(spec, "plugins")
    flags = _parse_flags(plugins.get("pytorch"))
    task_names = [as_string(task.get("name")) for task in tasks]
    if "pytorch" not in plugins and _is_single_pod(tasks):
        flags["master"] = task_names[0]
    elif "pytorch" not in plugins:
        listed = ", ".join(sorted(plugins)) or "none"
        why = f"its pods find each other without the pytorch plugin (its plugins: {listed}), so it is not a torch job"
        yield unreadable_object("volcano", ("spec", "plugins"), why, "add the pytorch plugin, if it trains with torch")
        return
    if flags["master"] not in task_names:
        why = f"no task is named {flags['master']!r}, which has rank 0 for the pytorch plugin (PTC440)"
        yield unreadable_object("volcano", ("spec", "tasks"), why, "rename the task, or set --master of the plugin")
        return
    yield _read_job(spec, tasks, task_names, flags)


def _is_single_pod(tasks: Sequence[Json]) -> bool:
    return len(tasks) == 1 and pod_count(tasks[0].get("replicas")) == 1


def _parse_flags(arguments: Any) -> dict[str, str]:
    parts = (
        as_string(argument).lstrip("-").partition("=") for argument in arguments or () if isinstance(argument, str)
    )
    return _FLAGS | {name: value for name, _, value in parts if name in _FLAGS and value}


def _read_job(spec: Json, tasks: Sequence[Json], task_names: Sequence[str], flags: dict[str, str]) -> Read:
    training_roles: list[ReadRole] = []
    for role in ("master", "worker"):
        if flags[role] in task_names:
            training_roles.append(_read_role(role, task_names.index(flags[role]), tasks))
    auxiliary = [
        _read_role(name, index, tasks, trains=False)
        for index, name in enumerate(task_names)
        if name not in (flags["master"], flags["worker"])
    ]
    roles, fields = as_nodes(training_roles)
    fields["runPolicy"] = without_empty({"ttlSecondsAfterFinished": spec.get("ttlSecondsAfterFinished")})
    fields |= without_empty({"queue": spec.get("queue"), "priority": spec.get("priorityClassName")})
    if flags["port"] != _FLAGS["port"] and flags["port"].isdigit():
        fields["masterPort"] = int(flags["port"])
    worker = flags["worker"] if flags["worker"] != flags["master"] else "worker"
    fields |= changed_names(container=training_roles[0].main, master=flags["master"], worker=worker)
    return Read("volcano", (*roles, *auxiliary), fields)


def _read_role(role: str, index: int, tasks: Sequence[Json], *, trains: bool = True) -> ReadRole:
    task = tasks[index]
    template = nested_map(task, "template")
    path: Path = ("spec", "tasks", index, "template")
    main = main_container(template, MAIN_CONTAINER if trains else role)
    return ReadRole(
        role, pod_count(task.get("replicas")), template, path, main, restart_policy(template, "Always"), trains
    )
