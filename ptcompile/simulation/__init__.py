"""What every pod will see: manifests -> the world that their operators would make of them. Pure, offline, lazy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.untyped import items, kind_of, object_name, text
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.all import GROUP_MARKS, kind_named
from ptcompile.operators.pods import RUNS_PODS
from ptcompile.simulation.job import Job, job_of
from ptcompile.simulation.pod import Pod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json
    from ptcompile.simulation.world import World

__all__ = ["Job", "Pod", "job_of", "simulate"]

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
    from ptcompile.simulation.world import World  # lint has no need of it

    objects = tuple(_flat(documents))
    given = Objects(objects, others if isinstance(others, Objects) else Objects(_flat(others)))
    jobs: list[Job] = []
    skipped: list[str] = []
    for one in objects:
        if kind_of(one) in RUNS_PODS and not _too_wide(one):
            jobs.append(job_of(one, given, versions or Versions(), target))
        elif kind_of(one) not in _ASIDE:
            skipped.append(f"{text(one.get('kind')) or 'a document without kind'}/{object_name(one)}".rstrip("/"))
    return World(tuple(jobs), tuple(skipped))


def _too_wide(manifest: Json) -> bool:
    """Whether its operator would make so many pods of it that they are not looked at."""
    return kind_named(kind_of(manifest)).too_wide(manifest) is not None


def _flat(documents: Iterable[Json]) -> Iterator[Json]:
    for document in documents:
        if kind_of(document) == ("v1", "List"):
            yield from items(document.get("items"))
        else:
            yield document
