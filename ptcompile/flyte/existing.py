"""A task of flytekit 1.16 as it stands in a Flyte project, decorated by flytekit itself, or one of ours."""

from __future__ import annotations

from typing import Any, Unpack, cast

from ptcompile.flyte import run
from ptcompile.flyte.convert import Converted, convert
from ptcompile.flyte.knobs import Knobs, check_names
from ptcompile.flyte.launch import Entry
from ptcompile.flyte.tasks import Task

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
    except run.Refused as error:
        raise TypeError(str(error)) from None
    own = _said(task)

    def finish(name: str, more: Knobs, called: Entry | None) -> Converted:
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
