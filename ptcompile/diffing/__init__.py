"""How two sides differ, each of them manifests and their world: in terms of the world first, then path by path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ptcompile.diffing.difference import Difference
from ptcompile.diffing.hiding import Marks, shown, shown_text
from ptcompile.diffing.pairing import Pair, makes_pods, pairs
from ptcompile.diffing.paths import changes
from ptcompile.diffing.values import Apply, Change, Fact, ObjectDifference
from ptcompile.diffing.world import Found, compared
from ptcompile.kubernetes.untyped import kind_of, object_name
from ptcompile.kubernetes.versions import Versions
from ptcompile.simulation import simulate
from ptcompile.simulation.hidden import shown_jobs
from ptcompile.simulation.job import Job
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json

__all__ = ["Change", "Difference", "Fact", "ObjectDifference", "Side", "compare"]


class Side(NamedTuple):
    """What is compared with something else."""

    manifests: Sequence[Json] = ()
    versions: Versions = Versions()
    """Of Kubernetes and the operators that run the manifests."""

    def jobs(self, marks: Marks) -> dict[int, Job]:
        """The jobs with their secrets masked, by the identity of their manifests."""
        jobs = simulate(self.manifests, versions=self.versions).jobs
        return {id(job.manifest): one for job, one in zip(jobs, shown_jobs(jobs, marks), strict=True)}


def compare(
    before: Side, after: Side, verdicts: Mapping[int, Apply] = MappingProxyType({})
) -> tuple[ObjectDifference, ...]:
    """Every object of both sides with its other. Total: any data, never an exception.

    `verdicts` say what an apply does, by the identity of the object of the second side.
    """
    marks = Marks()
    one, other = before.jobs(marks), after.jobs(marks)
    found = pairs(before.manifests, after.manifests)
    return tuple(_object(pair, one, other)._replace(apply=verdicts.get(id(pair[1]))) for pair in found)


def _object(pair: Pair, one: dict[int, Job], other: dict[int, Job]) -> ObjectDifference:
    before, after = pair
    if before is None or after is None:
        return ObjectDifference(_title(before), _title(after))
    found = Found((), ())
    if id(before) in one and id(after) in other and makes_pods(before) and makes_pods(after):
        found = compared(one[id(before)], other[id(after)])
    note = None
    if kind_of(before)[1] != kind_of(after)[1] or _group(before) != _group(after):
        note = "the manifests belong to two operators and share no fields to compare: compare the worlds"
    told = () if note else changes(before, after)
    facts, same = tuple(map(shown, found.facts)), tuple(map(shown_text, found.same))
    return ObjectDifference(_title(before), _title(after), same, facts, told, note)


def _group(manifest: Json) -> str:
    return kind_of(manifest)[0].rpartition("/")[0]


def _title(manifest: Json | None) -> str | None:
    if manifest is None:
        return None
    return f"{kind_of(manifest)[1] or 'a document without kind'}/{object_name(manifest)}".rstrip("/")
