"""The pass pipeline: pure functions from `Job` to `Job`, run in the order of `PASSES`."""

from __future__ import annotations

from collections.abc import Callable

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler.passes.claims import claims
from ptcompile.compiler.passes.env import env
from ptcompile.compiler.passes.fabric import fabric
from ptcompile.compiler.passes.hosts import hosts
from ptcompile.compiler.passes.metadata import metadata
from ptcompile.compiler.passes.placement import placement
from ptcompile.compiler.passes.processes import processes
from ptcompile.compiler.passes.rendezvous import rendezvous
from ptcompile.compiler.passes.resources import resources
from ptcompile.compiler.passes.restarts import restarts
from ptcompile.compiler.passes.scheduling import scheduling
from ptcompile.compiler.passes.security import security
from ptcompile.compiler.passes.shm import shm
from ptcompile.compiler.passes.tolerations import tolerations
from ptcompile.compiler.passes.volumes import volumes
from ptcompile.ir.job import Context, Job, Pass, map_templates
from ptcompile.ir.pods import without_nulled_fields

PASSES: tuple[Pass, ...] = (
    resources,  # first: GPU requests decide tolerations
    # after resources, which names the devices; before passes that read the number of processes
    processes,
    # before placement, whose pod template has the lowest priority; before tolerations, which read
    # devices
    fabric,
    placement,  # node affinity for the accelerator and for spot nodes
    scheduling,  # after placement, which fills queue and scheduler from the profile's defaults
    # after placement: tolerations of the catalog entry and of the GPU form one sorted list
    tolerations,
    claims,  # after tolerations and placement, which read device amounts: claims remove them
    shm,  # before volumes, which reads the pod's volumes
    volumes,  # after fabric and placement, whose pod templates may add volumes
    rendezvous,  # after processes: writes the number of processes
    restarts,  # anywhere: no other pass reads or writes a container's restart policy
    hosts,  # before env: a profile variable must not hide the host names of other roles
    env,  # after rendezvous: a profile variable must not hide what the command needs
    security,  # after all passes that add containers or capabilities
    metadata,  # last: no other pass reads labels or annotations
)


WITH_RUNTIME: tuple[Pass, ...] = (resources, processes, rendezvous)
"""The passes that run for a job with a Trainer runtime; the runtime provides everything else."""


class PassRun(NamedTuple):
    """One run of a pass: the job before and after it."""

    name: str
    before: Job
    after: Job


Observer = Callable[[str, Job, Job], Job]
"""Called after each pass with its name and the job before and after it. Returns the job to
continue with.
"""


def run(
    job: Job, context: Context, passes: tuple[Pass, ...] = PASSES, observe: Observer | None = None
) -> Job:
    """Run the passes in order and return the resulting job. Pass a different tuple to extend the
    compiler.

    Fields that the user set to null are removed again after each pass: no pass may fill them in.
    """
    has_nulls = any(role.template.nulls for role in job.roles)
    for apply_pass in passes:
        if job.runtime is not None and apply_pass not in WITH_RUNTIME:
            continue

        after = apply_pass(job, context)
        if has_nulls and after is not job:
            after = map_templates(after, without_nulled_fields)
        job = after if observe is None else observe(apply_pass.__name__, job, after)
    return job


def pass_runs(job: Job, context: Context, passes: tuple[Pass, ...] = PASSES) -> tuple[PassRun, ...]:
    """Run the passes and return the job before and after each of them."""
    runs: list[PassRun] = []

    def collect(name: str, before: Job, after: Job) -> Job:
        runs.append(PassRun(name, before, after))
        return after

    run(job, context, passes, collect)
    return tuple(runs)
