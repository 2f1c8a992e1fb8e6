"""What the spec's own vocabulary says of a converted task, at the places of the Flyte call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptcompile.findings.diagnostics import Diagnostic, Path, Problem, field_path
from ptcompile.flyte.amounts import FIELDS

_CONFIG = ("task_config",)
_POLICY = (*_CONFIG, "run_policy")


def _resources(there: Path, here: Path) -> tuple[tuple[Path, Path], ...]:
    """The amounts of a task or a role; flat ones are both halves, and so the request."""
    halves = tuple(((*there, "resources", half), (*here, half)) for half in ("requests", "limits"))
    return (*halves, ((*there, "resources"), (*here, "requests")))


ORIGINS: tuple[tuple[Path, Path], ...] = (
    (("metadata", "name"), ("name",)),
    (("spec", "image"), ("container_image",)),
    (("spec", "runPolicy", "cleanPodPolicy"), (*_POLICY, "clean_pod_policy")),
    (("metadata", "namespace"), ("namespace",)),
    (("metadata", "labels"), ("labels",)),
    (("metadata", "annotations"), ("annotations",)),
    (("spec", "elastic", "nnodes"), (*_CONFIG, "nnodes")),
    (("spec", "elastic", "nprocPerNode"), (*_CONFIG, "nproc_per_node")),
    (("spec", "elastic", "maxRestarts"), (*_CONFIG, "max_restarts")),
    (("spec", "elastic", "monitorInterval"), (*_CONFIG, "monitor_interval")),
    (("spec", "elastic", "startMethod"), (*_CONFIG, "start_method")),
    (("spec", "elastic", "rdzvBackend"), (*_CONFIG, "rdzv_backend")),
    (("spec", "elastic", "rdzvConfigs"), (*_CONFIG, "rdzv_configs")),
    (("spec", "runPolicy", "ttlSecondsAfterFinished"), (*_POLICY, "ttl_seconds_after_finished")),
    (("spec", "runPolicy", "activeDeadlineSeconds"), (*_POLICY, "active_deadline_seconds")),
    (("spec", "runPolicy", "backoffLimit"), (*_POLICY, "backoff_limit")),
    *_resources(("spec", "worker"), (*_CONFIG, "worker")),
    *_resources(("spec", "master"), (*_CONFIG, "master")),
    (("spec", "worker"), (*_CONFIG, "worker")),
    (("spec", "master"), (*_CONFIG, "master")),
    (("spec", "sharedMemory"), ("shared_memory",)),
    (("spec", "podLabels"), ("labels",)),
    (("spec", "podAnnotations"), ("annotations",)),
    (("spec", "podTemplate"), ("pod_template",)),
    *_resources(("spec",), ()),
    (("spec", "env"), ("environment",)),
    (("spec", "spot"), ("interruptible",)),
    (("spec",), ()),
)
"""Where a part of the spec comes from: the first prefix that fits."""


def read(document: dict[str, Any], found: Sequence[Problem]) -> list[Problem]:
    """What is wrong with the document's shape, without what is already known of the same place."""
    from ptcompile.frontends.spec import read_spec

    known = [problem.path for problem in found if problem.severity == "error"]
    out: list[Problem] = []
    for problem in read_spec(document)[1]:
        path = origin(problem.path)
        if any(path[: len(one)] == one or one[: len(path)] == path for one in known):
            continue
        known.append(path)
        out.append(problem._replace(path=path, message=_moved(problem.message, problem.path, path), fix=None))
    return out


def origin(path: Path) -> Path:
    """A path of the spec as a path of the Flyte call."""
    for there, here in ORIGINS:
        if path[: len(there)] == there:
            rest = path[len(there) :]
            return (*here, *(map(_flyte_s, rest) if "resources" in there else rest))
    return path


def _flyte_s(step: str | int) -> str | int:
    """The name of an amount in flytekit's Resources."""
    return next((flyte for flyte, spec in FIELDS.items() if spec == step), step)


def in_flyte_s_words(found: Diagnostic) -> Diagnostic:
    """A finding about the spec of a task, at the place of the Flyte call that it comes from."""
    if not (found.resource or "").startswith("TrainingJob/"):
        return found  # about a manifest, or a profile
    path = origin(found.path)
    if found.name == "spec-missing-field" and path[-1:] in (("image",), ("container_image",)):
        message = "container_image: is missing: Flyte would use the project's default image, which is unknown here"
        return found._replace(path=("container_image",), message=message, help="add container_image, or give --image")
    return found._replace(path=path, message=_moved(found.message, found.path, path))


def _moved(message: str, old: Path, new: Path) -> str:
    return field_path(new) + message.removeprefix(field_path(old)) if message.startswith(field_path(old)) else message
