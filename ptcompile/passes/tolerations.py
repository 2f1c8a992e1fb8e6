"""Tolerations: the profile's, beside the user's.

GPU pods, and only they, get the profile's GPU tolerations and those of the accelerator that the job names; pods that
ask for a resource, in any container, get those of the resource; spot jobs get the spot nodes'; every pod gets the
profile's defaults. The user's stand first as written; what is added follows, sorted, without what is there already.
"""

from __future__ import annotations

from ptcompile.job.model import Context, Job, Json, PodTemplate, map_templates
from ptcompile.kubernetes import quantity


def tolerations(job: Job, context: Context) -> Job:
    """Each role's pods tolerate the taints of the nodes that they are meant for."""
    profile = context.cluster.spec
    everywhere = [*profile.defaults.tolerations, *(profile.spot.tolerations if job.spot else ())]
    in_template: list[Json] = profile.defaults.pod_template.get("spec", {}).get("tolerations", [])
    accelerator = context.cluster.accelerator(job.accelerator)
    on_gpu = [*profile.gpu.tolerations, *(accelerator.tolerations if accelerator else ())]

    def tolerate(template: PodTemplate) -> PodTemplate:
        gpu = context.cluster.accelerators_in(template.main.resources.limits)
        asked = _asked(template) if profile.resource_tolerations else set()
        of_resources = [one for name in asked for one in profile.resource_tolerations.get(name, ())]
        ours = (*everywhere, *(on_gpu if gpu else ()), *of_resources)
        added = [*in_template, *(one.given() for one in ours)]
        there = {_meaning(one) for one in template.tolerations}
        new = {meaning: one for one in added if (meaning := _meaning(one)) not in there}
        if not new:
            return template
        return template._replace(tolerations=(*template.tolerations, *(new[key] for key in sorted(new))))

    return map_templates(job, tolerate)


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
