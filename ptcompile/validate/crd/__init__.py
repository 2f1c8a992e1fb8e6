"""The create-time validation rules (CEL) of the operators' CRDs, as plain functions.

Rules of updates have no place here. Each kind's are imported when an object of it comes by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, Final

from ptcompile.findings.diagnostics import Problem

Check = Callable[[Mapping[str, Any]], Iterator[Problem]]


def _of(module: str, name: str) -> Check:
    """A function of one of the modules here."""

    def check(manifest: Mapping[str, Any]) -> Iterator[Problem]:
        found: Iterator[Problem] = getattr(import_module(f"ptcompile.operators.{module}"), name)(manifest)
        return found

    return check


RULES: Final[dict[tuple[str, str], Check]] = {
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): _of("jobset.crd", "jobset_rules"),
    ("kubeflow.org/v1", "PyTorchJob"): _of("pytorchjob.crd", "pytorch_job_rules"),
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"): _of("trainer.crd", "train_job_rules"),
    ("trainer.kubeflow.org/v1alpha1", "TrainingRuntime"): _of("trainer.crd_runtime", "training_runtime_rules"),
    ("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime"): _of("trainer.crd_runtime", "training_runtime_rules"),
}
"""By apiVersion and kind. The CRD of Volcano's Job (1.16) has no such rule."""
