"""The names that are derived from a job's on this target, for `common.budget`."""

from ptcompile.job.model import Derived

_JOB = "volcano.md 5.10 and 5.13, Kubernetes 1.36"

DERIVED = (
    Derived("the last pod's host name", "{job}-{last}", _JOB),
    Derived("the Service", "{job}", "volcano.md 5.11, Kubernetes 1.36"),
    Derived("the label batch.kubernetes.io/job-name", "{job}", _JOB),
    Derived("the PodGroup's label on pods", "{job}", "kubeflow.md 1.9, scheduler-plugins"),
)
