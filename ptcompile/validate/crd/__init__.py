"""The create-time validation rules (CEL) of the operators' CRDs, as plain functions.

Rules of updates have no place here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ptcompile.diagnostics import Problem
from ptcompile.validate.crd.jobset import jobset_rules
from ptcompile.validate.crd.pytorchjob import pytorch_job_rules
from ptcompile.validate.crd.trainingruntime import training_runtime_rules
from ptcompile.validate.crd.trainjob import train_job_rules

RULES: Final[dict[tuple[str, str], Callable[[Mapping[str, Any]], Iterator[Problem]]]] = {
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): jobset_rules,
    ("kubeflow.org/v1", "PyTorchJob"): pytorch_job_rules,
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"): train_job_rules,
    ("trainer.kubeflow.org/v1alpha1", "TrainingRuntime"): training_runtime_rules,
    ("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime"): training_runtime_rules,
}
"""By apiVersion and kind. The CRD of Volcano's Job (1.16) has no such rule."""
