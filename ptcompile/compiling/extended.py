"""Compiling with the passes and targets of plugins: what their code raises is a finding, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any

from ptcompile.compiling.compiler import Compiled
from ptcompile.extending import Extensions
from ptcompile.extending.asking import failed
from ptcompile.findings.diagnostics import Problem
from ptcompile.job.model import Context, Job, Pass, Target
from ptcompile.operators.targets import default_target, target_named

if TYPE_CHECKING:
    from ptcompile.vocabulary.cluster.model import ClusterProfile
    from ptcompile.vocabulary.spec import Spec

ForTarget = Callable[..., Compiled]


class _Failed(Exception):  # noqa: N818  # a state of affairs, not a fault
    """A pass that raised an exception, or gave no job."""


def guarded(
    for_target: ForTarget,
    data: Mapping[str, Any],
    spec: Spec,
    job: Job,
    cluster: ClusterProfile,
    wanted: str | None,
    problems: list[Problem],
    extensions: Extensions,
) -> Compiled:
    """What `compiler._for_target` makes of a job, with the passes of plugins behind the built-in ones."""
    foreign = extensions.targets.get(wanted or "")
    target = foreign or (target_named(wanted) if wanted is not None else default_target(job, cluster))
    try:
        return for_target(data, spec, job, cluster, target, problems, passes_of(extensions))
    except _Failed as error:
        cause = error.__cause__ or error
        return _nothing(f"pass {error}", cause, problems, target)
    except Exception as error:
        if foreign is None:
            raise
        return _nothing(f"target {foreign.name}", error, problems, target)


def passes_of(extensions: Extensions | None) -> tuple[Pass, ...]:
    """The passes of plugins under the names of their entry points."""
    return tuple(_named(name, one) for name, one in extensions.passes) if extensions is not None else ()


def _named(name: str, run: Pass) -> Pass:
    @wraps(run)
    def called(job: Job, context: Context) -> Job:
        try:
            after = run(job, context)
            if not isinstance(after, Job):
                raise TypeError(f"a pass gives a Job, and not {type(after).__name__}")
        except Exception as error:  # third-party code
            raise _Failed(name) from error
        return after

    called.__name__ = name
    return called


def _nothing(what: str, error: BaseException, problems: list[Problem], target: Target) -> Compiled:
    said = failed(what, error, "report it to the plugin's author; without the plugin the spec may compile")
    return Compiled((), (*problems, said), target)
