"""StatefulSet (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes import names
from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.percentages import amount_of, check_amount_or_percent
from ptcompile.validate.core.pvc import check_claim_spec
from ptcompile.validate.core.replicas import check_counts, check_kept_running, check_own_selector, check_template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_STRATEGIES: Final = ("OnDelete", "RollingUpdate")
_ORDERS: Final = ("OrderedReady", "Parallel")


def check_stateful_set(manifest: Mapping[str, Any], context: ApiServer, found: f.Found) -> None:
    """A StatefulSet without its metadata."""
    spec, path = f.mapping(manifest.get("spec")), ("spec",)
    check_counts(spec, path, found, "replicas", "minReadySeconds", "revisionHistoryLimit")
    check_counts(f.mapping(spec.get("ordinals")), (*path, "ordinals"), found, "start")
    check_own_selector(spec, path, "StatefulSet", found)
    volumes = _check_claims(spec.get("volumeClaimTemplates"), (*path, "volumeClaimTemplates"), context, found)
    check_template(spec.get("template"), (*path, "template"), context, found, volumes)
    check_kept_running(spec.get("template"), (*path, "template"), "StatefulSet", found)
    order, service = spec.get("podManagementPolicy"), spec.get("serviceName")
    if type(order) is str and order and order not in _ORDERS:
        f.invalid(found, (*path, "podManagementPolicy"), order, "must be 'OrderedReady' or 'Parallel'")
    if context.at_least(34) and type(service) is str and service and (why := names.why_not_dns_label(service)):
        f.invalid(found, (*path, "serviceName"), service, why)
    _check_strategy(f.mapping(spec.get("updateStrategy")), (*path, "updateStrategy"), context, found)
    policy = f.mapping(spec.get("persistentVolumeClaimRetentionPolicy"))
    for name in ("whenDeleted", "whenScaled"):
        if policy.get(name):
            here = (*path, "persistentVolumeClaimRetentionPolicy", name)
            f.check_choice(found, here, policy[name], ("Delete", "Retain"))


def _check_claims(claims: Any, path: Path, context: ApiServer, found: f.Found) -> frozenset[str]:
    """The claims that each pod gets; the names of the volumes that hold them."""
    volumes = set()
    for index, claim in f.objects(claims):
        name = f.mapping(claim.get("metadata")).get("name")
        if type(name) is str:
            volumes.add(name)
        if context.at_least(36):
            check_claim_spec(claim.get("spec"), (*path, index, "spec"), found)
    return frozenset(volumes)


def _check_strategy(strategy: dict[str, Any], path: Path, context: ApiServer, found: f.Found) -> None:
    kind, rolling, here = (
        strategy.get("type") or "RollingUpdate",
        strategy.get("rollingUpdate"),
        (*path, "rollingUpdate"),
    )
    if type(kind) is str and kind not in _STRATEGIES:
        f.invalid(found, (*path, "type"), kind, "must be 'RollingUpdate' or 'OnDelete'")
    elif kind == "OnDelete" and rolling is not None:
        f.invalid(found, here, rolling, "only allowed for updateStrategy 'RollingUpdate'", "remove it")
    elif type(rolling) is dict:
        check_counts(rolling, here, found, "partition")
        gone = rolling.get("maxUnavailable")
        if gone is None or not context.at_least(35):  # its gate is on from 1.35; before, the field is dropped
            return
        check_amount_or_percent(gone, (*here, "maxUnavailable"), found)
        if amount_of(gone) == 0:
            f.invalid(found, (*here, "maxUnavailable"), gone, "cannot be 0", "use 1 or more, or remove it")
