"""The decorators of flytekit 0.x: `pytorch_task`, `inputs`, `outputs`, `Types`.

A legacy function takes `wf_params` first, then its inputs and outputs by name, and sets what it has to say:
`result.set(7)`. Called from here it gets all three, as flytekit 0.x's `SdkRunnableTask` gave them.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, cast, overload

from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.flyte import resources as amounts
from ptcompile.flyte.config import PyTorch, Resources, Worker
from ptcompile.flyte.convert import Converted, convert
from ptcompile.flyte.keywords import Knobs
from ptcompile.flyte.launch import EntryPoint
from ptcompile.flyte.problems import call_error, call_warning
from ptcompile.flyte.tasks import Task, decorate

if TYPE_CHECKING:
    from ptcompile.spec.training_job import Spec


CONTEXT = "wf_params"
"""The first parameter of a legacy function."""


class Types:
    """Legacy types of inputs and outputs. The classes are Flyte's storage, and no input of a job can be one."""

    Integer = int
    Float = float
    String = str
    Boolean = bool
    Generic = dict

    class Blob:
        """A file."""

    class CSV:
        """A table in a file."""

    class MultiPartBlob:
        """A folder."""

    class MultiPartCSV:
        """A table in a folder."""

    class Schema:
        """A table."""

    @staticmethod
    def List(kind: Any) -> Any:  # noqa: N802  flytekit's name
        """A list of one type, as `[kind]` is."""
        return list[kind]


@dataclass
class Output:
    """A reference to an output, which the function sets."""

    value: Any = None

    def set(self, value: Any) -> None:
        """Keep the value."""
        self.value = value


class LegacyContext:
    """What a legacy function gets as `wf_params`: a logger, and the reason why there is no more."""

    logging = logging.getLogger("flyte")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{CONTEXT}.{name} comes from Flyte's engine, which is not running here")


class _Legacy(NamedTuple):
    """A legacy function as it was written, and what is declared of it."""

    function: Callable[..., Any]
    inputs: Mapping[str, Any] = {}
    outputs: Mapping[str, Any] = {}


def inputs(**types: Any) -> Callable[[Task], Task]:
    """Declare a legacy task's inputs: `@inputs(int_list=[Types.Integer])`."""
    return lambda task: _declared(task, _of(task)._replace(inputs={name: _hint(one) for name, one in types.items()}))


def outputs(**types: Any) -> Callable[[Task], Task]:
    """Declare a legacy task's outputs: `@outputs(result=Types.Integer)`."""
    return lambda task: _declared(task, _of(task)._replace(outputs={name: _hint(one) for name, one in types.items()}))


def prepared(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function in the legacy form, without inputs yet, as the runner calls it; another as it is."""
    first = next(iter(inspect.signature(function).parameters), None)
    return wrapped(_Legacy(function)) if first == CONTEXT else function


def wrapped(legacy: _Legacy) -> Callable[..., Any]:
    """The function as one of its inputs alone, which returns its outputs by name."""

    @wraps(legacy.function)
    def call(**values: Any) -> dict[str, Any] | None:
        results = {name: Output() for name in legacy.outputs}
        legacy.function(LegacyContext(), **values, **results)
        return {name: one.value for name, one in results.items()} or None

    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(name, kind, annotation=hint) for name, hint in legacy.inputs.items()]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {**legacy.inputs, "return": dict if legacy.outputs else None}
    call.legacy = legacy  # type: ignore[attr-defined]
    return call


def undeclared(function: Callable[..., Any]) -> list[Problem]:
    """Parameters of a legacy function that nothing declares, and declarations without a parameter."""
    legacy = getattr(function, "legacy", None)
    if legacy is None:
        return []
    names = [*inspect.signature(legacy.function).parameters][1:]
    declared = {**dict.fromkeys(legacy.inputs, "inputs"), **dict.fromkeys(legacy.outputs, "outputs")}
    bare = [one for one in names if one not in declared]
    idle = [(at, one) for one, at in declared.items() if one not in names]
    return [
        *(
            call_error("spec-missing-field", ("inputs", one), "neither @inputs nor @outputs declares it")
            for one in bare
        ),
        *(call_error("spec-invalid-value", path, "the function has no such parameter") for path in idle),
    ]


def _of(task: Task) -> _Legacy:
    if not isinstance(task, Task):
        raise TypeError("@inputs and @outputs go above @pytorch_task")
    return getattr(task.function, "legacy", None) or _Legacy(task.function)


def _declared(task: Task, legacy: _Legacy) -> Task:
    return replace(task, function=wrapped(legacy))


def _hint(kind: Any) -> Any:
    return list[_hint(kind[0])] if isinstance(kind, list) and len(kind) == 1 else kind  # type: ignore[misc]


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

    def finish(name: str, more: Knobs, called: EntryPoint | None) -> Converted:
        config = PyTorch(worker=Worker(replicas=workers_count))
        return _legacy(name, config, replicas, cast("Knobs", {**others, **more}), called)

    return decorate(function, name, others, finish, prepared)


def _legacy(name: str, config: PyTorch, replicas: dict[str, Any], knobs: Knobs, called: EntryPoint | None) -> Converted:
    found: list[Problem] = undeclared(called.function) if called is not None else []
    for key, value in replicas.items():
        if value is not None and not isinstance(value, str):
            found.append(call_error("spec-wrong-type", (key,), f"{value!r} is not text", f'"{value}"'))
        elif value and "storage" in key:
            found.append(
                call_warning((key,), "Flyte drops it; here it becomes ephemeral-storage, the pod's disk", None)
            )
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
