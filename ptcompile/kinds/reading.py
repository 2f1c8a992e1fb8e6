"""Read a manifest back into spec fields, before importing checks that they are complete.

A reader takes the fields that it knows and ignores the rest: the caller compiles the result and
compares, so nothing is lost silently (`importer`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics import Path, Problem, own_problem
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_int,
    nested_map,
    nested_maps,
    nested_string,
)

MAIN_CONTAINER = "pytorch"
"""Name of the training container in a spec."""

LAUNCHERS = ("torchrun", "torch.distributed", "accelerate", "deepspeed")
"""Words in the command lines of pods that train with torch."""

NO_TIMEOUTS: dict[str, str | None] = {"timeout": None, "join_timeout": None}
NOT_PASSED = {"monitorInterval": None, "rdzvId": None, "rdzvConfigs": NO_TIMEOUTS}
"""Options that operators do not pass to torchrun unless they are written."""


class ReadRole(NamedTuple):
    """The pods of one role."""

    role: str
    """`node`, `master` or `worker`; else the name of an auxiliary role."""
    replicas: int
    template: Json
    path: Path | None
    """Path of the template in the object, or None if a runtime contains it."""
    main: str
    """Name of the training container."""
    restart: str | None
    """The effective restart policy, including the kind's default, or None if the runtime sets
    it.
    """
    trains: bool = True
    holder: int = 0
    """The object with the template: 0 for the job's own, else one of `Read.objects`, from 1."""
    other_paths: tuple[Path, ...] = ()
    """Other paths of the same template, if equal roles are read as one."""


class Read(NamedTuple):
    """One way to read an object."""

    target: str
    pods: tuple[ReadRole, ...] = ()
    fields: Json = {}  # noqa: RUF012 - never changed
    """Settings of the object outside its pod templates, as fields of a spec's `spec`."""
    objects: tuple[Json, ...] = ()
    """Objects that were read together with the job, and that compile emits again."""
    problems: tuple[Problem, ...] = ()
    """Why no spec compiles to this object."""


def unreadable_object(target: str, path: Path, message: str, help: str) -> Read:
    """Return the reading of an object that no spec compiles to."""
    problem = own_problem("not-importable", path, message, help)
    return Read(target, problems=(problem,))


def without_empty(fields: Json) -> JsonDict:
    """Return the fields that are neither null nor an empty list or mapping."""
    return {
        key: value for key, value in fields.items() if value is not None and value not in ([], {})
    }


def main_container(template: Json, *names: str) -> str:
    """Return the name of the training container: the first of `names` that exists, else the one
    with devices, else the first.
    """
    containers = nested_maps(template, "spec", "containers")
    called = [nested_string(container, "name") for container in containers]
    devices = [
        nested_string(container, "name")
        for container in containers
        for half in ("limits", "requests")
        if any("/" in str(name) for name in nested_map(container, "resources", half))
    ]
    return next((name for name in (*names, *devices, *called) if name in called), MAIN_CONTAINER)


def restart_policy(template: Json, default: str) -> str:
    """Return the restartPolicy of a pod template."""
    return nested_string(template, "spec", "restartPolicy") or default


def have_same_pods(pods: Sequence[ReadRole]) -> bool:
    """Return whether roles differ only in name and number."""
    first, *rest = pods
    return all(role.template == first.template and role.restart == first.restart for role in rest)


def as_nodes(pods: Sequence[ReadRole]) -> tuple[tuple[ReadRole, ...], JsonDict]:
    """Return master and workers, as equal nodes if they are equal, and the fields that count
    them.
    """
    if have_same_pods(pods):
        total = sum(role.replicas for role in pods)
        other_paths = tuple(role.path for role in pods[1:] if role.path is not None)
        return (pods[0]._replace(role="node", replicas=total, other_paths=other_paths),), {
            "nodes": total
        }
    workers = {"worker": {"replicas": pods[1].replicas}} if len(pods) > 1 else {}
    return tuple(pods), {"master": {}, **workers}


def pod_count(value: Any, default: int = 1) -> int:
    """Return a number of pods, or the default if it is absent."""
    return default if value is None else as_int(value, default)


def changed_names(**actual: str) -> JsonDict:
    """Return `names` with those that differ from the defaults."""
    defaults = {"container": MAIN_CONTAINER, "node": "node", "master": "master", "worker": "worker"}
    changed = {word: name for word, name in actual.items() if name != defaults[word]}
    return {"names": changed} if changed else {}
