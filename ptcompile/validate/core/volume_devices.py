"""Volume sources that are disks and drivers of a storage system: csi, fc, iscsi, flocker."""

from __future__ import annotations

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.patterns import Pattern
from ptcompile.validate.core import found as f
from ptcompile.validate.core.context import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_is_iqn = Pattern(r"iqn\.[0-9]{4}-[0-9]{2}\.[A-Za-z0-9.-]+(?::[^,;*&$|\s]+)?").fullmatch
_is_eui = Pattern(r"eui\.[A-Fa-f0-9]{16}").fullmatch
_is_naa = Pattern(r"naa\.[A-Fa-f0-9]{32}").fullmatch
_CSI_NAME_MAX = 63


def check_csi(source: dict[str, Any], path: Path, scope: Scope) -> None:
    """`csi`: a volume that a driver makes in place (Kubernetes 1.36 `validateCSIVolumeSource`)."""
    found, driver, secret = scope.found, source.get("driver"), source.get("nodePublishSecretRef")
    if f.is_empty(driver):
        f.required(found, (*path, "driver"))
    elif type(driver) is str:
        if len(driver) > _CSI_NAME_MAX:
            f.too_long(found, (*path, "driver"), _CSI_NAME_MAX)
        elif why := names.why_not_dns_subdomain(driver.lower()):
            f.invalid(found, (*path, "driver"), driver, why)
    if type(secret) is dict and f.is_empty(secret.get("name")):
        f.required(found, (*path, "nodePublishSecretRef", "name"))


def check_fc(source: dict[str, Any], path: Path, scope: Scope) -> None:
    """`fc`: a Fibre Channel disk, by targetWWNs and lun or by wwids."""
    found, targets, ids, lun = scope.found, source.get("targetWWNs"), source.get("wwids"), source.get("lun")
    if not targets and not ids:
        f.required(found, (*path, "targetWWNs"), "must specify either targetWWNs or wwids, but not both")
    elif targets and ids:
        f.invalid(found, (*path, "targetWWNs"), targets, "targetWWNs and wwids can not be specified simultaneously")
    if targets:
        if lun is None:
            f.required(found, (*path, "lun"), "lun is required if targetWWNs is specified")
        f.check_range(found, (*path, "lun"), lun, 0, 255)


def check_flocker(source: dict[str, Any], path: Path, scope: Scope) -> None:
    """`flocker`: a data set by name or by UUID."""
    name, uuid = source.get("datasetName"), source.get("datasetUUID")
    if not name and not uuid:
        f.required(scope.found, path, "one of datasetName and datasetUUID is required")
    elif name and uuid:
        why = "datasetName and datasetUUID can not be specified simultaneously"
        f.invalid(scope.found, path, "resource", why)
    elif type(name) is str and "/" in name:
        f.invalid(scope.found, (*path, "datasetName"), name, "must not contain '/'")


def check_iscsi(source: dict[str, Any], path: Path, scope: Scope) -> None:
    """`iscsi`: portal, target name, logical unit and who may log in."""
    found, target, initiator = scope.found, source.get("iqn"), source.get("initiatorName")
    f.require(source, path, scope.found, "targetPortal", "iqn")
    for key, name in (("iqn", target), ("initiatorName", initiator)):
        if type(name) is str and (name or key != "iqn") and not (_is_iqn(name) or _is_eui(name) or _is_naa(name)):
            f.invalid(found, (*path, key), name, "must be valid format", "write iqn.yyyy-mm.domain:name")
    f.check_range(found, (*path, "lun"), source.get("lun"), 0, 255)
    secret = source.get("secretRef")
    if secret is None and (source.get("chapAuthDiscovery") is True or source.get("chapAuthSession") is True):
        f.required(found, (*path, "secretRef"))
    elif type(secret) is dict and f.is_empty(secret.get("name")):
        f.required(found, (*path, "secretRef", "name"))
