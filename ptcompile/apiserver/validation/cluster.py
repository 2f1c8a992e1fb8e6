"""Kinds of the cluster itself: Node, PriorityClass, RuntimeClass, Lease, Event, APIService."""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.validation.dns import why_not_cidr
from ptcompile.apiserver.validation.metadata import check_labels, why_not_key, why_not_value
from ptcompile.apiserver.validation.networking import is_dual_stack
from ptcompile.apiserver.validation.policy import is_counted
from ptcompile.apiserver.validation.resources import check_amounts
from ptcompile.apiserver.validation.scheduling import check_toleration
from ptcompile.apiserver.validation.values import PORT_MAX
from ptcompile.diagnostics import Path, Problems, field_path
from ptcompile.diagnostics.field_errors import FieldErrors, forbidden_change, indexed_mappings, quote_value
from ptcompile.kubernetes import names
from ptcompile.kubernetes.quantity import parse
from ptcompile.kubernetes.requests import ApiServer, Update
from ptcompile.kubernetes.unstructured import Json, nested_map


def check_lease(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a Lease, except its metadata."""
    spec = nested_map(manifest, "spec")
    seconds = spec.get("leaseDurationSeconds")
    changes = spec.get("leaseTransitions")
    if type(seconds) is int and seconds <= 0:
        problems.invalid(("spec", "leaseDurationSeconds"), seconds, "must be greater than 0")
    problems.check_not_negative(("spec", "leaseTransitions"), changes)


_USER_PRIORITY_MAX = 1_000_000_000
_SYSTEM_PRIORITIES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
"""The two classes that may have a `system-` name, and their values."""


def check_priority_class(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a PriorityClass, except its metadata."""
    name = nested_map(manifest, "metadata").get("name")
    value = manifest.get("value")
    if type(name) is str and name.startswith("system-"):
        if _SYSTEM_PRIORITIES.get(name) != value:
            why = "priority class names with 'system-' prefix are reserved for system use only"
            problems.forbidden(("metadata", "name"), why, "use another name")
    elif type(value) is int and value > _USER_PRIORITY_MAX:
        why = f"maximum allowed value of a user defined priority is {_USER_PRIORITY_MAX}"
        problems.forbidden(("value",), why, f"use {_USER_PRIORITY_MAX} or less")
    policy = manifest.get("preemptionPolicy")
    problems.check_choice(("preemptionPolicy",), policy, ("Never", "PreemptLowerPriority"))


def check_runtime_class(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a RuntimeClass, except its metadata."""
    problems.check_required_text(("handler",), manifest.get("handler"), names.why_not_dns_label)
    fixed = nested_map(manifest, "overhead").get("podFixed")
    check_amounts({"limits": fixed}, ("overhead", "podFixed"), problems, partial=True)
    scheduling = nested_map(manifest, "scheduling")
    check_labels(scheduling.get("nodeSelector"), ("scheduling", "nodeSelector"), problems)
    for index, toleration in indexed_mappings(scheduling.get("tolerations")):
        check_toleration(toleration, ("scheduling", "tolerations", index), context, problems)


_TAINT_EFFECTS = ("NoExecute", "NoSchedule", "PreferNoSchedule")


def check_node(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a Node, except its metadata (Kubernetes 1.36 `ValidateNode`). The server keeps the status of a new Node."""
    spec = nested_map(manifest, "spec")
    status = nested_map(manifest, "status")
    _check_taints(spec.get("taints"), ("spec", "taints"), problems)
    for key in ("capacity", "allocatable"):
        for name, text in nested_map(status, key).items():
            amount = parse(0 if text is None else text)
            if amount is not None and amount.nano < 0:
                problems.invalid(("status", key, name), str(amount), "must be greater than or equal to 0")
            elif amount is not None and is_counted(name) and not amount.is_integer:
                problems.invalid(("status", key, name), str(amount), "must be an integer")
    _check_pod_cidrs(_pod_cidrs(spec), ("spec", "podCIDRs"), context, problems)


def _pod_cidrs(spec: Json) -> list[Any]:
    """Return the ranges of a Node as the server reads its two fields: `podCIDR` wins if they differ."""
    single = spec.get("podCIDR")
    several = spec.get("podCIDRs")
    if single and (type(several) is not list or several[:1] != [single]):
        return [single]
    return several if type(several) is list else []


def _check_taints(taints: Any, path: Path, problems: FieldErrors) -> None:
    seen: set[tuple[str, str]] = set()
    for index, taint in indexed_mappings(taints):
        taint_path = (*path, index)
        key, value, effect = (taint.get(name) or "" for name in ("key", "value", "effect"))
        if not type(key) is type(value) is type(effect) is str:
            continue
        # the server prints the taints below metadata
        field = f"metadata.{field_path(taint_path[1:])}"
        if why := why_not_key(key):
            problems.invalid((*taint_path, "key"), key, why, field=f"{field}.key")
        if why := why_not_value(value):
            problems.invalid((*taint_path, "value"), value, why, field=f"{field}.value")
        if not effect:
            problems.required((*taint_path, "effect"), field=f"{field}.effect")
        elif effect not in _TAINT_EFFECTS:
            problems.unsupported((*taint_path, "effect"), effect, _TAINT_EFFECTS, field=f"{field}.effect")
        if (key, effect) in seen:
            problems.duplicate(taint_path, f"{key}:{effect}", "keep one taint of each key and effect", field)
        seen.add((key, effect))


def _check_pod_cidrs(cidrs: list[Any], path: Path, context: ApiServer, problems: FieldErrors) -> None:
    texts = ["" if item is None else item for item in cidrs]
    if not all(type(text) is str for text in texts):
        return
    for index, text in enumerate(texts):
        if why := why_not_cidr(text, context):
            problems.invalid((*path, index), text, why)
    if len(texts) > 1 and (len(texts) > 2 or not is_dual_stack(texts)):
        why = "may specify no more than one CIDR for each IP family"
        problems.invalid(path, cidrs, why, "keep one range of each IP family")


def node_update(update: Update) -> Problems:
    """Yield a problem if a Node changes its ranges or its provider ID, which can be set once."""
    old, new = (nested_map(node, "spec") for node in (update.old, update.new))
    if _pod_cidrs(old) and _pod_cidrs(old) != _pod_cidrs(new):
        yield forbidden_change(("spec", "podCIDRs"), 'node updates may not change podCIDR except from "" to valid')
    if old.get("providerID") and old.get("providerID") != new.get("providerID"):
        why = 'node updates may not change providerID except from "" to valid'
        yield forbidden_change(("spec", "providerID"), why)


_PRIORITY_MAX = 20_000
_VERSION_PRIORITY_MAX = 1000


def check_api_service(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check an APIService and its name (Kubernetes 1.36 `ValidateAPIService` of kube-aggregator)."""
    spec = nested_map(manifest, "spec")
    path = ("spec",)
    group = spec.get("group") or ""
    version = spec.get("version") or ""
    if type(group) is str and type(version) is str:
        _check_api_name(nested_map(manifest, "metadata"), f"{version}.{group}", problems)
        if not group and version != "v1":
            why = "only v1 may have an empty group and it better be legacy kube"
            problems.required((*path, "group"), why)
        else:
            problems.check_optional_text((*path, "group"), group, names.why_not_dns_subdomain)
        problems.check_text((*path, "version"), version, names.why_not_dns_1035_label)
    for key, most in (("groupPriorityMinimum", _PRIORITY_MAX), ("versionPriority", _VERSION_PRIORITY_MAX)):
        priority = spec.get(key) or 0
        if type(priority) is int and not 0 < priority <= most:
            problems.invalid((*path, key), priority, f"must be positive and less than {most}", f"use 1 to {most}")
    _check_api_backend(spec, path, problems)


def _check_api_backend(spec: Json, path: Path, problems: FieldErrors) -> None:
    bundle = spec.get("caBundle")
    service = spec.get("service")
    is_insecure = spec.get("insecureSkipTLSVerify") is True
    if service is None:
        if bundle:
            problems.invalid((*path, "caBundle"), bundle, "local APIServices may not have a caBundle", "remove it")
        if is_insecure:
            why = "local APIServices may not have insecureSkipTLSVerify"
            problems.invalid((*path, "insecureSkipTLSVerify"), True, why)
    elif type(service) is dict:
        problems.check_required(service, (*path, "service"), "namespace", "name")
        port = 443 if service.get("port") is None else service["port"]
        if type(port) is int and not 1 <= port <= PORT_MAX:
            why = f"port is not valid: must be between 1 and {PORT_MAX}, inclusive"
            problems.invalid((*path, "service", "port"), port, why, f"use 1 to {PORT_MAX}")
        if is_insecure and bundle:
            why = "may not be true if caBundle is present"
            problems.invalid((*path, "insecureSkipTLSVerify"), True, why)


def _check_api_name(meta: Json, expected: str, problems: FieldErrors) -> None:
    for key in ("generateName", "name"):
        name = meta.get(key)
        if type(name) is str and name and name != expected:
            why = f'must be `spec.version+"."+spec.group`: {quote_value(expected)}'
            problems.invalid(("metadata", key), name, why, f"set metadata.name to {expected}")


_EVENT_FIELD_MAX = 128
_EVENT_NOTE_MAX = 1024


def check_event(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check an Event of either group, except its metadata (Kubernetes 1.36 `ValidateEventCreate`)."""
    is_core = manifest.get("apiVersion") == "v1"
    about = "involvedObject" if is_core else "regarding"
    namespace = nested_map(manifest, "metadata").get("namespace")
    _check_event_namespace(manifest, namespace, about, problems)
    if manifest.get("eventTime") is not None:
        _check_new_event(manifest, is_core, problems)
    if not is_core:
        _check_strict_event(manifest, problems)


def _check_event_namespace(manifest: Json, namespace: Any, about: str, problems: FieldErrors) -> None:
    path = (about, "namespace")
    target = nested_map(manifest, about).get("namespace") or ""
    has_time = manifest.get("eventTime") is not None
    help = "write the namespace of the Event"
    if not target:
        free = ("default", "kube-system") if has_time else ("default",)
        mismatch = bool(namespace) and namespace not in free
    else:
        mismatch = not has_time and target != (namespace or "default")
    if mismatch:
        problems.invalid(path, target, "does not match event.namespace", help, "involvedObject.namespace")
        if not namespace:  # the namespace is that of the command then
            problems[-1] = problems[-1]._replace(severity="warning")


def _check_new_event(manifest: Json, is_core: bool, problems: FieldErrors) -> None:
    controller = ("reportingComponent" if is_core else "reportingController",)
    reporter = manifest.get(controller[0]) or ""
    if not reporter:
        problems.required(controller)
    else:
        problems.check_text(controller, reporter, why_not_key)
    for key in ("reportingInstance", "action", "reason"):
        text = manifest.get(key) or ""
        if not text:
            problems.required((key,))
        elif type(text) is str and len(text.encode("utf-8", "surrogatepass")) > _EVENT_FIELD_MAX:
            problems.invalid((key,), "", f"can have at most {_EVENT_FIELD_MAX} characters", "shorten it")
    key = "message" if is_core else "note"
    note = manifest.get(key)
    if type(note) is str and len(note.encode("utf-8", "surrogatepass")) > _EVENT_NOTE_MAX:
        why = f"can have at most {_EVENT_NOTE_MAX} characters"
        problems.invalid((key,), "", why, "shorten it", "message")


def _check_strict_event(manifest: Json, problems: FieldErrors) -> None:
    """Check what only events.k8s.io/v1 requires."""
    series = manifest.get("series")
    if type(series) is dict:
        count = series.get("count") or 0
        if type(count) is int and count < 2:
            problems.invalid(("series", "count"), "", "should be at least 2")
        if series.get("lastObservedTime") is None:
            problems.required(("series", "lastObservedTime"))
    if manifest.get("eventTime") is None:
        problems.required(("eventTime",))
    kind = manifest.get("type") or ""
    if kind not in ("Normal", "Warning") and type(kind) is str:
        problems.invalid(("type",), "", f"has invalid value: {kind}", "use Normal or Warning")
    source = nested_map(manifest, "deprecatedSource")
    for key, is_set in (
        ("deprecatedFirstTimestamp", manifest.get("deprecatedFirstTimestamp") is not None),
        ("deprecatedLastTimestamp", manifest.get("deprecatedLastTimestamp") is not None),
        ("deprecatedCount", bool(manifest.get("deprecatedCount"))),
        ("deprecatedSource", bool(source.get("component") or source.get("host"))),
    ):
        if is_set:
            name = key.removeprefix("deprecated")
            problems.invalid((key,), "", "needs to be unset", field=name[0].lower() + name[1:])
