"""PyTorchJob on updates: no webhook looks at the change (training-operator 1.7 to 1.9)."""

from __future__ import annotations

from ptcompile.kubernetes.untyped import at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.untyped import Json

FIXED: Final = (("spec.runPolicy.schedulingPolicy.queue", "spec.runPolicy.schedulingPolicy.queue is immutable"),)
"""What the CRD makes immutable (training-operator 1.8 and later)."""

_LATER: Final = (
    (
        ("spec", "pytorchReplicaSpecs"),
        "running pods keep their template and the job's old size; later pods use the new one: suspend the job, apply, "
        "and resume it",
    ),
)


def later(old: Json) -> tuple[tuple[tuple[str, ...], str], ...]:
    """What running pods do not see of a change; those of a suspended job are gone."""
    return () if at(old, "spec", "runPolicy").get("suspend") is True else _LATER
