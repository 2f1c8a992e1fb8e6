"""Arrays: which values differ from job to job, and the specs that they become."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.shell.values import is_known, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.importer.slurm.amounts import ArrayIndexes
    from ptcompile.importer.slurm.findings import ScriptFindings
    from ptcompile.importer.slurm.program import FollowedScript, ScriptStep
    from ptcompile.shell.values import Variable

INDEX = "SLURM_ARRAY_TASK_ID"
OWN_INDEX = "TASK_ID"
"""The variable of the pods that has the index: SLURM_ variables make Lightning look for Slurm."""
_MAX_JOBS = 256
_MAX_EFFORT = 200_000
"""Maximum number of commands that are followed for all jobs of an array."""


class Sweep(NamedTuple):
    """The jobs of an array: the values of each, by the names of their variables."""

    jobs: tuple[Mapping[str, str], ...]
    symbols: Mapping[str, str]
    """What stands for each variable in the base."""
    at: str
    """The index that the base is followed with, or what stands for it."""

    @property
    def axes(self) -> dict[str, list[str]]:
        """The values of each variable, without repetitions."""
        names = self.jobs[0] if self.jobs else {}
        return {name: list(dict.fromkeys(job[name] for job in self.jobs)) for name in names}


def read_sweep(
    array: ArrayIndexes,
    first: FollowedScript,
    step: ScriptStep,
    follow: Callable[[Mapping[str, str], Mapping[str, str]], ScriptStep | None],
) -> Sweep | None:
    """Return the values that differ from job to job, or None if they are not in the script.

    `follow` follows the script with more variables and with symbols, and returns the step that trains.
    """
    count = array.size
    if INDEX not in first.reads or count > _MAX_JOBS or count * max(first.effort, 1) > _MAX_EFFORT:
        return None
    steps = [follow({INDEX: str(index)}, {}) for index in array.each()]
    followed = [each for each in steps if each is not None and each.place == step.place]
    if len(followed) < count:
        return None

    values = {name: [_text(each.variables.get(name)) for each in followed] for name in step.variables if name != INDEX}
    differing = {
        name: [text for text in texts if text is not None]
        for name, texts in values.items()
        if None not in texts and len(set(texts)) > 1
    }
    symbols = {name: f"$({name})" for name in differing}
    differing = {OWN_INDEX: [str(index) for index in array.each()], **differing}
    # a script that compares the index takes no branch for what stands for it
    for index in (f"$({OWN_INDEX})", str(next(array.each()))):
        base = follow({INDEX: index}, symbols)
        jobs = _values_in(base, differing, followed) if base is not None else None
        if jobs is not None:
            return Sweep(_slowest_first(jobs), {name: symbols[name] for name in jobs[0] if name in symbols}, index)
    return None


def _values_in(
    base: ScriptStep, differing: Mapping[str, Sequence[str]], followed: Sequence[ScriptStep]
) -> tuple[Mapping[str, str], ...] | None:
    """Return the values of each job for the variables in the base, or None if these do not make its command line."""
    texts = "\0".join((*base.argv, *base.env.values()))
    used = [name for name in differing if f"$({name})" in texts]
    jobs = tuple([{name: differing[name][number] for name in used} for number in range(len(followed))])
    is_exact = all(
        [_replaced(word, job) for word in base.argv] == list(each.argv)
        for job, each in zip(jobs, followed, strict=True)
    )
    return jobs if used and is_exact else None


def _slowest_first(jobs: tuple[Mapping[str, str], ...]) -> tuple[Mapping[str, str], ...]:
    """Return the jobs with their variables in order of how seldom they change."""

    def changes(name: str) -> int:
        values = [job[name] for job in jobs]
        return sum(value != following for value, following in pairwise(values))

    names = sorted(jobs[0], key=changes)
    return tuple([{name: job[name] for name in names} for job in jobs])


def _text(variable: Variable | None) -> str | None:
    value = variable.value if variable is not None else None
    return text_of(value) if value is not None and is_known(value) else None


def _replaced(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"$({name})", value)
    return text


_unfit = re.compile(r"[^a-z0-9]+")
_MAX_NAME = 40


def variant_names(jobs: Sequence[Mapping[str, str]]) -> list[str]:
    """Return a name for each job, from its values: `lr-1e-5`; or from its number, where these cannot be names."""
    names = [
        "-".join(_unfit.sub("-", f"{name}-{value}".lower()).strip("-") for name, value in job.items()) for job in jobs
    ]
    is_fit = len(set(names)) == len(names) and all(0 < len(name) <= _MAX_NAME for name in names)
    return names if is_fit else [f"job-{number}" for number in range(len(jobs))]


def as_documents(document: Mapping[str, Any], sweep: Sweep | None) -> list[dict[str, Any]]:
    """Return the specs that a job and its sweep become: the only place that decides about their form.

    With `variants` in the spec, this returns one document with them.
    """
    if sweep is None:
        return [dict(document)]
    documents: list[dict[str, Any]] = []
    for name, job in zip(variant_names(sweep.jobs), sweep.jobs, strict=True):
        env = {**document["spec"].get("env", {}), **job}
        metadata = {**document["metadata"], "name": f"{document['metadata']['name']}-{name}"}
        documents.append({**document, "metadata": metadata, "spec": {**document["spec"], "env": env}})
    return documents


def report_array(
    array: ArrayIndexes, place: tuple[int, int], sweep: Sweep | None, findings: ScriptFindings, *, is_chain: bool
) -> None:
    """Say what became of an array."""
    limit = f"; %{array.at_once}, how many run at once, is a matter of the queue's quota" if array.at_once else ""
    if is_chain:
        text = f"an array of {array.size}, one after another, is one long training: one job with as many retries{limit}"
        findings.decide(place, text, "each start must resume from the last checkpoint, on a volume")
    elif sweep is not None:
        names = ", ".join(sweep.axes)
        text = f"an array of {array.size} jobs, which differ in {names}: a job for each{limit}"
        findings.add("script-array", place, text, "delete those that you do not need", "note")
    else:
        text = f"an array of {array.size} jobs, of which the spec is one{limit}"
        help = "what differs is not in the script: write a spec, or a variant, for each set of values"
        findings.add("script-array", place, text, help)
