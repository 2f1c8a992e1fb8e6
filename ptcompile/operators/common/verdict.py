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


class Known(NamedTuple):
    """What the API server's own rules have said of an object already, so that its webhook need not look again."""

    exact: bool = False
    """Whether its equal parts are the same data: `validate.structure.complete`."""
    decodes: bool = False
    """Whether it is for certain that Go decodes every value."""
    pods: bool = False
    """Whether nothing is wrong with the pods that are made of the object."""


NOTHING = Known()


class Webhook(NamedTuple):
    """One kind's admission, as its operator does it."""

    default: Callable[..., Json]
    """`default(manifest, complete=False)`: the object after the mutating webhook. Never raises.

    The object itself where there is none. `complete`: as if nothing had to be decoded, see `roundtrip.as_go_reads`.
    """
    check: Callable[..., Iterator[Problem]]
    """`check(mutated, versions, others=(), known=NOTHING)`: what the validating webhook refuses."""
    later: Callable[..., Iterator[Problem]]
    """`later(mutated, versions, others=())`: what is accepted, and refused or fails when the operator acts on it."""


def webhook_of(kind: Key) -> Webhook | None:
    """What objects of a kind go through at creation; None where the operator has no webhook and rejects nothing."""
    default, check, later = (operators.part(kind, field) for field in ("default", "webhook", "controller"))
    if check is None and later is None:
        return None
    return Webhook(default or unchanged, check or nothing, later or nothing)


def unchanged(manifest: Json, *, complete: bool = False) -> Json:
    """The object of a kind without a mutating webhook, as its validating one sees it: without nulls."""
    if complete:
        return manifest
    return {**manifest, "spec": without_nulls(manifest["spec"])} if manifest.get("spec") is not None else manifest


def nothing(
    manifest: Json, versions: Versions, others: Sequence[Json] = (), known: Known = NOTHING
) -> Iterator[Problem]:
    """No problems."""
    del manifest, versions, others, known
    return iter(())
