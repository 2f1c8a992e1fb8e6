"""How to follow a Pod (Kubernetes 1.36)."""

from typing import Final

from ptcompile.operators.common.following import Following, by_field

FOLLOWING: Final = Following(
    plural="pods",
    succeeded=by_field("status.phase", "Succeeded"),
    failed=by_field("status.phase", "Failed"),
    running=by_field("status.phase", "Running").cel,
)
