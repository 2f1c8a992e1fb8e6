"""The names that are derived from a job's on this target, for `common.budget`."""

from ptcompile.job.model import Derived

_JOB = "facts/kubernetes, Kubernetes 1.36"

DERIVED = (
    Derived("the last pod's host name", "{job}-{last}", _JOB),
    Derived("the Service", "{job}", "facts/kubernetes, Kubernetes 1.36"),
    Derived("the label batch.kubernetes.io/job-name", "{job}", _JOB),
    Derived("the PodGroup's label on pods", "{job}", "facts/training-operator, scheduler-plugins"),
)
