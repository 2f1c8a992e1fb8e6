"""How to follow a TrainJob (Trainer 2.3), never the JobSet below it, which has its name and so labels the pods.

Suspended=False stands first in the conditions of a job that was created suspended, as by Kueue, and Complete second.
"""

from __future__ import annotations

from ptcompile.operators.common.following import ARGO_FAILED, Following, by_type, is_true

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

FOLLOWING: Final = Following(
    plural="trainjobs",
    succeeded=by_type("Complete", "status.conditions.0.type == Complete"),
    failed=by_type("Failed", ARGO_FAILED),
    running="has(object.status) && has(object.status.jobsStatus) && object.status.jobsStatus.exists(r, r.active > 0)",
    suspended=is_true("Suspended"),
    pods_label="jobset.sigs.k8s.io/jobset-name",
    role_label="jobset.sigs.k8s.io/replicatedjob-name",
    index_label="batch.kubernetes.io/job-completion-index",
    alone_label="jobset.sigs.k8s.io/job-index",
    suspend=("spec", "suspend"),
    propagation="Foreground",
    resumed_first=by_type("Complete", "status.conditions.1.type == Complete"),
)
