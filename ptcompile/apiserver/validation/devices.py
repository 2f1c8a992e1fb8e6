"""ResourceClaim, ResourceClaimTemplate, DeviceClass, and their CEL selectors."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.lazy import Pattern
from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.metadata import check_annotations, check_labels, why_not_key
from ptcompile.diagnostics import Path
from ptcompile.kubernetes import names
from ptcompile.registry.model import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


_KNOWN: Final = frozenset(
    [
        "device",
        "true",
        "false",
        "null",
        "in",
        "has",
        "size",
        "cel",
        "math",
        "sets",
        "int",
        "uint",
        "double",
        "string",
        "bool",
        "bytes",
        "type",
        "dyn",
    ]
)
_FUNCTIONS: Final = frozenset(
    [
        "quantity",
        "isQuantity",
        "semver",
        "isSemver",
        "url",
        "isURL",
        "ip",
        "isIP",
        "cidr",
        "isCIDR",
        "duration",
        "timestamp",
    ]
)
_STRING: Final = Pattern(r"[rRbB]{0,2}(?:\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')")
_WORD: Final = Pattern(r"(?<![\w.?])[A-Za-z_]\w*")
_MACRO: Final = Pattern(
    r"\.(?:all|exists|exists_one|existsOne|filter|map|transformList|transformMap)\s*\(\s*(\w+)(?:\s*,\s*(\w+)(?=\s*,))?"
)
_BIND: Final = Pattern(r"cel\.bind\s*\(\s*(\w+)")


def why_not_device_expression(text: str) -> str | None:
    """Why the server cannot compile a selector, as far as its words say; None where nothing is wrong for sure."""
    if not text.strip():
        return "compilation failed: the expression is empty"
    plain = _STRING.sub("''", text)
    own = {name for found in (*_MACRO.findall(plain), *((one,) for one in _BIND.findall(plain))) for name in found}
    for match in _WORD.finditer(plain):
        word = match.group()
        if word not in _KNOWN and word not in _FUNCTIONS and word not in own:
            return f"compilation failed: undeclared reference to '{word}'"
    return None


_ENTRIES_MAX: Final = 32
_ALTERNATIVES_MAX: Final = 8
_DRIVER_MAX: Final = 63
_IDENTIFIER_MAX: Final = 32
_EXPRESSION_MAX: Final = 10 * 1024
_MODES: Final = ("All", "ExactCount")
_NOT_IN_TEMPLATES: Final = (
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
_FLAT: Final = ("v1alpha3", "v1beta1")
"""Versions in which a request has the fields that later stand in `exactly`."""

_is_identifier = Pattern(r"[A-Za-z_][A-Za-z0-9_]*").fullmatch
_Names = dict[str, frozenset[str]]
"""The names of requests, and of the alternatives of each."""


def check_resource_claim(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """A ResourceClaim without its metadata."""
    flat = str(manifest.get("apiVersion")).endswith(_FLAT)
    _check_claim(manifest.get("spec"), ("spec",), flat, found)


def check_resource_claim_template(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """A ResourceClaimTemplate without its metadata."""
    spec = f.as_field_mapping(manifest.get("spec"))
    meta, path = f.as_field_mapping(spec.get("metadata")), ("spec", "metadata")
    for name in _NOT_IN_TEMPLATES:
        if meta.get(name):
            f.forbidden(found, (*path, name), "cannot be set", "keep labels and annotations only")
    check_labels(meta.get("labels"), (*path, "labels"), found)
    check_annotations(meta.get("annotations"), (*path, "annotations"), found)
    flat = str(manifest.get("apiVersion")).endswith(_FLAT)
    _check_claim(spec.get("spec"), ("spec", "spec"), flat, found)


def check_device_class(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """A DeviceClass without its metadata."""
    spec = f.as_field_mapping(manifest.get("spec"))
    _check_selectors(spec.get("selectors"), ("spec", "selectors"), found)
    _check_size(spec.get("config"), _ENTRIES_MAX, ("spec", "config"), found)
    for index, config in f.indexed_mappings(spec.get("config")):
        _check_config(config, ("spec", "config", index), found)
    name = spec.get("extendedResourceName")
    if type(name) is str and ("/" not in name or why_not_key(name)):
        why = why_not_key(name) or "must be an extended resource: a domain, a slash and a name"
        f.invalid(found, ("spec", "extendedResourceName"), name, why, "write it as example.com/device")


def _check_claim(spec: Any, path: Path, flat: bool, found: f.Problems) -> None:
    devices, here = f.as_field_mapping(f.as_field_mapping(spec).get("devices")), (*path, "devices")
    requests = list(f.indexed_mappings(devices.get("requests")))
    known = _request_names(requests)
    for name in ("requests", "constraints", "config"):
        _check_size(devices.get(name), _ENTRIES_MAX, (*here, name), found)
    _check_unique([request.get("name") for _, request in requests], (*here, "requests"), found)
    for index, request in requests:
        _check_request(request, (*here, "requests", index), flat, found)
    for index, constraint in f.indexed_mappings(devices.get("constraints")):
        at = (*here, "constraints", index)
        _check_references(constraint.get("requests"), known, (*at, "requests"), found)
        _check_attribute(constraint, at, found)
    for index, config in f.indexed_mappings(devices.get("config")):
        at = (*here, "config", index)
        _check_references(config.get("requests"), known, (*at, "requests"), found)
        _check_config(config, at, found)


def _request_names(requests: list[tuple[int, dict[str, Any]]]) -> _Names:
    return {
        request.get("name") or "": frozenset(
            sub.get("name") or "" for _, sub in f.indexed_mappings(request.get("firstAvailable"))
        )
        for _, request in requests
        if request.get("name") is None or type(request["name"]) is str
    }


def _check_size(entries: Any, most: int, path: Path, found: f.Problems) -> None:
    if type(entries) is list and len(entries) > most:
        f.too_many(found, path, len(entries), most)


def _check_unique(values: list[Any], path: Path, found: f.Problems) -> None:
    for index, value in enumerate(values):
        if type(value) is str and value in values[:index]:
            f.duplicate(found, (*path, index), value)


def _check_request(request: dict[str, Any], path: Path, flat: bool, found: f.Problems) -> None:
    _check_name(request.get("name"), (*path, "name"), found)
    choices = request.get("firstAvailable")
    exact = request if flat and request.get("deviceClassName") is not None else request.get("exactly")
    if choices and exact is not None:
        why = "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"
        f.invalid(found, path, None, why, "keep one of the two")
    elif choices:
        _check_size(choices, _ALTERNATIVES_MAX, (*path, "firstAvailable"), found)
        listed = list(f.indexed_mappings(choices))
        _check_unique([choice.get("name") for _, choice in listed], (*path, "firstAvailable"), found)
        for index, choice in listed:
            _check_name(choice.get("name"), (*path, "firstAvailable", index, "name"), found)
            _check_exact(choice, (*path, "firstAvailable", index), found)
    elif exact is None:
        why = "exactly one of `exactly` or `firstAvailable` is required"
        f.required(found, path, why, "say which class of device: exactly.deviceClassName")
    elif type(exact) is dict:
        _check_exact(exact, path if exact is request else (*path, "exactly"), found)


def _check_name(name: Any, path: Path, found: f.Problems) -> None:
    text = "" if name is None else name
    if type(text) is str and (why := names.why_not_dns_label(text)):
        f.invalid(found, path, text, why)


def _check_exact(request: dict[str, Any], path: Path, found: f.Problems) -> None:
    name, mode = request.get("deviceClassName"), request.get("allocationMode") or "ExactCount"
    if name is None or name == "":
        f.required(found, (*path, "deviceClassName"))
    elif type(name) is str and (why := names.why_not_dns_subdomain(name)):
        f.invalid(found, (*path, "deviceClassName"), name, why)
    _check_selectors(request.get("selectors"), (*path, "selectors"), found)
    count = request.get("count")
    if mode == "All" and type(count) is int and count:
        f.invalid(found, (*path, "count"), count, "must not be specified when allocationMode is 'All'")
    elif mode == "ExactCount" and type(count) is int and count < 0:
        f.invalid(found, (*path, "count"), count, "must be greater than zero")
    f.check_choice(found, (*path, "allocationMode"), mode, _MODES)
    for index, toleration in f.indexed_mappings(request.get("tolerations")):
        _check_toleration(toleration, (*path, "tolerations", index), found)
    if request.get("adminAccess") is True:
        why = "admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the namespace"
        f.forbidden(found, (*path, "adminAccess"), why, "label the namespace, or remove adminAccess")
        found[-1] = found[-1]._replace(severity="warning")  # the namespace may have it


def _check_toleration(toleration: dict[str, Any], path: Path, found: f.Problems) -> None:
    key, operator = toleration.get("key"), toleration.get("operator")
    if type(key) is str and key and (why := why_not_key(key)):
        f.invalid(found, (*path, "key"), key, why)
    if operator:
        f.check_choice(found, (*path, "operator"), operator, ("Equal", "Exists"))
    if operator == "Exists" and toleration.get("value"):
        f.invalid(found, (*path, "value"), toleration["value"], "must be empty for operator `Exists`", "remove it")


def _check_selectors(selectors: Any, path: Path, found: f.Problems) -> None:
    _check_size(selectors, _ENTRIES_MAX, path, found)
    for index, selector in f.indexed_mappings(selectors):
        cel, here = selector.get("cel"), (*path, index, "cel")
        if cel is None:
            f.required(found, here)
        elif type(cel) is dict:
            text = "" if cel.get("expression") is None else cel["expression"]
            if type(text) is not str:
                continue
            if len(text) > _EXPRESSION_MAX:
                f.too_long(found, (*here, "expression"), _EXPRESSION_MAX)
            elif why := why_not_device_expression(text):
                help = 'write a condition on the device: device.driver == "gpu.nvidia.com"'
                f.invalid(found, (*here, "expression"), text, why, help)


def _check_references(references: Any, known: _Names, path: Path, found: f.Problems) -> None:
    if type(references) is not list:
        return
    _check_size(references, _ENTRIES_MAX, path, found)
    _check_unique(references, path, found)
    for index, text in enumerate(references):
        reference = "" if text is None else text
        if type(reference) is not str:
            continue
        parts = reference.split("/")
        if len(parts) <= 2:
            for part in parts:
                _check_name(part, (*path, index), found)
        request, *alternative = parts
        if len(parts) > 2 or request not in known or (alternative and alternative[0] not in known[request]):
            why = (
                "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
            )
            f.invalid(found, (*path, index), reference, why, f"use one of {', '.join(known)}" if known else "")


def _check_attribute(constraint: dict[str, Any], path: Path, found: f.Problems) -> None:
    for name in ("matchAttribute", "distinctAttribute"):
        text = constraint.get(name)
        if text is None:
            continue
        if type(text) is str and (why := _why_not_attribute(text)):
            f.invalid(found, (*path, name), text, why, "write it as driver.example.com/attribute")
        return
    why = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
    f.required(found, path, why, "set matchAttribute")


def _why_not_attribute(text: str) -> str | None:
    domain, slash, identifier = text.partition("/")
    if not slash:
        return "a fully qualified name must be a domain and a name separated by a slash"
    if not domain or not identifier:
        return "the domain and the name must not be empty"
    if why := names.why_not_dns_subdomain(domain.lower()):
        return why
    if len(domain) > _DRIVER_MAX or len(identifier) > _IDENTIFIER_MAX:
        return f"the domain has {_DRIVER_MAX} bytes at most, the name {_IDENTIFIER_MAX}"
    return None if _is_identifier(identifier) else "a valid C identifier must start with a letter or '_'"


def _check_config(config: dict[str, Any], path: Path, found: f.Problems) -> None:
    opaque = config.get("opaque")
    if opaque is None:
        f.required(found, (*path, "opaque"))
    if type(opaque) is not dict:
        return
    driver, here = opaque.get("driver"), (*path, "opaque", "driver")
    if driver is None or driver == "":
        f.required(found, here)
    elif type(driver) is str and len(driver) > _DRIVER_MAX:
        f.too_long(found, here, _DRIVER_MAX)
    elif type(driver) is str and (why := names.why_not_dns_subdomain(driver.lower())):
        f.invalid(found, here, driver, why)
    if opaque.get("parameters") is None:
        f.required(found, (*path, "opaque", "parameters"))
