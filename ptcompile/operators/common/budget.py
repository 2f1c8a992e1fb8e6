"""The names that are derived from a job's, in one table: how long the job's may be on each target.

An operator names pods, host names, Services, PodGroups and label values after the job. What is too long is not always
refused: a PyTorchJob with a long name is accepted, and its Services never come to be. So the tightest of all derived
names is found before anything is written, and the longest name that leaves room for each is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from ptcompile.findings.diagnostics import Problem
from ptcompile.job.model import Group, Job, Target

LABEL = 63
"""Characters of a DNS label, of a label's value and, before Kubernetes 1.36 and after, of a Service."""
SUBDOMAIN = 253
"""Characters of the names of most other objects."""


class Derived(NamedTuple):
    """A name after the job's. In the pattern `group` is a group of pods, `last_job` and `last` their last indexes."""

    what: str
    pattern: str
    source: str
    limit: int = LABEL


_JOB = "volcano.md 5.10 and 5.13, Kubernetes 1.36"
_TRAINING = "kubeflow.md 1.4 and 1.9, training-operator 1.9"
_VOLCANO = "volcano.md 3.1 and 3.2, Volcano 1.16"
_JOBSET = "kubeflow.md 3.2 and 3.3, JobSet 0.12"
_TRAINER = "kubeflow.md 2.6 and 2.7, Trainer 2.3"
_UID = "123e4567-e89b-12d3-a456-426614174000"

DERIVED: dict[str, tuple[Derived, ...]] = {
    "pod": (Derived("the pod's host name", "{job}", "volcano.md 5.13, Kubernetes 1.36"),),
    "job": (
        Derived("the last pod's host name", "{job}-{last}", _JOB),
        Derived("the Service", "{job}", "volcano.md 5.11, Kubernetes 1.36"),
        Derived("the label batch.kubernetes.io/job-name", "{job}", _JOB),
        Derived("the PodGroup's label on pods", "{job}", "kubeflow.md 1.9, scheduler-plugins"),
    ),
    "pytorchjob": (
        Derived("the last pod and its Service", "{job}-{group}-{last}", _TRAINING),
        Derived("the label training.kubeflow.org/job-name", "{job}", _TRAINING),
        Derived("the PodGroup's label on pods", "{job}", _TRAINING),
    ),
    "volcano": (
        Derived("the last pod's host name", "{job}-{group}-{last}", _VOLCANO),
        Derived("the svc plugin's volume", "{job}-svc", _VOLCANO),
        Derived("the Service and the label volcano.sh/job-name", "{job}", _VOLCANO),
        Derived("the PodGroup", f"{{job}}-{_UID}", _VOLCANO, SUBDOMAIN),
    ),
    "trainjob": (
        Derived("the last pod", "{job}-{group}-0-{last}-xxxxx", _TRAINER),
        Derived("the Job", "{job}-{group}-0", _TRAINER),
        Derived("the Service and the label jobset.sigs.k8s.io/jobset-name", "{job}", _TRAINER),
        Derived("the ConfigMap of the runtime", "{job}-runtime-snapshot", _TRAINER, SUBDOMAIN),
        Derived("the TrainingRuntime and the PodGroup", "{job}", _TRAINER, SUBDOMAIN),
    ),
    "jobset": (
        Derived("the last pod", "{job}-{group}-{last_job}-{last}-xxxxx", _JOBSET),
        Derived("the Job", "{job}-{group}-{last_job}", _JOBSET),
        Derived("the Service and the label jobset.sigs.k8s.io/jobset-name", "{job}", _JOBSET),
        Derived("the PodGroup's label on pods", "{job}", "kubeflow.md 1.9, scheduler-plugins"),
    ),
}
"""By target. A name whose limit is that of a job's own stands here all the same: a longer suffix may come."""


class Room(NamedTuple):
    """How long a job's name may be, and the derived name that decides it, with `<name>` for the job's."""

    longest: int
    what: str
    pattern: str
    limit: int


def room(job: Job, target: Target) -> Room:
    """The longest name of a job with these pods that leaves room for every derived name."""
    return _least(target.name, tuple(target.groups(job)))


@lru_cache(256)
def _least(target: str, groups: tuple[Group, ...]) -> Room:
    found = (_room(derived, group) for derived in DERIVED[target] for group in groups)
    return min(found, key=lambda one: one.longest)


def _room(derived: Derived, group: Group) -> Room:
    last = {"last": max(0, group.pods - 1), "last_job": max(0, group.jobs - 1)}
    pattern = derived.pattern.format(job="<name>", group=group.name, **last)
    longest = derived.limit - (len(pattern) - len("<name>"))
    return Room(max(0, longest), derived.what, pattern, derived.limit)


def too_long(job: Job, target: Target) -> Iterator[Problem]:
    """A refusal where the job's name leaves no room for a name that is derived from it."""
    least = room(job, target)
    if len(job.name) > least.longest:
        safe = job.name[: least.longest].rstrip("-.")
        yield Problem(
            "name-too-long",
            ("metadata", "name"),
            f"metadata.name: {job.name!r} has {len(job.name)} characters and leaves no room for {least.what} "
            f"{least.pattern}, which may have {least.limit}",
            f"at most {least.longest} characters, such as {safe!r}",
        )
