"""The world that manifests would make: jobs and their pods, each built when it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Diagnostic
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.unstructured import as_mappings, as_string, kind_of, object_name
from ptcompile.kubernetes.versions import Versions
from ptcompile.registry.pods import ExpandedRole
from ptcompile.registry.table import GROUP_MARKS, RUNS_PODS, kind_named
from ptcompile.simulator.job import SimulatedJob, job_of
from ptcompile.simulator.pod import RANDOM, Pod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, overload

    from ptcompile.kubernetes.unstructured import Json


WIDE = 4096
"""In JSON, a world with more pods is folded."""
LARGE: Final = 1 << 26
"""So is one whose pods have more characters than this in their variables and command lines: 64 MiB."""
FOLDED = 64
"""Of a role with more pods than this, a folded world has the first eight and the last two."""


class WorldPods(Sequence[Pod]):
    """The pods of all jobs, one after another; each is built when asked for."""

    __slots__ = ("jobs",)

    def __init__(self, jobs: Sequence[SimulatedJob]) -> None:
        self.jobs = tuple(jobs)

    @property
    def total(self) -> int:
        """How many pods there are, which may be more than `len` can say."""
        return sum(job.size for job in self.jobs)

    def __len__(self) -> int:
        return min(self.total, sys.maxsize)

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: int) -> Pod: ...
        @overload
        def __getitem__(self, index: slice) -> list[Pod]: ...

    def __getitem__(self, index: int | slice) -> Pod | list[Pod]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        left = index if index >= 0 else len(self) + index
        for job in self.jobs:
            if 0 <= left < job.size:
                return Pod(job.expansion.pods[left], job)
            left -= job.size
        raise IndexError(index)

    def __iter__(self) -> Iterator[Pod]:
        return chain.from_iterable(job.pods() for job in self.jobs)

    def folded(self) -> Iterator[Pod]:
        """Every pod of a small world; of a large one's wide roles the first eight and the last two."""
        most = FOLDED if self.total > WIDE or self._written() > LARGE else WIDE
        for job in self.jobs:
            for role in job.roles:
                indexes = range(role.count) if role.count <= most else (*range(8), role.count - 2, role.count - 1)
                yield from (job.pod(role, i) for i in indexes)

    def _written(self) -> int:
        """About how many characters the variables and command lines of all pods have: each as its role's first."""
        firsts = ((role.count, pod) for job in self.jobs for role, pod in job.firsts())
        return sum(
            count * sum(map(len, (*pod.env.values(), *(pod.command or ()), *(pod.args or ())))) for count, pod in firsts
        )

    def named(self, name: str) -> list[Pod]:
        """The pods of this name, with or without its random part, found without building all of them."""
        wanted = name.removesuffix(RANDOM)
        return [pod for job in self.jobs for role in job.roles for pod in _candidates(job, role, wanted)]


def _candidates(job: SimulatedJob, role: ExpandedRole, name: str) -> Iterator[Pod]:
    """The index ends every pod's name: the numbers at its end say where to look."""
    numbers = [int(part) for part in name.split("-")[-2:] if part.isascii() and part.isdigit() and len(part) < 12]
    tried = {0, *numbers}
    if len(numbers) == 2:  # JobSet: pods count on over the Jobs of a role
        per_job = _per_job(job, role)
        tried.add(numbers[0] * per_job + numbers[1])
    for index in sorted(tried):
        if index < role.count and role.pod(index).name == name:
            yield job.pod(role, index)


def _per_job(job: SimulatedJob, role: ExpandedRole) -> int:
    """How many pods each Job of a role has."""
    jobs = [one for one in job.expansion.jobs if one.get("role") == role.name]
    completions = jobs[0].get("completions") if jobs else None
    parallelism = jobs[0].get("parallelism") if jobs else None
    each = completions if completions is not None else parallelism
    return each if isinstance(each, int) else 1


class World(NamedTuple):
    """All jobs of a stream. Nothing is left out in silence: `skipped` names the objects that make no pods."""

    jobs: tuple[SimulatedJob, ...] = ()
    skipped: tuple[str, ...] = ()
    """Objects of kinds that are not simulated, as `Kind/name`."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """What is wrong with the text, or with a spec that does not compile."""

    @property
    def ok(self) -> bool:
        """Whether there is no error. A job that its operator rejects is not one: `Job.expansion.refused` says so."""
        return not any(d.severity == "error" for d in self.diagnostics)

    @property
    def pods(self) -> WorldPods:
        """The pods of all jobs."""
        return WorldPods(self.jobs)

    def to_dict(self, *, all_pods: bool = False) -> dict[str, Any]:
        """The JSON form (schemas/world.schema.json).

        In a world of more than 4096 pods, or of more than 64 MiB of variables, roles with more than 64 are written as
        their first eight pods and last two, unless `all_pods` asks for all. Beyond 24 MiB no pod is listed, and a
        finding `too-large` says so.
        """
        from ptcompile.simulator.as_json import world_to_dict

        pods = iter(self.pods) if all_pods else self.pods.folded()
        return world_to_dict(self.jobs, pods, self.pods.total, self.skipped, self.diagnostics)


def merge_worlds(worlds: Iterable[World]) -> World:
    """Several worlds as one."""
    parts = list(worlds)
    return World(
        jobs=tuple(job for world in parts for job in world.jobs),
        skipped=tuple(name for world in parts for name in world.skipped),
        diagnostics=tuple(d for world in parts for d in world.diagnostics),
    )


_ASIDE = frozenset(
    {
        ("v1", "Service"),
        ("v1", "ConfigMap"),
        ("v1", "Secret"),
        ("v1", "PersistentVolumeClaim"),
        ("v1", "Namespace"),
        ("v1", "ServiceAccount"),
        ("trainer.kubeflow.org/v1alpha1", "TrainingRuntime"),
        ("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime"),
        ("ptcompile/v1", "ClusterProfile"),
        *GROUP_MARKS,
    }
)
"""Kinds that make no pods of their own, but decide how pods of the same stream live."""


def simulate(
    documents: Iterable[Json],
    *,
    versions: Versions | None = None,
    others: Sequence[Json] = (),
    target: str | None = None,
) -> World:
    """The world of a stream of plain manifests; items of a List count as documents.

    `others` are objects to look at only, such as runtimes from another file; who asks more than once with the same ones
    makes `Objects` of them, without Lists. `target` is written on the jobs. Total: any data, never an exception. Pods
    are built when they are asked for.
    """
    objects = tuple(_flat(documents))
    given = Objects(objects, others if isinstance(others, Objects) else Objects(_flat(others)))
    jobs: list[SimulatedJob] = []
    skipped: list[str] = []
    for one in objects:
        if kind_of(one) in RUNS_PODS and not _too_wide(one):
            jobs.append(job_of(one, given, versions or Versions(), target))
        elif kind_of(one) not in _ASIDE:
            skipped.append(f"{as_string(one.get('kind')) or 'a document without kind'}/{object_name(one)}".rstrip("/"))
    return World(tuple(jobs), tuple(skipped))


def _too_wide(manifest: Json) -> bool:
    """Whether its operator would make so many pods of it that they are not looked at."""
    return kind_named(kind_of(manifest)).too_wide(manifest) is not None


def _flat(documents: Iterable[Json]) -> Iterator[Json]:
    for document in documents:
        if kind_of(document) == ("v1", "List"):
            yield from as_mappings(document.get("items"))
        else:
            yield document
