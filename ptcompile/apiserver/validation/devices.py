"""ResourceClaim, ResourceClaimTemplate, DeviceClass, their CEL selectors, and DeviceTaintRule."""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.cel.cost import SELECTOR_LIMIT, device_selector_cost
from ptcompile.apiserver.cel.environments import why_invalid_device_expression
from ptcompile.apiserver.validation.metadata import check_annotations, check_labels, why_not_key, why_not_value
from ptcompile.apiserver.validation.values import check_driver_name
from ptcompile.diagnostics import Path
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_mappings, is_empty
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, as_mapping, as_string, nested_map

_LIST_ITEMS_MAX = 32
_ALTERNATIVES_MAX = 8
_DRIVER_MAX = 63
_IDENTIFIER_MAX = 32
_EXPRESSION_MAX = 10 * 1024
_POOL_NAME_MAX = 253
_TAINT_EFFECTS = ("NoExecute", "NoSchedule", "None")
_MODES = ("All", "ExactCount")
_NOT_IN_TEMPLATE_METADATA = (
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "ownerReferences",
    "finalizers",
    "managedFields",
)
_FLAT_REQUEST_VERSIONS = ("v1alpha3", "v1beta1")
"""API versions whose requests hold the fields that later versions nest in `exactly`."""

_is_identifier = Pattern(r"[A-Za-z_][A-Za-z0-9_]*").fullmatch
_AlternativesByRequest = dict[str, frozenset[str]]
"""Names of the alternatives, keyed by request name."""


def check_resource_claim(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a ResourceClaim, except its metadata."""
    flat = str(manifest.get("apiVersion")).endswith(_FLAT_REQUEST_VERSIONS)
    _check_claim(manifest.get("spec"), ("spec",), flat, problems)


def check_resource_claim_template(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a ResourceClaimTemplate, except its metadata."""
    spec = nested_map(manifest, "spec")
    meta = nested_map(spec, "metadata")
    path = ("spec", "metadata")
    for name in _NOT_IN_TEMPLATE_METADATA:
        if meta.get(name):
            problems.forbidden((*path, name), "cannot be set", "keep labels and annotations only")
    check_labels(meta.get("labels"), (*path, "labels"), problems)
    check_annotations(meta.get("annotations"), (*path, "annotations"), problems)
    flat = str(manifest.get("apiVersion")).endswith(_FLAT_REQUEST_VERSIONS)
    _check_claim(spec.get("spec"), ("spec", "spec"), flat, problems)


def check_device_class(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a DeviceClass, except its metadata."""
    spec = nested_map(manifest, "spec")
    _check_selectors(spec.get("selectors"), ("spec", "selectors"), problems)
    problems.check_length(("spec", "config"), spec.get("config"), _LIST_ITEMS_MAX)
    for index, config in indexed_mappings(spec.get("config")):
        _check_config(config, ("spec", "config", index), problems)
    name = spec.get("extendedResourceName")
    if type(name) is str and ("/" not in name or why_not_key(name)):
        why = why_not_key(name) or "must be an extended resource: a domain, a slash and a name"
        problems.invalid(("spec", "extendedResourceName"), name, why, "write it as example.com/device")


def _check_claim(spec: Any, path: Path, flat: bool, problems: FieldErrors) -> None:
    devices = as_mapping(as_mapping(spec).get("devices"))
    devices_path = (*path, "devices")
    requests = list(indexed_mappings(devices.get("requests")))
    request_names = _request_names(requests)
    for name in ("requests", "constraints", "config"):
        problems.check_length((*devices_path, name), devices.get(name), _LIST_ITEMS_MAX)
    _check_unique([request.get("name") for _, request in requests], (*devices_path, "requests"), problems)
    for index, request in requests:
        _check_request(request, (*devices_path, "requests", index), flat, problems)
    for index, constraint in indexed_mappings(devices.get("constraints")):
        entry_path = (*devices_path, "constraints", index)
        _check_references(constraint.get("requests"), request_names, (*entry_path, "requests"), problems)
        _check_attribute(constraint, entry_path, problems)
    for index, config in indexed_mappings(devices.get("config")):
        entry_path = (*devices_path, "config", index)
        _check_references(config.get("requests"), request_names, (*entry_path, "requests"), problems)
        _check_config(config, entry_path, problems)


def _request_names(requests: list[tuple[int, Json]]) -> _AlternativesByRequest:
    return {
        request.get("name") or "": frozenset(
            as_string(alternative.get("name")) for _, alternative in indexed_mappings(request.get("firstAvailable"))
        )
        for _, request in requests
        if request.get("name") is None or type(request["name"]) is str
    }


def _check_unique(values: list[Any], path: Path, problems: FieldErrors) -> None:
    for index, value in enumerate(values):
        if type(value) is str and value in values[:index]:
            problems.duplicate((*path, index), value)


def _check_request(request: Json, path: Path, flat: bool, problems: FieldErrors) -> None:
    _check_name(request.get("name"), (*path, "name"), problems)
    choices = request.get("firstAvailable")
    exact = request if flat and request.get("deviceClassName") is not None else request.get("exactly")
    if choices and exact is not None:
        why = "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"
        problems.invalid(path, None, why, "keep one of the two")
    elif choices:
        problems.check_length((*path, "firstAvailable"), choices, _ALTERNATIVES_MAX)
        alternatives = list(indexed_mappings(choices))
        _check_unique([choice.get("name") for _, choice in alternatives], (*path, "firstAvailable"), problems)
        for index, choice in alternatives:
            _check_name(choice.get("name"), (*path, "firstAvailable", index, "name"), problems)
            _check_exact(choice, (*path, "firstAvailable", index), problems)
    elif exact is None:
        why = "exactly one of `exactly` or `firstAvailable` is required"
        problems.required(path, why, "set the device class in exactly.deviceClassName")
    elif type(exact) is dict:
        _check_exact(exact, path if exact is request else (*path, "exactly"), problems)


def _check_name(name: Any, path: Path, problems: FieldErrors) -> None:
    problems.check_text(path, "" if name is None else name, names.why_not_dns_label)


def _check_exact(request: Json, path: Path, problems: FieldErrors) -> None:
    device_class = request.get("deviceClassName")
    mode = request.get("allocationMode") or "ExactCount"
    problems.check_required_text((*path, "deviceClassName"), device_class, names.why_not_dns_subdomain)
    _check_selectors(request.get("selectors"), (*path, "selectors"), problems)
    count = request.get("count")
    if mode == "All" and type(count) is int and count:
        problems.invalid((*path, "count"), count, "must not be specified when allocationMode is 'All'")
    elif mode == "ExactCount" and type(count) is int and count < 0:
        problems.invalid((*path, "count"), count, "must be greater than zero")
    problems.check_choice((*path, "allocationMode"), mode, _MODES)
    for index, toleration in indexed_mappings(request.get("tolerations")):
        _check_toleration(toleration, (*path, "tolerations", index), problems)
    if request.get("adminAccess") is True:
        why = "admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the namespace"
        problems.forbidden((*path, "adminAccess"), why, "label the namespace, or remove adminAccess")
        problems[-1] = problems[-1]._replace(severity="warning")  # the namespace may have the label


def _check_toleration(toleration: Json, path: Path, problems: FieldErrors) -> None:
    key = toleration.get("key")
    operator = toleration.get("operator")
    problems.check_optional_text((*path, "key"), key, why_not_key)
    if operator:
        problems.check_choice((*path, "operator"), operator, ("Equal", "Exists"))
    if operator == "Exists" and toleration.get("value"):
        problems.invalid((*path, "value"), toleration["value"], "must be empty for operator `Exists`", "remove it")


def _check_selectors(selectors: Any, path: Path, problems: FieldErrors) -> None:
    problems.check_length(path, selectors, _LIST_ITEMS_MAX)
    for index, selector in indexed_mappings(selectors):
        cel = selector.get("cel")
        cel_path = (*path, index, "cel")
        if cel is None:
            problems.required(cel_path)
        elif type(cel) is dict:
            text = "" if cel.get("expression") is None else cel["expression"]
            if type(text) is not str:
                continue
            if len(text.encode("utf-8", "surrogatepass")) > _EXPRESSION_MAX:
                problems.too_long((*cel_path, "expression"), _EXPRESSION_MAX)
            elif why := why_invalid_device_expression(text):
                help = 'write a condition on the device: device.driver == "gpu.nvidia.com"'
                problems.invalid((*cel_path, "expression"), text, why, help)
            elif device_selector_cost(text) > SELECTOR_LIMIT:
                help = "simplify it: nest fewer loops, and compare values instead of types"
                problems.forbidden((*cel_path, "expression"), "too complex, exceeds cost limit", help)


def _check_references(
    references: Any, request_names: _AlternativesByRequest, path: Path, problems: FieldErrors
) -> None:
    if type(references) is not list:
        return
    problems.check_length(path, references, _LIST_ITEMS_MAX)
    _check_unique(references, path, problems)
    for index, text in enumerate(references):
        reference = "" if text is None else text
        if type(reference) is not str:
            continue
        parts = reference.split("/")
        if len(parts) <= 2:
            for part in parts:
                _check_name(part, (*path, index), problems)
        request, *alternative = parts
        if (
            len(parts) > 2
            or request not in request_names
            or (alternative and alternative[0] not in request_names[request])
        ):
            why = (
                "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
            )
            problems.invalid(
                (*path, index),
                reference,
                why,
                f"use one of {', '.join(request_names)}" if request_names else "",
            )


def _check_attribute(constraint: Json, path: Path, problems: FieldErrors) -> None:
    for name in ("matchAttribute", "distinctAttribute"):
        text = constraint.get(name)
        if text is None:
            continue
        problems.check_text((*path, name), text, _why_not_attribute, "write it as driver.example.com/attribute")
        return
    why = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
    problems.required(path, why, "set matchAttribute")


def _why_not_attribute(text: str) -> str | None:
    domain, slash, identifier = text.partition("/")
    if not slash:
        return "a fully qualified name must be a domain and a name separated by a slash"
    if not domain or not identifier:
        return "the domain and the name must not be empty"
    if why := names.why_not_dns_subdomain(domain.lower()):
        return why
    if len(domain) > _DRIVER_MAX or len(identifier) > _IDENTIFIER_MAX:
        return f"the domain must have at most {_DRIVER_MAX} bytes, the name at most {_IDENTIFIER_MAX}"
    return None if _is_identifier(identifier) else "a valid C identifier must start with a letter or '_'"


def _check_config(config: Json, path: Path, problems: FieldErrors) -> None:
    opaque = config.get("opaque")
    if opaque is None:
        problems.required((*path, "opaque"))
    if type(opaque) is not dict:
        return
    check_driver_name(opaque.get("driver"), (*path, "opaque", "driver"), problems)
    if opaque.get("parameters") is None:
        problems.required((*path, "opaque", "parameters"))


def check_device_taint_rule(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a DeviceTaintRule, except its metadata."""
    spec = nested_map(manifest, "spec")
    path = ("spec", "deviceSelector")
    selector = nested_map(spec, "deviceSelector")
    if selector.get("driver") is not None:
        check_driver_name(selector["driver"], (*path, "driver"), problems)
    if selector.get("pool") is not None:
        _check_pool_name(selector["pool"], (*path, "pool"), problems)
    problems.check_text((*path, "device"), selector.get("device"), names.why_not_dns_label)
    _check_taint(nested_map(spec, "taint"), ("spec", "taint"), problems)


def _check_pool_name(name: Any, path: Path, problems: FieldErrors) -> None:
    if is_empty(name):
        problems.required(path)
    elif type(name) is str and len(name) > _POOL_NAME_MAX:
        problems.too_long(path, _POOL_NAME_MAX)
    elif type(name) is str:
        for part in name.split("/"):
            problems.check_text(path, part, names.why_not_dns_subdomain)


def _check_taint(taint: Json, path: Path, problems: FieldErrors) -> None:
    key, value, effect = (taint.get(name) or "" for name in ("key", "value", "effect"))
    problems.check_text((*path, "key"), key, why_not_key)
    problems.check_optional_text((*path, "value"), value, why_not_value)
    problems.check_required_choice((*path, "effect"), effect, _TAINT_EFFECTS)
