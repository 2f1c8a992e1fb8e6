"""The decorators of flytekit 0.x: `pytorch_task`, `inputs`, `outputs`, `Types`.

A legacy function takes `wf_params` first, then its inputs and outputs by name, and sets its
outputs: `result.set(7)`. Here, it gets all three as flytekit 0.x's `SdkRunnableTask` passed them.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, cast, overload

from ptcompile.diagnostics import Path, Problem
from ptcompile.flyte import resources as amounts
from ptcompile.flyte.config import PyTorch, Resources, Worker
from ptcompile.flyte.convert import Converted, convert
from ptcompile.flyte.keywords import Knobs
from ptcompile.flyte.launch import EntryPoint
from ptcompile.flyte.problems import CallProblems
from ptcompile.flyte.tasks import Decorator, Task, decorate
from ptcompile.kubernetes.unstructured import without_keys

if TYPE_CHECKING:
    from ptcompile.spec.training_job import Spec


CONTEXT_PARAMETER = "wf_params"
"""The first parameter of a legacy function."""


class Types:
    """Legacy types of inputs and outputs. The classes are in Flyte's storage, so they cannot be
    inputs of a job.
    """

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
        """Return the type of a list of `kind`, as `[kind]` does."""
        return list[kind]


@dataclass
class Output:
    """A reference to an output, which the function sets."""

    value: Any = None

    def set(self, value: Any) -> None:
        """Store the value."""
        self.value = value


class LegacyContext:
    """The `wf_params` of a legacy function: a logger, and errors for everything else."""

    logging = logging.getLogger("flyte")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"{CONTEXT_PARAMETER}.{name} comes from Flyte's engine, which is not running here"
        )


class _Legacy(NamedTuple):
    """A legacy function as written, with its declared inputs and outputs."""

    function: Callable[..., Any]
    inputs: Mapping[str, Any] = {}
    outputs: Mapping[str, Any] = {}


def inputs(**types: Any) -> Callable[[Task], Task]:
    """Declare a legacy task's inputs: `@inputs(int_list=[Types.Integer])`."""
    return lambda task: _declare(task, "inputs", types)


def outputs(**types: Any) -> Callable[[Task], Task]:
    """Declare a legacy task's outputs: `@outputs(result=Types.Integer)`."""
    return lambda task: _declare(task, "outputs", types)


def adapt_legacy(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adapt a legacy-form function to the runner's calling convention; return any other function
    unchanged.
    """
    first = next(iter(inspect.signature(function).parameters), None)
    if first == CONTEXT_PARAMETER:
        return wrap_legacy(_Legacy(function))
    return function


def wrap_legacy(legacy: _Legacy) -> Callable[..., Any]:
    """Return a function of the inputs only, which returns the outputs by name."""

    @wraps(legacy.function)
    def call(**values: Any) -> dict[str, Any] | None:
        results = {name: Output() for name in legacy.outputs}
        legacy.function(LegacyContext(), **values, **results)
        return {name: output.value for name, output in results.items()} or None

    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(name, kind, annotation=hint) for name, hint in legacy.inputs.items()
    ]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {**legacy.inputs, "return": dict if legacy.outputs else None}
    call.legacy = legacy  # type: ignore[attr-defined]

    return call


def undeclared_parameters(function: Callable[..., Any]) -> list[Problem]:
    """Return problems for undeclared parameters of a legacy function, and for declarations
    without a parameter.
    """
    legacy = getattr(function, "legacy", None)
    if legacy is None:
        return []

    problems = CallProblems()
    names = [*inspect.signature(legacy.function).parameters][1:]
    declared = {
        **dict.fromkeys(legacy.inputs, "inputs"),
        **dict.fromkeys(legacy.outputs, "outputs"),
    }
    for name in names:
        if name not in declared:
            message = "neither @inputs nor @outputs declares it"
            problems.error("spec-missing-field", ("inputs", name), message)
    for name, decorator in declared.items():
        if name not in names:
            message = "the function has no such parameter"
            problems.error("spec-invalid-value", (decorator, name), message)

    return problems


def _declare(task: Task, field: str, types: Mapping[str, Any]) -> Task:
    """Return the task with the declarations of its inputs or its outputs."""
    if not isinstance(task, Task):
        raise TypeError("@inputs and @outputs go above @pytorch_task")

    legacy: _Legacy = getattr(task.function, "legacy", None) or _Legacy(task.function)
    hints: Any = {field: {name: _to_hint(kind) for name, kind in types.items()}}
    return replace(task, function=wrap_legacy(legacy._replace(**hints)))


def _to_hint(kind: Any) -> Any:
    return list[_to_hint(kind[0])] if isinstance(kind, list) and len(kind) == 1 else kind  # type: ignore[misc]


class LegacyKnobs(Knobs, total=False):
    """The legacy decorator's keywords: resources of every pod ("" if unset), and the keywords of
    `task`.
    """

    per_replica_cpu_request: str
    per_replica_cpu_limit: str
    per_replica_memory_request: str
    per_replica_memory_limit: str
    per_replica_gpu_request: str
    per_replica_gpu_limit: str
    per_replica_storage_request: str
    per_replica_storage_limit: str


_REPLICA_KEYWORDS = tuple(
    name for name in LegacyKnobs.__annotations__ if name.startswith("per_replica_")
)
_REPLICAS_PATH: Path = ("task_config", "worker", "replicas")


@overload
def pytorch_task(
    function: Callable[..., Any], *, workers_count: int = ..., **knobs: Unpack[LegacyKnobs]
) -> Task: ...
@overload
def pytorch_task(*, name: str, workers_count: int = ..., **knobs: Unpack[LegacyKnobs]) -> Spec: ...
@overload
def pytorch_task(*, workers_count: int = ..., **knobs: Unpack[LegacyKnobs]) -> Decorator: ...
def pytorch_task(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    workers_count: int = 1,
    **knobs: Unpack[LegacyKnobs],
) -> Task | Spec | Decorator:
    """Declare a legacy task: `workers_count` workers and one master, each with the same
    `per_replica_*` resources.

    With `name` it returns a Spec, and raises `FlyteError` with all mistakes if there are any.
    Without, it decorates. Storage becomes ephemeral-storage, which Flyte's backend took for a
    persistent kind and dropped: a warning says so. A missing limit is the request and a missing
    request the limit, as the decorator's documentation has it.
    """
    replicas = {key: value for key, value in knobs.items() if key in _REPLICA_KEYWORDS}
    task_knobs = cast("Knobs", without_keys(knobs, *_REPLICA_KEYWORDS))

    def finish(name: str, more: Knobs, called: EntryPoint | None) -> Converted:
        config = PyTorch(worker=Worker(replicas=workers_count))
        return _convert_legacy(
            name, config, replicas, cast("Knobs", {**task_knobs, **more}), called
        )

    return decorate(function, name, task_knobs, finish, adapt_legacy)


def _convert_legacy(
    name: str, config: PyTorch, replicas: dict[str, Any], knobs: Knobs, called: EntryPoint | None
) -> Converted:
    problems = CallProblems(undeclared_parameters(called.function) if called is not None else ())
    for key, value in replicas.items():
        if value is not None and not isinstance(value, str):
            problems.error("spec-wrong-type", (key,), f"{value!r} is not text", f'"{value}"')
        elif value and "storage" in key:
            problems.warning(
                (key,), "Flyte drops it; here it becomes ephemeral-storage, the pod's disk"
            )

    texts = {
        key: value or ""
        for key, value in replicas.items()
        if value is None or isinstance(value, str)
    }
    amounts_by_field = amounts.read_legacy(texts, problems)
    pairs = [
        (field, amounts_by_field[key])
        for field, key in amounts.FIELDS.items()
        if key in amounts_by_field
    ]
    requests = Resources(**{field: pair.request for field, pair in pairs})
    limits = Resources(**{field: pair.limit for field, pair in pairs})
    converted = convert(config, name, {**knobs, "requests": requests, "limits": limits}, called)

    for problem in converted.problems:
        if problem.path == _REPLICAS_PATH:
            # the decorator has another keyword for the number of workers
            problem = problem._replace(path=("workers_count",), fix=None)
        problems.append(problem)

    return replace(converted, problems=tuple(problems))
