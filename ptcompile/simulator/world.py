"""The world that operators would create from manifests: jobs and their pods, each built on
demand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import is_short_number
from ptcompile.diagnostics import Diagnostic, has_error
from ptcompile.kinds.pods import ExpandedRole
from ptcompile.kinds.wrapped import wrapped_objects
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.nodes import NodeGroup
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    kind_of,
    nested_maps,
    object_name,
)
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.table import GROUP_MARKS, RUNS_PODS, kind_named
from ptcompile.simulator.job import SimulatedJob, job_of
from ptcompile.simulator.launchers.command import starts_launcher
from ptcompile.simulator.pod import RANDOM_SUFFIX, Pod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import overload


MAX_UNFOLDED_PODS = 4096
"""Worlds with more pods than this are folded in JSON."""
MAX_UNFOLDED_CHARACTERS = 1 << 26
"""Worlds whose pods have more characters than this in variables and command lines are folded
too: 64 MiB.
"""
MAX_ROLE_PODS = 64
"""In a folded world, a role with more pods than this keeps the first eight and the last two."""


class WorldPods(Sequence[Pod]):
    """The pods of all jobs in order, each built on demand."""

    __slots__ = ("jobs",)

    def __init__(self, jobs: Sequence[SimulatedJob]) -> None:
        self.jobs = tuple(jobs)

    @property
    def total(self) -> int:
        """Number of pods, which may exceed what `len` can return."""
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
            return [self[position] for position in range(*index.indices(len(self)))]
        remaining = index if index >= 0 else len(self) + index
        for job in self.jobs:
            for role in job.roles:
                if 0 <= remaining < role.count:
                    return job.pod(role, remaining)
                remaining -= role.count
        raise IndexError(index)

    def __iter__(self) -> Iterator[Pod]:
        return chain.from_iterable(job.pods() for job in self.jobs)

    def folded(self) -> Iterator[Pod]:
        """Yield all pods of a small world; in a large world, only the first eight and the last
        two of a wide role.
        """
        max_pods = MAX_UNFOLDED_PODS
        if self.total > MAX_UNFOLDED_PODS or self._estimate_characters() > MAX_UNFOLDED_CHARACTERS:
            max_pods = MAX_ROLE_PODS
        for job in self.jobs:
            for role in job.roles:
                indexes: Iterable[int] = range(role.count)
                if role.count > max_pods:
                    indexes = (*range(8), role.count - 2, role.count - 1)
                yield from (job.pod(role, i) for i in indexes)

    def _estimate_characters(self) -> int:
        """Return the approximate number of characters in all variables and command lines, from the
        first pod of each role.
        """
        firsts = ((role.count, pod) for job in self.jobs for role, pod in job.first_pods)
        return sum(count * sum(map(len, (*pod.env.values(), *pod.argv))) for count, pod in firsts)

    def named(self, name: str) -> list[Pod]:
        """Return the pods with this name, with or without the random suffix, without building
        all pods.
        """
        stem = name.removesuffix(RANDOM_SUFFIX)
        return [
            pod for job in self.jobs for role in job.roles for pod in _find_pods(job, role, stem)
        ]


def _find_pods(job: SimulatedJob, role: ExpandedRole, name: str) -> Iterator[Pod]:
    """Yield the pods of a role with this name, which ends with their indexes."""
    numbers = [int(part) for part in name.split("-")[-2:] if is_short_number(part, 12)]
    indexes = {0, *numbers}
    if len(numbers) == 2:  # JobSet: indexes continue across the Jobs of a role
        jobs = (item for item in job.expansion.jobs if item.get("role") == role.name)
        first: Json = next(jobs, {})
        completions = first.get("completions")
        each = completions if completions is not None else first.get("parallelism")
        per_job = each if isinstance(each, int) else 1
        job_index, pod_index = numbers
        indexes.add(job_index * per_job + pod_index)
    for index in sorted(indexes):
        if index < role.count and role.pod(index).name == name:
            yield job.pod(role, index)


class World(NamedTuple):
    """All jobs of a stream. `skipped` names every object that creates no pods."""

    jobs: tuple[SimulatedJob, ...] = ()
    """In the order of the stream, each with its pods."""
    skipped: tuple[str, ...] = ()
    """Objects of kinds that are not simulated, as `Kind/name`."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Findings in the text, or in a spec that does not compile."""
    nodes: Sequence[NodeGroup] = ()
    """The nodes of the cluster, as far as the profile or the stream shows them."""

    @property
    def ok(self) -> bool:
        """Whether no finding is an error; `SimulatedJob.expansion.refused` tells whether an
        operator rejects a job.
        """
        return not has_error(self.diagnostics)

    @property
    def pods(self) -> WorldPods:
        """Pods of all jobs."""
        return WorldPods(self.jobs)

    def to_dict(self, *, all_pods: bool = False) -> JsonDict:
        """Return the JSON form (schemas/world.schema.json).

        In a world of more than 4096 pods, or of more than 64 MiB of variables, roles with more than
        64 pods are reduced to their first eight and last two pods, unless `all_pods` is set. After
        24 MiB no more pods are listed, and the warning `too-large` reports it.
        """
        from ptcompile.simulator.as_json import world_to_dict

        pods = iter(self.pods) if all_pods else self.pods.folded()
        return world_to_dict(
            self.jobs, pods, self.pods.total, self.skipped, self.diagnostics, self.nodes
        )


def merge_worlds(worlds: Iterable[World]) -> World:
    """Return one world with the jobs of several."""
    parts = list(worlds)
    return World(
        jobs=tuple(job for world in parts for job in world.jobs),
        skipped=tuple(name for world in parts for name in world.skipped),
        diagnostics=tuple(d for world in parts for d in world.diagnostics),
    )


_KINDS_WITHOUT_PODS = frozenset(
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
"""Kinds that create no pods but affect the pods of their stream."""


def simulate(
    documents: Iterable[Json],
    *,
    versions: Versions | None = None,
    others: Sequence[Json] = (),
    target: str | None = None,
    frameworks: tuple[str, ...] = (),
) -> World:
    """Return the world of a stream of plain manifests; items of a List count as documents.

    `others` are objects that are only looked up, such as runtimes from another file. A caller that
    passes the same ones repeatedly should pass them as `Objects`, without Lists. `target` and
    `frameworks`, the kinds that Kueue manages beyond its defaults, are stored in the jobs. Accepts
    any data and never raises. Pods are built on demand.
    """
    objects = tuple(
        [inner for manifest in _flatten_lists(documents) for inner in _workloads_in(manifest)]
    )
    stream = Objects(
        objects, others if isinstance(others, Objects) else Objects(_flatten_lists(others))
    )
    jobs: list[SimulatedJob] = []
    skipped: list[str] = []
    for manifest in objects:
        key = kind_of(manifest)
        if key in RUNS_PODS and kind_named(key).too_wide(manifest) is None:
            jobs.append(job_of(manifest, stream, versions or Versions(), target, frameworks))
        elif key not in _KINDS_WITHOUT_PODS:
            _, kind = key
            title = f"{kind or 'a document without kind'}/{object_name(manifest)}"
            skipped.append(title.rstrip("/"))

    return World(tuple(jobs), tuple(skipped))


def _workloads_in(manifest: Json) -> list[Json]:
    """Return the objects that an object carries or that a controller makes of its parts, else
    the object itself.
    """
    # of a workflow's steps, only those that start a launcher, and whose parameters are filled in
    inner = [
        item.manifest
        for item in wrapped_objects(manifest)
        if not item.moves or (starts_launcher(item.manifest) and "{{" not in str(item.manifest))
    ]
    return [workload for item in inner for workload in _workloads_in(item)] or [manifest]


def _flatten_lists(documents: Iterable[Json]) -> Iterator[Json]:
    for document in documents:
        if kind_of(document) == ("v1", "List"):
            yield from nested_maps(document, "items")
        else:
            yield document
