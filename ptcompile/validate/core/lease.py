"""Lease (Kubernetes 1.36; `strategy` and `preferredHolder` are behind a gate that is off, and dropped)."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def check_lease(manifest: Mapping[str, Any], context: ApiServer, found: f.Found) -> None:
    """A Lease without its metadata."""
    spec = f.mapping(manifest.get("spec"))
    seconds, changes = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if type(seconds) is int and seconds <= 0:
        f.invalid(found, ("spec", "leaseDurationSeconds"), seconds, "must be greater than 0")
    f.check_not_negative(found, ("spec", "leaseTransitions"), changes)
