"""Differences between manifests: in objects, in pods, and in what an apply would do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.differ.changes import changes
from ptcompile.differ.model import Apply, Change, Compared, Fact, ObjectDifference
from ptcompile.differ.normal import Marks, strip_marks, without_marks
from ptcompile.differ.pairing import ObjectPair, makes_pods, pairs
from ptcompile.differ.world import compare_worlds
from ptcompile.kinds.wrapped import group_and_kind
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.unstructured import Json, nested_string, object_name
from ptcompile.kubernetes.versions import Versions
from ptcompile.simulator.as_json import mask_jobs
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.world import simulate


class Difference(Compared):
    """The differences between two sides: pairs of objects, jobs first by their pods. All secrets
    are masked.
    """

    __slots__ = ()

    def text(self) -> str:
        """Return the differences as text for a terminal."""
        from ptcompile.differ.text import render_text

        return render_text(self)

    def markdown(self) -> str:
        """Return the differences as GitHub Markdown, for a pull request."""
        from ptcompile.differ.markdown import render_markdown

        return render_markdown(self)


__all__ = ["Change", "DiffSide", "Difference", "Fact", "ObjectDifference", "compare"]


class DiffSide(NamedTuple):
    """One side of a comparison."""

    manifests: Sequence[Json] = ()
    versions: Versions = Versions()
    """Versions of Kubernetes and of the operators that run the manifests."""
    others: Objects = Objects()
    """Context objects of both sides that are not compared."""

    def jobs(self, marks: Marks | None) -> dict[int, SimulatedJob]:
        """Return the simulated jobs, keyed by the identity of their manifests, with secrets masked
        if `marks` is set.
        """
        jobs = simulate(self.manifests, versions=self.versions, others=self.others).jobs
        compared = jobs if marks is None else mask_jobs(jobs, marks)
        return {id(job.manifest): masked for job, masked in zip(jobs, compared, strict=True)}


def compare(
    before: DiffSide,
    after: DiffSide,
    verdicts: Mapping[int, Apply] = MappingProxyType({}),
    *,
    masks: bool = True,
) -> tuple[ObjectDifference, ...]:
    """Return the pairs of objects of both sides with their differences. Accepts any data; never
    raises.

    `verdicts` are the results of an apply, keyed by the identity of the second side's object.
    Without `masks`, secrets of the pods are compared as they are, and the pods of objects whose
    fields are all the same are not compared: for callers that ask whether there is a fact and show
    none.
    """
    matched = pairs(before.manifests, after.manifests)
    objects = list(map(_compare_fields, matched))
    if masks or any(obj.differs or obj.note for obj in objects):
        marks = Marks() if masks else None
        old_jobs = before.jobs(marks)
        new_jobs = after.jobs(marks)
        objects = [
            _with_worlds(obj, pair, old_jobs, new_jobs)._replace(apply=verdicts.get(id(pair[1])))
            for obj, pair in zip(objects, matched, strict=True)
        ]

    return tuple(_say_what_stays(objects))


_CHANGING = frozenset({"in-place", "restarts", "ignored"})
_MAX_NAMED = 5


def _say_what_stays(objects: Sequence[ObjectDifference]) -> Iterator[ObjectDifference]:
    """Yield the objects, and add what stays changed to a refused apply: kubectl applies the objects
    one by one, goes on after an error and undoes nothing.
    """
    changed = [
        str(obj.after)
        for obj in objects
        if obj.apply is not None and obj.apply.outcome in _CHANGING
    ]
    names = ", ".join(changed[:_MAX_NAMED]) + (", ..." if changed[_MAX_NAMED:] else "")
    for obj in objects:
        if names and obj.apply is not None and obj.apply.outcome == "refused":
            why = f"{obj.apply.why}; the apply goes on, and what it changes in {names} stays"
            yield obj._replace(apply=obj.apply._replace(why=why))
        else:
            yield obj


def _compare_fields(pair: ObjectPair) -> ObjectDifference:
    """Return the differences between the fields of two objects, without those of their pods."""
    before, after = pair
    if before is None or after is None:
        return ObjectDifference(_title(before), _title(after))

    note = None
    if group_and_kind(before) != group_and_kind(after):
        note = (
            "the manifests belong to two operators and share no fields to compare: compare the "
            "worlds"
        )
    object_changes = () if note else changes(before, after)

    return ObjectDifference(_title(before), _title(after), changes=object_changes, note=note)


def _with_worlds(
    obj: ObjectDifference,
    pair: ObjectPair,
    old_jobs: dict[int, SimulatedJob],
    new_jobs: dict[int, SimulatedJob],
) -> ObjectDifference:
    """Return the differences with those of the pods, if both objects are jobs."""
    before, after = pair
    old = old_jobs.get(id(before))
    new = new_jobs.get(id(after))
    if old is None or new is None or not (makes_pods(old.manifest) and makes_pods(new.manifest)):
        return obj

    comparison = compare_worlds(old, new)
    return obj._replace(
        same=tuple(map(strip_marks, comparison.same)),
        facts=tuple(map(without_marks, comparison.facts)),
    )


def _title(manifest: Json | None) -> str | None:
    if manifest is None:
        return None
    kind = nested_string(manifest, "kind") or "a document without kind"
    return f"{kind}/{object_name(manifest)}".rstrip("/")
