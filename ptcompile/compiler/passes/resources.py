"""Resources: which level wins, and what replaces a missing request or limit.

For each resource, a role's own amount wins, then the job's, then the profile's default. The job's
amounts are those of a node: an auxiliary role has its own or the profile's. A level that sets a
resource overrides both its request and its limit. Within that level a missing request becomes the
limit, as in the API server, but a missing limit stays missing, because many sites deliberately set
no CPU limits. Only devices and huge pages, whose request and limit must be equal in Kubernetes, get
the request as their limit. A null keeps a request or limit empty at this level and in its defaults.
`gpu` becomes the profile's resource name. A role that requests 0 of a device requests none: the
device is left out. Amounts are never clamped.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.ir.job import Context, Job, map_templates
from ptcompile.ir.pods import PodTemplate, Resources, resources as amounts
from ptcompile.kubernetes import quantity
from ptcompile.spec import devices as hardware
from ptcompile.spec.objects import typed_nullable_amounts


def resources(job: Job, context: Context) -> Job:
    """Set all requests and limits of each role's main container."""
    gpu = hardware.gpu_resource(context.cluster, job.accelerator)
    defaults = context.cluster.spec.defaults
    default_amounts = amounts(
        typed_nullable_amounts(defaults.requests), typed_nullable_amounts(defaults.limits)
    )
    profile = _with_gpu_resource(Resources() if job.runtime is not None else default_amounts, gpu)
    node_amounts = _with_gpu_resource(job.resources, gpu).over(profile)

    def fill(template: PodTemplate, defaults_below: Resources) -> PodTemplate:
        role_amounts = _with_gpu_resource(template.main.resources, gpu)
        filled = _without_zero_devices(
            role_amounts.over(defaults_below) if any(role_amounts) else defaults_below
        )
        return template.with_main(template.main._replace(resources=filled))

    return map_templates(
        job,
        lambda node: fill(node, node_amounts),
        lambda auxiliary: fill(auxiliary, profile.over(Resources())),
    )


def _without_zero_devices(written: Resources) -> Resources:
    """Return the amounts without devices whose amount is 0, and without defaults for them."""
    zero_devices = {
        name
        for name, amount in written.limits.items()
        if "/" in name and not quantity.parse(amount)
    }
    return written.without(zero_devices) if zero_devices else written


def _with_gpu_resource(written: Resources, gpu: str) -> Resources:
    """Return the same amounts with the resource's real name instead of `gpu`."""
    nulls = written.nulls and frozenset(
        (half, gpu if name == "gpu" else name) for half, name in written.nulls
    )
    if "gpu" not in written.requests and "gpu" not in written.limits:
        if nulls == written.nulls:
            return written
        return written._replace(nulls=nulls)

    def rename(half: Mapping[str, str]) -> dict[str, str]:
        return {gpu if name == "gpu" else name: amount for name, amount in half.items()}

    return Resources(rename(written.requests), rename(written.limits), nulls)
