"""Reading a manifest back: what an object says, in the words of a spec, before it is checked whether that is all of it.

A reader takes what it has a word for and leaves the rest: the caller compiles the words and compares, so that
nothing is lost by being forgotten here (`importer`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.kubernetes.unstructured import as_int, as_mappings, as_string, nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json

MAIN = "pytorch"
"""What a spec calls the container that trains."""


class ReadRole(NamedTuple):
    """The pods of one role."""

    role: str
    """`node`, `master` or `worker`; else the name of an auxiliary role."""
    replicas: int
    template: Json
    path: Path | None
    """Of the template in the object; None where a runtime holds it."""
    main: str
    """What the container that trains is called."""
    restart: str | None
    """The restart policy in force, with the kind's default; None where the runtime says it."""
    trains: bool = True
    holder: int = 0
    """Which object has the template: 0 for the job's own, else one of `Read.objects`, from 1."""
    also: tuple[Path, ...] = ()
    """Other places of the same template, where equal roles are read as one."""


class Read(NamedTuple):
    """One way to read an object."""

    target: str
    pods: tuple[ReadRole, ...] = ()
    words: Json = {}  # noqa: RUF012 - never changed
    """What the object says outside its pod templates, as fields of a spec's `spec`."""
    objects: tuple[Json, ...] = ()
    """Objects beside the job's own that were read with it, and that compile writes again."""
    problems: tuple[Problem, ...] = ()
    """Why no spec compiles to this object."""


def not_importable(target: str, path: Path, message: str, help: str) -> Read:
    """The reading of an object that no spec compiles to."""
    where = field_path(path)
    problem = Problem("not-importable", path, f"{where}: {message}", help, authority="ptcompile")
    return Read(target, problems=(problem,))


def without_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is null or an empty list or mapping."""
    return {key: value for key, value in fields.items() if value is not None and value not in ([], {})}


def main_container(template: Json, *names: str) -> str:
    """The container that trains: the first of `names` that there is, else the one with devices, else the first."""
    containers = as_mappings(nested_map(template, "spec").get("containers"))
    called = [as_string(one.get("name")) for one in containers]
    devices = [as_string(one.get("name")) for one in containers if _asks_for_devices(one)]
    return next((name for name in (*names, *devices, *called) if name in called), MAIN)


def _asks_for_devices(container: Json) -> bool:
    return any("/" in str(name) for half in ("limits", "requests") for name in nested_map(container, "resources", half))


def restart_policy(template: Json, default: str) -> str:
    """restartPolicy of a pod template."""
    return as_string(nested_map(template, "spec").get("restartPolicy")) or default


def have_same_pods(pods: Sequence[ReadRole]) -> bool:
    """Whether roles differ in name and number alone."""
    first, *others = pods
    return all(one.template == first.template and one.restart == first.restart for one in others)


def as_nodes(pods: Sequence[ReadRole]) -> tuple[tuple[ReadRole, ...], dict[str, Any]]:
    """Master and workers as equal nodes where they are equal; with the words that count them."""
    if have_same_pods(pods):
        total = sum(one.replicas for one in pods)
        also = tuple(one.path for one in pods[1:] if one.path is not None)
        return (pods[0]._replace(role="node", replicas=total, also=also),), {"nodes": total}
    workers = {"worker": {"replicas": pods[1].replicas}} if len(pods) > 1 else {}
    return tuple(pods), {"master": {}, **workers}


def count(value: Any, default: int = 1) -> int:
    """A number of pods, with the default of an absent one."""
    return default if value is None else as_int(value, default)


def names(**said: str) -> dict[str, Any]:
    """`names` with those that are not the defaults."""
    usual = {"container": MAIN, "node": "node", "master": "master", "worker": "worker"}
    other = {word: name for word, name in said.items() if name != usual[word]}
    return {"names": other} if other else {}
