"""The Flyte front end: Flyte tasks and platform configuration as specs and cluster profiles.

`task` and `pytorch_task` turn configuration into a Spec; `from_task`, `from_node` and
`from_workflow` do so with flytekit objects; `platform` turns the configuration of Flyte's plugins
into a ClusterProfile. flytekit is never imported: its objects are read by attribute. No task is
run; in the pods, `ptcompile.flyte.run` calls its function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ptcompile.flyte.config import (
        CleanPodPolicy,
        Elastic,
        Master,
        PodTemplate,
        PyTorch,
        Resources,
        RestartPolicy,
        RunPolicy,
        Secret,
        Worker,
    )
    from ptcompile.flyte.convert import Converted, to_yaml
    from ptcompile.flyte.legacy import Types, inputs, outputs, pytorch_task
    from ptcompile.flyte.platforms import Platform, platform
    from ptcompile.flyte.problems import FlyteError, FlyteWarning
    from ptcompile.flyte.tasks import Task, from_task, task
    from ptcompile.flyte.workflows import Workflow, from_node, from_workflow

__all__ = [
    "CleanPodPolicy",
    "Converted",
    "Elastic",
    "FlyteError",
    "FlyteWarning",
    "Master",
    "Platform",
    "PodTemplate",
    "PyTorch",
    "Resources",
    "RestartPolicy",
    "RunPolicy",
    "Secret",
    "Task",
    "Types",
    "Worker",
    "Workflow",
    "from_node",
    "from_task",
    "from_workflow",
    "inputs",
    "outputs",
    "platform",
    "pytorch_task",
    "task",
    "to_yaml",
]

_MODULES = {
    "convert": "Converted to_yaml",
    "legacy": "Types inputs outputs pytorch_task",
    "platforms": "Platform platform",
    "problems": "FlyteError FlyteWarning",
    "tasks": "Task from_task task",
    "workflows": "Workflow from_node from_workflow",
}
"""The names that are not in `config`, by module."""
_FROM = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Load public names on first use, which keeps the import fast."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_FROM.get(name, 'config')}"), name)
