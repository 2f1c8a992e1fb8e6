"""What the webhook of LeaderWorkerSet rejects, and what the StatefulSets that it creates are
rejected for.

Source: LeaderWorkerSet 0.10, pkg/webhooks/leaderworkerset_webhook.go;
docs/facts/leaderworkerset.md#webhook.
"""

from __future__ import annotations

from ptcompile.apiserver.validation.templates import check_templates
from ptcompile.apiserver.webhooks import child_rejection, webhook_rejection
from ptcompile.diagnostics import Path, Problems
from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kinds.model import KindContext, Rejections
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
)
from ptcompile.operators.leaderworkerset.pods import pod_templates

_rejection = webhook_rejection("lws")
_SUBGROUPS = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"
_TEMPLATE: Path = ("spec", "leaderWorkerTemplate")


def validate(manifest: Json, _request: KindContext) -> Problems:
    """Yield the rejections of the validating webhook."""
    metadata = nested_map(manifest, "metadata")
    spec = nested_map(manifest, "spec")
    name = nested_string(metadata, "name")
    why = names.why_not_dns_1035_label(name) if name else None
    if why:
        yield _rejection(
            ("metadata", "name"), f'Invalid value: "{name}": {why}', "use a shorter or simpler name"
        )

    size = nested_int(spec, "leaderWorkerTemplate", "size", default=1)
    if size < 1:
        text = f"Invalid value: {size}: size must be equal or greater than 1"
        yield _rejection((*_TEMPLATE, "size"), text, "count the leader too")
    elif nested_int(spec, "replicas", default=1) * size > 2**31 - 1:
        text = "the product of replicas and worker replicas must not exceed 2147483647"
        yield _rejection(
            ("spec", "replicas"),
            f"Invalid value: {spec.get('replicas')}: {text}",
            "use fewer groups",
        )

    rolling = ("spec", "rolloutStrategy", "rollingUpdateConfiguration")
    config = nested_map(spec, *map(str, rolling[1:]))
    if _is_zero(config.get("maxUnavailable", 1)) and _is_zero(config.get("maxSurge", 0)):
        text = "must not be 0 when `maxSurge` is 0"
        yield _rejection(
            (*rolling, "maxUnavailable"), f"Invalid value: 0: {text}", "set maxUnavailable to 1"
        )

    yield from _check_subgroups(manifest, size)


def _is_zero(amount: object) -> bool:
    return amount in (0, "0", "0%")


def _check_subgroups(manifest: Json, size: int) -> Problems:
    policy = nested_map(manifest, "spec", "leaderWorkerTemplate", "subGroupPolicy")
    path = (*_TEMPLATE, "subGroupPolicy", "subGroupSize")
    if policy.get("subGroupSize") is None:
        if nested_value(manifest, "metadata", "annotations", _SUBGROUPS) is not None:
            text = "cannot have subgroup-exclusive-topology without subGroupSize set"
            key = ("metadata", "annotations", _SUBGROUPS)
            yield _rejection(
                key,
                f"Invalid value: {text}",
                "set subGroupPolicy.subGroupSize, or remove the annotation",
            )
        return

    subgroup_size = nested_int(policy, "subGroupSize")
    if subgroup_size < 1:
        text = "subGroupSize must be equal or greater than 1"
    elif subgroup_size > size:
        text = "subGroupSize cannot be larger than size"
    elif (size - 1) % subgroup_size == 0:
        return
    elif policy.get("subGroupPolicyType") == "LeaderExcluded":
        text = "size-1 must be divisible by subGroupSize when using LeaderExcluded"
    elif size % subgroup_size:
        text = "size or size - 1 must be divisible by subGroupSize"
    else:
        return

    yield _rejection(
        path,
        f"Invalid value: {subgroup_size}: {text}",
        f"use a size that divides {size}, or {size - 1}",
    )


def controller_errors(manifest: Json, _request: KindContext) -> Problems:
    """Yield the errors of the StatefulSets that the controller creates: their pods restart
    always.
    """
    for template in pod_templates(manifest):
        policy = nested_value(template.template, "spec", "restartPolicy")
        if isinstance(policy, str) and policy not in ("", "Always"):
            yield child_rejection(
                (*template.path, "spec", "restartPolicy"),
                f'Unsupported value: "{policy}": supported values: "Always"',
                "remove it: the pods of a LeaderWorkerSet restart always",
            )


def check_children(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check the pods, whose volumes include the claims of volumeClaimTemplates."""
    claims = nested_maps(manifest, "spec", "leaderWorkerTemplate", "volumeClaimTemplates")
    volumes = frozenset(nested_string(claim, "metadata", "name") for claim in claims)
    check_templates(pod_templates(manifest), context, problems, volumes)


REJECTIONS = Rejections(
    validate=validate, controller_errors=controller_errors, check_children=check_children
)
