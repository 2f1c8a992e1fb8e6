"""How much a node of a spec asks for, before the passes say it: needed to count its processes and to check them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptcompile import ir, quantity
from ptcompile.fields import Beside

if TYPE_CHECKING:
    from ptcompile.cluster import ClusterProfile
    from ptcompile.spec import JobSpec, PodFields
    from ptcompile.vocabulary import Resources


def lowered(resources: Resources) -> ir.Resources:
    """The spec's resources as requests and limits: a plain amount is both, and a null half none."""
    flat = resources.by_name()
    return ir.resources({**flat, **resources.requests.by_name()}, {**flat, **resources.limits.by_name()})


def effective(job: JobSpec, fields: PodFields, cluster: ClusterProfile) -> ir.Resources:
    """A block's amounts over the job's over the profile's defaults, as the resources pass will decide them."""
    defaults = cluster.spec.defaults
    below = ir.resources(defaults.requests, defaults.limits)
    if fields is not job and not isinstance(fields, Beside):  # the job's amounts are those of a node
        below = lowered(job.resources).over(below)
    return lowered(fields.resources).over(below)


def gpus_per_node(job: JobSpec, fields: PodFields, cluster: ClusterProfile) -> int:
    """How many accelerators a node of this block has; 0 where it asks for none."""
    return cluster.accelerators_in(effective(job, fields, cluster).limits)


def processes_per_node(job: JobSpec, fields: PodFields, cluster: ClusterProfile) -> int:
    """How many processes the accelerators of a node of this block take; 0 where it asks for none."""
    return cluster.processes_in(effective(job, fields, cluster).limits, job.accelerator)


def amount(text: str) -> quantity.Quantity:
    """The quantity of a text that the vocabulary has already taken as one."""
    return quantity.parse(text) or quantity.Quantity(0)
