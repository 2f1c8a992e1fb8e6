"""How to follow a Volcano Job (Volcano 1.16; the label with the index from 1.9).

It has no field that suspends it: `vcctl job suspend` creates a Command (bus.volcano.sh/v1alpha1).
"""

from __future__ import annotations

from ptcompile.operators.common.following import Following, by_field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

PHASE: Final = "status.state.phase"

FOLLOWING: Final = Following(
    plural="jobs",
    succeeded=by_field(PHASE, "Completed"),
    failed=by_field(PHASE, "Failed", "Terminated", "Aborted"),
    running=by_field(PHASE, "Running").cel,
    pods_label="volcano.sh/job-name",
    role_label="volcano.sh/task-spec",
    index_label="volcano.sh/task-index",
)
