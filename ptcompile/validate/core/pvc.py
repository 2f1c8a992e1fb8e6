"""PersistentVolumeClaims, alone and inside volumes and operators' templates (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.findings.diagnostics import Path, field_path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.quantity import parse
from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.gates import is_dropped
from ptcompile.validate.core.selectors import check_selector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

NOW: Final = ApiServer()
_ACCESS: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")


def check_claim(manifest: Any, context: ApiServer, found: f.Found) -> None:
    """A PersistentVolumeClaim without its metadata."""
    check_claim_spec(manifest.get("spec"), ("spec",), found, context)


def check_claim_spec(spec: Any, path: Path, found: f.Found, context: ApiServer = NOW) -> None:
    """The spec of a claim: access modes, size, class, source."""
    spec = {} if spec is None else spec
    if type(spec) is not dict:
        return
    check_access(spec.get("accessModes"), (*path, "accessModes"), found)
    _check_size(f.mapping(spec.get("resources")), (*path, "resources"), found)
    check_selector(spec.get("selector"), (*path, "selector"), found)
    for name in ("storageClassName", "volumeAttributesClassName"):
        value = spec.get(name)
        if type(value) is not str or not value or is_dropped(name, context):
            continue
        if why := names.why_not_dns_subdomain(value):
            f.invalid(found, (*path, name), value, why)
    f.check_choice(found, (*path, "volumeMode"), spec.get("volumeMode"), ("Block", "Filesystem"))
    for name in ("dataSource", "dataSourceRef"):
        if type(spec.get(name)) is dict and not drops_source(name, spec[name]):
            _check_source(spec[name], (*path, name), found)


def drops_source(name: str, source: Mapping[str, Any]) -> bool:
    """Whether the server drops a source: a `dataSource` that is neither a claim nor a snapshot, a `dataSourceRef` into
    another namespace, whose gate is off."""
    if name == "dataSourceRef":
        return bool(source.get("namespace"))
    group, kind = source.get("apiGroup") or "", source.get("kind")
    known = (("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot"))
    return (group, kind) not in known


def check_access(modes: Any, path: Path, found: f.Found) -> None:
    """The access modes of a claim or a volume."""
    if modes is None or modes == []:
        f.required(found, path, "at least 1 access mode is required", f"use one of {', '.join(_ACCESS)}")
    if type(modes) is not list:
        return
    for index, mode in enumerate(modes):
        if type(mode) is str and mode not in _ACCESS:
            f.unsupported(found, (*path, index), mode, _ACCESS, at=field_path(path))
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        f.forbidden(found, path, "may not use ReadWriteOncePod with other access modes")


def _check_size(resources: dict[str, Any], path: Path, found: f.Found) -> None:
    requests = resources.get("requests")
    if requests is not None and type(requests) is not dict:
        return
    text, at = f.mapping(requests).get("storage"), f"{field_path(path)}[storage]"
    here = (*path, "requests", "storage")
    size = parse(text)
    if text is None:
        f.required(found, here, help="say how much storage is wanted", at=at)
    elif size is not None and size.nano <= 0:
        f.invalid(found, here, str(size), "must be greater than zero", at=at)


def _check_source(source: dict[str, Any], path: Path, found: f.Found) -> None:
    group, kind = source.get("apiGroup"), source.get("kind")
    for name in ("name", "kind"):
        if f.is_empty(source.get(name)):
            f.required(found, (*path, name))
    if f.is_empty(group) and type(kind) is str and kind and kind != "PersistentVolumeClaim":
        f.invalid(found, path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
    if type(group) is str and group and (why := names.why_not_dns_subdomain(group)):
        f.invalid(found, (*path, "apiGroup"), group, why)
