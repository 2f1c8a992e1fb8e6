"""How this front end says what is wrong: problems whose paths are those of the Flyte call, not of the spec."""

from __future__ import annotations

from typing import Literal

from ptcompile.diagnostics import Path, Problem, field_path

RuleName = Literal["spec-missing-field", "spec-wrong-type", "spec-invalid-value", "spec-conflict"]


class FlyteError(ValueError):
    """A Flyte task that cannot be converted, for those who asked for a Spec at once. `problems` says why."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(one.message for one in problems if one.severity == "error"))


class FlyteWarning(UserWarning):
    """Something of a Flyte task that is not carried over, or means something else here."""


def call_error(name: RuleName, path: Path, message: str, help: str | None = None) -> Problem:
    """A mistake at a place of the Flyte call, such as `task_config.worker.requests.mem`."""
    return Problem(name, path, f"{field_path(path)}: {message}", help, authority="ptcompile")


def call_warning(path: Path, message: str, help: str | None = None) -> Problem:
    """A warning: what stands at the path is lost on the way, or is carried over as something else."""
    text = f"{field_path(path)}: {message}"
    return Problem("not-carried-over", path, text, help, severity="warning", stage="style", authority="ptcompile")


def call_note(
    name: Literal["image-contents", "unlike-flyte"], path: Path, message: str, help: str | None = None
) -> Problem:
    """A note: the job is what the task asks for, and Flyte's user may expect something else."""
    return call_warning(path, message, help)._replace(name=name, severity="note")


def not_whole(value: object) -> bool:
    """Whether a value is not an integer; True and False are not."""
    return isinstance(value, bool) or not isinstance(value, int)
