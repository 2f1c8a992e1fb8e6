"""Placement: which nodes a job may run on, from the profile's catalogue.

A named accelerator, for the roles that ask for one, and spot nodes become required node affinity, one expression a
label, added to every term that the user wrote (terms are alternatives, so each must hold it; Flyte 1.16 does the same).
The profile's default node selector fills the labels that the user did not select by. Scheduler, service account and
pull secrets fill their gaps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ptcompile.ir import Context, Job, Json, PodTemplate, map_templates

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def placement(job: Job, context: Context) -> Job:
    """Pods get the node affinity, node selector and identity that the profile gives them."""
    profile = context.cluster.spec
    accelerator = profile.accelerators.get(job.accelerator or "")
    spot = profile.spot.node_labels if job.spot else {}
    defaults = profile.defaults
    extra = {
        "serviceAccountName": defaults.service_account_name,
        "schedulerName": defaults.scheduler_name,
        "imagePullSecrets": defaults.image_pull_secrets,
    }
    gaps = {k: v for k, v in extra.items() if v}

    def place(template: PodTemplate) -> PodTemplate:
        devices = context.cluster.accelerators_in(template.main.resources.limits)
        labels = {**(accelerator.node_labels if accelerator and devices else {}), **spot}
        return template._replace(
            affinity=_with_labels(template.affinity, labels),
            node_selector={**defaults.node_selector, **template.node_selector},
            extra={**gaps, **template.extra},
        )

    return map_templates(job, place)._replace(queue=job.queue or defaults.queue)


def _with_labels(affinity: Json, labels: Mapping[str, str]) -> Json:
    if not labels:
        return affinity
    node: Json = affinity.get("nodeAffinity") or {}
    required: Json = node.get(_REQUIRED) or {}
    wanted = [{"key": k, "operator": "In", "values": [v]} for k, v in labels.items()]
    terms = [_with_expressions(term, wanted) for term in required.get("nodeSelectorTerms") or [{}]]
    return {**affinity, "nodeAffinity": {**node, _REQUIRED: {**required, "nodeSelectorTerms": terms}}}


def _with_expressions(term: Json, wanted: Sequence[Json]) -> dict[str, Any]:
    there = term.get("matchExpressions") or []
    return {**term, "matchExpressions": [*there, *(one for one in wanted if one not in there)]}
