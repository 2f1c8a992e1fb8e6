"""Flyte's first decorator, `pytorch_task` (flytekit 0.x, `flytekit.sdk.tasks`): one master, and workers like it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack, cast, overload

from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.flyte import amounts, signatures
from ptcompile.flyte.convert import Converted, convert
from ptcompile.flyte.found import changed, wrong
from ptcompile.flyte.knobs import Knobs
from ptcompile.flyte.launch import Entry
from ptcompile.flyte.tasks import Task, decorate
from ptcompile.flyte.words import PyTorch, Resources, Worker

if TYPE_CHECKING:
    from ptcompile.vocabulary.spec import Spec


class LegacyKnobs(Knobs, total=False):
    """The legacy decorator's keywords: resources of every pod, "" where nothing is said, beside those of `task`."""

    per_replica_cpu_request: str
    per_replica_cpu_limit: str
    per_replica_memory_request: str
    per_replica_memory_limit: str
    per_replica_gpu_request: str
    per_replica_gpu_limit: str
    per_replica_storage_request: str
    per_replica_storage_limit: str


_OWN = tuple(name for name in LegacyKnobs.__annotations__ if name.startswith("per_replica_"))
_REPLICAS: Path = ("task_config", "worker", "replicas")


@overload
def pytorch_task(function: Callable[..., Any], *, workers_count: int = ..., **knobs: Unpack[LegacyKnobs]) -> Task: ...
@overload
def pytorch_task(*, name: str, workers_count: int = ..., **knobs: Unpack[LegacyKnobs]) -> Spec: ...
@overload
def pytorch_task(*, workers_count: int = ..., **knobs: Unpack[LegacyKnobs]) -> Callable[[Callable[..., Any]], Task]: ...
def pytorch_task(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    workers_count: int = 1,
    **knobs: Unpack[LegacyKnobs],
) -> Task | Spec | Callable[[Callable[..., Any]], Task]:
    """The legacy decorator: `workers_count` workers beside one master, each with the same `per_replica_*` resources.

    With `name` it returns a Spec, and raises `FlyteError` with all mistakes where it has any. Without, it decorates.
    Storage becomes ephemeral-storage, which Flyte's backend took for a persistent kind and dropped: a warning says so.
    A missing limit is the request and a missing request the limit, as the decorator's documentation has it.
    """
    replicas = {key: value for key, value in knobs.items() if key in _OWN}
    others = cast("Knobs", {key: value for key, value in knobs.items() if key not in _OWN})

    def finish(name: str, more: Knobs, called: Entry | None) -> Converted:
        config = PyTorch(worker=Worker(replicas=workers_count))
        return _legacy(name, config, replicas, cast("Knobs", {**others, **more}), called)

    return decorate(function, name, others, finish, signatures.prepared)


def _legacy(name: str, config: PyTorch, replicas: dict[str, Any], knobs: Knobs, called: Entry | None) -> Converted:
    found: list[Problem] = signatures.undeclared(called.function) if called is not None else []
    for key, value in replicas.items():
        if value is not None and not isinstance(value, str):
            found.append(wrong("spec-wrong-type", (key,), f"{value!r} is not text", f'"{value}"'))
        elif value and "storage" in key:
            found.append(changed((key,), "Flyte drops it; here it becomes ephemeral-storage, the pod's disk", None))
    texts = {key: value or "" for key, value in replicas.items() if value is None or isinstance(value, str)}
    own = amounts.legacy(texts, found)
    halves = (
        Resources(**{word: getattr(own[key], half) for word, key in amounts.FIELDS.items() if key in own})
        for half in ("request", "limit")
    )
    requests, limits = halves
    converted = convert(config, name, {**knobs, "requests": requests, "limits": limits}, called)
    return replace(converted, problems=(*found, *map(_renamed, converted.problems)))


def _renamed(problem: Problem) -> Problem:
    """A problem of the number of workers under the decorator's word for it."""
    if problem.path != _REPLICAS:
        return problem
    message = problem.message.replace(field_path(_REPLICAS), "workers_count", 1)
    return problem._replace(path=("workers_count",), message=message, fix=None)
