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
        return getattr(import_module(f"{__name__}.{module}"), name)(*given)

    return call


_TRAINER = "trainer.kubeflow.org/v1alpha1"
_RUNTIME = Webhook(unchanged, _of("trainruntime", "check"), nothing)

WEBHOOKS: dict[tuple[str, str], Webhook] = {
    ("kubeflow.org/v1", "PyTorchJob"): Webhook(unchanged, _of("pytorchjob", "check"), _of("pytorchjob", "later")),
    ("batch.volcano.sh/v1alpha1", "Job"): Webhook(
        _of("volcano", "default"), _of("volcano", "check"), _of("volcano_later", "later")
    ),
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): Webhook(
        _of("jobset", "default"), _of("jobset", "check"), _of("jobset", "later")
    ),
    (_TRAINER, "TrainJob"): Webhook(
        _of("trainjob", "default"), _of("trainjob", "check"), _of("trainjob_later", "later")
    ),
    (_TRAINER, "TrainingRuntime"): _RUNTIME,
    (_TRAINER, "ClusterTrainingRuntime"): _RUNTIME,
}
"""What each operator's kind goes through at creation."""
