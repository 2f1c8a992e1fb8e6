"""Kinds of the cluster itself: Node, PriorityClass, RuntimeClass, Lease, Event, APIService."""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.validation.dns import why_not_cidr
from ptcompile.apiserver.validation.field import FieldValue
from ptcompile.apiserver.validation.metadata import check_labels, why_not_key, why_not_value
from ptcompile.apiserver.validation.networking import is_dual_stack
from ptcompile.apiserver.validation.policy import is_counted
from ptcompile.apiserver.validation.resources import check_amounts
from ptcompile.apiserver.validation.scheduling import check_tolerations
from ptcompile.apiserver.validation.values import PORT_MAX, PREEMPTION_POLICIES, check_service_port
from ptcompile.diagnostics import Problems, field_path
from ptcompile.diagnostics.field_errors import forbidden_change, quote_value
from ptcompile.kubernetes import names
from ptcompile.kubernetes.quantity import parse
from ptcompile.kubernetes.requests import Update
from ptcompile.kubernetes.unstructured import Json, as_list


def check_lease(lease: FieldValue) -> None:
    """Check a Lease, except its metadata."""
    lease["spec"]["leaseDurationSeconds"].check_at_least(1, "must be greater than 0")
    lease["spec"].check_not_negative("leaseTransitions")


_USER_PRIORITY_MAX = 1_000_000_000
_SYSTEM_PRIORITIES = {
    "system-node-critical": 2_000_001_000,
    "system-cluster-critical": 2_000_000_000,
}
"""The two classes that may have a `system-` name, and their values."""


def check_priority_class(priority_class: FieldValue) -> None:
    """Check a PriorityClass, except its metadata."""
    name = priority_class["metadata"]["name"]
    priority = priority_class["value"]
    if name.is_text and name.value.startswith("system-"):
        if _SYSTEM_PRIORITIES.get(name.value) != priority.value:
            why = "priority class names with 'system-' prefix are reserved for system use only"
            name.forbidden(why, "use another name")
    elif priority.is_integer and priority.value > _USER_PRIORITY_MAX:
        why = f"maximum allowed value of a user defined priority is {_USER_PRIORITY_MAX}"
        priority.forbidden(why, f"use {_USER_PRIORITY_MAX} or less")

    priority_class["preemptionPolicy"].check_choice(PREEMPTION_POLICIES)


def check_runtime_class(runtime_class: FieldValue) -> None:
    """Check a RuntimeClass, except its metadata."""
    runtime_class["handler"].check_required_text(names.why_not_dns_label)
    fixed = runtime_class["overhead"]["podFixed"]
    check_amounts(fixed.replaced({"limits": fixed.value}), partial=True)
    runtime_class["scheduling"]["nodeSelector"].check(check_labels)
    check_tolerations(runtime_class["scheduling"]["tolerations"])


_TAINT_EFFECTS = ("NoExecute", "NoSchedule", "PreferNoSchedule")


def check_node(node: FieldValue) -> None:
    """Check a Node, except its metadata (Kubernetes 1.36 `ValidateNode`). The server keeps the
    status of a new Node.
    """
    spec = node["spec"]
    _check_taints(spec["taints"])
    for key in ("capacity", "allocatable"):
        for name, amount in node["status"][key].entries():
            quantity = parse(0 if amount.value is None else amount.value)
            if quantity is not None and quantity.nano < 0:
                amount.replaced(str(quantity)).invalid("must be greater than or equal to 0")
            elif quantity is not None and is_counted(name) and not quantity.is_integer:
                amount.replaced(str(quantity)).invalid("must be an integer")

    _check_pod_cidrs(spec["podCIDRs"].replaced(_pod_cidrs(spec.mapping)))


def _pod_cidrs(spec: Json) -> list[Any]:
    """Return the ranges of a Node as the server reads its two fields: `podCIDR` wins if they
    differ.
    """
    single = spec.get("podCIDR")
    several = spec.get("podCIDRs")
    if single and (type(several) is not list or several[:1] != [single]):
        return [single]
    return as_list(several)


def _check_taints(taints: FieldValue) -> None:
    seen: set[tuple[str, str]] = set()
    for taint in taints.objects():
        key, value, effect = (taint[name].or_default("") for name in ("key", "value", "effect"))
        if not (key.is_text and value.is_text and effect.is_text):
            continue

        # the server prints the taints below metadata
        field = f"metadata.{field_path(taint.path[1:])}"
        if why := why_not_key(key.value):
            key.invalid(why, field=f"{field}.key")
        if why := why_not_value(value.value):
            value.invalid(why, field=f"{field}.value")
        if not effect.value:
            effect.required(field=f"{field}.effect")
        elif effect.value not in _TAINT_EFFECTS:
            effect.unsupported(_TAINT_EFFECTS, field=f"{field}.effect")
        if (key.value, effect.value) in seen:
            repeated = taint.replaced(f"{key.value}:{effect.value}")
            repeated.duplicate("keep one taint of each key and effect", field)
        seen.add((key.value, effect.value))


def _check_pod_cidrs(cidrs: FieldValue) -> None:
    texts = ["" if item is None else item for item in cidrs.value]
    if not all(type(text) is str for text in texts):
        return

    for cidr in cidrs.items(texts):
        if why := why_not_cidr(cidr.value, cidr.server):
            cidr.invalid(why)
    if len(texts) > 1 and (len(texts) > 2 or not is_dual_stack(texts)):
        cidrs.invalid(
            "may specify no more than one CIDR for each IP family",
            "keep one range of each IP family",
        )


def node_update(update: Update) -> Problems:
    """Yield a problem if a Node changes its ranges or its provider ID, which can be set once."""
    old, new = update.maps("spec")
    if _pod_cidrs(old) and _pod_cidrs(old) != _pod_cidrs(new):
        yield forbidden_change(
            ("spec", "podCIDRs"), 'node updates may not change podCIDR except from "" to valid'
        )
    if old.get("providerID") and old.get("providerID") != new.get("providerID"):
        why = 'node updates may not change providerID except from "" to valid'
        yield forbidden_change(("spec", "providerID"), why)


_PRIORITY_MAX = 20_000
_VERSION_PRIORITY_MAX = 1000


def check_api_service(api_service: FieldValue) -> None:
    """Check an APIService and its name (Kubernetes 1.36 `ValidateAPIService` of
    kube-aggregator).
    """
    spec = api_service["spec"]
    group = spec["group"].or_default("")
    version = spec["version"].or_default("")
    if group.is_text and version.is_text:
        _check_api_name(api_service["metadata"], f"{version.value}.{group.value}")
        if not group.value and version.value != "v1":
            group.required("only v1 may have an empty group and it better be legacy kube")
        else:
            group.check_optional_text(names.why_not_dns_subdomain)
        version.check_text(names.why_not_dns_1035_label)

    for key, most in (
        ("groupPriorityMinimum", _PRIORITY_MAX),
        ("versionPriority", _VERSION_PRIORITY_MAX),
    ):
        spec[key].or_default(0).check_range(1, most, f"must be positive and less than {most}")

    _check_api_backend(spec)


def _check_api_backend(spec: FieldValue) -> None:
    bundle = spec["caBundle"]
    service = spec["service"]
    insecure = spec["insecureSkipTLSVerify"]
    if service.value is None:
        if bundle.value:
            bundle.invalid("local APIServices may not have a caBundle", "remove it")
        if insecure.value is True:
            insecure.invalid("local APIServices may not have insecureSkipTLSVerify")
    elif service.is_mapping:
        service.require("namespace", "name")
        check_service_port(service["port"], f"use 1 to {PORT_MAX}")
        if insecure.value is True and bundle.value:
            insecure.invalid("may not be true if caBundle is present")


def _check_api_name(metadata: FieldValue, expected: str) -> None:
    for key in ("generateName", "name"):
        name = metadata[key]
        if name.is_text and name.value and name.value != expected:
            why = f'must be `spec.version+"."+spec.group`: {quote_value(expected)}'
            name.invalid(why, f"set metadata.name to {expected}")


_EVENT_FIELD_MAX = 128
_EVENT_NOTE_MAX = 1024


def check_event(event: FieldValue) -> None:
    """Check an Event of either group, except its metadata (Kubernetes 1.36
    `ValidateEventCreate`).
    """
    is_core = event.get("apiVersion") == "v1"
    _check_event_namespace(event, "involvedObject" if is_core else "regarding")
    if event.get("eventTime") is not None:
        _check_new_event(event, is_core)
    if not is_core:
        _check_strict_event(event)


def _check_event_namespace(event: FieldValue, about: str) -> None:
    namespace = event["metadata"].get("namespace")
    target = event[about]["namespace"].or_default("")
    has_time = event.get("eventTime") is not None
    if not target.value:
        free = ("default", "kube-system") if has_time else ("default",)
        mismatch = bool(namespace) and namespace not in free
    else:
        mismatch = not has_time and target.value != (namespace or "default")
    if not mismatch:
        return

    why = "does not match event.namespace"
    target.invalid(why, "write the namespace of the Event", "involvedObject.namespace")
    # without a namespace, that of the command is used
    if not namespace:
        event.problems[-1] = event.problems[-1]._replace(severity="warning")


def _check_new_event(event: FieldValue, is_core: bool) -> None:
    reporter = event["reportingComponent" if is_core else "reportingController"].or_default("")
    if not reporter.value:
        reporter.required()
    else:
        reporter.check_text(why_not_key)

    for key in ("reportingInstance", "action", "reason"):
        text = event[key].or_default("")
        if not text.value:
            text.required()
        elif text.is_longer(_EVENT_FIELD_MAX):
            text.replaced("").invalid(
                f"can have at most {_EVENT_FIELD_MAX} characters", "shorten it"
            )

    note = event["message" if is_core else "note"]
    if note.is_longer(_EVENT_NOTE_MAX):
        note.replaced("").invalid(
            f"can have at most {_EVENT_NOTE_MAX} characters", "shorten it", "message"
        )


def _check_strict_event(event: FieldValue) -> None:
    """Check what only events.k8s.io/v1 requires."""
    series = event["series"]
    kind = event["type"].or_default("")
    if series.is_mapping:
        count = series["count"].or_default(0)
        if count.is_integer and count.value < 2:
            count.replaced("").invalid("should be at least 2")
        series["lastObservedTime"].check_set()
    event["eventTime"].check_set()
    if kind.value not in ("Normal", "Warning") and kind.is_text:
        kind.replaced("").invalid(f"has invalid value: {kind.value}", "use Normal or Warning")

    source = event["deprecatedSource"]
    for name, is_set in (
        ("FirstTimestamp", event.get("deprecatedFirstTimestamp") is not None),
        ("LastTimestamp", event.get("deprecatedLastTimestamp") is not None),
        ("Count", bool(event.get("deprecatedCount"))),
        ("Source", bool(source.get("component") or source.get("host"))),
    ):
        if is_set:
            field = name[0].lower() + name[1:]
            event[f"deprecated{name}"].replaced("").invalid("needs to be unset", field=field)
