"""Values that name something else: which kinds of objects, or which volume of the pod."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ptcompile.findings.diagnostics import Path
from ptcompile.frontends.lines import value_at
from ptcompile.kubernetes.untyped import at, items
from ptcompile.operators.common.queue_marks import NAMES

RUNTIMES: Final = ("ClusterTrainingRuntime", "TrainingRuntime")
QUEUES: Final = ("LocalQueue", "Queue")

_BY_TWO: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("configMapKeyRef", "name"): ("ConfigMap",),
    ("configMapRef", "name"): ("ConfigMap",),
    ("configMap", "name"): ("ConfigMap",),
    ("secretKeyRef", "name"): ("Secret",),
    ("secretRef", "name"): ("Secret",),
    ("secret", "name"): ("Secret",),
    ("secret", "secretName"): ("Secret",),
    ("imagePullSecrets", "name"): ("Secret",),
    ("persistentVolumeClaim", "claimName"): ("PersistentVolumeClaim",),
    ("runtimeRef", "name"): RUNTIMES,
    ("spec", "queue"): QUEUES,
    ("spec", "clusterQueue"): ("ClusterQueue",),
    **{place: (kind,) for place, kind in NAMES.items()},
    ("metadata", "namespace"): ("Namespace",),
}
"""By the last two keys of the path, list indexes aside."""

_BY_ONE: Final[dict[str, tuple[str, ...]]] = {
    "serviceAccountName": ("ServiceAccount",),
    "priorityClassName": ("PriorityClass",),
}


class Volume(NamedTuple):
    """A volume that a mount names, and where it is in the document."""

    name: str
    path: Path


def kinds_named(path: Path) -> tuple[str, ...]:
    """The kinds of objects of which the value at a path is a name; none where it is not a name."""
    keys = [part for part in path if isinstance(part, str)]
    if not keys:
        return ()
    by_two = _BY_TWO.get((keys[-2], keys[-1])) if len(keys) > 1 else None
    return by_two if by_two is not None else _BY_ONE.get(keys[-1], ())


def is_mount(path: Path) -> bool:
    """Whether the value at a path is the name of a volume that a container mounts."""
    return len(path) > 2 and path[-1] == "name" and path[-3] in ("volumeMounts", "volumeDevices")


def volumes_for(path: Path, data: Mapping[str, Any]) -> list[Volume]:
    """The volumes that a mount at a path may name: those of the nearest mapping above it that has some.

    In a spec of ours a role mounts the job's volumes too.
    """
    found: list[Volume] = []
    for end in range(len(path) - 3, -1, -1):
        above = value_at(path[:end], data)
        here = items(above.get("volumes")) if isinstance(above, Mapping) else []
        listed = (*path[:end], "volumes")
        found += [Volume(str(one["name"]), (*listed, i)) for i, one in enumerate(here) if "name" in one]
        if here and str(data.get("kind")) != "TrainingJob":
            break
    claims = items(at(data, "spec").get("volumeClaimTemplates"))
    named = [(i, at(one, "metadata").get("name")) for i, one in enumerate(claims)]
    return found + [Volume(str(name), ("spec", "volumeClaimTemplates", i)) for i, name in named if name]


_IN_PROFILE: Final[dict[Path, tuple[str, ...]]] = {
    ("spec", "accelerator"): ("accelerators",),
    ("spec", "fabric"): ("fabrics",),
    ("spec", "queue"): ("defaults", "queue"),
    ("spec", "topology", "required"): ("topology", "levels"),
    ("spec", "topology", "preferred"): ("topology", "levels"),
    ("spec", "priority"): ("priorities",),
}


def in_profile(path: Path) -> tuple[str, ...]:
    """The table of the profile in which the name at a path of a spec is looked up; empty where it is in none."""
    return _IN_PROFILE.get(path, ())
