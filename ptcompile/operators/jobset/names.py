"""The names that are derived from a job's on this target, for `common.budget`."""

from ptcompile.job.model import Derived

_JOBSET = "facts/jobset, JobSet 0.12"

DERIVED = (
    Derived("the last pod", "{job}-{group}-{last_job}-{last}-xxxxx", _JOBSET),
    Derived("the Job", "{job}-{group}-{last_job}", _JOBSET),
    Derived("the Service and the label jobset.sigs.k8s.io/jobset-name", "{job}", _JOBSET),
    Derived("the PodGroup's label on pods", "{job}", "facts/training-operator, scheduler-plugins"),
)
