"""The verdict: how a rehearsal ended, beside what `simulate` claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ptcompile.kubernetes.versions import Version
from ptcompile.rehearsal.cast import Actor
from ptcompile.rehearsal.course import Seen
from ptcompile.simulator.faults import Fault, Prediction, agents_of, claim
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.meeting import can_rendezvous, job_rendezvous

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.simulator.faults import End

WORDS: dict[End | None, str] = {
    "all": "all pods train to completion",
    "fewer": "the other pods train to completion",
    "fail": "the job does not train to completion",
    None: "either, by chance",
}


class RehearsalVerdict(NamedTuple):
    """What was claimed and what was seen."""

    claimed: Prediction
    seen: End
    differences: tuple[str, ...]
    """Where both differ, one sentence each; empty where they agree."""

    @property
    def passed(self) -> bool:
        """Whether the job trained to its end, as it was claimed."""
        return self.seen != "fail" and not self.differences


def claimed(job: SimulatedJob, faults: Sequence[Fault], torch: Version | None = None) -> Prediction:
    """What `simulate` claims of a job with these faults, of several the worst, for a PyTorch or the manifest's own."""
    found = job_rendezvous(job)
    meeting_claim = can_rendezvous(job, found) if found is not None else False
    if meeting_claim is not True:
        notes = "; ".join(found.notes) if found is not None else "no pod trains"
        return Prediction("fail" if meeting_claim is False else None, notes or "it depends on what no file shows")
    agents = agents_of(job, found, torch)
    if not faults:
        return Prediction("all", "nothing in the manifest prevents the pods from meeting")
    if agents is None:
        return Prediction(None, "faults are modelled for torchrun with static or c10d rendezvous alone")
    claims = [claim(agents, one) for one in faults]
    order: tuple[End | None, ...] = ("fail", None, "fewer", "all")
    return min(claims, key=lambda one: order.index(one.end))


def judge(
    job: SimulatedJob, actors: Sequence[Actor], faults: Sequence[Fault], seen: Sequence[Seen], *, blind: bool,
    torch: Version | None = None,
) -> RehearsalVerdict:  # fmt: skip
    """Compare. `blind`: the pods ran a script that does not say what it saw, so that exits alone count."""
    expected = claimed(job, faults, torch)
    end = _end(seen, blind=blind)
    differences = []
    if expected.end is not None and end != expected.end:
        differences.append(f"simulate claims: {WORDS[expected.end]} ({expected.why}); seen: {WORDS[end]}")
    if end != "fail" and not blind:
        differences += _details(actors, seen)
    return RehearsalVerdict(expected, end, tuple(differences))


def _end(seen: Sequence[Seen], *, blind: bool) -> End:
    staying = [one for one in seen if not one.lost]
    if any(one.exit != 0 for one in staying) or not staying:
        return "fail"
    if not blind and any(not one.rounds or one.rounds[-1].nodes != len(staying) for one in staying):
        return "fail"
    return "all" if len(staying) == len(seen) else "fewer"


def _details(actors: Sequence[Actor], seen: Sequence[Seen]) -> Iterator[str]:
    """World, ranks and sums of the last meeting."""
    staying = [(actor, one) for actor, one in zip(actors, seen, strict=True) if not one.lost]
    world = sum(actor.processes for actor, _ in staying)
    for actor, one in staying:
        last = one.rounds[-1]
        if last.world != world:
            yield f"{actor.name}: the world has {last.world} processes, but {world} were started"
        if actor.rank is not None and str(last.group) != actor.rank and len(staying) == len(seen):
            yield f"{actor.name}: simulate claims node rank {actor.rank}; seen: {last.group}"
        if not last.right:
            yield f"{actor.name}: the all_reduce over all ranks is wrong"
    ranks = sorted(one.rounds[-1].group for _, one in staying)
    if ranks != list(range(len(staying))):
        yield f"the node ranks are {', '.join(map(str, ranks))}, not each of 0 to {len(staying) - 1} once"
