"""The operators' admission webhooks, by API version and kind."""

from __future__ import annotations

from ptcompile.validate.webhooks import (
    jobset,
    pytorchjob,
    trainjob,
    trainjob_later,
    trainruntime,
    volcano,
    volcano_later,
)
from ptcompile.validate.webhooks.verdict import Webhook, nothing, unchanged

__all__ = ["WEBHOOKS", "Webhook"]

_TRAINER = "trainer.kubeflow.org/v1alpha1"
_RUNTIME = Webhook(unchanged, trainruntime.check, nothing)

WEBHOOKS: dict[tuple[str, str], Webhook] = {
    ("kubeflow.org/v1", "PyTorchJob"): Webhook(unchanged, pytorchjob.check, pytorchjob.later),
    ("batch.volcano.sh/v1alpha1", "Job"): Webhook(volcano.default, volcano.check, volcano_later.later),
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): Webhook(jobset.default, jobset.check, jobset.later),
    (_TRAINER, "TrainJob"): Webhook(trainjob.default, trainjob.check, trainjob_later.later),
    (_TRAINER, "TrainingRuntime"): _RUNTIME,
    (_TRAINER, "ClusterTrainingRuntime"): _RUNTIME,
}
"""What each operator's kind goes through at creation."""
