"""PersistentVolumeClaim: creation and updates."""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.defaulting.built_in import DEFAULT_SERVER, drops_source
from ptcompile.apiserver.validation.context import is_dropped
from ptcompile.apiserver.validation.field import CheckScope, FieldValue
from ptcompile.apiserver.validation.metadata import check_selector
from ptcompile.diagnostics import Path, Problems, field_path, problem_at
from ptcompile.diagnostics.field_errors import FieldErrors, forbidden_change
from ptcompile.kubernetes import names
from ptcompile.kubernetes.quantity import parse
from ptcompile.kubernetes.requests import Update
from ptcompile.kubernetes.unstructured import Json, nested_map, nested_value

_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")


def check_claim(claim: FieldValue) -> None:
    """Check a PersistentVolumeClaim, except its metadata."""
    _check_spec(claim["spec"], drops=True)


def check_claim_spec(
    spec: Any,
    path: Path,
    problems: FieldErrors,
    *,
    drops: bool = True,
) -> None:
    """Check the spec of a claim: access modes, size, class and data source. With `drops`, the
    server drops some data sources unread.
    """
    _check_spec(FieldValue(spec, path, CheckScope(DEFAULT_SERVER, problems)), drops)


def _check_spec(spec: FieldValue, drops: bool) -> None:
    if spec.value is not None and not spec.is_mapping:
        return

    check_access(spec["accessModes"])
    _check_size(spec["resources"])
    spec["selector"].check(check_selector)
    for name in ("storageClassName", "volumeAttributesClassName"):
        if not is_dropped(name, spec.server):
            spec[name].check_optional_text(names.why_not_dns_subdomain)
    spec["volumeMode"].check_choice(("Block", "Filesystem"))

    sources = [
        source
        for source in (spec["dataSource"], spec["dataSourceRef"])
        if source.is_mapping
        and not (drops and drops_source(str(source.key), source.value, spec.server))
    ]
    for source in sources:
        _check_source(source)
    if len(sources) > 1:
        first, second = (
            [source.get(key) or "" for key in ("apiGroup", "kind", "name")] for source in sources
        )
        if first != second:
            spec.invalid("must match dataSourceRef", "keep dataSourceRef")


def check_access(modes: FieldValue) -> None:
    """Check the access modes of a claim or a volume."""
    if modes.value in (None, []):
        modes.required(
            "at least 1 access mode is required", f"use one of {', '.join(_ACCESS_MODES)}"
        )
    if not modes.is_list:
        return

    for mode in modes.texts():
        if mode.value not in _ACCESS_MODES:
            mode.unsupported(_ACCESS_MODES, field=field_path(modes.path))
    if "ReadWriteOncePod" in modes.value and any(
        mode != "ReadWriteOncePod" for mode in modes.value
    ):
        modes.forbidden("may not use ReadWriteOncePod with other access modes")


def _check_size(resources: FieldValue) -> None:
    requests = resources["requests"]
    if requests.value is not None and not requests.is_mapping:
        return

    storage = requests["storage"]
    field = f"{field_path(resources.path)}[storage]"
    size = parse(storage.value)
    if storage.value is None:
        storage.required(help="set the size, such as storage: 10Gi", field=field)
    elif size is not None and size.nano <= 0:
        storage.replaced(str(size)).invalid("must be greater than zero", field=field)


def _check_source(source: FieldValue) -> None:
    group = source["apiGroup"]
    kind = source.get("kind")
    source.require("name", "kind")
    if group.is_empty and type(kind) is str and kind and kind != "PersistentVolumeClaim":
        why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        source.replaced(kind).invalid(why)
    group.check_optional_text(names.why_not_dns_subdomain)


_SIZE_PATH = ("spec", "resources", "requests", "storage")


def _is_first_setting(path: tuple[str, ...], old: Json, new: Json) -> bool:
    """Return whether the change sets the unset volume or class of a claim, or a data source that
    the server drops.
    """
    field, *inner = path[1:] or ("",)
    if field in ("dataSource", "dataSourceRef"):
        return old.get(field) is None and drops_source(field, nested_map(new, field))
    return field in ("volumeName", "storageClassName") and not inner and not old.get(field)


def claim_update(update: Update) -> Problems:
    """Yield a problem for a forbidden change. A bound claim may grow if its class allows it; an
    unbound claim must not change.

    The phase is in `status.phase`, which written files lack and `kubectl get -o yaml` includes.
    """
    touched = [
        path for path in update.under("spec") if not _is_first_setting(path, *update.maps("spec"))
    ]
    if not touched:
        return

    bound = (
        update.old.get("status") is None or nested_value(update.old, "status", "phase") == "Bound"
    )
    live = update.old.get("status") is not None
    old_size, new_size = map(parse, update.values(*_SIZE_PATH))
    if live and bound and all(path == _SIZE_PATH for path in touched):
        if old_size is not None and new_size is not None and new_size < old_size:
            text = "Forbidden: field can not be less than status.capacity"
            yield problem_at(
                "forbidden-value", _SIZE_PATH, text, "create a new claim and copy the data"
            )
        return

    why = (
        "spec is immutable after creation except resources.requests and volumeAttributesClassName "
        "for bound claims"
    )
    yield forbidden_change(
        ("spec",), why, "give the claim a new name; a bound claim may grow (kubectl edit pvc)"
    )
