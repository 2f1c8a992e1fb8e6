"""PersistentVolumeClaim: creation and updates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.context import is_dropped
from ptcompile.apiserver.validation.field_errors import forbidden_change
from ptcompile.apiserver.validation.metadata import check_selector
from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.quantity import parse
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.registry.model import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.registry.model import Update


NOW: Final = ApiServer()
_ACCESS: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")


def check_claim(manifest: Any, context: ApiServer, found: f.Problems) -> None:
    """A PersistentVolumeClaim without its metadata."""
    check_claim_spec(manifest.get("spec"), ("spec",), found, context)


def check_claim_spec(spec: Any, path: Path, found: f.Problems, context: ApiServer = NOW) -> None:
    """The spec of a claim: access modes, size, class, source."""
    spec = {} if spec is None else spec
    if type(spec) is not dict:
        return
    check_access(spec.get("accessModes"), (*path, "accessModes"), found)
    _check_size(f.as_field_mapping(spec.get("resources")), (*path, "resources"), found)
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


def check_access(modes: Any, path: Path, found: f.Problems) -> None:
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


def _check_size(resources: dict[str, Any], path: Path, found: f.Problems) -> None:
    requests = resources.get("requests")
    if requests is not None and type(requests) is not dict:
        return
    text, at = f.as_field_mapping(requests).get("storage"), f"{field_path(path)}[storage]"
    here = (*path, "requests", "storage")
    size = parse(text)
    if text is None:
        f.required(found, here, help="say how much storage is wanted", at=at)
    elif size is not None and size.nano <= 0:
        f.invalid(found, here, str(size), "must be greater than zero", at=at)


def _check_source(source: dict[str, Any], path: Path, found: f.Problems) -> None:
    group, kind = source.get("apiGroup"), source.get("kind")
    for name in ("name", "kind"):
        if f.is_empty(source.get(name)):
            f.required(found, (*path, name))
    if f.is_empty(group) and type(kind) is str and kind and kind != "PersistentVolumeClaim":
        f.invalid(found, path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
    if type(group) is str and group and (why := names.why_not_dns_subdomain(group)):
        f.invalid(found, (*path, "apiGroup"), group, why)


_GROWS = ("spec", "resources", "requests", "storage")


def _set_once(path: tuple[str, ...], old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether a change names the volume or the class of a claim that had none, or a source that the server drops."""
    if path[1:2] in (("dataSource",), ("dataSourceRef",)):
        return old.get(path[1]) is None and drops_source(path[1], nested_map(new, path[1]))
    return path[1:] in (("volumeName",), ("storageClassName",)) and not old.get(path[1])


def claim_update(update: Update) -> Iterator[Problem]:
    """A claim: once it is bound it may grow, where its class allows it; a claim that is not bound may not change.

    Whether it is bound stands in `status.phase`, which files do not have: kubectl get -o yaml does.
    """
    touched = [
        path
        for path in update.under("spec")
        if not _set_once(path, *(nested_map(one, "spec") for one in (update.old, update.new)))
    ]
    if not touched:
        return
    bound = update.old.get("status") is None or nested_map(update.old, "status").get("phase") == "Bound"
    live = update.old.get("status") is not None
    size, wanted = (parse(nested_map(one, *_GROWS[:-1]).get("storage")) for one in (update.old, update.new))
    if live and bound and all(path == _GROWS for path in touched):
        if size is not None and wanted is not None and wanted < size:
            text = "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"
            yield Problem("forbidden-value", _GROWS, text, "make a new claim, and copy the data")
        return
    why = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
    yield forbidden_change(("spec",), why, "give the claim a new name; a bound claim may grow (kubectl edit pvc)")
