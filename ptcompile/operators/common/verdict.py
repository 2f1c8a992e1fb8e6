"""Writing what a webhook rejects, and what is rejected after it, as problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.kubernetes.names import suggest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.findings.terms import Authority

Say = Callable[..., Problem]
"""`say(path, text, help, *, at=None)`: one problem; `at` is the path in the webhook's own notation."""


def refusal(authority: Authority) -> Say:
    """Makes the problems of one operator's validating webhook: stage "apply"."""

    def say(path: Path, text: str, help: str, *, at: str | None = None) -> Problem:
        message = f"{at or field_path(path)}: {text}"
        return Problem("webhook-refusal", path, message, help, authority=authority)

    return say


def child(path: Path, text: str, help: str) -> Problem:
    """What the API server refuses of what the operator creates: stage "pod"."""
    return Problem("refused-child", path, f"{field_path(path)}: {text}", help, stage="pod")


def failure(authority: Authority, path: Path, text: str, help: str) -> Problem:
    """Where the operator's controller fails on an object that was accepted: stage "pod"."""
    return Problem("controller-failure", path, f"{field_path(path)}: {text}", help, stage="pod", authority=authority)


def hint(word: str, known: Sequence[str]) -> str:
    """Return the help for a word that is not one of `known`: the one that it resembles, else all of them."""
    near = suggest(word, known)
    return f'did you mean "{near}"?' if near else f"use one of {', '.join(known)}"


def quoted(names: Iterable[str]) -> str:
    """Names as the server lists them: `"a", "b"`."""
    return ", ".join(f'"{name}"' for name in names)
