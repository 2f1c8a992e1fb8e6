"""Tolerations: the profile's, added to the user's.

Only GPU pods get the profile's GPU tolerations and those of the job's accelerator. If the profile
sets no GPU tolerations, the taint NoSchedule with the resource's own name as its key is assumed,
which keeps nodes with devices free; Kubernetes' admission plugin ExtendedResourceToleration (1.36)
adds the same toleration. Pods with a container that requests a resource get that resource's
tolerations, spot jobs those of spot nodes, and every pod the profile's defaults. The user's
tolerations come first, as written; added ones follow, sorted and without duplicates, and without
those that another one covers, which is for any value.
"""

from __future__ import annotations

from ptcompile.ir.job import Context, Job, map_templates
from ptcompile.ir.pods import PodTemplate
from ptcompile.kubernetes import quantity
from ptcompile.spec import devices as hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.spec.cluster_profile import Toleration


def tolerations(job: Job, context: Context) -> Job:
    """Add tolerations for the taints of the nodes that each role's pods are placed on."""
    profile = context.cluster.spec
    everywhere = _as_written(profile.defaults.tolerations)
    if job.spot:
        everywhere += _as_written(profile.spot.tolerations)
        nodes = hardware.spot_nodes(context.cluster)
        if nodes is not None:
            everywhere += [taint.toleration() for taint in nodes.taints]

    in_template = profile.defaults.pod_template.get("spec", {}).get("tolerations", ())
    accelerator = hardware.accelerator(context.cluster, job.accelerator)
    on_gpu = _as_written(profile.gpu.tolerations or ())
    if accelerator is not None:
        on_gpu += _as_written(accelerator.tolerations)

    def tolerate(template: PodTemplate) -> PodTemplate:
        devices = [
            name
            for name, amount in template.main.resources.limits.items()
            if hardware.is_accelerator(context.cluster, name) and quantity.parse(amount)
        ]
        added = [*in_template]
        if profile.gpu.tolerations is None:
            # the taint of such nodes has the resource's name as its key
            added += [
                {"key": name, "operator": "Exists", "effect": "NoSchedule"} for name in devices
            ]
        added += everywhere
        if devices:
            added += on_gpu
        if profile.resource_tolerations:
            for name in _requested_resources(template):
                added += _as_written(profile.resource_tolerations.get(name, ()))

        return _with_tolerations(template, added)

    return map_templates(job, tolerate)


def _as_written(entries: Iterable[Toleration]) -> list[Json]:
    return [entry.non_null_fields() for entry in entries]


def _with_tolerations(template: PodTemplate, added: list[Json]) -> PodTemplate:
    """Return the template with those of `added` that it lacks and no other toleration covers."""
    existing = {_toleration_key(toleration) for toleration in template.tolerations}
    missing = {
        key: toleration
        for toleration in added
        if (key := _toleration_key(toleration)) not in existing
    }
    if not missing:
        return template

    kept = (*template.tolerations, *missing.values())
    covered = {_taint_of(toleration) for toleration in kept if _is_for_any_value(toleration)}
    missing = {
        key: toleration
        for key, toleration in missing.items()
        if _is_for_any_value(toleration) or _taint_of(toleration) not in covered
    }

    return template._replace(
        tolerations=(*template.tolerations, *(missing[key] for key in sorted(missing)))
    )


def _requested_resources(template: PodTemplate) -> set[str]:
    """Return the resources that any container requests."""
    main = template.main.resources
    containers = (*template.sidecars, *(template.extra.get("initContainers") or ()))
    resources = [container.get("resources") or {} for container in containers]
    halves = (
        requirements.get(half) or {}
        for requirements in resources
        for half in ("requests", "limits")
    )
    lists = [main.requests, main.limits, *halves]

    return {
        name for amounts in lists for name, amount in amounts.items() if quantity.parse(str(amount))
    }


def _is_for_any_value(toleration: Json) -> bool:
    """Return whether a toleration covers all with its key and effect: for any value, without an
    end.
    """
    return toleration.get("operator") == "Exists" and toleration.get("tolerationSeconds") is None


def _taint_of(toleration: Json) -> tuple[str, str]:
    """Return the key and the effect of the taint that a toleration tolerates."""
    return str(toleration.get("key") or ""), str(toleration.get("effect") or "")


def _toleration_key(toleration: Json) -> tuple[str, ...]:
    """Return a key that is equal for equivalent tolerations. An absent operator means Equal."""
    operator = toleration.get("operator", "Equal")
    fields = [str(toleration.get(name) or "") for name in ("value", "effect", "tolerationSeconds")]
    return (str(toleration.get("key") or ""), str(operator or ""), *fields)
