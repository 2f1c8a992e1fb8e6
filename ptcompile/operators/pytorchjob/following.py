"""How to follow a PyTorchJob (training-operator 1.9).

completionTime is set on failure too: Argo Workflows asks for the failure first.
"""

from __future__ import annotations

from ptcompile.operators.common.following import ARGO_FAILED, Following, by_type, is_true

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

FOLLOWING: Final = Following(
    plural="pytorchjobs",
    succeeded=by_type("Succeeded", "status.completionTime"),
    failed=by_type("Failed", ARGO_FAILED),
    running=is_true("Running"),
    suspended=is_true("Suspended"),
    pods_label="training.kubeflow.org/job-name",
    role_label="training.kubeflow.org/replica-type",
    index_label="training.kubeflow.org/replica-index",
    suspend=("spec", "runPolicy", "suspend"),
)
