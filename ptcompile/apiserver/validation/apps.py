"""Deployment, ReplicaSet, ReplicationController, PodTemplate, DaemonSet and StatefulSet."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.metadata import check_labels, check_selector, selects
from ptcompile.apiserver.validation.pod import check_pod_annotations, check_pod_spec, check_template_metadata
from ptcompile.apiserver.validation.values import amount_of, check_amount_or_percent
from ptcompile.apiserver.validation.volume_claims import check_claim_spec
from ptcompile.diagnostics import Path
from ptcompile.kubernetes import names
from ptcompile.registry.model import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


_PROGRESS_SECONDS: Final = 600
"""`progressDeadlineSeconds` where it is not set."""


def check_counts(spec: Mapping[str, Any], path: Path, found: f.Problems, *names: str) -> None:
    """Numbers that may not be negative."""
    for name in names:
        f.check_not_negative(found, (*path, name), spec.get(name))


def check_template(
    template: Any, path: Path, context: ApiServer, found: f.Problems, extra_volumes: frozenset[str] = frozenset()
) -> None:
    """A pod template of one of the server's own controllers."""
    template = f.as_field_mapping(template)
    meta, spec = template.get("metadata"), template.get("spec")
    check_template_metadata(meta, (*path, "metadata"), found, path)
    check_pod_annotations(meta, spec, (*path, "metadata"), found)
    check_pod_spec(spec, (*path, "spec"), context, found, template=True, extra_volumes=extra_volumes)


def check_kept_running(template: Any, path: Path, kind: str, found: f.Problems) -> None:
    """The template of a controller that keeps its pods running: they restart always and have no deadline."""
    pod = f.as_field_mapping(f.as_field_mapping(template).get("spec"))
    policy = pod.get("restartPolicy")
    if type(policy) is str and policy not in ("", "Always"):
        help = "remove it: only a Job's pods may end"
        f.unsupported(found, (*path, "spec", "restartPolicy"), policy, ("Always",), help)
    if pod.get("activeDeadlineSeconds") is not None:
        why = f"activeDeadlineSeconds in {kind} is not Supported"
        f.forbidden(found, (*path, "spec", "activeDeadlineSeconds"), why)


def check_own_selector(spec: Mapping[str, Any], path: Path, kind: str, found: f.Problems) -> None:
    """The selector of a controller: it is there, selects something, and selects the template's pods."""
    selector, here = spec.get("selector"), (*path, "selector")
    if selector is None:
        f.required(found, here, help="repeat the template's labels in selector.matchLabels")
        return
    if type(selector) is not dict:
        return
    before = len(found)
    check_selector(selector, here, found)
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        why = f"empty selector is invalid for {kind.lower()}"
        f.invalid(found, here, selector, why, "repeat the template's labels in selector.matchLabels")
    if len(found) == before:
        _check_selects(selector, spec.get("template"), path, found)


def _check_selects(selector: dict[str, Any], template: Any, path: Path, found: f.Problems) -> None:
    labels = f.as_field_mapping(f.as_field_mapping(f.as_field_mapping(template).get("metadata")).get("labels"))
    if not selects(selector, labels):
        why = "`selector` does not match template `labels`"
        f.invalid(found, (*path, "template", "metadata", "labels"), labels or None, why, "make the two the same")


def check_replica_set(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """A ReplicaSet."""
    spec, path = f.as_field_mapping(manifest.get("spec")), ("spec",)
    check_counts(spec, path, found, "replicas", "minReadySeconds")
    check_own_selector(spec, path, "ReplicaSet", found)
    check_template(spec.get("template"), (*path, "template"), context, found)
    check_kept_running(spec.get("template"), (*path, "template"), "ReplicaSet", found)


def check_replication_controller(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """A ReplicationController: its selector is a plain map, and the template's labels where there is none."""
    spec, path = f.as_field_mapping(manifest.get("spec")), ("spec",)
    template = f.as_field_mapping(spec.get("template"))
    labels = f.as_field_mapping(f.as_field_mapping(template.get("metadata")).get("labels"))
    selector = spec.get("selector")
    check_counts(spec, path, found, "replicas", "minReadySeconds")
    if not selector and not labels:
        f.required(found, (*path, "selector"))
    elif type(selector) is dict and selector:
        check_labels(selector, (*path, "selector"), found)
        _check_selects({"matchLabels": selector}, template, path, found)
    if spec.get("template") is None:
        f.required(found, (*path, "template"))
        return
    check_template(template, (*path, "template"), context, found)
    check_kept_running(template, (*path, "template"), "ReplicationController", found)


def check_pod_template(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """A PodTemplate."""
    check_template(manifest.get("template"), ("template",), context, found)


def check_deployment(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """A Deployment."""
    spec, path = f.as_field_mapping(manifest.get("spec")), ("spec",)
    check_counts(spec, path, found, "replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
    check_own_selector(spec, path, "Deployment", found)
    check_template(spec.get("template"), (*path, "template"), context, found)
    check_kept_running(spec.get("template"), (*path, "template"), "Deployment", found)
    _check_strategy(f.as_field_mapping(spec.get("strategy")), (*path, "strategy"), found)
    seconds, ready = spec.get("progressDeadlineSeconds"), spec.get("minReadySeconds") or 0
    seconds = _PROGRESS_SECONDS if seconds is None else seconds
    if type(seconds) is int and type(ready) is int and seconds <= ready:
        f.invalid(found, (*path, "progressDeadlineSeconds"), seconds, "must be greater than minReadySeconds")


def _check_strategy(strategy: dict[str, Any], path: Path, found: f.Problems) -> None:
    kind, rolling, here = (
        strategy.get("type") or "RollingUpdate",
        strategy.get("rollingUpdate"),
        (*path, "rollingUpdate"),
    )
    if kind == "Recreate":
        if rolling is not None:
            f.forbidden(found, here, "may not be specified when strategy `type` is 'Recreate'")
    elif kind != "RollingUpdate":
        f.check_choice(found, (*path, "type"), kind, ("Recreate", "RollingUpdate"))
    elif rolling is None or type(rolling) is dict:
        rolling = rolling or {}
        for name in ("maxUnavailable", "maxSurge"):
            check_amount_or_percent(rolling.get(name), (*here, name), found, most=name == "maxUnavailable")
        gone, more = (rolling.get(name) for name in ("maxUnavailable", "maxSurge"))
        if gone is not None and more is not None and not amount_of(gone) and not amount_of(more):
            f.invalid(found, (*here, "maxUnavailable"), gone, "may not be 0 when `maxSurge` is 0", "set one of the two")


def check_daemon_set(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """A DaemonSet without its metadata."""
    spec, path = f.as_field_mapping(manifest.get("spec")), ("spec",)
    check_counts(spec, path, found, "minReadySeconds", "revisionHistoryLimit")
    check_own_selector(spec, path, "DaemonSet", found)
    check_template(spec.get("template"), (*path, "template"), context, found)
    check_kept_running(spec.get("template"), (*path, "template"), "DaemonSet", found)
    strategy = f.as_field_mapping(spec.get("updateStrategy"))
    kind = strategy.get("type") or "RollingUpdate"
    f.check_choice(found, (*path, "updateStrategy", "type"), kind, ("OnDelete", "RollingUpdate"))
    rolling = strategy.get("rollingUpdate")
    if kind == "RollingUpdate" and (rolling is None or type(rolling) is dict):
        _check_rolling(rolling or {}, (*path, "updateStrategy", "rollingUpdate"), found)


def _check_rolling(rolling: dict[str, Any], path: Path, found: f.Problems) -> None:
    gone, more = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    check_amount_or_percent(gone, (*path, "maxUnavailable"), found)
    check_amount_or_percent(more, (*path, "maxSurge"), found)
    unavailable = amount_of(1 if gone is None else gone)
    if unavailable and amount_of(more):
        why = "may not be set when maxUnavailable is non-zero"
        f.invalid(found, (*path, "maxSurge"), more, why, "set maxUnavailable: 0, or remove maxSurge")
    elif not unavailable and not amount_of(more):
        f.required(found, (*path, "maxUnavailable"), "cannot be 0 when maxSurge is 0", "set one of the two")


_STRATEGIES: Final = ("OnDelete", "RollingUpdate")
_ORDERS: Final = ("OrderedReady", "Parallel")


def check_stateful_set(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """A StatefulSet without its metadata."""
    spec, path = f.as_field_mapping(manifest.get("spec")), ("spec",)
    check_counts(spec, path, found, "replicas", "minReadySeconds", "revisionHistoryLimit")
    check_counts(f.as_field_mapping(spec.get("ordinals")), (*path, "ordinals"), found, "start")
    check_own_selector(spec, path, "StatefulSet", found)
    volumes = _check_claims(spec.get("volumeClaimTemplates"), (*path, "volumeClaimTemplates"), context, found)
    check_template(spec.get("template"), (*path, "template"), context, found, volumes)
    check_kept_running(spec.get("template"), (*path, "template"), "StatefulSet", found)
    order, service = spec.get("podManagementPolicy"), spec.get("serviceName")
    if type(order) is str and order and order not in _ORDERS:
        f.invalid(found, (*path, "podManagementPolicy"), order, "must be 'OrderedReady' or 'Parallel'")
    if context.at_least(34) and type(service) is str and service and (why := names.why_not_dns_label(service)):
        f.invalid(found, (*path, "serviceName"), service, why)
    _check_update_strategy(f.as_field_mapping(spec.get("updateStrategy")), (*path, "updateStrategy"), context, found)
    policy = f.as_field_mapping(spec.get("persistentVolumeClaimRetentionPolicy"))
    for name in ("whenDeleted", "whenScaled"):
        if policy.get(name):
            here = (*path, "persistentVolumeClaimRetentionPolicy", name)
            f.check_choice(found, here, policy[name], ("Delete", "Retain"))


def _check_claims(claims: Any, path: Path, context: ApiServer, found: f.Problems) -> frozenset[str]:
    """The claims that each pod gets; the names of the volumes that hold them."""
    volumes = set()
    for index, claim in f.indexed_mappings(claims):
        name = f.as_field_mapping(claim.get("metadata")).get("name")
        if type(name) is str:
            volumes.add(name)
        if context.at_least(36):
            check_claim_spec(claim.get("spec"), (*path, index, "spec"), found)
    return frozenset(volumes)


def _check_update_strategy(strategy: dict[str, Any], path: Path, context: ApiServer, found: f.Problems) -> None:
    kind, rolling, here = (
        strategy.get("type") or "RollingUpdate",
        strategy.get("rollingUpdate"),
        (*path, "rollingUpdate"),
    )
    if type(kind) is str and kind not in _STRATEGIES:
        f.invalid(found, (*path, "type"), kind, "must be 'RollingUpdate' or 'OnDelete'")
    elif kind == "OnDelete" and rolling is not None:
        f.invalid(found, here, rolling, "only allowed for updateStrategy 'RollingUpdate'", "remove it")
    elif type(rolling) is dict:
        check_counts(rolling, here, found, "partition")
        gone = rolling.get("maxUnavailable")
        if gone is None or not context.at_least(35):  # its gate is on from 1.35; before, the field is dropped
            return
        check_amount_or_percent(gone, (*here, "maxUnavailable"), found)
        if amount_of(gone) == 0:
            f.invalid(found, (*here, "maxUnavailable"), gone, "cannot be 0", "use 1 or more, or remove it")
