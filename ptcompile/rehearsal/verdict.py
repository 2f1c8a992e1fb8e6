"""The verdict: how a rehearsal ended, compared with what `simulate` predicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from ptcompile.kubernetes.versions import Version
from ptcompile.rehearsal.cast import Actor
from ptcompile.rehearsal.course import Observation
from ptcompile.rehearsal.restarts import Restarts
from ptcompile.simulator.agents import agents_of
from ptcompile.simulator.faults import Fault, Prediction, predict, recreated_with
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.rendezvous import can_rendezvous

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.simulator.rounds import End

END_TEXTS: dict[End | None, str] = {
    "all": "all pods train to completion",
    "fewer": "the other pods train to completion",
    "fail": "the job does not train to completion",
    None: "either outcome, depending on chance",
}


_MACHINE_ERRORS = (
    "ImportError", "ModuleNotFoundError", "MemoryError", "RuntimeError: Numpy is not available",
    "OSError: [Errno 12]", "OSError: [Errno 24]", "OSError: [Errno 28]",
)  # fmt: skip
"""Errors of the stand-in script and its launcher that come from the interpreter, the memory, the
limit of open files or the disk of this machine.
"""


class RehearsalVerdict(NamedTuple):
    """The predicted and the observed end."""

    claimed: Prediction
    seen: End
    differences: tuple[str, ...]
    """One sentence for each difference, or empty if prediction and observation agree."""
    machine: str = ""
    """The error of this machine that ended the rehearsal, so that it says nothing about the
    prediction.
    """

    @property
    def passed(self) -> bool:
        """Whether the job trained to completion as predicted."""
        return self.seen != "fail" and not self.differences


def predict_end(
    job: SimulatedJob,
    faults: Sequence[Fault],
    torch: Version | None = None,
    *,
    restarts: bool = False,
) -> Prediction:
    """Return the end that `simulate` predicts with these faults.

    `torch` is the PyTorch version, or None for the manifest's. `restarts` is whether the operator
    starts failed pods again.
    """
    rendezvous = job.rendezvous
    if rendezvous is None:
        return Prediction("fail", "the job has no training pods")

    can_meet = can_rendezvous(job, rendezvous)
    if can_meet is not True:
        why = "; ".join(rendezvous.notes) or "it depends on things outside the files"
        return Prediction("fail" if can_meet is False else None, why)

    agents = agents_of(job, torch)
    if not faults:
        return Prediction("all", "nothing in the manifest prevents the pods from meeting")
    if agents is None:
        return Prediction(
            None, "faults are only modeled for torchrun with a static or c10d rendezvous"
        )

    recreated = [recreated_with(job, pod) for pod in range(agents.pods)]
    return predict(agents, faults, recreated, partial(Restarts, job) if restarts else None)


def judge(
    job: SimulatedJob,
    actors: Sequence[Actor],
    faults: Sequence[Fault],
    observations: Sequence[Observation],
    *,
    blind: bool,
    met: bool = False,
    restarts: bool = False,
    torch: Version | None = None,
) -> RehearsalVerdict:
    """Compare the observations with the prediction. If `blind`, only exit statuses are compared.

    `met` is whether the processes of all pods were seen to train: without faults, a script that
    fails after that does not contradict the prediction. `restarts` is whether the operator's
    restarts were played.
    """
    expected = predict_end(job, faults, torch, restarts=restarts)
    end = _observed_end(observations, blind=blind)
    differences = []
    if blind and not faults and expected.end == "all":
        expected = expected._replace(
            why=f"{expected.why}; what the script does then is not predicted"
        )

    is_of_script = blind and not faults and met and end == "fail"
    if expected.end is not None and end != expected.end and not is_of_script:
        differences.append(
            f"simulate predicts: {END_TEXTS[expected.end]} ({expected.why}); seen: {END_TEXTS[end]}"
        )

    machine = "" if blind or not differences else _machine_error(observations)
    if machine:
        return RehearsalVerdict(expected, end, (), machine)

    if end != "fail" and not blind:
        differences += _detail_differences(actors, observations)
    return RehearsalVerdict(expected, end, tuple(differences))


def _machine_error(observations: Sequence[Observation]) -> str:
    """Return the error of a pod that only this machine can be blamed for, or an empty string."""
    for number, observation in enumerate(observations):
        error = observation.error or ""
        if error.startswith(_MACHINE_ERRORS) and not observation.lost:
            return f"pod {number}: {error}"
    return ""


def _observed_end(observations: Sequence[Observation], *, blind: bool) -> End:
    remaining = [observation for observation in observations if not observation.lost]
    if any(observation.exit != 0 for observation in remaining) or not remaining:
        return "fail"
    if not blind and any(
        not observation.rounds or observation.rounds[-1].nodes != len(remaining)
        for observation in remaining
    ):
        return "fail"
    return "all" if len(remaining) == len(observations) else "fewer"


def _detail_differences(
    actors: Sequence[Actor], observations: Sequence[Observation]
) -> Iterator[str]:
    """Yield the differences in the world size, ranks and sums of the last rendezvous."""
    remaining = [
        (actor, observation)
        for actor, observation in zip(actors, observations, strict=True)
        if not observation.lost
    ]
    world = sum(actor.processes for actor, _ in remaining)
    for actor, observation in remaining:
        last = observation.rounds[-1]
        if last.world != world:
            yield f"{actor.name}: the world has {last.world} processes, but {world} were started"
        if (
            actor.rank is not None
            and str(last.group) != actor.rank
            and len(remaining) == len(observations)
        ):
            yield f"{actor.name}: simulate predicts node rank {actor.rank}; seen: {last.group}"
        if not last.right:
            yield f"{actor.name}: the all_reduce over all ranks is wrong"

    ranks = sorted(observation.rounds[-1].group for _, observation in remaining)
    if ranks != list(range(len(remaining))):
        yield (
            f"the node ranks must be 0 to {len(remaining) - 1}, each once, not "
            f"{', '.join(map(str, ranks))}"
        )
