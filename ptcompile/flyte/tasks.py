"""`task` and `from_task`: Flyte tasks that compile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack, cast, overload

from ptcompile.api import compile as api
from ptcompile.diagnostics import Diagnostic, Problem
from ptcompile.flyte import findings, run
from ptcompile.flyte.convert import Converted, convert
from ptcompile.flyte.findings import unlike_flyte_notes
from ptcompile.flyte.keywords import Knobs, check_names
from ptcompile.flyte.launch import EntryPoint, find_entry_point
from ptcompile.kubernetes.unstructured import without_none
from ptcompile.source import streams

if TYPE_CHECKING:
    from ptcompile.api.inputs import AnyProfile
    from ptcompile.spec.training_job import Spec


Convert = Callable[[str, Knobs, EntryPoint | None], Converted]
"""Converts a task, given its name, the keywords added last, and the function to call."""


_NO_PLATFORM: Mapping[str, Any] = {
    "apiVersion": "ptcompile/v1",
    "kind": "ClusterProfile",
    "spec": {"spot": {}},
}
"""The profile without a platform: interruptible pods may run on any node."""


@dataclass(frozen=True)
class Task:
    """A decorated function: calling it runs the function, and it can be converted to a spec and
    manifests.
    """

    function: Callable[..., Any]
    finish: Convert
    held: Any = None
    """flytekit's task that holds the function, if it was created from one."""
    name: str | None = None
    """Name of the job, if a workflow's node sets one."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function locally, as Flyte does for local executions."""
        return self.function(*args, **kwargs)

    @property
    def task_function(self) -> Callable[..., Any]:
        """The function, under flytekit's name."""
        return self.function

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The task itself, as a workflow has its tasks."""
        return (self,)

    @property
    def job_name(self) -> str:
        """The default name of the job."""
        return self.name or self.function.__name__.replace("_", "-").strip("-").lower()

    def convert(self, name: str | None = None, **more: Unpack[Knobs]) -> Converted:
        """Return the task as a TrainingJob document. The default name is the function's."""
        check_names(more)
        return self.finish(
            name or self.job_name,
            more,
            find_entry_point(self.function, self, self.held, self.function),
        )

    def spec(self, name: str | None = None, **more: Unpack[Knobs]) -> Spec:
        """Return the task as a Spec. Raises `FlyteError` if the task has a mistake."""
        return self.convert(name, **more).spec()

    def compile(
        self,
        name: str | None = None,
        *,
        cluster: AnyProfile | None = None,
        **more: Unpack[Knobs],
    ) -> api.Result:
        """Return the task's manifests and all diagnostics. Raises nothing for a user's mistake.

        Every diagnostic has its path in the Flyte call: `container_image`,
        `task_config.nproc_per_node`.
        """
        converted = self.convert(name, **more)
        reported = _to_diagnostics(converted.problems, converted.document)
        if not converted.ok:
            return api.Result((), reported)

        if cluster is None:
            cluster = converted.platform.profile if converted.platform is not None else _NO_PLATFORM
        result = api.compile(converted.document, cluster=cluster)
        if not result.ok:
            reported = tuple(diagnostic for diagnostic in reported if diagnostic.severity != "note")
        notes = _to_diagnostics(
            unlike_flyte_notes(converted.document, result.manifests), converted.document
        )
        # two roles without an image are one task without an image
        from_spec: list[Diagnostic] = []
        for item in result.diagnostics:
            diagnostic = findings.to_call_diagnostic(item, converted.origins)
            if diagnostic not in from_spec:
                from_spec.append(diagnostic)

        manifests = (*converted.objects, *result.manifests) if result.manifests else ()
        return result._replace(manifests=manifests, diagnostics=(*reported, *from_spec, *notes))


def _to_diagnostics(
    problems: Iterable[Problem], document: Mapping[str, Any]
) -> tuple[Diagnostic, ...]:
    return tuple(
        streams.to_diagnostic(problem, None, None, manifest=document) for problem in problems
    )


Decorator = Callable[[Callable[..., Any]], Task]
"""What the decorators return without a function."""


@overload
def task(
    function: Callable[..., Any], *, task_config: Any = ..., **knobs: Unpack[Knobs]
) -> Task: ...
@overload
def task(*, name: str, task_config: Any = ..., **knobs: Unpack[Knobs]) -> Spec: ...
@overload
def task(*, task_config: Any = ..., **knobs: Unpack[Knobs]) -> Decorator: ...
def task(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    task_config: Any = None,
    **knobs: Unpack[Knobs],
) -> Task | Spec | Decorator:
    """Declare a task like Flyte's `@task(task_config=...)` with the keywords of flytekit 1.16; see
    `Knobs`.

    With `name` it returns a Spec, and raises `FlyteError` with all mistakes if there are any.
    Without, it decorates. `task_config` and every object in it may be ours or
    flytekitplugins-kfpytorch's. In the container, the decorated function is called with `inputs`,
    unless `script` or `command` names another program; without a function, `module` may.
    """

    def finish(name: str, more: Knobs, called: EntryPoint | None) -> Converted:
        return convert(task_config, name, cast("Knobs", {**knobs, **more}), called)

    return decorate(function, name, knobs, finish)


def decorate(
    function: Callable[..., Any] | None,
    name: str | None,
    knobs: Knobs,
    finish: Convert,
    prepare: Callable[[Callable[..., Any]], Callable[..., Any]] = lambda function: function,
) -> Task | Spec | Decorator:
    """Return a Spec if there is a name, a task if there is a function, and otherwise the decorator.

    `prepare` gives the function the form in which the runner calls it.
    """
    check_names(knobs)
    if name is not None:
        return finish(name, {}, None).spec()
    if function is not None:
        return Task(prepare(function), finish)
    return lambda wrapped: Task(prepare(wrapped), finish)


_TASK_ATTRIBUTES = (
    "container_image",
    "environment",
    "pod_template",
    "accelerator",
    "shared_memory",
)
_METADATA_ATTRIBUTES = (
    "retries", "timeout", "interruptible", "labels", "annotations", "pod_template_name", "cache", "cache_version",
    "cache_serialize", "deprecated",
)  # fmt: skip


def from_task(task: Any, **knobs: Unpack[Knobs]) -> Task:
    """Return a Task from flytekit's own `@task` or ours, with all its settings; `knobs` override
    them.

    Only attributes are read: flytekit is not imported, and the function is not called. Its
    parameters need `inputs`, unless they have defaults.

    Raises:
        TypeError: it is not such a task.
    """
    check_names(knobs)
    if isinstance(task, Task):
        return Task(
            task.function,
            lambda name, more, called: task.finish(name, {**knobs, **more}, called),
            task,
        )
    if not callable(getattr(task, "task_function", None)) or not hasattr(task, "task_config"):
        raise TypeError(f"{type(task).__name__} is not a flytekit task")

    try:
        function = run.function_of(task, getattr(task, "name", "this"))
    except run.TaskCallError as error:
        raise TypeError(str(error)) from None

    task_knobs = _task_keywords(task)

    def finish(name: str, more: Knobs, called: EntryPoint | None) -> Converted:
        return convert(
            task.task_config, name, cast("Knobs", {**task_knobs, **knobs, **more}), called
        )

    return Task(function, finish, task)


def _task_keywords(task: Any) -> dict[str, Any]:
    """Return the settings of a flytekit task besides its task_config."""
    read = {name: getattr(task, name, None) for name in _TASK_ATTRIBUTES}
    metadata = getattr(task, "metadata", None)
    read |= {
        name: value for name in _METADATA_ATTRIBUTES if (value := getattr(metadata, name, None))
    }
    read["enable_deck"] = getattr(task, "enable_deck", None) or None
    resources = getattr(task, "resources", None)
    read |= {half: getattr(resources, half, None) for half in ("requests", "limits")}
    read["secret_requests"] = getattr(getattr(task, "security_context", None), "secrets", None)

    return without_none(read)
