"""Arrays: which values differ from job to job, and the variants that they become."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, product
from math import prod

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.importer.slurm.amounts import ArrayIndexes
from ptcompile.importer.slurm.leftovers import is_rendezvous
from ptcompile.importer.slurm.program import FollowedScript, ScriptStep
from ptcompile.shell.values import Variable, is_known, text_of

Follow = Callable[[Mapping[str, str], Mapping[str, str]], ScriptStep | None]
"""Follows the script with more variables and with symbols, and returns the step that trains."""
INDEX = "SLURM_ARRAY_TASK_ID"
_OWN_INDEX = "TASK_ID"
"""The variable of the pods that has the index: SLURM_ variables make Lightning look for Slurm."""
_MAX_JOBS = 256
_MAX_EFFORT = 200_000
"""Maximum number of commands that are followed for all jobs of an array."""


class Sweep(NamedTuple):
    """The jobs of an array: the values of each, by the names of their variables."""

    jobs: tuple[Mapping[str, str], ...]
    base: ScriptStep
    """The step with a reference for each of these variables."""


def read_sweep(
    array: ArrayIndexes, first: FollowedScript, step: ScriptStep, follow: Follow
) -> Sweep | None:
    """Return the values that differ from job to job, or None if they are not in the script."""
    if INDEX not in first.reads or array.size > min(_MAX_JOBS, _MAX_EFFORT // max(first.effort, 1)):
        return None

    indexes = [str(index) for index in array.each()]
    own = symbols_of(step)
    steps = [each for index in indexes if (each := follow({INDEX: index}, own)) is not None]
    if len(steps) < len(indexes):
        return None

    values = {_OWN_INDEX: indexes}
    for name in [name for name in step.variables if name != INDEX]:
        texts = [known_text(each.variables.get(name)) for each in steps]
        known = [text for text in texts if text is not None]
        if len(known) == len(steps) and len({*known}) > 1:
            values[name] = known

    symbols = {**own, **{name: f"$({name})" for name in values}}
    # a script that compares the index cannot be followed with a reference in place of its
    # value: follow it with the first index then
    for index in (symbols[_OWN_INDEX], indexes[0]):
        base = follow({INDEX: index}, symbols)
        jobs = _jobs(base, values, steps) if base is not None else ()
        if base is not None and jobs:
            return Sweep(jobs, base)

    return None


def _jobs(
    base: ScriptStep, values: Mapping[str, Sequence[str]], steps: Sequence[ScriptStep]
) -> tuple[Mapping[str, str], ...]:
    """Return for each step the values of the variables that the base refers to, the slowest to
    change first. Empty if the base with these values is not the steps' command lines.
    """
    texts = "\0".join((*base.argv, *base.env.values()))
    used = [name for name in values if f"$({name})" in texts]
    used.sort(
        key=lambda name: sum(value != following for value, following in pairwise(values[name]))
    )
    jobs = [{name: values[name][number] for name in used} for number in range(len(steps))]
    made = [tuple(_substitute(word, job) for word in base.argv) for job in jobs]
    if used and made == [step.argv for step in steps]:
        return tuple(jobs)
    return ()


def symbols_of(step: ScriptStep) -> dict[str, str]:
    """Return what stands for variables whose values are not known: a reference if the pods have
    them, else `$NAME`.
    """
    symbols: dict[str, str] = {}
    for name, variable in step.variables.items():
        if variable.value is None or is_known(variable.value):
            continue
        text = text_of(variable.value)
        is_command = len(variable.value) == 1 and text.startswith(("$(", "`"))
        is_whole = not any(map(str.isspace, text)) and not is_rendezvous(name, text)
        if is_command:
            symbols[name] = f"${name}"
        elif variable.is_exported and is_whole:
            symbols[name] = f"$({name})"

    return symbols


def known_text(variable: Variable | None) -> str | None:
    """Return the value of a variable as a text, or None if it is not known."""
    value = variable.value if variable is not None else None
    if value is not None and is_known(value):
        return text_of(value)
    return None


def _substitute(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"$({name})", value)
    return text


_unfit = re.compile(r"[^a-z0-9]+")
_MAX_NAME = 40


def label(text: str) -> str:
    """Return a text as a name of Kubernetes."""
    return _unfit.sub("-", text.lower()).strip("-")


def as_variants(jobs: Sequence[Mapping[str, str]]) -> Any:
    """Return the variants that jobs are: a map for each variable if the jobs are their product,
    else one map.

    Variants are named after their values, such as `lr-1e-5`, or by numbers if the values make no
    names.
    """
    axes = {name: [*dict.fromkeys(job[name] for job in jobs)] for name in jobs[0]}
    is_product = prod(map(len, axes.values())) == len(jobs)
    is_product = is_product and [*product(*axes.values())] == [tuple(job.values()) for job in jobs]
    by_variable = [[{name: value} for value in values] for name, values in axes.items()]

    groups = by_variable if is_product else [jobs]
    maps = [{_variant_name(job): {"env": {**job}} for job in group} for group in groups]
    names = {name for each in maps for name in each}
    if len(names) < sum(map(len, groups)) or max(map(len, names)) > _MAX_NAME:
        return {f"job-{number}": {"env": {**job}} for number, job in enumerate(jobs)}

    return maps if len(maps) > 1 else maps[0]


def _variant_name(job: Mapping[str, str]) -> str:
    return label("-".join(f"{name}-{value}" for name, value in job.items()))
