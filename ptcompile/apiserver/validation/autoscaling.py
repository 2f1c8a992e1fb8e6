"""HorizontalPodAutoscaler (Kubernetes 1.36)."""

from __future__ import annotations

from ptcompile.apiserver.validation.field import FieldValue
from ptcompile.apiserver.validation.values import why_not_path_segment
from ptcompile.kubernetes.quantity import parse
from ptcompile.kubernetes.unstructured import api_group

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


def check_autoscaler(autoscaler: FieldValue) -> None:
    """Check a HorizontalPodAutoscaler of v1 or v2, except its metadata."""
    spec = autoscaler["spec"]
    low = spec["minReplicas"]
    metrics = spec["metrics"]
    least = 0 if spec.server.has_gate("HPAScaleToZero", 37) else 1
    # only metrics of these types have a value while no pod runs
    scales_from_zero = any(
        metric.get("type") in ("External", "Object") for metric in metrics.objects()
    )
    low.check_at_least(least, f"must be greater than or equal to {least}")
    if low.value == 0 and least == 0 and not scales_from_zero:
        why = (
            "must specify at least one Object or External metric to support scaling to zero "
            "replicas"
        )
        metrics.forbidden(why, "add such a metric, or raise minReplicas to 1")

    high = spec["maxReplicas"].or_zero(0)
    high.check_at_least(1, "must be greater than 0")
    if low.is_integer and high.is_integer and low.value > high.value:
        high.invalid("must be greater than or equal to `minReplicas`")

    _check_reference(spec["scaleTargetRef"], scaled=True)
    for metric in metrics.objects():
        _check_metric(metric)
    spec["targetCPUUtilizationPercentage"].check_at_least(1, "must be greater than 0")
    for name in ("scaleUp", "scaleDown"):
        rules = spec["behavior"][name]
        if rules.is_mapping:
            _check_rules(rules)


def _check_reference(reference: FieldValue, *, scaled: bool) -> None:
    for name in ("kind", "name"):
        reference[name].check_required_text(why_not_path_segment)
    version = reference["apiVersion"].or_default("")
    if not version.is_text or not reference.server.at_least(34):
        return

    if version.value.count("/") > 1:
        version.invalid(f"unexpected GroupVersion string: {version.value}")
    elif (
        scaled and not api_group(version.value) and reference.get("kind") != "ReplicationController"
    ):
        version.invalid("apiVersion must specify API group", "write it as apps/v1")


def _check_metric(metric: FieldValue) -> None:
    kind = metric["type"].or_default("")
    if not kind.is_text:
        kind = kind.replaced("Object")
    own_field = _METRIC_FIELDS.get(kind.value, "")
    set_fields = metric.set_fields(_METRIC_FIELDS.values())
    for source in set_fields[:1]:
        if source.is_mapping:
            _check_source(source)

    if kind.value == "":
        kind.required("must specify a metric source type")
    elif not own_field:
        kind.unsupported(_METRIC_FIELDS)
    elif metric.get(own_field) is None:
        metric[own_field].required("must populate information for the given metric source")

    if len(set_fields) != 1:
        for source in set_fields:
            if source.key != own_field:
                source.forbidden("must populate the given metric source only")


def _check_source(source: FieldValue) -> None:
    target = source["target"]
    value = target["value"]
    average = target["averageValue"]
    is_resource = source.key in ("resource", "containerResource")
    if is_resource:
        if source.key == "containerResource":
            source["container"].check_filled("must specify a container")
        source["name"].check_filled("must specify a resource name")
    else:
        if source.key == "object":
            _check_reference(source["describedObject"], scaled=False)
        source["metric"]["name"].check_required_text(
            why_not_path_segment, detail="must specify a metric name"
        )

    _check_target(target)
    if is_resource:
        _check_resource_target(target)
    elif source.key == "pods":
        amount = parse(average.value)
        if average.value is None or (amount is not None and amount.nano <= 0):
            average.required("must specify a positive target averageValue")
    elif value.value is None and average.value is None:
        average.required("must set either a target value or averageValue")
    elif source.key == "external" and value.value is not None and average.value is not None:
        value.forbidden("may not set both a target value for metric and a per-pod target")


def _check_resource_target(target: FieldValue) -> None:
    utilization = target["averageUtilization"]
    average = target["averageValue"]
    if utilization.value is None and average.value is None:
        utilization.required("must set either a target raw value or a target utilization")
    elif utilization.value is not None and average.value is not None:
        average.forbidden("may not set both a target raw value and a target utilization")


def _check_target(target: FieldValue) -> None:
    kind = target["type"].or_default("")
    if kind.value == "":
        kind.required("must specify a metric target type")
    if kind.is_text and kind.value not in _TARGET_TYPES:
        why = "must be either Utilization, Value, or AverageValue"
        kind.invalid(why, f"use one of {', '.join(_TARGET_TYPES)}")
    for name in ("value", "averageValue"):
        amount = parse(target.get(name))
        if target.get(name) is not None and amount is not None and amount.nano <= 0:
            target[name].replaced(str(amount)).invalid("must be positive")

    target["averageUtilization"].check_at_least(1, "must be greater than 0")


def _check_rules(rules: FieldValue) -> None:
    window = rules["stabilizationWindowSeconds"]
    policies = rules["policies"]
    window.check_at_least(0, "must be greater than or equal to zero")
    _check_most(window, _WINDOW_SECONDS_MAX)
    rules["selectPolicy"].check_choice(("Disabled", "Max", "Min"))
    if policies.value == []:
        policies.required("must specify at least one Policy")
    for policy in policies.objects():
        policy["type"].or_zero("").check_choice(("Percent", "Pods"))
        for name in ("value", "periodSeconds"):
            policy[name].or_default(0).check_at_least(1, "must be greater than zero")
        _check_most(policy["periodSeconds"], _PERIOD_SECONDS_MAX)

    tolerance = parse(rules.get("tolerance"))
    if tolerance is not None and tolerance.nano < 0:
        rules["tolerance"].replaced(str(tolerance)).invalid("must be greater than or equal to 0")


def _check_most(seconds: FieldValue, most: int) -> None:
    if seconds.is_integer and seconds.value > most:
        seconds.invalid(f"must be less than or equal to {most}")
