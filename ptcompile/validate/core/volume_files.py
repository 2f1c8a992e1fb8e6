"""Volume sources that are files made by the cluster: configMap, secret, downwardAPI, projected.

Source: docs/facts/api-server.md#volumes-and-mounts 85 to 91, Kubernetes 1.36.
"""

from __future__ import annotations

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes import names
from ptcompile.validate.core import found as f
from ptcompile.validate.core.context import Scope
from ptcompile.validate.core.env import VOLUME_FIELDS, check_field_ref, check_resource_ref
from ptcompile.validate.core.mounts import why_not_relative

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_MODE_MAX: Final = 0o777
_TOKEN_SECONDS: Final = (600, 2**32)


def why_not_file(text: str) -> str | None:
    """Why a path may not be a file in such a volume."""
    return why_not_relative(text) or ("must not start with '..'" if text.startswith("..") else None)


def _check_mode(found: f.Found, path: Path, mode: Any) -> None:
    if type(mode) is int and not 0 <= mode <= _MODE_MAX:
        help = "write it in octal with a leading 0, for example 0644"
        f.invalid(found, path, mode, "must be a number between 0 and 0777 (octal), both inclusive", help)


def _check_items(items: Any, path: Path, found: f.Found) -> None:
    for index, item in f.objects(items):
        here, where = (*path, index), item.get("path")
        if f.is_empty(item.get("key")):
            f.required(found, (*here, "key"))
        _check_file(where, (*here, "path"), found)
        _check_mode(found, (*here, "mode"), item.get("mode"))


def _check_file(where: Any, path: Path, found: f.Found) -> None:
    if f.is_empty(where):
        f.required(found, path)
    elif type(where) is str and (why := why_not_file(where)):
        f.invalid(found, path, where, why)


def check_config_map(source: dict[str, Any], path: Path, scope: Scope) -> None:
    """`configMap` as a volume."""
    _check_keys(source, path, scope.found, "name")


def check_secret(source: dict[str, Any], path: Path, scope: Scope) -> None:
    """`secret` as a volume."""
    _check_keys(source, path, scope.found, "secretName")


def _check_keys(source: dict[str, Any], path: Path, found: f.Found, name: str) -> None:
    if f.is_empty(source.get(name)):
        f.required(found, (*path, name))
    _check_mode(found, (*path, "defaultMode"), source.get("defaultMode"))
    _check_items(source.get("items"), (*path, "items"), found)


def check_downward(source: dict[str, Any], path: Path, scope: Scope) -> None:
    """`downwardAPI` as a volume."""
    _check_mode(scope.found, (*path, "defaultMode"), source.get("defaultMode"))
    _check_downward_items(source.get("items"), (*path, "items"), scope)


def _check_downward_items(items: Any, path: Path, scope: Scope) -> None:
    found = scope.found
    for index, item in f.objects(items):
        here = (*path, index)
        field, resource = item.get("fieldRef"), item.get("resourceFieldRef")
        _check_file(item.get("path"), (*here, "path"), found)
        if field is not None and resource is not None:
            why = "fieldRef and resourceFieldRef can not be specified simultaneously"
            f.invalid(found, here, "resource", why, "keep one of them")
        if type(field) is dict:
            check_field_ref(field, (*here, "fieldRef"), found, VOLUME_FIELDS)
        elif type(resource) is dict:
            check_resource_ref(resource, (*here, "resourceFieldRef"), found, volume=True)
        elif field is None and resource is None:
            f.required(found, here, "one of fieldRef and resourceFieldRef is required", "say what the file holds")
        _check_mode(found, (*here, "mode"), item.get("mode"))


def check_projected(source: dict[str, Any], path: Path, scope: Scope) -> None:
    """`projected`: several such sources in one directory."""
    found = scope.found
    _check_mode(found, (*path, "defaultMode"), source.get("defaultMode"))
    seen: set[str] = set()
    for index, item in f.objects(source.get("sources")):
        here = (*path, "sources", index)
        given = [key for key in _PROJECTIONS if item.get(key) is not None]
        for key in given[1:]:
            f.forbidden(found, (*here, key), "may not specify more than 1 volume type", f"keep only {given[0]}")
        for key in given[:1]:
            if type(item[key]) is dict:
                _PROJECTIONS[key](item[key], (*here, key), scope)
                _check_conflicts(item[key], (*here, key), seen, found)


def _check_conflicts(source: dict[str, Any], path: Path, seen: set[str], found: f.Found) -> None:
    places: list[tuple[Path, Any]] = [((*path, "path"), source.get("path"))]
    places += [((*path, "items", i, "path"), item.get("path")) for i, item in f.objects(source.get("items"))]
    for here, where in places:
        if type(where) is str and where:
            if where in seen:
                f.invalid(found, here, where, "conflicting duplicate paths", "give each file its own path")
            seen.add(where)


def _project_keys(source: dict[str, Any], path: Path, scope: Scope) -> None:
    if f.is_empty(source.get("name")):
        f.required(scope.found, (*path, "name"))
    _check_items(source.get("items"), (*path, "items"), scope.found)


def _project_downward(source: dict[str, Any], path: Path, scope: Scope) -> None:
    _check_downward_items(source.get("items"), (*path, "items"), scope)


def _project_token(source: dict[str, Any], path: Path, scope: Scope) -> None:
    seconds, here = source.get("expirationSeconds"), (*path, "expirationSeconds")
    low, high = _TOKEN_SECONDS
    if type(seconds) is int and seconds < low:
        f.invalid(scope.found, here, seconds, "may not specify a duration less than 10 minutes", "use 600 or more")
    elif type(seconds) is int and seconds > high:
        f.invalid(scope.found, here, seconds, "may not specify a duration larger than 2^32 seconds")
    _check_token_path(source.get("path"), (*path, "path"), scope)


def _check_token_path(where: Any, path: Path, scope: Scope) -> None:
    if f.is_empty(where):
        f.required(scope.found, path)
    elif type(where) is str and (why := why_not_file(where)):
        f.invalid(scope.found, path, where, why)


def _project_bundle(source: dict[str, Any], path: Path, scope: Scope) -> None:
    found, name, signer = scope.found, source.get("name"), source.get("signerName")
    if name and signer:
        f.invalid(found, path, source, "only one of name and signerName may be used")
    elif name is None and signer is None:
        f.required(found, path, "either name or signerName must be specified")
    elif type(name) is str and not name:
        f.required(found, (*path, "name"))
    elif type(name) is str and (why := names.why_not_dns_subdomain(name.replace(":", "."))):
        f.invalid(found, (*path, "name"), name, why)
    _check_token_path(source.get("path"), (*path, "path"), scope)


def _project_certificate(source: dict[str, Any], path: Path, scope: Scope) -> None:
    for key in ("signerName", "keyType"):
        if f.is_empty(source.get(key)):
            f.required(scope.found, (*path, key))


_PROJECTIONS: Final = {
    "secret": _project_keys,
    "configMap": _project_keys,
    "downwardAPI": _project_downward,
    "serviceAccountToken": _project_token,
    "clusterTrustBundle": _project_bundle,
    "podCertificate": _project_certificate,
}
