"""The pipeline: pure passes from `Job` to `Job`, in the one order written here."""

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
from ptcompile.compiler.passes.scheduling import scheduling
from ptcompile.compiler.passes.security import security
from ptcompile.compiler.passes.shm import shm
from ptcompile.compiler.passes.tolerations import tolerations
from ptcompile.compiler.passes.volumes import volumes
from ptcompile.ir.job import Context, Job, Pass, map_templates
from ptcompile.ir.pods import without_nulled_fields

PASSES: tuple[Pass, ...] = (
    resources,  # first: who asks for a GPU decides tolerations
    processes,  # once the devices are named, and before all that asks how many processes run
    fabric,  # before placement, whose pod template lies below all; before tolerations, which ask for devices
    placement,  # where the named accelerator and spot nodes are
    scheduling,  # after placement, which fills queue and scheduler from the profile's defaults
    tolerations,  # after placement: the catalogue entry's taints and the GPU's are one sorted list
    claims,  # after tolerations and placement, which ask whether there are devices: claimed ones are not counted
    shm,  # a volume of the pod, before nothing else that looks at volumes
    volumes,  # after fabric and placement, whose pod templates may bring volumes
    rendezvous,  # what torchrun or a plain command is told
    hosts,  # before env: the profile's names must not hide where the other roles are
    env,  # after rendezvous: the profile's names must not hide what the command needs
    security,  # when all containers are there, with what fabric and profile add to them
    metadata,  # last: it names nothing that another pass reads
)


WITH_RUNTIME: tuple[Pass, ...] = (resources, processes, rendezvous)
"""What remains to do for a job that runs with a runtime of the cluster's, which holds all else."""


class PassRun(NamedTuple):
    """What one pass did: the job before and after it."""

    name: str
    before: Job
    after: Job


Observer = Callable[[str, Job, Job], Job]
"""Asked after each pass: its name, the job before it and after it. Returns the job to go on with."""


def run(job: Job, context: Context, passes: tuple[Pass, ...] = PASSES, observe: Observer | None = None) -> Job:
    """Return the job after all passes. Another tuple of passes extends the compiler.

    What the job keeps empty is taken from each pass again: a null is as much the user's word as a value.
    """
    keeps_empty = any(role.template.nulls for role in job.roles)
    for one in _asked(job, passes):
        after = one(job, context)
        if keeps_empty and after is not job:
            after = map_templates(after, without_nulled_fields)
        job = after if observe is None else observe(one.__name__, job, after)
    return job


def steps(job: Job, context: Context, passes: tuple[Pass, ...] = PASSES) -> tuple[PassRun, ...]:
    """Run the passes and return what each of them did."""
    done: list[PassRun] = []

    def collect(name: str, before: Job, after: Job) -> Job:
        done.append(PassRun(name, before, after))
        return after

    run(job, context, passes, collect)
    return tuple(done)


def _asked(job: Job, passes: tuple[Pass, ...]) -> tuple[Pass, ...]:
    return passes if job.runtime is None else tuple([one for one in passes if one in WITH_RUNTIME])
