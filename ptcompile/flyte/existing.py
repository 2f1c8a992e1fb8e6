"""A task of flytekit 1.16 as it stands in a Flyte project, decorated by flytekit itself."""

from __future__ import annotations

from typing import Any, Unpack, cast

from ptcompile.flyte.convert import Converted, convert
from ptcompile.flyte.knobs import Knobs, check_names
from ptcompile.flyte.tasks import Task

_OF_TASK = ("container_image", "environment", "pod_template", "accelerator", "shared_memory")
_OF_METADATA = (
    "retries", "timeout", "interruptible", "labels", "annotations", "pod_template_name", "cache", "cache_version",
    "cache_serialize", "deprecated",
)  # fmt: skip


def from_task(task: Any, **knobs: Unpack[Knobs]) -> Task:
    """A task that flytekit's own `@task` made, with everything it says; `knobs` are laid over it.

    Only attributes are read: flytekit is not imported, and the function is not called.

    Raises:
        TypeError: it is no such task.
    """
    check_names(knobs)
    function = getattr(task, "task_function", None)
    if not callable(function) or not hasattr(task, "task_config"):
        raise TypeError(f"{type(task).__name__} is no task of flytekit")
    read: dict[str, Any] = {name: getattr(task, name, None) for name in _OF_TASK}
    metadata = getattr(task, "metadata", None)
    read |= {name: value for name in _OF_METADATA if (value := getattr(metadata, name, None))}
    resources = getattr(task, "resources", None)
    read |= {half: getattr(resources, half, None) for half in ("requests", "limits")}
    read["secret_requests"] = getattr(getattr(task, "security_context", None), "secrets", None)
    own = {name: value for name, value in read.items() if value is not None}

    def finish(name: str, more: Knobs, module: str | None) -> Converted:
        return convert(task.task_config, name, cast("Knobs", {**own, **knobs, **more}), module=module)

    return Task(function, finish)
