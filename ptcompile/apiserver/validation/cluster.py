"""Small cluster kinds: PriorityClass, RuntimeClass, Lease."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.metadata import check_labels
from ptcompile.apiserver.validation.resources import check_amounts
from ptcompile.apiserver.validation.scheduling import check_toleration
from ptcompile.kubernetes import names
from ptcompile.registry.model import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


def check_lease(manifest: Mapping[str, Any], context: ApiServer, problems: f.Problems) -> None:
    """Check a Lease, except its metadata."""
    spec = f.as_field_mapping(manifest.get("spec"))
    seconds, changes = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if type(seconds) is int and seconds <= 0:
        f.invalid(problems, ("spec", "leaseDurationSeconds"), seconds, "must be greater than 0")
    f.check_not_negative(problems, ("spec", "leaseTransitions"), changes)


_USER_PRIORITY_MAX: Final = 1_000_000_000
_SYSTEM_PRIORITIES: Final = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
"""The two classes that may have a `system-` name, and their values."""


def check_priority_class(manifest: Mapping[str, Any], context: ApiServer, problems: f.Problems) -> None:
    """Check a PriorityClass, except its metadata."""
    name, value = f.as_field_mapping(manifest.get("metadata")).get("name"), manifest.get("value")
    if type(name) is str and name.startswith("system-"):
        if _SYSTEM_PRIORITIES.get(name) != value:
            why = "priority class names with 'system-' prefix are reserved for system use only"
            f.forbidden(problems, ("metadata", "name"), why, "use another name")
    elif type(value) is int and value > _USER_PRIORITY_MAX:
        why = f"maximum allowed value of a user defined priority is {_USER_PRIORITY_MAX}"
        f.forbidden(problems, ("value",), why, f"use {_USER_PRIORITY_MAX} or less")
    policy = manifest.get("preemptionPolicy")
    f.check_choice(problems, ("preemptionPolicy",), policy, ("Never", "PreemptLowerPriority"))


def check_runtime_class(manifest: Mapping[str, Any], context: ApiServer, problems: f.Problems) -> None:
    """Check a RuntimeClass, except its metadata."""
    handler = manifest.get("handler")
    if handler is None or handler == "":
        f.required(problems, ("handler",))
    elif type(handler) is str and (why := names.why_not_dns_label(handler)):
        f.invalid(problems, ("handler",), handler, why)
    fixed = f.as_field_mapping(manifest.get("overhead")).get("podFixed")
    check_amounts({"limits": fixed}, ("overhead", "podFixed"), problems, partial=True)
    scheduling = f.as_field_mapping(manifest.get("scheduling"))
    check_labels(scheduling.get("nodeSelector"), ("scheduling", "nodeSelector"), problems)
    for index, toleration in f.indexed_mappings(scheduling.get("tolerations")):
        check_toleration(toleration, ("scheduling", "tolerations", index), problems)
