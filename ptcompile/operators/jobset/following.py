"""How to follow a JobSet (JobSet 0.12). Two levels lie below it, so it is deleted in the foreground."""

from __future__ import annotations

from ptcompile.operators.common.following import Following, by_field, by_type, is_true

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

TERMINAL: Final = "status.terminalState"
JOBSET: Final = "jobset.sigs.k8s.io/jobset-name"
ROLE: Final = "jobset.sigs.k8s.io/replicatedjob-name"
INDEX: Final = "batch.kubernetes.io/job-completion-index"

FOLLOWING: Final = Following(
    plural="jobsets",
    succeeded=by_type("Completed", by_field(TERMINAL, "Completed").argo),
    failed=by_type("Failed", by_field(TERMINAL, "Failed").argo),
    running="has(object.status) && has(object.status.replicatedJobsStatus) && "
    "object.status.replicatedJobsStatus.exists(r, r.active > 0)",
    suspended=is_true("Suspended"),
    pods_label=JOBSET,
    role_label=ROLE,
    index_label=INDEX,
    alone_label="jobset.sigs.k8s.io/job-index",
    suspend=("spec", "suspend"),
    propagation="Foreground",
)
