"""The rendezvous of a job: training roles, endpoint, number of processes, and obstacles to
joining it.
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kinds.pods import ExpandedRole
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    nested_map,
    nested_maps,
    nested_string,
)
from ptcompile.simulator.launchers.rendezvous import KNOWN_IN_POD, IntRange, Rendezvous
from ptcompile.simulator.meeting import training_roles
from ptcompile.simulator.obstacles import is_outside
from ptcompile.simulator.pod import WorkloadPods

_LAUNCHERS_WITH_ENDPOINT = ("torchrun", "accelerate", "deepspeed")
"""Launchers whose pods join at the endpoint in their options (rehearsed with accelerate 1.15 and
DeepSpeed 0.19).
"""


class JobRendezvous(NamedTuple):
    """The rendezvous of a job's training pods, as the first of them sees it."""

    roles: tuple[tuple[ExpandedRole, Rendezvous], ...]
    """Training roles, each with the rendezvous of its first pod."""
    host: str | None
    """Pod or Service that the endpoint names, or None if no object of the job answers to it."""
    outside: bool
    """Whether the endpoint is a name outside the stream, such as a database's."""
    notes: tuple[str, ...]

    @property
    def first(self) -> Rendezvous:
        """Rendezvous of the first training pod."""
        _, rendezvous = self.roles[0]
        return rendezvous

    @property
    def role_names(self) -> set[str]:
        """Names of the training roles."""
        return {role.name for role, _ in self.roles}

    @property
    def nodes(self) -> int:
        """Number of training pods."""
        return sum(role.count for role, _ in self.roles)

    @property
    def processes(self) -> IntRange | None:
        """Number of processes, or None if the machine decides."""
        nodes = self.first.nodes
        if nodes is None:
            return None

        total = 0
        counts = []
        for role, rendezvous in self.roles:
            if rendezvous.processes is None:
                return None
            total += role.count * rendezvous.processes
            counts.append(rendezvous.processes)

        if self.first.launcher == "command" or nodes.least == nodes.most:
            return IntRange(total, total)
        return IntRange(min(counts) * nodes.least, min(total, max(counts) * nodes.most))

    @property
    def processes_text(self) -> str:
        """Number of processes, as a number, a range or a product."""
        if self.processes is None:
            return self.first.world_size_text
        return self.processes.text

    def to_dict(self) -> JsonDict:
        """Return the JSON form."""
        return {
            **self.first.to_dict(),
            "pods": self.nodes,
            "processes": None if self.processes is None else list(self.processes),
            "roles": [role.name for role, _ in self.roles],
            "host": self.host,
            "notes": list(self.notes),
        }


def job_rendezvous(job: WorkloadPods) -> JobRendezvous | None:
    """Return the rendezvous of the job's pods, or None for a job without pods."""
    leads = training_roles(job)
    if not leads:
        return None

    first = job.meetings[0]
    notes = [note for _, _, rendezvous in leads for note in rendezvous.notes]

    return JobRendezvous(
        roles=tuple((role, rendezvous) for role, _, rendezvous in leads),
        host=(first.guide.address.title or None) if leads[0].rendezvous.host else None,
        outside=is_outside(first.guide),
        notes=tuple(dict.fromkeys([*notes, *(obstacle.sentence for obstacle in job.obstacles)])),
    )


def can_rendezvous(job: WorkloadPods, rendezvous: JobRendezvous) -> bool | None:
    """Return whether all training pods join one rendezvous, or None if machines, other objects or
    an image's own command decide that.
    """
    starts_nothing = any(
        note.startswith(("torchrun does not start", "torchrun starts nothing"))
        for _, role_rendezvous in rendezvous.roles
        for note in role_rendezvous.notes
    )
    if starts_nothing or any(obstacle.is_certain for obstacle in job.obstacles):
        return False

    is_modeled = (
        rendezvous.first.launcher in _LAUNCHERS_WITH_ENDPOINT or rendezvous.first.backend == "env"
    )
    is_known = not any(note.endswith(KNOWN_IN_POD) for note in rendezvous.notes)
    is_free = all(obstacle.is_late for obstacle in job.obstacles)
    if is_modeled and is_known and is_free and not rendezvous.outside:
        return True

    return None


def volume_sources(spec: Json) -> list[tuple[str, str, str]]:
    """Return the volumes of a pod spec as name, type and source, such as `("data", "claim",
    "datasets")`.
    """
    return [
        (nested_string(volume, "name"), *_volume_source(volume))
        for volume in nested_maps(spec, "volumes")
    ]


_SOURCE_FIELDS = {
    "persistentVolumeClaim": ("claim", "claimName"),
    "configMap": ("configmap", "name"),
    "secret": ("secret", "secretName"),
    "hostPath": ("host", "path"),
    "nfs": ("nfs", "path"),
}


def _volume_source(volume: Json) -> tuple[str, str]:
    """Return the type of a volume, and what it is made of: a name or a size."""
    for key, (volume_type, field) in _SOURCE_FIELDS.items():
        if key in volume:
            return volume_type, nested_string(volume, key, field)
    if "emptyDir" in volume:
        empty_dir = nested_map(volume, "emptyDir")
        volume_type = "memory" if empty_dir.get("medium") == "Memory" else "scratch"
        return volume_type, str(empty_dir.get("sizeLimit") or "")
    return next((str(key) for key in volume if key != "name"), "scratch"), ""
