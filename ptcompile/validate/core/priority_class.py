"""PriorityClass (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_HIGHEST: Final = 1_000_000_000
_SYSTEM: Final = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
"""The two classes that may be named so, and their values."""


def check_priority_class(manifest: Mapping[str, Any], context: ApiServer, found: f.Found) -> None:
    """A PriorityClass without its metadata."""
    name, value = f.mapping(manifest.get("metadata")).get("name"), manifest.get("value")
    if type(name) is str and name.startswith("system-"):
        if _SYSTEM.get(name) != value:
            why = "priority class names with 'system-' prefix are reserved for system use only"
            f.forbidden(found, ("metadata", "name"), why, "use another name")
    elif type(value) is int and value > _HIGHEST:
        why = f"maximum allowed value of a user defined priority is {_HIGHEST}"
        f.forbidden(found, ("value",), why, f"use {_HIGHEST} or less")
    policy = manifest.get("preemptionPolicy")
    f.check_choice(found, ("preemptionPolicy",), policy, ("Never", "PreemptLowerPriority"))
