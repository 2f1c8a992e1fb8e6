"""DaemonSet (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.findings.diagnostics import Path
from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.percentages import amount_of, check_amount_or_percent
from ptcompile.validate.core.replicas import check_counts, check_kept_running, check_own_selector, check_template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def check_daemon_set(manifest: Mapping[str, Any], context: ApiServer, found: f.Found) -> None:
    """A DaemonSet without its metadata."""
    spec, path = f.mapping(manifest.get("spec")), ("spec",)
    check_counts(spec, path, found, "minReadySeconds", "revisionHistoryLimit")
    check_own_selector(spec, path, "DaemonSet", found)
    check_template(spec.get("template"), (*path, "template"), context, found)
    check_kept_running(spec.get("template"), (*path, "template"), "DaemonSet", found)
    strategy = f.mapping(spec.get("updateStrategy"))
    kind = strategy.get("type") or "RollingUpdate"
    f.check_choice(found, (*path, "updateStrategy", "type"), kind, ("OnDelete", "RollingUpdate"))
    rolling = strategy.get("rollingUpdate")
    if kind == "RollingUpdate" and (rolling is None or type(rolling) is dict):
        _check_rolling(rolling or {}, (*path, "updateStrategy", "rollingUpdate"), found)


def _check_rolling(rolling: dict[str, Any], path: Path, found: f.Found) -> None:
    gone, more = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    check_amount_or_percent(gone, (*path, "maxUnavailable"), found)
    check_amount_or_percent(more, (*path, "maxSurge"), found)
    unavailable = amount_of(1 if gone is None else gone)
    if unavailable and amount_of(more):
        why = "may not be set when maxUnavailable is non-zero"
        f.invalid(found, (*path, "maxSurge"), more, why, "set maxUnavailable: 0, or remove maxSurge")
    elif not unavailable and not amount_of(more):
        f.required(found, (*path, "maxUnavailable"), "cannot be 0 when maxSurge is 0", "set one of the two")
