"""How to follow a Pod (Kubernetes 1.36)."""

from __future__ import annotations

from ptcompile.operators.common.following import Following, by_field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

FOLLOWING: Final = Following(
    plural="pods",
    succeeded=by_field("status.phase", "Succeeded"),
    failed=by_field("status.phase", "Failed"),
    running=by_field("status.phase", "Running").cel,
)
