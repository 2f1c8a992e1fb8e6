"""Jobs without the secrets of their manifests: what people and reports are shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptcompile.kubernetes.index import Objects
from ptcompile.secrets.structure import without_secrets
from ptcompile.simulation.job import Job
from ptcompile.simulation.pod import Pod
from ptcompile.typed import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Mark = Callable[[str], str]


def shown_jobs(jobs: Sequence[Job], mark: Mark | None = None) -> list[Job]:
    """The same jobs, made of manifests whose secrets are masked; a job without any is the same object.

    `mark` is that of `without_secrets`.
    """
    from ptcompile.simulation.job import job_of

    given: dict[int, Objects] = {}
    out: list[Job] = []
    for job in jobs:
        manifest: Any = without_secrets(job.manifest, mark)
        masked = job.given.changed(lambda one: without_secrets(one, mark), given)
        same = manifest is job.manifest and masked is job.given
        out.append(job if same else job_of(manifest, masked, job.versions, job.target))
    return out


def shown_pod(pod: Pod, job: Job | None = None) -> Pod:
    """The same pod as its masked manifest gives it. `job` is the pod's job as `shown_jobs` gives it."""
    job = job or shown_jobs([cast("Job", pod.job)])[0]
    if job is pod.job:
        return pod
    role = next((one for one in job.roles if one.name == pod.role), None)
    return pod if role is None else job.pod(role, pod.index)


def masked_places(pod: Pod, shown: Pod) -> list[str]:
    """What of a pod is masked: `env.HF_TOKEN`, `args[0]`, `annotations.x`."""
    out = [f"env.{name}" for name, value in pod.env.items() if shown.env.get(name) != value]
    for what, words, masked in (("command", pod.command, shown.command), ("args", pod.args, shown.args)):
        pairs = enumerate(zip(words or (), masked or (), strict=False))
        out += [f"{what}[{index}]" for index, (one, other) in pairs if one != other]
    for what, values, masked_values in (
        ("labels", pod.view.labels, shown.view.labels),
        ("annotations", pod.view.annotations, shown.view.annotations),
    ):
        out += [f"{what}.{name}" for name, value in values.items() if masked_values.get(name) != value]
    return out
