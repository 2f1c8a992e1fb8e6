"""An explanation without the secrets of its files, wherever they turn up: in a command line, in a comment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ptcompile.explaining.model import Cause, Step
from ptcompile.secrets.masking import Hide, hide_of
from ptcompile.simulation.hidden import without

if TYPE_CHECKING:
    from ptcompile.explaining.explanation import Explanation


def hidden(explanation: Explanation, documents: Iterable[Any]) -> Explanation:
    """The explanation with the secrets of these documents hidden; its manifests stay as they are."""
    hide = hide_of(documents)
    if hide is None:
        return explanation
    jobs = (job._replace(steps=tuple(_step(one, hide) for one in job.steps)) for job in explanation.jobs)
    texts = {file: text._replace(lines=tuple(map(hide, text.lines))) for file, text in explanation.texts.items()}
    causes = tuple(_cause(one, hide) for one in explanation.causes)
    return explanation._replace(jobs=tuple(jobs), causes=causes, texts=texts)


def _step(step: Step, hide: Hide) -> Step:
    changes = (one._replace(before=without(one.before, hide), after=without(one.after, hide)) for one in step.changes)
    return step._replace(changes=tuple(changes))


def _cause(cause: Cause, hide: Hide) -> Cause:
    inputs = (one._replace(value=without(one.value, hide)) for one in cause.inputs)
    return cause._replace(value=without(cause.value, hide), inputs=tuple(inputs))
