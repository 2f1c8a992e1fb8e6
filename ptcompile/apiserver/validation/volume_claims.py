"""PersistentVolumeClaim: creation and updates."""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.defaulting.built_in import DEFAULT_SERVER, drops_source
from ptcompile.apiserver.validation.context import is_dropped
from ptcompile.apiserver.validation.metadata import check_selector
from ptcompile.diagnostics import Path, Problems, field_path, problem_at
from ptcompile.diagnostics.field_errors import FieldErrors, forbidden_change, is_empty
from ptcompile.kubernetes import names
from ptcompile.kubernetes.quantity import parse
from ptcompile.kubernetes.requests import ApiServer, Update
from ptcompile.kubernetes.unstructured import Json, as_mapping, nested_map

_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")


def check_claim(manifest: Any, context: ApiServer, problems: FieldErrors) -> None:
    """Check a PersistentVolumeClaim, except its metadata."""
    check_claim_spec(manifest.get("spec"), ("spec",), problems, context)


def check_claim_spec(
    spec: Any, path: Path, problems: FieldErrors, context: ApiServer = DEFAULT_SERVER, *, drops: bool = True
) -> None:
    """Check the spec of a claim: access modes, size, class and data source. With `drops`, the server drops some data
    sources unread.
    """
    spec = {} if spec is None else spec
    if type(spec) is not dict:
        return
    check_access(spec.get("accessModes"), (*path, "accessModes"), problems)
    _check_size(nested_map(spec, "resources"), (*path, "resources"), problems)
    check_selector(spec.get("selector"), (*path, "selector"), problems)
    for name in ("storageClassName", "volumeAttributesClassName"):
        value = spec.get(name)
        if type(value) is not str or not value or is_dropped(name, context):
            continue
        problems.check_text((*path, name), value, names.why_not_dns_subdomain)
    problems.check_choice((*path, "volumeMode"), spec.get("volumeMode"), ("Block", "Filesystem"))
    for name in ("dataSource", "dataSourceRef"):
        if type(spec.get(name)) is dict and not (drops and drops_source(name, spec[name], context)):
            _check_source(spec[name], (*path, name), problems)
    _check_same_source(spec, path, context, problems, drops)


def _check_same_source(spec: Json, path: Path, context: ApiServer, problems: FieldErrors, drops: bool) -> None:
    """Check that both data sources, if neither is dropped, name the same object."""
    sources = []
    for name in ("dataSource", "dataSourceRef"):
        if type(spec.get(name)) is not dict or (drops and drops_source(name, spec[name], context)):
            return
        sources.append([spec[name].get(key) or "" for key in ("apiGroup", "kind", "name")])
    if sources[0] != sources[1]:
        problems.invalid(path, spec["dataSource"], "must match dataSourceRef", "keep dataSourceRef")


def check_access(modes: Any, path: Path, problems: FieldErrors) -> None:
    """Check the access modes of a claim or a volume."""
    if modes is None or modes == []:
        problems.required(path, "at least 1 access mode is required", f"use one of {', '.join(_ACCESS_MODES)}")
    if type(modes) is not list:
        return
    for index, item in enumerate(modes):
        mode = "" if item is None else item
        if type(mode) is str and mode not in _ACCESS_MODES:
            problems.unsupported((*path, index), mode, _ACCESS_MODES, field=field_path(path))
    if "ReadWriteOncePod" in modes and any(mode != "ReadWriteOncePod" for mode in modes):
        problems.forbidden(path, "may not use ReadWriteOncePod with other access modes")


def _check_size(resources: Json, path: Path, problems: FieldErrors) -> None:
    requests = resources.get("requests")
    if requests is not None and type(requests) is not dict:
        return
    text = as_mapping(requests).get("storage")
    field = f"{field_path(path)}[storage]"
    storage_path = (*path, "requests", "storage")
    size = parse(text)
    if text is None:
        problems.required(storage_path, help="set the size, such as storage: 10Gi", field=field)
    elif size is not None and size.nano <= 0:
        problems.invalid(storage_path, str(size), "must be greater than zero", field=field)


def _check_source(source: Json, path: Path, problems: FieldErrors) -> None:
    group = source.get("apiGroup")
    kind = source.get("kind")
    problems.check_required(source, path, "name", "kind")
    if is_empty(group) and type(kind) is str and kind and kind != "PersistentVolumeClaim":
        problems.invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
    problems.check_optional_text((*path, "apiGroup"), group, names.why_not_dns_subdomain)


_SIZE_PATH = ("spec", "resources", "requests", "storage")


def _is_first_setting(path: tuple[str, ...], old: Json, new: Json) -> bool:
    """Return whether the change sets the unset volume or class of a claim, or a data source that the server drops."""
    if path[1:2] in (("dataSource",), ("dataSourceRef",)):
        return old.get(path[1]) is None and drops_source(path[1], nested_map(new, path[1]))
    return path[1:] in (("volumeName",), ("storageClassName",)) and not old.get(path[1])


def claim_update(update: Update) -> Problems:
    """Yield a problem for a forbidden change. A bound claim may grow if its class allows it; an unbound claim must not
    change.

    The phase is in `status.phase`, which written files lack and `kubectl get -o yaml` includes.
    """
    touched = [
        path
        for path in update.under("spec")
        if not _is_first_setting(path, *(nested_map(claim, "spec") for claim in (update.old, update.new)))
    ]
    if not touched:
        return
    bound = update.old.get("status") is None or nested_map(update.old, "status").get("phase") == "Bound"
    live = update.old.get("status") is not None
    old_size, new_size = (
        parse(nested_map(claim, *_SIZE_PATH[:-1]).get("storage")) for claim in (update.old, update.new)
    )
    if live and bound and all(path == _SIZE_PATH for path in touched):
        if old_size is not None and new_size is not None and new_size < old_size:
            text = "Forbidden: field can not be less than status.capacity"
            yield problem_at("forbidden-value", _SIZE_PATH, text, "create a new claim and copy the data")
        return
    why = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
    yield forbidden_change(("spec",), why, "give the claim a new name; a bound claim may grow (kubectl edit pvc)")
