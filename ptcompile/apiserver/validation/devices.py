"""ResourceClaim, ResourceClaimTemplate, DeviceClass, their CEL selectors, and DeviceTaintRule."""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.apiserver.cel.cost import SELECTOR_LIMIT, device_selector_cost
from ptcompile.apiserver.cel.environments import why_invalid_device_expression
from ptcompile.apiserver.validation.field import FieldValue
from ptcompile.apiserver.validation.metadata import (
    check_annotations,
    check_labels,
    why_not_key,
    why_not_value,
)
from ptcompile.apiserver.validation.values import check_driver_name
from ptcompile.kubernetes import names
from ptcompile.kubernetes.unstructured import as_string

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


def check_resource_claim(claim: FieldValue) -> None:
    """Check a ResourceClaim, except its metadata."""
    _check_claim(claim["spec"], _is_flat(claim))


def _is_flat(manifest: FieldValue) -> bool:
    return str(manifest.get("apiVersion")).endswith(_FLAT_REQUEST_VERSIONS)


def check_resource_claim_template(template: FieldValue) -> None:
    """Check a ResourceClaimTemplate, except its metadata."""
    meta = template["spec"]["metadata"]
    for name in _NOT_IN_TEMPLATE_METADATA:
        if meta.get(name):
            meta[name].forbidden("cannot be set", "keep labels and annotations only")
    meta["labels"].check(check_labels)
    meta["annotations"].check(check_annotations)
    _check_claim(template["spec"]["spec"], _is_flat(template))


def check_device_class(device_class: FieldValue) -> None:
    """Check a DeviceClass, except its metadata."""
    spec = device_class["spec"]
    name = spec["extendedResourceName"]
    _check_selectors(spec["selectors"])
    spec["config"].check_length(_LIST_ITEMS_MAX)
    for config in spec["config"].objects():
        _check_config(config)
    name.check_text(_why_not_extended_resource, "write it as example.com/device")


def _why_not_extended_resource(name: str) -> str | None:
    if why := why_not_key(name):
        return why
    if "/" in name:
        return None
    return "must be an extended resource: a domain, a slash and a name"


def _check_claim(spec: FieldValue, flat: bool) -> None:
    devices = spec["devices"]
    requests = devices["requests"]
    request_names = _request_names(requests)
    for key in ("requests", "constraints", "config"):
        devices[key].check_length(_LIST_ITEMS_MAX)
    _check_unique(requests.replaced([request.get("name") for request in requests.objects()]))
    for request in requests.objects():
        _check_request(request, flat)
    for constraint in devices["constraints"].objects():
        _check_references(constraint["requests"], request_names)
        _check_attribute(constraint)
    for config in devices["config"].objects():
        _check_references(config["requests"], request_names)
        _check_config(config)


def _request_names(requests: FieldValue) -> _AlternativesByRequest:
    alternatives_by_request: _AlternativesByRequest = {}
    for request in requests.objects():
        name = request["name"].or_zero("")
        if name.is_text:
            alternatives = request["firstAvailable"].objects()
            alternatives_by_request[name.value] = frozenset(
                as_string(alternative.get("name")) for alternative in alternatives
            )
    return alternatives_by_request


def _check_unique(texts: FieldValue) -> None:
    seen = set[str]()
    for text in texts.items(texts.value):
        if text.is_text:
            text.check_unseen(seen)


def _check_request(request: FieldValue, flat: bool) -> None:
    request["name"].or_zero("").check_text(names.why_not_dns_label)
    choices = request["firstAvailable"]
    is_flat = flat and request.get("deviceClassName") is not None
    exact = request if is_flat else request["exactly"]

    if choices.value and exact.value is not None:
        why = (
            "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"
        )
        request.replaced(None).invalid(why, "keep one of the two")
    elif choices.value:
        choices.check_length(_ALTERNATIVES_MAX)
        _check_unique(choices.replaced([choice.get("name") for choice in choices.objects()]))
        for choice in choices.objects():
            choice["name"].or_zero("").check_text(names.why_not_dns_label)
            _check_exact(choice)
    elif exact.value is None:
        why = "exactly one of `exactly` or `firstAvailable` is required"
        request.required(why, "set the device class in exactly.deviceClassName")
    elif exact.is_mapping:
        _check_exact(exact)


def _check_exact(request: FieldValue) -> None:
    mode = request["allocationMode"].or_default("ExactCount")
    count = request["count"]
    request["deviceClassName"].check_required_text(names.why_not_dns_subdomain)
    _check_selectors(request["selectors"])
    if mode.value == "All" and count.is_integer and count.value:
        count.invalid("must not be specified when allocationMode is 'All'")
    elif mode.value == "ExactCount" and count.is_integer and count.value < 0:
        count.invalid("must be greater than zero")

    mode.check_choice(_MODES)
    for toleration in request["tolerations"].objects():
        _check_toleration(toleration)
    if request.get("adminAccess") is True:
        why = (
            "admin access to devices requires the `resource.kubernetes.io/admin-access: true` "
            "label on the namespace"
        )
        request["adminAccess"].forbidden(why, "label the namespace, or remove adminAccess")
        # only a warning: the files do not show the labels of the namespace
        request.problems[-1] = request.problems[-1]._replace(severity="warning")


def _check_toleration(toleration: FieldValue) -> None:
    operator = toleration["operator"]
    toleration["key"].check_optional_text(why_not_key)
    operator.check_optional_choice(("Equal", "Exists"))
    if operator.value == "Exists" and toleration.get("value"):
        toleration["value"].invalid("must be empty for operator `Exists`", "remove it")


def _check_selectors(selectors: FieldValue) -> None:
    selectors.check_length(_LIST_ITEMS_MAX)
    for selector in selectors.objects():
        cel = selector["cel"]
        cel.check_set()
        if cel.is_mapping:
            _check_expression(cel["expression"].or_zero(""))


def _check_expression(expression: FieldValue) -> None:
    text = expression.value
    if type(text) is not str:
        return

    if expression.is_longer(_EXPRESSION_MAX):
        expression.too_long(_EXPRESSION_MAX)
    elif why := why_invalid_device_expression(text):
        expression.invalid(
            why, 'write a condition on the device: device.driver == "gpu.nvidia.com"'
        )
    elif device_selector_cost(text) > SELECTOR_LIMIT:
        help = "simplify it: nest fewer loops, and compare values instead of types"
        expression.forbidden("too complex, exceeds cost limit", help)


def _check_references(references: FieldValue, request_names: _AlternativesByRequest) -> None:
    if not references.is_list:
        return

    references.check_length(_LIST_ITEMS_MAX)
    _check_unique(references)
    why = (
        "must be the name of a request in the claim or the name of a request and a subrequest "
        "separated by '/'"
    )
    help = f"use one of {', '.join(request_names)}" if request_names else ""
    for reference in references.texts():
        parts = reference.value.split("/")
        if len(parts) <= 2:
            for part in parts:
                reference.replaced(part).check_text(names.why_not_dns_label)

        request, *alternatives = parts
        allowed = request_names.get(request)
        if len(parts) > 2 or allowed is None or not allowed.issuperset(alternatives):
            reference.invalid(why, help)


def _check_attribute(constraint: FieldValue) -> None:
    for name in ("matchAttribute", "distinctAttribute"):
        if constraint.get(name) is not None:
            constraint[name].check_text(
                _why_not_attribute, "write it as driver.example.com/attribute"
            )
            return
    why = (
        'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields '
        "are set"
    )
    constraint.required(why, "set matchAttribute")


def _why_not_attribute(text: str) -> str | None:
    domain, slash, identifier = text.partition("/")
    if not slash:
        return "a fully qualified name must be a domain and a name separated by a slash"
    if not domain or not identifier:
        return "the domain and the name must not be empty"
    if why := names.why_not_dns_subdomain(domain.lower()):
        return why
    if len(domain) > _DRIVER_MAX or len(identifier) > _IDENTIFIER_MAX:
        return (
            f"the domain must have at most {_DRIVER_MAX} bytes, the name at most {_IDENTIFIER_MAX}"
        )
    if _is_identifier(identifier):
        return None

    return "a valid C identifier must start with a letter or '_'"


def _check_config(config: FieldValue) -> None:
    opaque = config["opaque"]
    opaque.check_set()
    if not opaque.is_mapping:
        return
    check_driver_name(opaque["driver"])
    opaque["parameters"].check_set()


def check_device_taint_rule(rule: FieldValue) -> None:
    """Check a DeviceTaintRule, except its metadata."""
    selector = rule["spec"]["deviceSelector"]
    taint = rule["spec"]["taint"]
    if selector.get("driver") is not None:
        check_driver_name(selector["driver"])
    if selector.get("pool") is not None:
        _check_pool_name(selector["pool"])
    selector["device"].check_text(names.why_not_dns_label)
    taint["key"].or_default("").check_text(why_not_key)
    taint["value"].check_optional_text(why_not_value)
    taint["effect"].or_default("").check_required_choice(_TAINT_EFFECTS)


def _check_pool_name(name: FieldValue) -> None:
    if name.is_empty:
        name.required()
    elif name.is_text and len(name.value) > _POOL_NAME_MAX:
        name.too_long(_POOL_NAME_MAX)
    elif name.is_text:
        for part in name.value.split("/"):
            name.replaced(part).check_text(names.why_not_dns_subdomain)
