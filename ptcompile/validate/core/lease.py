"""Lease (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ptcompile.kubernetes import names
from ptcompile.validate.core import found as f
from ptcompile.validate.core.context import Context


def check_lease(manifest: Mapping[str, Any], context: Context, found: f.Found) -> None:
    """A Lease without its metadata."""
    spec = f.mapping(manifest.get("spec"))
    seconds, changes = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if type(seconds) is int and seconds <= 0:
        f.invalid(found, ("spec", "leaseDurationSeconds"), seconds, "must be greater than 0")
    f.check_not_negative(found, ("spec", "leaseTransitions"), changes)
    if not context.at_least(31):
        return
    strategy, holder = spec.get("strategy"), spec.get("preferredHolder")
    if type(holder) is str and holder and not strategy:
        f.forbidden(found, ("spec", "preferredHolder"), "may only be specified if `strategy` is defined")
    if type(strategy) is str and strategy and strategy != "OldestEmulationVersion" and "/" not in strategy:
        known = ("OldestEmulationVersion",)
        f.unsupported(found, ("spec", "strategy"), strategy, known, "name a strategy of your own with a domain")
    elif type(strategy) is str and "/" in strategy and (why := names.why_not_qualified_name(strategy)):
        f.invalid(found, ("spec", "strategy"), strategy, why)
