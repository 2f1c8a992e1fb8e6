"""PodDisruptionBudget (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.percentages import check_amount_or_percent
from ptcompile.validate.core.selectors import check_selector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def check_disruption_budget(manifest: Mapping[str, Any], context: ApiServer, found: f.Found) -> None:
    """A PodDisruptionBudget without its metadata."""
    spec = f.mapping(manifest.get("spec"))
    both = ("minAvailable", "maxUnavailable")
    if all(spec.get(name) is not None for name in both):
        f.invalid(found, ("spec",), spec, "minAvailable and maxUnavailable cannot be both set", "keep one of the two")
    for name in both:
        check_amount_or_percent(spec.get(name), ("spec", name), found)
    check_selector(spec.get("selector"), ("spec", "selector"), found)
    policy = ("AlwaysAllow", "IfHealthyBudget")
    f.check_choice(found, ("spec", "unhealthyPodEvictionPolicy"), spec.get("unhealthyPodEvictionPolicy"), policy)
