"""What the spec's own vocabulary says of a converted task, at the places of the Flyte call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptcompile.findings.diagnostics import Path, Problem, field_path

_CONFIG = ("task_config",)
_POLICY = (*_CONFIG, "run_policy")

ORIGINS: tuple[tuple[Path, Path], ...] = (
    (("metadata", "name"), ("name",)),
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
    (("spec", "worker"), (*_CONFIG, "worker")),
    (("spec", "master"), (*_CONFIG, "master")),
    (("spec", "sharedMemory"), ("shared_memory",)),
    (("spec", "podLabels"), ("labels",)),
    (("spec", "podAnnotations"), ("annotations",)),
    (("spec", "podTemplate"), ("pod_template",)),
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
            return (*here, *path[len(there) :])
    return path


def _moved(message: str, old: Path, new: Path) -> str:
    return field_path(new) + message.removeprefix(field_path(old)) if message.startswith(field_path(old)) else message
