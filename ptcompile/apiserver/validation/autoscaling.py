"""HorizontalPodAutoscaler (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.values import why_not_path_segment
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.quantity import parse
from ptcompile.registry.model import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_SOURCES: Final = {
    "Object": "object",
    "External": "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
"""The field of each type of metric, in the order in which the server looks at them."""

_TARGETS: Final = ("Utilization", "Value", "AverageValue")
_WINDOW_MAX: Final = 3600
_PERIOD_MAX: Final = 1800


def check_autoscaler(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """A HorizontalPodAutoscaler of v1 or v2 without its metadata."""
    spec, path = f.as_field_mapping(manifest.get("spec")), ("spec",)
    low, high = spec.get("minReplicas"), spec.get("maxReplicas")
    if type(low) is int and low < 1:
        f.invalid(found, (*path, "minReplicas"), low, "must be greater than or equal to 1")
    high = 0 if high is None else high
    if type(high) is int and high < 1:
        f.invalid(found, (*path, "maxReplicas"), high, "must be greater than 0")
    if type(low) is type(high) is int and low > high:
        f.invalid(found, (*path, "maxReplicas"), high, "must be greater than or equal to `minReplicas`")
    _check_reference(
        f.as_field_mapping(spec.get("scaleTargetRef")), (*path, "scaleTargetRef"), context, found, scaled=True
    )
    for index, metric in f.indexed_mappings(spec.get("metrics")):
        _check_metric(metric, (*path, "metrics", index), context, found)
    share = spec.get("targetCPUUtilizationPercentage")
    if type(share) is int and share < 1:
        f.invalid(found, (*path, "targetCPUUtilizationPercentage"), share, "must be greater than 0")
    for name in ("scaleUp", "scaleDown"):
        rules = f.as_field_mapping(spec.get("behavior")).get(name)
        if type(rules) is dict:
            _check_rules(rules, (*path, "behavior", name), found)


def _check_reference(
    reference: dict[str, Any], path: Path, context: ApiServer, found: f.Problems, *, scaled: bool
) -> None:
    for name in ("kind", "name"):
        value = reference.get(name)
        if value is None or value == "":
            f.required(found, (*path, name))
        elif type(value) is str and (why := why_not_path_segment(value)):
            f.invalid(found, (*path, name), value, why)
    version = reference.get("apiVersion") or ""
    if type(version) is not str or not context.at_least(34):
        return
    if version.count("/") > 1:
        f.invalid(found, (*path, "apiVersion"), version, f"unexpected GroupVersion string: {version}")
    elif scaled and "/" not in version and reference.get("kind") != "ReplicationController":
        why = "apiVersion must specify API group"
        f.invalid(found, (*path, "apiVersion"), version, why, "write it as apps/v1")


def _check_metric(metric: dict[str, Any], path: Path, context: ApiServer, found: f.Problems) -> None:
    kind = metric.get("type") or ""
    kind = kind if type(kind) is str else "Object"
    given = [field for field in _SOURCES.values() if metric.get(field) is not None]
    if given and type(metric[given[0]]) is dict:
        _check_source(metric[given[0]], given[0], (*path, given[0]), context, found)
    if kind == "":
        f.required(found, (*path, "type"), "must specify a metric source type")
    elif kind in _SOURCES and metric.get(_SOURCES[kind]) is None:
        f.required(found, (*path, _SOURCES[kind]), "must populate information for the given metric source")
    elif kind not in _SOURCES:
        f.unsupported(found, (*path, "type"), kind, _SOURCES)
    if len(given) != 1:
        for field in given:
            if field != _SOURCES.get(kind):
                f.forbidden(found, (*path, field), "must populate the given metric source only")


def _check_source(source: dict[str, Any], field: str, path: Path, context: ApiServer, found: f.Problems) -> None:
    target = f.as_field_mapping(source.get("target"))
    value, average = target.get("value"), target.get("averageValue")
    if field == "object":
        reference = f.as_field_mapping(source.get("describedObject"))
        _check_reference(reference, (*path, "describedObject"), context, found, scaled=False)
    if field in ("object", "external", "pods"):
        _check_metric_name(f.as_field_mapping(source.get("metric")).get("name"), (*path, "metric", "name"), found)
    if field == "containerResource" and f.is_empty(source.get("container")):
        f.required(found, (*path, "container"), "must specify a container")
    if field in ("resource", "containerResource") and f.is_empty(source.get("name")):
        f.required(found, (*path, "name"), "must specify a resource name")
    here = (*path, "target")
    _check_target(target, here, found)
    if field in ("resource", "containerResource"):
        _check_one_of_two(target, here, found)
    elif field == "pods":
        amount = parse(average)
        if average is None or (amount is not None and amount.nano <= 0):
            f.required(found, (*here, "averageValue"), "must specify a positive target averageValue")
    elif value is None and average is None:
        f.required(found, (*here, "averageValue"), "must set either a target value or averageValue")
    elif field == "external" and value is not None and average is not None:
        f.forbidden(found, (*here, "value"), "may not set both a target value for metric and a per-pod target")


def _check_metric_name(name: Any, path: Path, found: f.Problems) -> None:
    if name is None or name == "":
        f.required(found, path, "must specify a metric name")
    elif type(name) is str and (why := why_not_path_segment(name)):
        f.invalid(found, path, name, why)


def _check_one_of_two(target: dict[str, Any], path: Path, found: f.Problems) -> None:
    share, average = target.get("averageUtilization"), target.get("averageValue")
    if share is None and average is None:
        why = "must set either a target raw value or a target utilization"
        f.required(found, (*path, "averageUtilization"), why)
    elif share is not None and average is not None:
        f.forbidden(found, (*path, "averageValue"), "may not set both a target raw value and a target utilization")


def _check_target(target: dict[str, Any], path: Path, found: f.Problems) -> None:
    kind, share = target.get("type") or "", target.get("averageUtilization")
    if kind == "":
        f.required(found, (*path, "type"), "must specify a metric target type")
    if type(kind) is str and kind not in _TARGETS:
        why = "must be either Utilization, Value, or AverageValue"
        f.invalid(found, (*path, "type"), kind, why, f"use one of {', '.join(_TARGETS)}")
    for name in ("value", "averageValue"):
        amount = parse(target.get(name))
        if target.get(name) is not None and amount is not None and amount.nano <= 0:
            f.invalid(found, (*path, name), str(amount), "must be positive")
    if type(share) is int and share < 1:
        f.invalid(found, (*path, "averageUtilization"), share, "must be greater than 0")


def _check_rules(rules: dict[str, Any], path: Path, found: f.Problems) -> None:
    window, select, policies = (rules.get(name) for name in ("stabilizationWindowSeconds", "selectPolicy", "policies"))
    if type(window) is int and window < 0:
        f.invalid(found, (*path, "stabilizationWindowSeconds"), window, "must be greater than or equal to zero")
    elif type(window) is int and window > _WINDOW_MAX:
        f.invalid(found, (*path, "stabilizationWindowSeconds"), window, f"must be less than or equal to {_WINDOW_MAX}")
    f.check_choice(found, (*path, "selectPolicy"), select, ("Disabled", "Max", "Min"))
    if policies == []:
        f.required(found, (*path, "policies"), "must specify at least one Policy")
    for index, policy in f.indexed_mappings(policies):
        here, kind = (*path, "policies", index), policy.get("type")
        f.check_choice(found, (*here, "type"), "" if kind is None else kind, ("Percent", "Pods"))
        for name in ("value", "periodSeconds"):
            number = policy.get(name) or 0
            if type(number) is int and number <= 0:
                f.invalid(found, (*here, name), number, "must be greater than zero")
        period = policy.get("periodSeconds")
        if type(period) is int and period > _PERIOD_MAX:
            f.invalid(found, (*here, "periodSeconds"), period, f"must be less than or equal to {_PERIOD_MAX}")
    tolerance = parse(rules.get("tolerance"))
    if tolerance is not None and tolerance.nano < 0:
        f.invalid(found, (*path, "tolerance"), str(tolerance), "must be greater than or equal to 0")
