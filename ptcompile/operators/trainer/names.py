"""The names that are derived from a job's on this target, for `common.budget`."""

from ptcompile.job.model import SUBDOMAIN, Derived

_TRAINER = "facts/trainer, Trainer 2.3"

DERIVED = (
    Derived("the last pod", "{job}-{group}-0-{last}-xxxxx", _TRAINER),
    Derived("the Job", "{job}-{group}-0", _TRAINER),
    Derived("the Service and the label jobset.sigs.k8s.io/jobset-name", "{job}", _TRAINER),
    Derived("the ConfigMap of the runtime", "{job}-runtime-snapshot", _TRAINER, SUBDOMAIN),
    Derived("the TrainingRuntime and the PodGroup", "{job}", _TRAINER, SUBDOMAIN),
)
