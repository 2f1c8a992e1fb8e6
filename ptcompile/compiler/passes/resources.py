"""Resources: who wins, and what a missing half is.

The rule, key by key: a role's own amount, else the job's, else the profile's default. The job's amounts are those of a
node: a role that does not train has its own or the profile's. A level that names a resource names it whole. Within it a
missing request is the limit, as the API server has it, and a missing limit stays missing: no CPU limits is a policy of
many sites. Only of devices and huge pages, which Kubernetes wants equal, it is the request. A null keeps a half empty
at this level and below. `gpu` becomes the profile's resource name. A role that asks for 0 of a device asks for none:
the device is left out. Nothing is clamped.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.ir.job import Context, Job, map_templates
from ptcompile.ir.pods import PodTemplate, Resources, resources as amounts
from ptcompile.kubernetes import quantity
from ptcompile.spec import devices as hardware
from ptcompile.spec.objects import as_text_or_null


def resources(job: Job, context: Context) -> Job:
    """Each role's main container gets all its requests and limits."""
    gpu = hardware.gpu_resource(context.cluster, job.accelerator)
    defaults = context.cluster.spec.defaults
    given = amounts(as_text_or_null(defaults.requests), as_text_or_null(defaults.limits))
    profile = _named(Resources() if job.runtime is not None else given, gpu)
    of_a_node = _named(job.resources, gpu).over(profile)

    def fill(template: PodTemplate, below: Resources) -> PodTemplate:
        own = _named(template.main.resources, gpu)
        filled = _without_none(own.over(below) if any(own) else below)
        return template.with_main(template.main._replace(resources=filled))

    return map_templates(
        job, lambda node: fill(node, of_a_node), lambda beside: fill(beside, profile.over(Resources()))
    )


def _without_none(written: Resources) -> Resources:
    """Without the devices of which there are none, nor from a level below."""
    none = {name for name, amount in written.limits.items() if "/" in name and not quantity.parse(amount)}
    if not none:
        return written
    requests, limits = ({k: v for k, v in half.items() if k not in none} for half in (written.requests, written.limits))
    nulls = written.nulls | {(half, name) for half in ("requests", "limits") for name in none}
    return Resources(requests, limits, nulls)


def _named(written: Resources, gpu: str) -> Resources:
    """The same amounts, with `gpu` under the resource's real name."""
    nulls = written.nulls and frozenset((half, gpu if name == "gpu" else name) for half, name in written.nulls)
    if "gpu" not in written.requests and "gpu" not in written.limits:
        return written if nulls == written.nulls else written._replace(nulls=nulls)

    def rename(half: Mapping[str, str]) -> dict[str, str]:
        return {gpu if name == "gpu" else name: amount for name, amount in half.items()}

    return Resources(rename(written.requests), rename(written.limits), nulls)
