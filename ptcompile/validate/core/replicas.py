"""Deployment, ReplicaSet, ReplicationController, PodTemplate, and the template that they share (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.findings.diagnostics import Path
from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.metadata import check_labels
from ptcompile.validate.core.percentages import amount_of, check_amount_or_percent
from ptcompile.validate.core.pod import check_pod_spec, check_template_metadata
from ptcompile.validate.core.pod_admission import check_pod_annotations
from ptcompile.validate.core.selectors import check_selector, selects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_PROGRESS_SECONDS: Final = 600
"""`progressDeadlineSeconds` where it is not set."""


def check_counts(spec: Mapping[str, Any], path: Path, found: f.Found, *names: str) -> None:
    """Numbers that may not be negative."""
    for name in names:
        f.check_not_negative(found, (*path, name), spec.get(name))


def check_template(
    template: Any, path: Path, context: ApiServer, found: f.Found, extra_volumes: frozenset[str] = frozenset()
) -> None:
    """A pod template of one of the server's own controllers."""
    template = f.mapping(template)
    meta, spec = template.get("metadata"), template.get("spec")
    check_template_metadata(meta, (*path, "metadata"), found, path)
    check_pod_annotations(meta, spec, (*path, "metadata"), found)
    check_pod_spec(spec, (*path, "spec"), context, found, template=True, extra_volumes=extra_volumes)


def check_kept_running(template: Any, path: Path, kind: str, found: f.Found) -> None:
    """The template of a controller that keeps its pods running: they restart always and have no deadline."""
    pod = f.mapping(f.mapping(template).get("spec"))
    policy = pod.get("restartPolicy")
    if type(policy) is str and policy not in ("", "Always"):
        help = "remove it: only a Job's pods may end"
        f.unsupported(found, (*path, "spec", "restartPolicy"), policy, ("Always",), help)
    if pod.get("activeDeadlineSeconds") is not None:
        why = f"activeDeadlineSeconds in {kind} is not Supported"
        f.forbidden(found, (*path, "spec", "activeDeadlineSeconds"), why)


def check_own_selector(spec: Mapping[str, Any], path: Path, kind: str, found: f.Found) -> None:
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


def _check_selects(selector: dict[str, Any], template: Any, path: Path, found: f.Found) -> None:
    labels = f.mapping(f.mapping(f.mapping(template).get("metadata")).get("labels"))
    if not selects(selector, labels):
        why = "`selector` does not match template `labels`"
        f.invalid(found, (*path, "template", "metadata", "labels"), labels or None, why, "make the two the same")


def check_replica_set(manifest: Mapping[str, Any], context: ApiServer, found: f.Found) -> None:
    """A ReplicaSet."""
    spec, path = f.mapping(manifest.get("spec")), ("spec",)
    check_counts(spec, path, found, "replicas", "minReadySeconds")
    check_own_selector(spec, path, "ReplicaSet", found)
    check_template(spec.get("template"), (*path, "template"), context, found)
    check_kept_running(spec.get("template"), (*path, "template"), "ReplicaSet", found)


def check_replication_controller(manifest: Mapping[str, Any], context: ApiServer, found: f.Found) -> None:
    """A ReplicationController: its selector is a plain map, and the template's labels where there is none."""
    spec, path = f.mapping(manifest.get("spec")), ("spec",)
    template = f.mapping(spec.get("template"))
    labels = f.mapping(f.mapping(template.get("metadata")).get("labels"))
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


def check_pod_template(manifest: Mapping[str, Any], context: ApiServer, found: f.Found) -> None:
    """A PodTemplate."""
    check_template(manifest.get("template"), ("template",), context, found)


def check_deployment(manifest: Mapping[str, Any], context: ApiServer, found: f.Found) -> None:
    """A Deployment."""
    spec, path = f.mapping(manifest.get("spec")), ("spec",)
    check_counts(spec, path, found, "replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
    check_own_selector(spec, path, "Deployment", found)
    check_template(spec.get("template"), (*path, "template"), context, found)
    check_kept_running(spec.get("template"), (*path, "template"), "Deployment", found)
    _check_strategy(f.mapping(spec.get("strategy")), (*path, "strategy"), found)
    seconds, ready = spec.get("progressDeadlineSeconds"), spec.get("minReadySeconds") or 0
    seconds = _PROGRESS_SECONDS if seconds is None else seconds
    if type(seconds) is int and type(ready) is int and seconds <= ready:
        f.invalid(found, (*path, "progressDeadlineSeconds"), seconds, "must be greater than minReadySeconds")


def _check_strategy(strategy: dict[str, Any], path: Path, found: f.Found) -> None:
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
