"""MPIJob on updates (MPI Operator 0.8)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def later(_old: Json) -> tuple[tuple[tuple[str, ...], str], ...]:
    """What running pods do not see of a change."""
    return (
        (
            ("spec", "mpiReplicaSpecs"),
            "the launcher and running workers stay as they are; new workers use the new template",
        ),
    )
