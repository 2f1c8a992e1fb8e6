"""How to follow a batch/v1 Job (Kubernetes 1.36).

A client that sends no propagation policy leaves the pods of a deleted Job running (pkg/registry/batch/job/strategy.go).
completionTime is set on success alone.
"""

from __future__ import annotations

from ptcompile.operators.common.following import ARGO_FAILED, Following, by_type, is_true

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

FOLLOWING: Final = Following(
    plural="jobs",
    succeeded=by_type("Complete", "status.completionTime"),
    failed=by_type("Failed", ARGO_FAILED),
    running="has(object.status) && has(object.status.ready) && object.status.ready > 0",
    suspended=is_true("Suspended"),
    pods_label="batch.kubernetes.io/job-name",
    index_label="batch.kubernetes.io/job-completion-index",
    suspend=("spec", "suspend"),
)
