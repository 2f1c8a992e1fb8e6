"""`task` and `from_task`: Flyte tasks that compile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack, cast, overload

from ptcompile.api import compile as api
from ptcompile.flyte import findings, run
from ptcompile.flyte.convert import Converted, convert
from ptcompile.flyte.findings import surprises
from ptcompile.flyte.keywords import Knobs, check_names
from ptcompile.flyte.launch import EntryPoint, entry
from ptcompile.source import streams

if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec


Convert = Callable[[str, Knobs, EntryPoint | None], Converted]
"""A task without its name, the keywords that are added last, and the function that is called."""


_NO_PLATFORM: Mapping[str, Any] = {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile", "spec": {"spot": {}}}
"""Of a Flyte without configuration, where interruptible pods may run on any node."""


@dataclass(frozen=True)
class Task:
    """A decorated function: called, it runs as before; it can also be turned into a spec and into manifests."""

    function: Callable[..., Any]
    finish: Convert
    held: Any = None
    """flytekit's task that has the function, where it was made from one."""
    name: str | None = None
    """Of its job, where a workflow's node has one of its own."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function here, as Flyte does for local executions."""
        return self.function(*args, **kwargs)

    @property
    def task_function(self) -> Callable[..., Any]:
        """The function, under flytekit's word."""
        return self.function

    @property
    def job_name(self) -> str:
        """The name of the job, where none is given."""
        return self.name or self.function.__name__.replace("_", "-").strip("-").lower()

    def convert(self, name: str | None = None, **more: Unpack[Knobs]) -> Converted:
        """The task as a TrainingJob document. The name is the function's, where none is given."""
        check_names(more)
        return self.finish(name or self.job_name, more, entry(self.function, self, self.held, self.function))

    def spec(self, name: str | None = None, **more: Unpack[Knobs]) -> Spec:
        """The task as a Spec. Raises `FlyteError` where it has a mistake."""
        return self.convert(name, **more).spec()

    def compile(
        self,
        name: str | None = None,
        *,
        cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None = None,
        **more: Unpack[Knobs],
    ) -> api.Result:
        """The task's manifests, and everything there is to say about them. Raises nothing for a user's mistake.

        Whatever is said stands at a place of the Flyte call: `container_image`, `task_config.nproc_per_node`.
        """
        converted = self.convert(name, **more)
        said = tuple(streams.to_diagnostic(one, None, None, manifest=converted.document) for one in converted.problems)
        if not converted.ok:
            return api.Result((), said)
        if cluster is None:
            cluster = converted.platform.profile if converted.platform is not None else _NO_PLATFORM
        result = api.compile(converted.document, cluster=cluster)
        if not result.ok:
            said = tuple(one for one in said if one.severity != "note")
        about = surprises(converted.document, result.manifests)
        told = tuple(streams.to_diagnostic(one, None, None, manifest=converted.document) for one in about)
        # two roles without an image are one task without
        found = [findings.in_flyte_s_words(one) for one in result.diagnostics]
        found = [one for i, one in enumerate(found) if one not in found[:i]]
        manifests = (*converted.objects, *result.manifests) if result.manifests else ()
        return result._replace(manifests=manifests, diagnostics=(*said, *found, *told))


@overload
def task(function: Callable[..., Any], *, task_config: Any = ..., **knobs: Unpack[Knobs]) -> Task: ...
@overload
def task(*, name: str, task_config: Any = ..., **knobs: Unpack[Knobs]) -> Spec: ...
@overload
def task(*, task_config: Any = ..., **knobs: Unpack[Knobs]) -> Callable[[Callable[..., Any]], Task]: ...
def task(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    task_config: Any = None,
    **knobs: Unpack[Knobs],
) -> Task | Spec | Callable[[Callable[..., Any]], Task]:
    """Flyte's `@task(task_config=...)` with the words of flytekit 1.16; see `Knobs`.

    With `name` it returns a Spec, and raises `FlyteError` with all mistakes where it has any. Without, it decorates.
    `task_config` and every object in it may be ours or flytekitplugins-kfpytorch's. In the container the decorated
    function is called with `inputs`, unless `script` or `command` says what starts; without a function `module` may.
    """

    def finish(name: str, more: Knobs, called: EntryPoint | None) -> Converted:
        return convert(task_config, name, cast("Knobs", {**knobs, **more}), called)

    return decorate(function, name, knobs, finish)


def decorate(
    function: Callable[..., Any] | None,
    name: str | None,
    knobs: Knobs,
    finish: Convert,
    prepared: Callable[[Callable[..., Any]], Callable[..., Any]] = lambda function: function,
) -> Task | Spec | Callable[[Callable[..., Any]], Task]:
    """One of the three forms: a Spec for a name, a task for a function, else the decorator.

    `prepared` gives the function the form in which the runner calls it.
    """
    check_names(knobs)
    if name is not None:
        return finish(name, {}, None).spec()
    if function is not None:
        return Task(prepared(function), finish)
    return lambda wrapped: Task(prepared(wrapped), finish)


_OF_TASK = ("container_image", "environment", "pod_template", "accelerator", "shared_memory")
_OF_METADATA = (
    "retries", "timeout", "interruptible", "labels", "annotations", "pod_template_name", "cache", "cache_version",
    "cache_serialize", "deprecated",
)  # fmt: skip


def from_task(task: Any, **knobs: Unpack[Knobs]) -> Task:
    """A task that flytekit's own `@task`, or ours, made, with everything it says; `knobs` are laid over it.

    Only attributes are read: flytekit is not imported, and the function is not called. Its parameters need `inputs`,
    unless they have defaults.

    Raises:
        TypeError: it is not such a task.
    """
    check_names(knobs)
    if isinstance(task, Task):
        return Task(task.function, lambda name, more, called: task.finish(name, {**knobs, **more}, called), task)
    if not callable(getattr(task, "task_function", None)) or not hasattr(task, "task_config"):
        raise TypeError(f"{type(task).__name__} is not a flytekit task")
    try:
        function = run.function_of(task, getattr(task, "name", "this"))
    except run.TaskCallError as error:
        raise TypeError(str(error)) from None
    own = _said(task)

    def finish(name: str, more: Knobs, called: EntryPoint | None) -> Converted:
        return convert(task.task_config, name, cast("Knobs", {**own, **knobs, **more}), called)

    return Task(function, finish, task)


def _said(task: Any) -> dict[str, Any]:
    """What a task of flytekit's says beside its task_config."""
    read: dict[str, Any] = {name: getattr(task, name, None) for name in _OF_TASK}
    metadata = getattr(task, "metadata", None)
    read |= {name: value for name in _OF_METADATA if (value := getattr(metadata, name, None))}
    resources = getattr(task, "resources", None)
    read |= {half: getattr(resources, half, None) for half in ("requests", "limits")}
    read["secret_requests"] = getattr(getattr(task, "security_context", None), "secrets", None)
    return {name: value for name, value in read.items() if value is not None}
