"""An explanation without the secrets of its files, wherever they turn up: in a command line, in a comment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ptcompile.explaining.model import Cause, Explained, Step, Text, Told
from ptcompile.explaining.variants import File
from ptcompile.secrets.masking import Hide, hide_of
from ptcompile.simulation.hidden import without


def hidden(told: Told, documents: Iterable[Any]) -> tuple[tuple[Explained, ...], tuple[Cause, ...], dict[File, Text]]:
    """The jobs, causes and texts of an explanation with the secrets of these documents hidden."""
    hide = hide_of(documents)
    if hide is None:
        return told.jobs, told.causes, dict(told.texts)
    jobs = tuple(job._replace(steps=tuple(_step(one, hide) for one in job.steps)) for job in told.jobs)
    texts = {file: text._replace(lines=tuple(map(hide, text.lines))) for file, text in told.texts.items()}
    return jobs, tuple(_cause(one, hide) for one in told.causes), texts


def _step(step: Step, hide: Hide) -> Step:
    changes = (one._replace(before=without(one.before, hide), after=without(one.after, hide)) for one in step.changes)
    return step._replace(changes=tuple(changes))


def _cause(cause: Cause, hide: Hide) -> Cause:
    inputs = (one._replace(value=without(one.value, hide)) for one in cause.inputs)
    return cause._replace(value=without(cause.value, hide), inputs=tuple(inputs))
