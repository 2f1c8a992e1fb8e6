"""ResourceSlice, the devices of a driver, and DeviceTaintRule.

Source: Kubernetes 1.36 `pkg/apis/resource/validation` (`validateResourceSliceSpec`), in its order and words. Fields of
partitionable devices, consumable capacity, device taints and binding conditions are on since 1.36; older servers drop
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from ptcompile._internal.lazy import Pattern
from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.metadata import why_not_key, why_not_value
from ptcompile.apiserver.validation.scheduling import check_node_selector_terms
from ptcompile.apiserver.validation.values import check_driver_name
from ptcompile.diagnostics import Path, Problem
from ptcompile.kubernetes import names
from ptcompile.kubernetes.quantity import Quantity, parse
from ptcompile.kubernetes.requests import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kubernetes.requests import Update


_DEVICES_MAX: Final = 128
_ADVANCED_DEVICES_MAX: Final = 64
"""Maximum number of devices if one has taints or consumes counters."""
_COUNTER_SETS_MAX: Final = 8
_COUNTERS_MAX: Final = 32
_CONSUMPTIONS_MAX: Final = 2
_ATTRIBUTES_MAX: Final = 32
_TAINTS_MAX: Final = 16
_CONDITIONS_MAX: Final = 4
_VALUE_MAX: Final = 64
_OPTIONS_MAX: Final = 10
_POOL_NAME_MAX: Final = 253
_IDENTIFIER_MAX: Final = 32
_TAINT_EFFECTS: Final = ("NoExecute", "NoSchedule", "None")
_NESTED_DEVICE_VERSIONS: Final = ("v1alpha3", "v1beta1")
"""API versions whose devices hold their fields in `basic`."""

_PARTITIONS: Final = "DRAPartitionableDevices"
_TAINTS: Final = "DRADeviceTaints"
"""Feature gates of several fields each."""

_NUMBER = r"(?:0|[1-9][0-9]*)"
_PRERELEASE = r"(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_is_semver = Pattern(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_PRERELEASE}(?:\.{_PRERELEASE})*)?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?"
).fullmatch
_is_identifier = Pattern(r"[A-Za-z_][A-Za-z0-9_]*").fullmatch


def check_resource_slice(manifest: Mapping[str, Any], context: ApiServer, problems: f.Problems) -> None:
    """Check a ResourceSlice, except its metadata."""
    version = str(manifest.get("apiVersion"))
    if version.endswith("v1alpha2"):  # another model of devices, of Kubernetes 1.30 only
        return
    spec, path = f.as_field_mapping(manifest.get("spec")), ("spec",)
    check_driver_name(spec.get("driver"), (*path, "driver"), problems)
    _check_pool(f.as_field_mapping(spec.get("pool")), (*path, "pool"), problems)
    _check_nodes_of_slice(spec, path, context, problems)
    has_counters = context.has_gate(_PARTITIONS, 36)
    if has_counters and spec.get("sharedCounters") is not None and spec.get("devices") is not None:
        why = "only one of `sharedCounters` or `devices` is allowed"
        f.invalid(problems, path, "", why, "move the shared counters to another slice")
    nested = version.endswith(_NESTED_DEVICE_VERSIONS)
    _check_devices(spec, nested, (*path, "devices"), context, problems)
    if has_counters:
        counter_sets = spec.get("sharedCounters")
        sets_path = (*path, "sharedCounters")
        if _is_within(counter_sets, _COUNTER_SETS_MAX, sets_path, problems):
            _check_counter_sets(counter_sets, "name", sets_path, problems)


def _is_within(value: Any, most: int, path: Path, problems: f.Problems) -> bool:
    """Return whether a list has at most this number of items, and report it if not: the server stops there."""
    if type(value) is list and len(value) > most:
        f.too_many(problems, path, len(value), most)
        return False
    return True


def _check_pool(pool: dict[str, Any], path: Path, problems: f.Problems) -> None:
    count, generation = pool.get("resourceSliceCount") or 0, pool.get("generation")
    _check_pool_name(pool.get("name"), (*path, "name"), problems)
    if type(count) is int and count <= 0:
        f.invalid(problems, (*path, "resourceSliceCount"), count, "must be greater than zero")
    if type(generation) is int and generation < 0:
        f.invalid(problems, (*path, "generation"), generation, "must be greater than or equal to zero")


def _check_pool_name(name: Any, path: Path, problems: f.Problems) -> None:
    if f.is_empty(name):
        f.required(problems, path)
    elif type(name) is str and len(name) > _POOL_NAME_MAX:
        f.too_long(problems, path, _POOL_NAME_MAX)
    elif type(name) is str:
        for part in name.split("/"):
            if why := names.why_not_dns_subdomain(part):
                f.invalid(problems, path, part, why)


def _check_node_name(name: Any, path: Path, why_empty: str, problems: f.Problems) -> None:
    if name == "":
        f.invalid(problems, path, name, why_empty)
    elif type(name) is str and (why := names.why_not_dns_subdomain(name)):
        f.invalid(problems, path, name, why)


def _check_true(spec: dict[str, Any], name: str, path: Path, problems: f.Problems) -> None:
    if spec.get(name) is False:
        f.invalid(problems, (*path, name), False, "must be either unset or set to true")


def _nodes_of(spec: dict[str, Any], fields: tuple[str, ...]) -> list[str]:
    """Return those of these fields that select nodes, as the server quotes them."""
    return [f"`{name}`" for name in fields if spec.get(name) not in (None, "", False)]


def _check_nodes_of_slice(spec: dict[str, Any], path: Path, context: ApiServer, problems: f.Problems) -> None:
    empty = "must be either unset or set to a non-empty string"
    _check_node_name(spec.get("nodeName"), (*path, "nodeName"), empty, problems)
    selector = spec.get("nodeSelector")
    if type(selector) is dict:
        terms, terms_path = selector.get("nodeSelectorTerms"), (*path, "nodeSelector", "nodeSelectorTerms")
        check_node_selector_terms(terms, terms_path, problems)
        if type(terms) is list and len(terms) > 1:
            f.invalid(problems, terms_path, terms, "must have exactly one node selector term")
    fields: tuple[str, ...] = ("nodeName", "nodeSelector", "allNodes")
    _check_true(spec, "allNodes", path, problems)
    if context.has_gate(_PARTITIONS, 36):
        fields = (*fields, "perDeviceNodeSelection")
        _check_true(spec, "perDeviceNodeSelection", path, problems)
    chosen, listed = _nodes_of(spec, fields), ", ".join(f"`{name}`" for name in fields)
    if not chosen:
        f.required(problems, path, f"exactly one of {listed} is required", "name the node of the devices: nodeName")
    elif len(chosen) > 1:
        why = f"exactly one of {listed} is required, but multiple fields are set"
        f.invalid(problems, path, f"{{{', '.join(chosen)}}}", why, "keep one of them")


def _check_devices(spec: dict[str, Any], nested: bool, path: Path, context: ApiServer, problems: f.Problems) -> None:
    devices = [
        (entry, f.as_field_mapping(entry.get("basic")) if nested else entry, index)
        for index, entry in f.indexed_mappings(spec.get("devices"))
    ]
    is_advanced = any(
        context.has_gate(gate, 36) and device.get(key)
        for _, device, _ in devices
        for gate, key in ((_TAINTS, "taints"), (_PARTITIONS, "consumesCounters"))
    )
    if not _is_within(spec.get("devices"), _ADVANCED_DEVICES_MAX if is_advanced else _DEVICES_MAX, path, problems):
        return
    seen: set[str] = set()
    per_device = spec.get("perDeviceNodeSelection") is True
    for entry, device, index in devices:
        name = entry.get("name") or ""
        if type(name) is str:
            if why := names.why_not_dns_label(name):
                f.invalid(problems, (*path, index, "name"), name, why)
            if name in seen:
                f.duplicate(problems, (*path, index), name)
            seen.add(name)
        device_path = (*path, index, "basic") if nested else (*path, index)
        if nested and entry.get("basic") is None and not context.at_least(34):
            f.required(problems, device_path)
        _check_device(device, device_path, context, problems)
        _check_gated_fields(device, per_device, device_path, context, problems)


def _check_device(device: dict[str, Any], path: Path, context: ApiServer, problems: f.Problems) -> None:
    attributes, capacities = (f.as_field_mapping(device.get(key)) for key in ("attributes", "capacity"))
    if (count := len(attributes) + len(capacities)) > _ATTRIBUTES_MAX:
        why = f"the total number of attributes and capacities must not exceed {_ATTRIBUTES_MAX}"
        f.invalid(problems, path, count, why)
    for name, attribute in attributes.items():
        attribute_path = (*path, "attributes", name)
        _check_device_name(name, attribute_path, problems)
        _check_attribute(f.as_field_mapping(attribute), attribute_path, problems)
    shared = device.get("allowMultipleAllocations") is True
    for name, capacity in capacities.items():
        capacity_path = (*path, "capacity", name)
        _check_device_name(name, capacity_path, problems)
        policy = f.as_field_mapping(capacity).get("requestPolicy")
        if type(policy) is not dict or not context.has_gate("DRAConsumableCapacity", 36):
            continue
        if shared:
            _check_policy(
                policy, f.as_field_mapping(capacity).get("value"), (*capacity_path, "requestPolicy"), problems
            )
        else:
            why = "allowMultipleAllocations must be true"
            f.forbidden(problems, (*capacity_path, "requestPolicy"), why, "set allowMultipleAllocations: true")


def _check_device_name(name: str, path: Path, problems: f.Problems) -> None:
    """Check the name of an attribute or a capacity: an identifier, or a domain and one. Further slashes pass."""
    field, parts = f.key_path(path), name.split("/")
    if len(parts) == 2:
        if not parts[0]:
            f.invalid(problems, path, "", "the domain must not be empty", field=field)
        elif why := names.why_not_dns_subdomain(parts[0].lower()):
            f.invalid(problems, path, parts[0], why, field=field)
        elif len(parts[0]) > names.DNS_LABEL_MAX:
            f.too_long(problems, path, names.DNS_LABEL_MAX, field=field)
        if not parts[1]:
            f.invalid(problems, path, "", "the name must not be empty", field=field)
            return
    if len(parts) > 2:
        return
    if len(parts[-1]) > _IDENTIFIER_MAX:
        f.too_long(problems, path, _IDENTIFIER_MAX, field=field)
    if not _is_identifier(parts[-1]):
        why = (
            "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric "
            "characters or '_'"
        )
        f.invalid(problems, path, parts[-1], why, field=field)


def _check_attribute(attribute: dict[str, Any], path: Path, problems: f.Problems) -> None:
    text, version = attribute.get("string"), attribute.get("version")
    if type(text) is str and len(text.encode("utf-8", "surrogatepass")) > _VALUE_MAX:
        f.too_long(problems, (*path, "string"), _VALUE_MAX)
    if type(version) is str and not _is_semver(version):
        why = "must be a string compatible with semver.org spec 2.0.0"
        f.invalid(problems, (*path, "version"), version, why, "write it as 1.2.3")
    if type(version) is str and len(version) > _VALUE_MAX:
        f.too_long(problems, (*path, "version"), _VALUE_MAX)
    # lists of values are behind a gate that is off, and dropped
    set_values = [key for key in ("bool", "int", "string", "version") if attribute.get(key) is not None]
    if len(set_values) != 1:
        value = attribute if set_values else ""
        f.invalid(problems, path, value, "exactly one value must be specified", field=f.key_path(path))


def _check_policy(policy: dict[str, Any], capacity: Any, path: Path, problems: f.Problems) -> None:
    options, extent = policy.get("validValues"), policy.get("validRange")
    size, default = parse(0 if capacity is None else capacity), policy.get("default")
    if options and extent is not None:
        why = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
        f.forbidden(problems, path, why, "keep one of the two")
        return
    key = "validValues" if options else "validRange"
    if not options and extent is None:
        return
    if default is None:
        f.required(problems, (*path, "default"), f"required when {key} is defined")
        return
    chosen = parse(default)
    if size is None or chosen is None:
        return  # a value of another type is reported elsewhere
    if type(options) is list and options:
        _check_options(options, chosen, size, (*path, key), problems)
    elif type(extent) is dict:
        _check_extent(extent, chosen, size, (*path, key), problems)


def _check_options(options: list[Any], default: Quantity, size: Quantity, path: Path, problems: f.Problems) -> None:
    amounts = [parse(0 if item is None else item) for item in options]
    known = [amount for amount in amounts if amount is not None]
    if len(known) < len(amounts):
        return
    for index, (before, after) in enumerate(pairwise(known), 1):
        if before > after:
            f.invalid(problems, (*path, index), str(after), "values must be sorted in ascending order")
    if _is_within(options, _OPTIONS_MAX, path, problems):
        seen: set[int] = set()
        for index, amount in enumerate(known):
            if amount > size:
                why = f"option is larger than capacity value: {size}"
                f.invalid(problems, (*path, index), str(amount), why)
            if amount.value in seen:
                f.duplicate(problems, (*path, index), amount.value)
            seen.add(amount.value)
    if default not in known:
        f.invalid(problems, path, str(default), "default value is not valid according to the requestPolicy")


def _check_extent(extent: dict[str, Any], default: Quantity, size: Quantity, path: Path, problems: f.Problems) -> None:
    low, high, step = (None if extent.get(key) is None else parse(extent[key]) for key in ("min", "max", "step"))
    if low is None:
        f.required(problems, (*path, "min"), "required when validRange is defined")
        return
    if low > size:
        f.invalid(problems, (*path, "min"), str(low), f"min is larger than capacity value: {size}")
    if default < low:
        f.invalid(problems, (*path, "min"), str(default), f"default is less than min: {low}")
    if high is not None:
        _check_high_end(low, high, default, size, (*path, "max"), problems)
    if step is not None:
        _check_step(step, low, (default, high), size, (*path, "step"), problems)


def _check_high_end(
    low: Quantity, high: Quantity, default: Quantity, size: Quantity, path: Path, problems: f.Problems
) -> None:
    if low > high:
        f.invalid(problems, path, str(low), f"min is larger than max: {high}")
    if high > size:
        f.invalid(problems, path, str(high), f"max is larger than capacity value: {size}")
    if default > high:
        f.invalid(problems, path, str(default), f"default is more than max: {high}")


def _check_step(
    step: Quantity,
    low: Quantity,
    amounts: tuple[Quantity | None, ...],
    size: Quantity,
    path: Path,
    problems: f.Problems,
) -> None:
    if low + step > size:
        f.invalid(problems, path, str(step), f"one step {low + step} is larger than capacity value: {size}")
    for amount in amounts:
        if amount is not None and step.value and (amount.value - low.value) % step.value:
            why = f"value is not a multiple of a given step ({step}) from ({low})"
            f.invalid(problems, path, str(amount), why)


def _check_gated_fields(
    device: dict[str, Any], per_device: bool, path: Path, context: ApiServer, problems: f.Problems
) -> None:
    """Check the fields that the server drops while their gates are off."""
    taints, taints_path = device.get("taints"), (*path, "taints")
    if context.has_gate(_TAINTS, 36) and _is_within(taints, _TAINTS_MAX, taints_path, problems):
        for index, taint in f.indexed_mappings(taints):
            _check_taint(taint, (*taints_path, index), problems)
    if context.has_gate(_PARTITIONS, 36):
        consumed, consumed_path = device.get("consumesCounters"), (*path, "consumesCounters")
        if _is_within(consumed, _CONSUMPTIONS_MAX, consumed_path, problems):
            _check_counter_sets(consumed, "counterSet", consumed_path, problems)
        _check_nodes_of_device(device, per_device, path, problems)
    if context.has_gate("DRADeviceBindingConditions", 36):
        _check_conditions(device, path, problems)


def _check_taint(taint: dict[str, Any], path: Path, problems: f.Problems) -> None:
    key, value, effect = (taint.get(name) or "" for name in ("key", "value", "effect"))
    if type(key) is str and (why := why_not_key(key)):
        f.invalid(problems, (*path, "key"), key, why)
    if type(value) is str and value and (why := why_not_value(value)):
        f.invalid(problems, (*path, "value"), value, why)
    if not effect:
        f.required(problems, (*path, "effect"))
    else:
        f.check_choice(problems, (*path, "effect"), effect, _TAINT_EFFECTS)


def _check_counter_sets(sets: Any, key: str, path: Path, problems: f.Problems) -> None:
    """Check sets of counters: those of the slice, or those that a device consumes."""
    seen: set[str] = set()
    for index, counter_set in f.indexed_mappings(sets):
        name, set_path = counter_set.get(key) or "", (*path, index)
        if type(name) is str:
            if not name:
                f.required(problems, (*set_path, key))
            elif why := names.why_not_dns_label(name):
                f.invalid(problems, (*set_path, key), name, why)
            if name in seen:
                f.duplicate(problems, set_path, name)
            seen.add(name)
        _check_counters(counter_set.get("counters"), (*set_path, "counters"), problems)


def _check_counters(counters: Any, path: Path, problems: f.Problems) -> None:
    if not counters:
        f.required(problems, path)
    elif type(counters) is dict and len(counters) > _COUNTERS_MAX:
        f.too_many(problems, path, len(counters), _COUNTERS_MAX)
    elif type(counters) is dict:
        for name in counters:
            if why := names.why_not_dns_label(name):
                f.invalid(problems, (*path, name), name, why)


def _check_nodes_of_device(device: dict[str, Any], per_device: bool, path: Path, problems: f.Problems) -> None:
    fields = ("nodeName", "nodeSelector", "allNodes")
    if not per_device:
        if any(device.get(name) is not None for name in fields):
            why = (
                "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true "
                "in the ResourceSlice spec"
            )
            f.invalid(problems, path, None, why, "set perDeviceNodeSelection: true, or remove them")
        return
    _check_node_name(device.get("nodeName"), (*path, "nodeName"), "must not be empty", problems)
    selector = device.get("nodeSelector")
    if type(selector) is dict:
        terms_path = (*path, "nodeSelector", "nodeSelectorTerms")
        check_node_selector_terms(selector.get("nodeSelectorTerms"), terms_path, problems)
    _check_true(device, "allNodes", path, problems)
    chosen = _nodes_of(device, fields)
    why = (
        "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to "
        "true in the ResourceSlice spec"
    )
    if not chosen:
        f.required(problems, path, why, "name the node of the device: nodeName")
    elif len(chosen) > 1:
        f.invalid(problems, path, f"{{{', '.join(chosen)}}}", why, "keep one of them")


def _check_conditions(device: dict[str, Any], path: Path, problems: f.Problems) -> None:
    """Check the conditions of binding and those of its failure: they come together and do not overlap."""
    needed, failing = (f.as_texts(device.get(key)) for key in ("bindingConditions", "bindingFailureConditions"))
    _check_names(needed, (*path, "bindingConditions"), problems)
    _check_names(failing, (*path, "bindingFailureConditions"), problems)
    for index, item in enumerate(failing):
        if item in needed:
            why = "bindingFailureConditions must not overlap with bindingConditions"
            f.invalid(problems, (*path, "bindingFailureConditions", index), item, why)
    if failing and not needed:
        why = "bindingConditions are required to use bindingFailureConditions"
        f.invalid(problems, (*path, "bindingConditions"), None, why, "set `bindingConditions`")
    elif needed and not failing:
        why = "bindingFailureConditions are required to use bindingConditions"
        f.invalid(problems, (*path, "bindingFailureConditions"), None, why, "set `bindingFailureConditions`")


def _check_names(items: list[str], path: Path, problems: f.Problems) -> None:
    if not _is_within(items, _CONDITIONS_MAX, path, problems):
        return
    for index, item in enumerate(items):
        if why := why_not_key(item):
            f.invalid(problems, (*path, index), item, why)
        if item in items[:index]:
            f.duplicate(problems, (*path, index), item)


def check_device_taint_rule(manifest: Mapping[str, Any], context: ApiServer, problems: f.Problems) -> None:
    """Check a DeviceTaintRule, except its metadata."""
    spec, path = f.as_field_mapping(manifest.get("spec")), ("spec", "deviceSelector")
    selector = f.as_field_mapping(spec.get("deviceSelector"))
    if selector.get("driver") is not None:
        check_driver_name(selector["driver"], (*path, "driver"), problems)
    if selector.get("pool") is not None:
        _check_pool_name(selector["pool"], (*path, "pool"), problems)
    device = selector.get("device")
    if type(device) is str and (why := names.why_not_dns_label(device)):
        f.invalid(problems, (*path, "device"), device, why)
    _check_taint(f.as_field_mapping(spec.get("taint")), ("spec", "taint"), problems)


def resource_slice_update(update: Update) -> Iterator[Problem]:
    """Yield a problem if a ResourceSlice changes its driver, its pool or its node."""
    for path in (("spec", "pool", "name"), ("spec", "driver"), ("spec", "nodeName")):
        if update.under(*path):
            yield f.immutable(path)
