"""How much a node of a spec asks for, before the passes say it: needed to count its processes and to check them."""

from __future__ import annotations

from ptcompile.job import pods
from ptcompile.kubernetes import quantity
from ptcompile.vocabulary.cluster import hardware
from ptcompile.vocabulary.fields import Beside, as_text_or_null

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.vocabulary.cluster.model import ClusterProfile
    from ptcompile.vocabulary.model import Resources
    from ptcompile.vocabulary.pod_fields import PodFields
    from ptcompile.vocabulary.spec import JobSpec


def lowered(resources: Resources) -> pods.Resources:
    """The spec's resources as requests and limits: a plain amount is both, and a null half none."""
    flat, requests, limits = resources.by_name(), resources.requests.by_name(), resources.limits.by_name()
    return pods.resources({**flat, **requests} if requests else flat, {**flat, **limits} if limits else flat)


def effective(job: JobSpec, fields: PodFields, cluster: ClusterProfile) -> pods.Resources:
    """A block's amounts over the job's over the profile's defaults, as the resources pass will decide them."""
    defaults = cluster.spec.defaults
    below = pods.resources(as_text_or_null(defaults.requests), as_text_or_null(defaults.limits))
    if fields is not job and not isinstance(fields, Beside):  # the job's amounts are those of a node
        below = lowered(job.resources).over(below)
    return lowered(fields.resources).over(below)


def gpus_per_node(job: JobSpec, fields: PodFields, cluster: ClusterProfile) -> int:
    """How many accelerators a node of this block has; 0 where it asks for none."""
    return hardware.accelerators_in(cluster, effective(job, fields, cluster).limits)


def processes_per_node(job: JobSpec, fields: PodFields, cluster: ClusterProfile) -> int:
    """How many processes the accelerators of a node of this block take; 0 where it asks for none."""
    return hardware.processes_in(cluster, effective(job, fields, cluster).limits, job.accelerator)


def amount(text: str) -> quantity.Quantity:
    """The quantity of a text that the vocabulary has already taken as one."""
    return quantity.parse(text) or quantity.Quantity(0)
