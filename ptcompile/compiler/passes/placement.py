"""Placement: which nodes a job may run on, and the profile's pod template.

A named accelerator, for roles that request one, and spot or on-demand nodes become required node
affinity. Each label is one expression, added to every term that the user wrote: terms are
alternatives, so each must contain it (as in Flyte 1.16). Machine types of an accelerator with fewer
devices than the pod requests are left out. Spot nodes are those that the profile describes, else
those of its cloud. If a cloud marks them by one of several labels, each term is repeated per label.
The profile's default node selector adds labels that the user did not select by. Scheduler, service
account and pull secrets apply if the job sets none. The profile's pod template is merged last,
under everything else: mappings merge, but existing items of named lists, an affinity and a
dnsConfig are left unchanged (as in Flyte 1.16).
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.ir import pods as pod_template
from ptcompile.ir.job import Context, Job, map_templates
from ptcompile.ir.pods import PodTemplate
from ptcompile.kubernetes.pod_spec import REQUIRED
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    nested_map,
    without_falsy,
    without_keys,
)
from ptcompile.operators.queues.queue_systems import QUEUE_LABELS
from ptcompile.spec import devices as hardware
from ptcompile.spec.checks import MAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import Accelerator, NodeRequirement, ProfileSpec


def placement(job: Job, context: Context) -> Job:
    """Add the profile's node affinity, node selector, identity and pod template to the pods."""
    profile = context.cluster.spec
    accelerator = hardware.accelerator(context.cluster, job.accelerator)
    defaults = profile.defaults
    gaps = without_falsy(
        {
            "serviceAccountName": defaults.service_account_name,
            "schedulerName": defaults.scheduler_name,
            "imagePullSecrets": defaults.image_pull_secrets,
        }
    )
    profile_template = {**defaults.pod_template}
    if profile_template:
        # the pass `tolerations` merges them with the user's
        spec = without_keys(profile_template.get("spec", {}), "tolerations")
        profile_template["spec"] = spec
    default_affinity = nested_map(profile_template, "spec", "affinity")
    everywhere = bool(gaps or profile_template or defaults.node_selector)

    spot = hardware.spot_nodes(context.cluster) if job.spot else None
    any_of = []
    if spot is not None:
        any_of = [_label_expression(*label) for label in spot.labels.items()]

    def place(template: PodTemplate) -> PodTemplate:
        devices = 0
        requirements = []
        if accelerator:
            devices = hardware.count_accelerators(context.cluster, template.main.resources.limits)
        if devices:
            requirements = hardware.node_requirements(context.cluster, job.accelerator, devices)

        expressions = _node_expressions(
            profile, accelerator if devices else None, requirements, spot=job.spot
        )
        if not (expressions or any_of or everywhere):
            return template

        placed = template._replace(
            affinity=_with_node_affinity(
                template.affinity or default_affinity, expressions, any_of
            ),
            node_selector={**defaults.node_selector, **template.node_selector},
            extra={**gaps, **template.extra},
        )
        if profile_template:
            return pod_template.merge_under(placed, profile_template, MAIN)

        return placed

    placed = map_templates(job, place)
    if job.queue is not None or not defaults.queue:
        return placed

    labels = QUEUE_LABELS.get(profile.queue_system or "", ())  # a job may name its queue by a label
    by_label = job.labels.get(labels[0]) if labels else None

    return placed._replace(queue=by_label or defaults.queue)


def _node_expressions(
    profile: ProfileSpec,
    accelerator: Accelerator | None,
    requirements: Sequence[NodeRequirement],
    *,
    spot: bool,
) -> list[Json]:
    """Return the expressions that a node must match: labels first, then what labels cannot
    express.
    """
    labels = {
        **(accelerator.node_labels if accelerator else {}),
        **(profile.spot.node_labels if spot else {}),
    }
    further = [*requirements, *(profile.spot.match_expressions if spot else profile.on_demand)]
    return [
        *(_label_expression(*label) for label in labels.items()),
        *(requirement.non_null_fields() for requirement in further),
    ]


def _label_expression(key: str, value: str) -> Json:
    return {"key": key, "operator": "In", "values": [value]}


def _with_node_affinity(
    affinity: Json, expressions: Sequence[Json], alternatives: Sequence[Json]
) -> Json:
    """Return the affinity with these expressions in every term, and one of the alternatives in
    each.
    """
    if not (expressions or alternatives):
        return affinity

    node = nested_map(affinity, "nodeAffinity")
    required = nested_map(node, REQUIRED)
    choices = [[*expressions, alternative] for alternative in alternatives] or [[*expressions]]
    terms = [
        _with_expressions(term, choice)
        for term in required.get("nodeSelectorTerms") or [{}]
        for choice in choices
    ]

    return {
        **affinity,
        "nodeAffinity": {**node, REQUIRED: {**required, "nodeSelectorTerms": terms}},
    }


def _with_expressions(term: Json, expressions: Sequence[Json]) -> JsonDict:
    existing = term.get("matchExpressions") or []
    return {
        **term,
        "matchExpressions": [
            *map(_copy_expression, existing),
            *(expression for expression in expressions if expression not in existing),
        ],
    }


def _copy_expression(expression: Json) -> Json:
    """Return a copy of an expression that shares no list with other terms."""
    return {
        key: [*value] if isinstance(value, list) else value for key, value in expression.items()
    }
