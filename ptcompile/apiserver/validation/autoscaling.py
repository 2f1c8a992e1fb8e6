"""HorizontalPodAutoscaler (Kubernetes 1.36)."""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.validation.values import why_not_path_segment
from ptcompile.diagnostics import Path
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_mappings, is_empty
from ptcompile.kubernetes.quantity import parse
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, nested_map

_METRIC_FIELDS = {
    "Object": "object",
    "External": "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
"""Field of each metric type, in the order in which the server checks them."""

_TARGET_TYPES = ("Utilization", "Value", "AverageValue")
_WINDOW_SECONDS_MAX = 3600
_PERIOD_SECONDS_MAX = 1800


def check_autoscaler(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a HorizontalPodAutoscaler of v1 or v2, except its metadata."""
    spec = nested_map(manifest, "spec")
    path = ("spec",)
    low = spec.get("minReplicas")
    high = spec.get("maxReplicas")
    least = 0 if context.has_gate("HPAScaleToZero", 37) else 1
    if type(low) is int and low < least:
        problems.invalid((*path, "minReplicas"), low, f"must be greater than or equal to {least}")
    if low == 0 and least == 0 and not _scales_from_zero(spec.get("metrics")):
        why = "must specify at least one Object or External metric to support scaling to zero replicas"
        problems.forbidden((*path, "metrics"), why, "add such a metric, or raise minReplicas to 1")
    high = 0 if high is None else high
    if type(high) is int and high < 1:
        problems.invalid((*path, "maxReplicas"), high, "must be greater than 0")
    if type(low) is type(high) is int and low > high:
        problems.invalid((*path, "maxReplicas"), high, "must be greater than or equal to `minReplicas`")
    _check_reference(nested_map(spec, "scaleTargetRef"), (*path, "scaleTargetRef"), context, problems, scaled=True)
    for index, metric in indexed_mappings(spec.get("metrics")):
        _check_metric(metric, (*path, "metrics", index), context, problems)
    cpu_percent = spec.get("targetCPUUtilizationPercentage")
    if type(cpu_percent) is int and cpu_percent < 1:
        problems.invalid((*path, "targetCPUUtilizationPercentage"), cpu_percent, "must be greater than 0")
    for name in ("scaleUp", "scaleDown"):
        rules = nested_map(spec, "behavior").get(name)
        if type(rules) is dict:
            _check_rules(rules, (*path, "behavior", name), problems)


def _scales_from_zero(metrics: Any) -> bool:
    """Return whether a metric has a value even without pods."""
    return any(metric.get("type") in ("External", "Object") for _, metric in indexed_mappings(metrics))


def _check_reference(reference: Json, path: Path, context: ApiServer, problems: FieldErrors, *, scaled: bool) -> None:
    for name in ("kind", "name"):
        problems.check_required_text((*path, name), reference.get(name), why_not_path_segment)
    version = reference.get("apiVersion") or ""
    if type(version) is not str or not context.at_least(34):
        return
    if version.count("/") > 1:
        problems.invalid((*path, "apiVersion"), version, f"unexpected GroupVersion string: {version}")
    elif scaled and not version.rpartition("/")[0] and reference.get("kind") != "ReplicationController":
        why = "apiVersion must specify API group"
        problems.invalid((*path, "apiVersion"), version, why, "write it as apps/v1")


def _check_metric(metric: Json, path: Path, context: ApiServer, problems: FieldErrors) -> None:
    kind = metric.get("type") or ""
    kind = kind if type(kind) is str else "Object"
    set_fields = [field for field in _METRIC_FIELDS.values() if metric.get(field) is not None]
    if set_fields and type(metric[set_fields[0]]) is dict:
        _check_source(metric[set_fields[0]], set_fields[0], (*path, set_fields[0]), context, problems)
    if kind == "":
        problems.required((*path, "type"), "must specify a metric source type")
    elif kind in _METRIC_FIELDS and metric.get(_METRIC_FIELDS[kind]) is None:
        problems.required((*path, _METRIC_FIELDS[kind]), "must populate information for the given metric source")
    elif kind not in _METRIC_FIELDS:
        problems.unsupported((*path, "type"), kind, _METRIC_FIELDS)
    if len(set_fields) != 1:
        for field in set_fields:
            if field != _METRIC_FIELDS.get(kind):
                problems.forbidden((*path, field), "must populate the given metric source only")


def _check_source(source: Json, field: str, path: Path, context: ApiServer, problems: FieldErrors) -> None:
    target = nested_map(source, "target")
    value = target.get("value")
    average = target.get("averageValue")
    if field == "object":
        reference = nested_map(source, "describedObject")
        _check_reference(reference, (*path, "describedObject"), context, problems, scaled=False)
    if field in ("object", "external", "pods"):
        name = nested_map(source, "metric").get("name")
        why = "must specify a metric name"
        problems.check_required_text((*path, "metric", "name"), name, why_not_path_segment, detail=why)
    if field == "containerResource" and is_empty(source.get("container")):
        problems.required((*path, "container"), "must specify a container")
    if field in ("resource", "containerResource") and is_empty(source.get("name")):
        problems.required((*path, "name"), "must specify a resource name")
    target_path = (*path, "target")
    _check_target(target, target_path, problems)
    if field in ("resource", "containerResource"):
        _check_resource_target(target, target_path, problems)
    elif field == "pods":
        amount = parse(average)
        if average is None or (amount is not None and amount.nano <= 0):
            problems.required((*target_path, "averageValue"), "must specify a positive target averageValue")
    elif value is None and average is None:
        problems.required((*target_path, "averageValue"), "must set either a target value or averageValue")
    elif field == "external" and value is not None and average is not None:
        problems.forbidden((*target_path, "value"), "may not set both a target value for metric and a per-pod target")


def _check_resource_target(target: Json, path: Path, problems: FieldErrors) -> None:
    utilization = target.get("averageUtilization")
    average = target.get("averageValue")
    if utilization is None and average is None:
        why = "must set either a target raw value or a target utilization"
        problems.required((*path, "averageUtilization"), why)
    elif utilization is not None and average is not None:
        problems.forbidden((*path, "averageValue"), "may not set both a target raw value and a target utilization")


def _check_target(target: Json, path: Path, problems: FieldErrors) -> None:
    kind = target.get("type") or ""
    utilization = target.get("averageUtilization")
    if kind == "":
        problems.required((*path, "type"), "must specify a metric target type")
    if type(kind) is str and kind not in _TARGET_TYPES:
        why = "must be either Utilization, Value, or AverageValue"
        problems.invalid((*path, "type"), kind, why, f"use one of {', '.join(_TARGET_TYPES)}")
    for name in ("value", "averageValue"):
        amount = parse(target.get(name))
        if target.get(name) is not None and amount is not None and amount.nano <= 0:
            problems.invalid((*path, name), str(amount), "must be positive")
    if type(utilization) is int and utilization < 1:
        problems.invalid((*path, "averageUtilization"), utilization, "must be greater than 0")


def _check_rules(rules: Json, path: Path, problems: FieldErrors) -> None:
    window, select, policies = (rules.get(name) for name in ("stabilizationWindowSeconds", "selectPolicy", "policies"))
    if type(window) is int and window < 0:
        problems.invalid((*path, "stabilizationWindowSeconds"), window, "must be greater than or equal to zero")
    elif type(window) is int and window > _WINDOW_SECONDS_MAX:
        problems.invalid(
            (*path, "stabilizationWindowSeconds"),
            window,
            f"must be less than or equal to {_WINDOW_SECONDS_MAX}",
        )
    problems.check_choice((*path, "selectPolicy"), select, ("Disabled", "Max", "Min"))
    if policies == []:
        problems.required((*path, "policies"), "must specify at least one Policy")
    for index, policy in indexed_mappings(policies):
        policy_path = (*path, "policies", index)
        kind = policy.get("type")
        problems.check_choice((*policy_path, "type"), "" if kind is None else kind, ("Percent", "Pods"))
        for name in ("value", "periodSeconds"):
            number = policy.get(name) or 0
            if type(number) is int and number <= 0:
                problems.invalid((*policy_path, name), number, "must be greater than zero")
        period = policy.get("periodSeconds")
        if type(period) is int and period > _PERIOD_SECONDS_MAX:
            problems.invalid(
                (*policy_path, "periodSeconds"),
                period,
                f"must be less than or equal to {_PERIOD_SECONDS_MAX}",
            )
    tolerance = parse(rules.get("tolerance"))
    if tolerance is not None and tolerance.nano < 0:
        problems.invalid((*path, "tolerance"), str(tolerance), "must be greater than or equal to 0")
