"""The names that are derived from a job's on this target, for `common.budget`."""

from ptcompile.job.model import Derived

_TRAINING = "facts/training-operator, training-operator 1.9"

DERIVED = (
    Derived("the last pod and its Service", "{job}-{group}-{last}", _TRAINING),
    Derived("the label training.kubeflow.org/job-name", "{job}", _TRAINING),
    Derived("the PodGroup's label on pods", "{job}", _TRAINING),
)
