"""Spec fields read from a Volcano Job (Volcano 1.16)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.spelling import is_short_number
from ptcompile.kinds.reading import (
    LAUNCHERS,
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
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_strings,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
)

_FLAGS = {"master": "master", "worker": "worker", "port": "23456"}
"""The pytorch plugin's flags with their defaults."""


def read(manifest: Json, _related: Objects) -> Iterator[Read]:
    """Yield the tasks of the pytorch plugin as master and workers, and the others as auxiliary
    roles.
    """
    spec = nested_map(manifest, "spec")
    tasks = nested_maps(spec, "tasks")
    plugins = nested_map(spec, "plugins")
    flags = _parse_flags(plugins.get("pytorch"))
    task_names = [nested_string(task, "name") for task in tasks]
    if "pytorch" not in plugins:
        is_single_pod = [pod_count(task.get("replicas")) for task in tasks] == [1]
        if "env" in plugins or not is_single_pod:
            first = _only_training_task(tasks, plugins)
            if first is None:
                yield _not_one_task(tasks, plugins)
            else:
                yield _read_one_task(spec, tasks, task_names, first)
            return

        (flags["master"],) = task_names

    if flags["master"] not in task_names:
        why = (
            f"no task is named {flags['master']!r}, which has rank 0 for the pytorch plugin "
            "(PTC440)"
        )
        yield unreadable_object(
            "volcano", ("spec", "tasks"), why, "rename the task, or set --master of the plugin"
        )
        return

    yield _read_job(spec, tasks, task_names, flags)


_OTHER_LAUNCHERS = {"mpi", "tensorflow", "ray", "hcclrank"}
"""Plugins with which the pods find each other without torchrun."""


def _only_training_task(tasks: Sequence[Json], plugins: Json) -> int | None:
    """Return the index of the only task that may train with torch, or None if there are several
    or none.
    """
    if not _OTHER_LAUNCHERS.isdisjoint(plugins):
        return None
    launched = [index for index, task in enumerate(tasks) if _names_launcher(task)]
    candidates = [0] if len(tasks) == 1 else launched
    return candidates[0] if len(candidates) == 1 else None


def _not_one_task(tasks: Sequence[Json], plugins: Json) -> Read:
    """Return why a job without the pytorch plugin is not read."""
    split = [
        task for task in tasks if pod_count(task.get("replicas")) == 1 and _names_launcher(task)
    ]
    if len(split) > 1:
        why = (
            f"{len(split)} tasks of one pod start torchrun, as TorchX writes them, but the nodes "
            "of a spec are the pods of one task"
        )
        return unreadable_object(
            "volcano",
            ("spec", "tasks"),
            why,
            f"merge them into one task with replicas: {len(split)}, or write a TrainingJob with "
            f"nodes: {len(split)}",
        )

    listed = ", ".join(sorted(plugins)) or "none"
    why = (
        f"its pods find each other without the pytorch plugin (its plugins: {listed}), so it "
        "is not a torch job"
    )
    return unreadable_object(
        "volcano", ("spec", "plugins"), why, "add the pytorch plugin, if it trains with torch"
    )


def _names_launcher(task: Json) -> bool:
    """Return whether a launcher is named anywhere in a task."""
    text = str(task)
    return any(launcher in text for launcher in LAUNCHERS)


def _read_one_task(
    spec: Json, tasks: Sequence[Json], task_names: Sequence[str], first: int
) -> Read:
    """Return a job whose nodes are the pods of one task, without the pytorch plugin."""
    pods = _read_role("node", first, tasks)
    auxiliary = [
        _read_role(name, index, tasks, trains=False)
        for index, name in enumerate(task_names)
        if index != first
    ]
    names = {**changed_names(container=pods.main).get("names", {}), "task": task_names[first]}
    fields = {"nodes": max(1, pods.replicas), "names": names, **_job_fields(spec)}
    return Read("volcano", (pods, *auxiliary), fields)


def _job_fields(spec: Json) -> JsonDict:
    policy = without_empty({"ttlSecondsAfterFinished": spec.get("ttlSecondsAfterFinished")})
    queueing = without_empty(
        {"queue": spec.get("queue"), "priority": spec.get("priorityClassName")}
    )
    fields = {"runPolicy": policy, **queueing}
    if (number := nested_int(spec, "minAvailable")) > 0:
        fields["minAvailable"] = number
    return fields


def _parse_flags(arguments: Any) -> dict[str, str]:
    parts = (argument.lstrip("-").partition("=") for argument in as_strings(arguments))
    return _FLAGS | {name: value for name, _, value in parts if name in _FLAGS and value}


def _read_job(
    spec: Json, tasks: Sequence[Json], task_names: Sequence[str], flags: dict[str, str]
) -> Read:
    """Return the job's fields and roles: master and workers are the tasks that the plugin's flags
    name, the others are auxiliary.
    """
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
    fields |= _job_fields(spec)
    if flags["port"] != _FLAGS["port"] and is_short_number(flags["port"]):
        fields["masterPort"] = int(flags["port"])
    worker = flags["worker"] if flags["worker"] != flags["master"] else "worker"
    fields |= changed_names(container=training_roles[0].main, master=flags["master"], worker=worker)

    return Read("volcano", (*roles, *auxiliary), fields)


def _read_role(role: str, index: int, tasks: Sequence[Json], *, trains: bool = True) -> ReadRole:
    task = tasks[index]
    template = nested_map(task, "template")
    path = ("spec", "tasks", index, "template")
    main = main_container(template, MAIN_CONTAINER if trains else role)

    return ReadRole(
        role,
        pod_count(task.get("replicas")),
        template,
        path,
        main,
        restart_policy(template, "Always"),
        trains,
    )
