"""Problems of the Flyte front end; their paths are those of the Flyte call, not of the spec."""

from __future__ import annotations

from typing import Literal

from ptcompile.diagnostics import Path, Problem, own_problem, problem_at

RuleName = Literal["spec-missing-field", "spec-wrong-type", "spec-invalid-value", "spec-conflict"]
NoteName = Literal["image-contents", "unlike-flyte"]


class FlyteError(ValueError):
    """Raised for a Flyte task that cannot be converted to a Spec. `problems` has the reasons."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        super().__init__(
            "\n".join(problem.message for problem in problems if problem.severity == "error")
        )


class FlyteWarning(UserWarning):
    """Issued for parts of a Flyte task that are dropped or mean something else here."""


def call_warning(path: Path, message: str, help: str | None = None) -> Problem:
    """Return a warning that a value of the Flyte call is dropped or carried over as something
    else.
    """
    return problem_at("not-carried-over", path, message, help, "warning", "style", "ptcompile")


def call_note(name: NoteName, path: Path, message: str, help: str | None = None) -> Problem:
    """Return a note: the job is as the task requests, but may differ from what Flyte users
    expect.
    """
    return call_warning(path, message, help)._replace(name=name, severity="note")


class CallProblems(list[Problem]):
    """The problems of a Flyte call, in the order in which they are found."""

    def error(self, name: RuleName, path: Path, message: str, help: str | None = None) -> None:
        """Add an error at a path of the Flyte call, such as `task_config.worker.requests.mem`. A
        task with an error has no spec.
        """
        self.append(own_problem(name, path, message, help))

    def warning(self, path: Path, message: str, help: str | None = None) -> None:
        """Add a warning; `call_warning` has the arguments."""
        self.append(call_warning(path, message, help))

    def note(self, name: NoteName, path: Path, message: str, help: str | None = None) -> None:
        """Add a note; `call_note` has the arguments."""
        self.append(call_note(name, path, message, help))


def is_not_integer(value: object) -> bool:
    """Return whether a value is not an integer; booleans are not."""
    return isinstance(value, bool) or not isinstance(value, int)
