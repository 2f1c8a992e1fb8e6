"""The operators' admission webhooks, by API version and kind. Each is imported when an object of its kind comes by."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ptcompile.validate.webhooks.verdict import Webhook, nothing, unchanged

__all__ = ["WEBHOOKS", "Webhook"]


def _of(module: str, name: str) -> Callable[..., Any]:
    """A function of one of the modules here."""

    def call(*given: Any) -> Any:
        return getattr(import_module(f"ptcompile.operators.{module}"), name)(*given)

    return call


_TRAINER = "trainer.kubeflow.org/v1alpha1"
_RUNTIME = Webhook(unchanged, _of("trainer.webhook_runtime", "check"), nothing)

WEBHOOKS: dict[tuple[str, str], Webhook] = {
    ("kubeflow.org/v1", "PyTorchJob"): Webhook(
        unchanged, _of("pytorchjob.webhook", "check"), _of("pytorchjob.webhook", "later")
    ),
    ("batch.volcano.sh/v1alpha1", "Job"): Webhook(
        _of("volcano.webhook", "default"), _of("volcano.webhook", "check"), _of("volcano.controller", "later")
    ),
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): Webhook(
        _of("jobset.webhook", "default"), _of("jobset.webhook", "check"), _of("jobset.webhook", "later")
    ),
    (_TRAINER, "TrainJob"): Webhook(
        _of("trainer.webhook", "default"), _of("trainer.webhook", "check"), _of("trainer.controller", "later")
    ),
    (_TRAINER, "TrainingRuntime"): _RUNTIME,
    (_TRAINER, "ClusterTrainingRuntime"): _RUNTIME,
}
"""What each operator's kind goes through at creation."""
