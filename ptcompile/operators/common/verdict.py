"""Writing what a webhook rejects, and what is rejected after it, as problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators import all as operators
from ptcompile.operators.common.roundtrip import without_nulls
from ptcompile.operators.record import Key
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.findings.terms import Authority
    from ptcompile.kubernetes.untyped import Json

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


def quoted(names: Iterable[str]) -> str:
    """Names as the server lists them: `"a", "b"`."""
    return ", ".join(f'"{name}"' for name in names)


class Webhook(NamedTuple):
    """One kind's admission, as its operator does it."""

    default: Callable[[Json], Json]
    """The object after the mutating webhook; the object itself where there is none. Never raises."""
    check: Callable[..., Iterator[Problem]]
    """`check(mutated, versions, others=())`: what the validating webhook refuses."""
    later: Callable[..., Iterator[Problem]]
    """`later(mutated, versions, others=())`: what is accepted, and refused or fails when the operator acts on it."""


def webhook_of(kind: Key) -> Webhook | None:
    """What objects of a kind go through at creation; None where the operator has no webhook and rejects nothing."""
    default, check, later = (operators.part(kind, field) for field in ("default", "webhook", "controller"))
    if check is None and later is None:
        return None
    return Webhook(default or unchanged, check or nothing, later or nothing)


def unchanged(manifest: Json) -> Json:
    """The object of a kind without a mutating webhook, as its validating one sees it: without nulls."""
    return {**manifest, "spec": without_nulls(manifest["spec"])} if manifest.get("spec") is not None else manifest


def nothing(manifest: Json, versions: Versions, others: Sequence[Json] = ()) -> Iterator[Problem]:
    """No problems."""
    del manifest, versions, others
    return iter(())
