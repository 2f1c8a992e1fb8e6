"""What a change of manifests means: objects, pods, and what an apply would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.differ.changes import changes
from ptcompile.differ.model import Apply, Change, Compared, Fact, ObjectDifference
from ptcompile.differ.normal import Marks, shown, shown_text
from ptcompile.differ.pairing import ObjectPair, makes_pods, pairs
from ptcompile.differ.world import WorldComparison, compare_worlds
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.unstructured import kind_of, object_name
from ptcompile.kubernetes.versions import Versions
from ptcompile.simulator.as_json import shown_jobs
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.world import simulate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json


class Difference(Compared):
    """How two sides differ: each object with its other, jobs first by their worlds. Secrets are hidden in all of it."""

    __slots__ = ()

    def text(self) -> str:
        """For a terminal."""
        from ptcompile.differ.text import text

        return text(self)

    def markdown(self) -> str:
        """For a pull request: GitHub's Markdown."""
        from ptcompile.differ.markdown import markdown

        return markdown(self)


__all__ = ["Change", "DiffSide", "Difference", "Fact", "ObjectDifference", "compare"]


class DiffSide(NamedTuple):
    """What is compared with something else."""

    manifests: Sequence[Json] = ()
    versions: Versions = Versions()
    """Of Kubernetes and the operators that run the manifests."""
    others: Objects = Objects()
    """Objects of both sides that are only looked at, not compared."""

    def jobs(self, marks: Marks) -> dict[int, SimulatedJob]:
        """The jobs with their secrets masked, by the identity of their manifests."""
        jobs = simulate(self.manifests, versions=self.versions, others=self.others).jobs
        return {id(job.manifest): one for job, one in zip(jobs, shown_jobs(jobs, marks), strict=True)}


def compare(
    before: DiffSide, after: DiffSide, verdicts: Mapping[int, Apply] = MappingProxyType({})
) -> tuple[ObjectDifference, ...]:
    """Every object of both sides with its other. Total: any data, never an exception.

    `verdicts` say what an apply does, by the identity of the object of the second side.
    """
    marks = Marks()
    one, other = before.jobs(marks), after.jobs(marks)
    found = pairs(before.manifests, after.manifests)
    return tuple(_object(pair, one, other)._replace(apply=verdicts.get(id(pair[1]))) for pair in found)


def _object(pair: ObjectPair, one: dict[int, SimulatedJob], other: dict[int, SimulatedJob]) -> ObjectDifference:
    before, after = pair
    if before is None or after is None:
        return ObjectDifference(_title(before), _title(after))
    found = WorldComparison((), ())
    if id(before) in one and id(after) in other and makes_pods(before) and makes_pods(after):
        found = compare_worlds(one[id(before)], other[id(after)])
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
