"""Tolerations: the profile's, beside the user's.

GPU pods, and only they, get the profile's GPU tolerations and those of the accelerator that the job names. A profile
that says nothing of GPU tolerations means the taint NoSchedule with the resource's own name as its key, by which nodes
with devices are kept free; Kubernetes' admission plugin ExtendedResourceToleration (1.36) adds the same.
Pods that ask for a resource, in any container, get those of the resource; spot jobs get the spot nodes'; every pod gets
the profile's defaults. The user's stand first as written; what is added follows, sorted, without what is already there.
"""

from __future__ import annotations

from ptcompile.ir.job import Context, Job, map_templates
from ptcompile.ir.pods import PodTemplate
from ptcompile.kubernetes import quantity
from ptcompile.spec import devices as hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.ir.pods import Json
    from ptcompile.spec.cluster_profile import ClusterProfile


def tolerations(job: Job, context: Context) -> Job:
    """Each role's pods tolerate the taints of the nodes that they are meant for."""
    profile = context.cluster.spec
    everywhere = [
        one.given() for one in (*profile.defaults.tolerations, *(profile.spot.tolerations if job.spot else ()))
    ]
    spot = hardware.spot_nodes(context.cluster) if job.spot else None
    everywhere += [one.toleration() for one in spot.taints] if spot is not None else []
    in_template: list[Json] = profile.defaults.pod_template.get("spec", {}).get("tolerations", [])
    accelerator = hardware.accelerator(context.cluster, job.accelerator)
    of_gpu = profile.gpu.tolerations
    named = accelerator.tolerations if accelerator else ()

    def tolerate(template: PodTemplate) -> PodTemplate:
        devices = _devices(template, context.cluster)
        own = [_own_name(name) for name in devices] if of_gpu is None else ()
        on_gpu = [one.given() for one in (*(of_gpu or ()), *named)] if devices else ()
        added = [*in_template, *own, *everywhere, *on_gpu]
        for name in _asked(template) if profile.resource_tolerations else ():
            added += [one.given() for one in profile.resource_tolerations.get(name, ())]
        if not added:
            return template
        there = {_meaning(one) for one in template.tolerations}
        new = {meaning: one for one in added if (meaning := _meaning(one)) not in there}
        if not new:
            return template
        return template._replace(tolerations=(*template.tolerations, *(new[key] for key in sorted(new))))

    return map_templates(job, tolerate)


def _devices(template: PodTemplate, cluster: ClusterProfile) -> list[str]:
    """The accelerators, by resource name, of which the container that trains asks for more than none."""
    limits = template.main.resources.limits
    return [
        name for name, amount in limits.items() if hardware.is_accelerator(cluster, name) and quantity.parse(amount)
    ]


def _own_name(resource: str) -> Json:
    """The toleration of the taint that carries a resource's own name."""
    return {"key": resource, "operator": "Exists", "effect": "NoSchedule"}


def _asked(template: PodTemplate) -> set[str]:
    """The resources of which any container asks for more than none."""
    main = template.main.resources
    others = (*template.sidecars, *(template.extra.get("initContainers") or ()))
    resources = [one.get("resources") or {} for one in others]
    lists = [main.requests, main.limits, *(one.get(half) or {} for one in resources for half in ("requests", "limits"))]
    return {name for one in lists for name, amount in one.items() if quantity.parse(str(amount))}


def _meaning(toleration: Json) -> tuple[str, ...]:
    """What a toleration says: two texts that mean the same are equal. Equal is what an absent operator means."""
    operator = toleration.get("operator", "Equal")
    others = [str(toleration.get(name) or "") for name in ("value", "effect", "tolerationSeconds")]
    return (str(toleration.get("key") or ""), str(operator or ""), *others)
