"""The Flyte front end: tasks and platforms as Flyte's users write them, in ptcompile's words.

`task` and `pytorch_task` turn configuration into a Spec; `platform` turns Flyte's plugin configuration into a
ClusterProfile. Nothing of flytekit is imported, and objects of flytekit are taken as they are. Nothing is executed.
"""

from __future__ import annotations

from ptcompile.flyte.convert import Converted, to_yaml
from ptcompile.flyte.found import FlyteError, FlyteWarning
from ptcompile.flyte.legacy import pytorch_task
from ptcompile.flyte.platforms import Platform, platform
from ptcompile.flyte.tasks import Task, task
from ptcompile.flyte.words import (
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
    "Worker",
    "platform",
    "pytorch_task",
    "task",
    "to_yaml",
]
