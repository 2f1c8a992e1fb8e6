"""Resources: who wins, and what a missing half is.

The rule, key by key: a role's own amount, else the job's, else the profile's default. The job's amounts are those of a
node: a role that does not train has its own or the profile's. A level that names a resource
names it whole: within it a missing limit takes the request and a missing request the limit (Flyte's legacy
`pytorch_task` documents both directions). Extended resources (anything outside Kubernetes' own cpu, memory,
ephemeral-storage, hugepages) therefore always stand in requests and limits, equal. `gpu` becomes the profile's resource
name. A role that asks for 0 of a device asks for none: the device is left out. Nothing is clamped.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.job.model import Context, Job, PodTemplate, Resources, map_templates
from ptcompile.kubernetes import quantity


def resources(job: Job, context: Context) -> Job:
    """Each role's main container gets all its requests and limits."""
    gpu = context.cluster.gpu_resource(job.accelerator)
    defaults = context.cluster.spec.defaults
    profile = _named(Resources(defaults.requests, defaults.limits), gpu)
    of_a_node = _named(job.resources, gpu).over(profile)

    def fill(template: PodTemplate, below: Resources) -> PodTemplate:
        own = _named(template.main.resources, gpu)
        amounts = _without_none(own.over(below) if own.requests or own.limits else below)
        return template._replace(main=template.main._replace(resources=amounts))

    return map_templates(
        job, lambda node: fill(node, of_a_node), lambda beside: fill(beside, profile.over(Resources()))
    )


def _without_none(resources: Resources) -> Resources:
    """Without the devices of which there are none."""
    none = {name for name, amount in resources.limits.items() if "/" in name and not quantity.parse(amount)}
    if not none:
        return resources
    halves = (resources.requests, resources.limits)
    return Resources(*({k: v for k, v in half.items() if k not in none} for half in halves))


def _named(resources: Resources, gpu: str) -> Resources:
    """The same amounts, with `gpu` under the resource's real name."""
    if "gpu" not in resources.requests and "gpu" not in resources.limits:
        return resources

    def rename(half: Mapping[str, str]) -> dict[str, str]:
        return {gpu if name == "gpu" else name: amount for name, amount in half.items()}

    return Resources(rename(resources.requests), rename(resources.limits))
