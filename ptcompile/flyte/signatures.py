"""The rest of flytekit 0.x's task: `@inputs`, `@outputs` and `Types`, above the legacy `@pytorch_task`.

A legacy function takes `wf_params` first, then its inputs and outputs by name, and sets what it has to say:
`result.set(7)`. Called from here it gets all three, as flytekit 0.x's `SdkRunnableTask` gave them.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, NamedTuple

from ptcompile.findings.diagnostics import Problem
from ptcompile.flyte.found import wrong
from ptcompile.flyte.tasks import Task

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


class Context:
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
        legacy.function(Context(), **values, **results)
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
        *(wrong("spec-missing-field", ("inputs", one), "neither @inputs nor @outputs declares it") for one in bare),
        *(wrong("spec-invalid-value", path, "the function has no such parameter") for path in idle),
    ]


def _of(task: Task) -> _Legacy:
    if not isinstance(task, Task):
        raise TypeError("@inputs and @outputs go above @pytorch_task")
    return getattr(task.function, "legacy", None) or _Legacy(task.function)


def _declared(task: Task, legacy: _Legacy) -> Task:
    return replace(task, function=wrapped(legacy))


def _hint(kind: Any) -> Any:
    return list[_hint(kind[0])] if isinstance(kind, list) and len(kind) == 1 else kind  # type: ignore[misc]
