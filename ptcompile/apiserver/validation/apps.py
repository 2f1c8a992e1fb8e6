"""Deployment, ReplicaSet, ReplicationController, PodTemplate, DaemonSet and StatefulSet."""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.validation.metadata import check_labels, check_selector
from ptcompile.apiserver.validation.pod import check_pod_annotations, check_pod_spec, check_template_metadata
from ptcompile.apiserver.validation.values import amount_of, check_amount_or_percent
from ptcompile.apiserver.validation.volume_claims import check_claim_spec
from ptcompile.diagnostics import Path
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_mappings
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.selectors import selects
from ptcompile.kubernetes.unstructured import Json, as_mapping, nested_map

_PROGRESS_SECONDS = 600
"""Default of `progressDeadlineSeconds`."""


def check_counts(spec: Json, path: Path, problems: FieldErrors, *fields: str) -> None:
    """Check that these numbers are not negative."""
    for name in fields:
        problems.check_not_negative((*path, name), spec.get(name))


def check_template(
    template: Any, path: Path, context: ApiServer, problems: FieldErrors, extra_volumes: frozenset[str] = frozenset()
) -> None:
    """Check the pod template of one of the server's own controllers."""
    template = as_mapping(template)
    meta = template.get("metadata")
    spec = template.get("spec")
    check_template_metadata(meta, (*path, "metadata"), problems, path)
    check_pod_annotations(meta, spec, (*path, "metadata"), problems)
    check_pod_spec(spec, (*path, "spec"), context, problems, template=True, extra_volumes=extra_volumes)


def check_restarts_always(template: Any, path: Path, kind: str, problems: FieldErrors) -> None:
    """Check the template of a controller that keeps its pods running: they always restart and have no deadline."""
    pod = as_mapping(as_mapping(template).get("spec"))
    policy = pod.get("restartPolicy")
    if type(policy) is str and policy not in ("", "Always"):
        help = "remove it: only a Job's pods may end"
        problems.unsupported((*path, "spec", "restartPolicy"), policy, ("Always",), help)
    if pod.get("activeDeadlineSeconds") is not None:
        why = f"activeDeadlineSeconds in {kind} is not Supported"
        problems.forbidden((*path, "spec", "activeDeadlineSeconds"), why)


def check_controller_selector(spec: Json, path: Path, kind: str, problems: FieldErrors) -> None:
    """Check that a controller's selector is set, selects something, and selects the template's pods."""
    selector = spec.get("selector")
    selector_path = (*path, "selector")
    if selector is None:
        problems.required(selector_path, help="repeat the template's labels in selector.matchLabels")
        return
    if type(selector) is not dict:
        return
    before = len(problems)
    check_selector(selector, selector_path, problems)
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        why = f"empty selector is invalid for {kind.lower()}"
        problems.invalid(selector_path, selector, why, "repeat the template's labels in selector.matchLabels")
    if len(problems) == before:
        _check_selects(selector, spec.get("template"), path, problems)


def _check_selects(selector: Json, template: Any, path: Path, problems: FieldErrors) -> None:
    labels = as_mapping(as_mapping(as_mapping(template).get("metadata")).get("labels"))
    if not selects(selector, labels):
        why = "`selector` does not match template `labels`"
        problems.invalid((*path, "template", "metadata", "labels"), labels or None, why, "use the same labels in both")


def check_replica_set(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a ReplicaSet, except its metadata."""
    _check_controller(manifest, context, problems, "replicas", "minReadySeconds")


def _check_controller(manifest: Json, context: ApiServer, problems: FieldErrors, *counts: str) -> Json:
    """Check the counts, selector and template of a ReplicaSet, Deployment or DaemonSet, and return its spec."""
    spec = nested_map(manifest, "spec")
    kind = str(manifest["kind"])
    path = ("spec", "template")
    check_counts(spec, path[:1], problems, *counts)
    check_controller_selector(spec, path[:1], kind, problems)
    check_template(spec.get("template"), path, context, problems)
    check_restarts_always(spec.get("template"), path, kind, problems)
    return spec


def check_replication_controller(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a ReplicationController, except its metadata. Its selector is a plain map and defaults to the template's
    labels.
    """
    spec = nested_map(manifest, "spec")
    path = ("spec",)
    template = nested_map(spec, "template")
    labels = nested_map(template, "metadata", "labels")
    selector = spec.get("selector")
    check_counts(spec, path, problems, "replicas", "minReadySeconds")
    if not selector and not labels:
        problems.required((*path, "selector"))
    elif type(selector) is dict and selector:
        check_labels(selector, (*path, "selector"), problems)
        _check_selects({"matchLabels": selector}, template, path, problems)
    if spec.get("template") is None:
        problems.required((*path, "template"))
        return
    check_template(template, (*path, "template"), context, problems)
    check_restarts_always(template, (*path, "template"), "ReplicationController", problems)


def check_pod_template(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a PodTemplate, except its metadata."""
    check_template(manifest.get("template"), ("template",), context, problems)


def check_deployment(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a Deployment, except its metadata."""
    counts = ("replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
    spec = _check_controller(manifest, context, problems, *counts)
    _check_strategy(nested_map(spec, "strategy"), ("spec", "strategy"), problems)
    seconds = spec.get("progressDeadlineSeconds")
    ready = spec.get("minReadySeconds") or 0
    seconds = _PROGRESS_SECONDS if seconds is None else seconds
    if type(seconds) is int and type(ready) is int and seconds <= ready:
        problems.invalid(("spec", "progressDeadlineSeconds"), seconds, "must be greater than minReadySeconds")


def _check_strategy(strategy: Json, path: Path, problems: FieldErrors) -> None:
    kind = strategy.get("type") or "RollingUpdate"
    rolling = strategy.get("rollingUpdate")
    rolling_path = (*path, "rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            problems.forbidden(rolling_path, "may not be specified when strategy `type` is 'Recreate'")
    elif kind != "RollingUpdate":
        problems.check_choice((*path, "type"), kind, ("Recreate", "RollingUpdate"))
    elif rolling is None or type(rolling) is dict:
        rolling = rolling or {}
        for name in ("maxUnavailable", "maxSurge"):
            check_amount_or_percent(
                rolling.get(name), (*rolling_path, name), problems, limit_to_100=name == "maxUnavailable"
            )
        unavailable, surge = (rolling.get(name) for name in ("maxUnavailable", "maxSurge"))
        if unavailable is not None and surge is not None and not amount_of(unavailable) and not amount_of(surge):
            problems.invalid(
                (*rolling_path, "maxUnavailable"),
                unavailable,
                "may not be 0 when `maxSurge` is 0",
                "set one of the two",
            )


def check_daemon_set(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a DaemonSet, except its metadata."""
    spec = _check_controller(manifest, context, problems, "minReadySeconds", "revisionHistoryLimit")
    path = ("spec", "updateStrategy")
    strategy = nested_map(spec, "updateStrategy")
    kind = strategy.get("type") or "RollingUpdate"
    problems.check_choice((*path, "type"), kind, _STRATEGIES)
    rolling = strategy.get("rollingUpdate")
    if kind == "RollingUpdate" and (rolling is None or type(rolling) is dict):
        _check_daemon_rolling(rolling or {}, (*path, "rollingUpdate"), problems)


def _check_daemon_rolling(rolling: Json, path: Path, problems: FieldErrors) -> None:
    max_unavailable = rolling.get("maxUnavailable")
    surge = rolling.get("maxSurge")
    check_amount_or_percent(max_unavailable, (*path, "maxUnavailable"), problems)
    check_amount_or_percent(surge, (*path, "maxSurge"), problems)
    unavailable = amount_of(1 if max_unavailable is None else max_unavailable)
    if unavailable and amount_of(surge):
        why = "may not be set when maxUnavailable is non-zero"
        problems.invalid((*path, "maxSurge"), surge, why, "set maxUnavailable: 0, or remove maxSurge")
    elif not unavailable and not amount_of(surge):
        problems.required((*path, "maxUnavailable"), "cannot be 0 when maxSurge is 0", "set one of the two")


_STRATEGIES = ("OnDelete", "RollingUpdate")
_POD_MANAGEMENT_POLICIES = ("OrderedReady", "Parallel")


def check_stateful_set(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a StatefulSet, except its metadata."""
    spec = nested_map(manifest, "spec")
    path = ("spec",)
    check_counts(spec, path, problems, "replicas", "minReadySeconds")
    check_counts(nested_map(spec, "ordinals"), (*path, "ordinals"), problems, "start")
    check_controller_selector(spec, path, "StatefulSet", problems)
    volumes = _check_claims(spec.get("volumeClaimTemplates"), (*path, "volumeClaimTemplates"), context, problems)
    template = spec.get("template")
    if context.at_least(36):
        template = _without_pod_names(template)
    check_template(template, (*path, "template"), context, problems, volumes)
    check_restarts_always(spec.get("template"), (*path, "template"), "StatefulSet", problems)
    order = spec.get("podManagementPolicy")
    if type(order) is str and order and order not in _POD_MANAGEMENT_POLICIES:
        problems.invalid((*path, "podManagementPolicy"), order, "must be 'OrderedReady' or 'Parallel'")
    if context.at_least(34):
        problems.check_optional_text((*path, "serviceName"), spec.get("serviceName"), names.why_not_dns_label)
    _check_update_strategy(nested_map(spec, "updateStrategy"), (*path, "updateStrategy"), context, problems)
    policy = nested_map(spec, "persistentVolumeClaimRetentionPolicy")
    for name in ("whenDeleted", "whenScaled"):
        if policy.get(name):
            policy_path = (*path, "persistentVolumeClaimRetentionPolicy", name)
            problems.check_choice(policy_path, policy[name], ("Delete", "Retain"))


def _check_claims(claims: Any, path: Path, context: ApiServer, problems: FieldErrors) -> frozenset[str]:
    """Check the claim templates and return the names of their volumes."""
    volumes = set()
    for index, claim in indexed_mappings(claims):
        name = nested_map(claim, "metadata").get("name")
        if type(name) is str:
            volumes.add(name)
        if context.at_least(36):
            check_claim_spec(claim.get("spec"), (*path, index, "spec"), problems, drops=False)
            if type(name) is str and name and (why := names.why_not_dns_label(name)):
                name_path = (*path, index, "metadata", "name")
                field = f"spec.template.spec.volumes[{index}].name"
                problems.invalid(name_path, name, why, field=field)
    return frozenset(volumes)


def _without_pod_names(template: Any) -> Any:
    """Return a pod template without hostname and subdomain. The server checks the template with those of a pod of the
    set (Kubernetes 1.36).
    """
    spec = as_mapping(as_mapping(template).get("spec"))
    if not spec.keys() & {"hostname", "subdomain"}:
        return template
    kept = {key: value for key, value in spec.items() if key not in ("hostname", "subdomain")}
    return {**template, "spec": kept}


def _check_update_strategy(strategy: Json, path: Path, context: ApiServer, problems: FieldErrors) -> None:
    kind = strategy.get("type") or "RollingUpdate"
    rolling = strategy.get("rollingUpdate")
    rolling_path = (*path, "rollingUpdate")
    recreates = kind == "Recreate" and context.has_gate("StatefulSetRecreateStrategy", None)
    if type(kind) is str and kind not in _STRATEGIES and not recreates:
        problems.invalid((*path, "type"), kind, "must be 'RollingUpdate' or 'OnDelete'")
    elif kind == "OnDelete" and rolling is not None:
        problems.invalid(rolling_path, rolling, "only allowed for updateStrategy 'RollingUpdate'", "remove it")
    elif type(rolling) is dict:
        check_counts(rolling, rolling_path, problems, "partition")
        unavailable = rolling.get("maxUnavailable")
        if unavailable is None or not context.has_gate("MaxUnavailableStatefulSet", 37):
            return
        check_amount_or_percent(unavailable, (*rolling_path, "maxUnavailable"), problems)
        if amount_of(unavailable) == 0:
            problems.invalid(
                (*rolling_path, "maxUnavailable"), unavailable, "cannot be 0", "use 1 or more, or remove it"
            )


def check_controller_revision(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a ControllerRevision, except its metadata."""
    if manifest.get("data") is None:
        problems.required(("data",), "data is mandatory")
    problems.check_not_negative(("revision",), manifest.get("revision"))
