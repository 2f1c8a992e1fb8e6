"""What several rules read of a Ray cluster."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from ptcompile.kubernetes.unstructured import nested_string, nested_value
from ptcompile.linter.rule import Subject
from ptcompile.operators.ray.pods import RayGroup, groups_of, has_autoscaler


def ray_groups(subject: Subject) -> tuple[RayGroup, ...]:
    """Return the head and the groups of workers."""
    return subject.cached(_groups)


def _groups(subject: Subject) -> tuple[RayGroup, ...]:
    return tuple(groups_of(subject.manifest))


def hides_devices(group: RayGroup) -> bool:
    """Return whether the Ray container may have devices that its limits do not list."""
    container = group.container
    is_privileged = nested_value(container, "securityContext", "privileged") is True
    return is_privileged or bool(nested_value(container, "resources", "claims"))


def max_gpus(subject: Subject, groups: Iterable[RayGroup]) -> int | None:
    """Return the number of GPUs that the cluster may have, or None if the file does not tell."""
    total = 0
    for group in groups:
        if hides_devices(group):
            return None
        hosts = group.max_pods if has_autoscaler(subject.manifest) else group.started_pods
        total += hosts * max(group.devices, group.gpus)
    return total


def entrypoint_words(subject: Subject) -> list[str]:
    """Return the words of a RayJob's entrypoint."""
    text = nested_string(subject.spec, "entrypoint")
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
