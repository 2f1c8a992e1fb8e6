"""Placement: which nodes a job may run on, from the profile's catalogue, and what else the profile lays under its pods.

A named accelerator, for the roles that ask for one, and spot nodes or the others become required node affinity, one
expression a label, added to every term that the user wrote (terms are alternatives, so each must hold it; Flyte 1.16
does the same). Of the machine types that an accelerator's label names, those with fewer devices than the pod requests
are left out. Spot nodes are those that the profile describes, else those of its cloud, which may mark them by one of
several labels: then each term is written once per label. The profile's default node selector fills the labels that the
user did not select by. Scheduler, service account and pull secrets fill their gaps. The profile's pod template comes
last and lies below all of it: mappings merge, an item of a named list that is there stays as it is, and so does an
affinity or a dnsConfig (Flyte 1.16).
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.ir import pods as pod_template
from ptcompile.ir.job import Context, Job, map_templates
from ptcompile.ir.pods import PodTemplate
from ptcompile.spec import devices as hardware
from ptcompile.spec.checks import MAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.ir.pods import Json
    from ptcompile.spec.cluster_profile import Accelerator, NodeRequirement, ProfileSpec

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def placement(job: Job, context: Context) -> Job:
    """Pods get the node affinity, node selector and identity that the profile gives them."""
    profile = context.cluster.spec
    accelerator = hardware.accelerator(context.cluster, job.accelerator)
    defaults = profile.defaults
    extra = {
        "serviceAccountName": defaults.service_account_name,
        "schedulerName": defaults.scheduler_name,
        "imagePullSecrets": defaults.image_pull_secrets,
    }
    gaps = {k: v for k, v in extra.items() if v}
    base = _base(defaults.pod_template)
    below: Json = base.get("spec", {}).get("affinity", {})
    everywhere = bool(gaps or base or defaults.node_selector)

    spot = hardware.spot_nodes(context.cluster) if job.spot else None
    any_of = [_label(*label) for label in spot.labels.items()] if spot is not None else []

    def place(template: PodTemplate) -> PodTemplate:
        devices = hardware.accelerators_in(context.cluster, template.main.resources.limits) if accelerator else 0
        named = hardware.node_requirements(context.cluster, job.accelerator, devices) if devices else []
        wanted = _wanted(profile, accelerator if devices else None, named, spot=job.spot)
        if not (wanted or any_of or everywhere):
            return template
        placed = template._replace(
            affinity=_with(template.affinity or below, wanted, any_of),
            node_selector={**defaults.node_selector, **template.node_selector},
            extra={**gaps, **template.extra},
        )
        return pod_template.merge_under(placed, base, MAIN) if base else placed

    placed = map_templates(job, place)
    return placed if job.queue is not None or not defaults.queue else placed._replace(queue=defaults.queue)


def _wanted(
    profile: ProfileSpec, accelerator: Accelerator | None, named: Sequence[NodeRequirement], *, spot: bool
) -> list[Json]:
    """What the nodes must be: labels first, then what labels cannot say."""
    labels = {**(accelerator.node_labels if accelerator else {}), **(profile.spot.node_labels if spot else {})}
    beyond = [*named, *(profile.spot.match_expressions if spot else profile.on_demand)]
    return [*(_label(*label) for label in labels.items()), *(one.given() for one in beyond)]


def _label(key: str, value: str) -> Json:
    return {"key": key, "operator": "In", "values": [value]}


def _with(affinity: Json, wanted: Sequence[Json], any_of: Sequence[Json]) -> Json:
    """Return the affinity with these expressions in every term, and in each term one of the alternatives."""
    if not (wanted or any_of):
        return affinity
    node: Json = affinity.get("nodeAffinity") or {}
    required: Json = node.get(_REQUIRED) or {}
    ways = [[*wanted, one] for one in any_of] if any_of else [wanted]
    terms = [_with_expressions(term, way) for term in required.get("nodeSelectorTerms") or [{}] for way in ways]
    return {**affinity, "nodeAffinity": {**node, _REQUIRED: {**required, "nodeSelectorTerms": terms}}}


def _with_expressions(term: Json, wanted: Sequence[Json]) -> dict[str, Any]:
    there = term.get("matchExpressions") or []
    return {**term, "matchExpressions": [*map(_copied, there), *(one for one in wanted if one not in there)]}


def _copied(expression: Json) -> Json:
    """Return an expression that shares no list with other terms."""
    return {key: [*value] if isinstance(value, list) else value for key, value in expression.items()}


def _base(template: Json) -> dict[str, Any]:
    """The profile's pod template without its tolerations, which the pass of that name adds beside the user's."""
    if not template:
        return {}
    return {**template, "spec": {key: value for key, value in template.get("spec", {}).items() if key != "tolerations"}}
