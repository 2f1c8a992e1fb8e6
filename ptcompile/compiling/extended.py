"""Compiling with the passes and targets of plugins: what their code raises is a finding, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from ptcompile.extending import Extensions
from ptcompile.extending.asking import failed
from ptcompile.findings.diagnostics import Problem
from ptcompile.job.model import Context, Job, Pass, Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Made = TypeVar("Made")


class _Failed(Exception):  # noqa: N818  # a state of affairs, not a fault
    """A pass that raised an exception, or gave no job."""


def guarded(for_target: Callable[[tuple[Pass, ...]], Made], target: Target, extensions: Extensions) -> Made | Problem:
    """What is compiled for a target with these passes of plugins, or the finding that a plugin failed."""
    try:
        return for_target(passes_of(extensions))
    except _Failed as error:
        return _said(f"pass {error}", error.__cause__ or error)
    except Exception as error:
        if target.name not in extensions.targets:
            raise
        return _said(f"target {target.name}", error)


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


def _said(what: str, error: BaseException) -> Problem:
    return failed(what, error, "report it to the plugin's author; without the plugin the spec may compile")
