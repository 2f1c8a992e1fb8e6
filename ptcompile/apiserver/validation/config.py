"""ConfigMap and Secret.

Source: docs/facts/api-server.md#services-and-configmaps 209 to 212, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.field_errors import forbidden_change, immutable
from ptcompile.diagnostics import Path, Problem
from ptcompile.kubernetes import names
from ptcompile.registry.model import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.registry.model import Update


DATA_MAX: Final = 1024 * 1024
"""Bytes in all values of a ConfigMap or Secret."""

_ACCOUNT: Final = "kubernetes.io/service-account.name"
_NEEDED: Final = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}


def check_config_map(manifest: Any, context: ApiServer, found: f.Problems) -> None:
    """A ConfigMap without its metadata."""
    data, binary = f.as_field_mapping(manifest.get("data")), f.as_field_mapping(manifest.get("binaryData"))
    _check_keys(data, ("data",), found)
    _check_keys(binary, ("binaryData",), found)
    for key in data:
        if key in binary:
            at = f.key_path(("data", key))
            f.invalid(found, ("data", key), key, "duplicate of key present in binaryData", "keep one", at)
    size = _size(data) + _decoded_size(binary)
    if size > DATA_MAX:
        f.too_long(found, ("data",), DATA_MAX, "put large files into an image or a volume", "[]")


def check_secret(manifest: Any, context: ApiServer, found: f.Problems) -> None:
    """A Secret without its metadata."""
    data, text = f.as_field_mapping(manifest.get("data")), f.as_field_mapping(manifest.get("stringData"))
    _check_keys(data, ("data",), found)
    _check_keys(text, ("stringData",), found)
    if _size(text) + _decoded_size({k: v for k, v in data.items() if k not in text}) > DATA_MAX:
        f.too_long(found, ("data",), DATA_MAX, "put large files into a volume")
    keys, kind = {**data, **text}, manifest.get("type")
    for key in _NEEDED.get(kind, ()) if type(kind) is str else ():
        if key not in keys:
            here = ("data", key)
            f.required(found, here, help=f"add it: a Secret of type {kind} has this key", at=f.key_path(here))
    if kind == "kubernetes.io/basic-auth" and not keys.keys() & {"username", "password"}:
        f.required(found, ("data", "username"), help="set username or password", at="data[username]")
    if kind == "kubernetes.io/service-account-token":
        notes = f.as_field_mapping(f.as_field_mapping(manifest.get("metadata")).get("annotations"))
        if f.is_empty(notes.get(_ACCOUNT)):
            path: Path = ("metadata", "annotations", _ACCOUNT)
            f.required(found, path, help="name the service account", at=f.key_path(path))


def _check_keys(data: dict[str, Any], path: Path, found: f.Problems) -> None:
    for key in data:
        if why := names.why_not_config_key(key):
            here = (*path, key)
            f.invalid(found, here, key, why, "rename the key", f.key_path(here))


def _size(data: dict[str, Any]) -> int:
    return sum(len(v.encode("utf-8", "surrogatepass")) for v in data.values() if type(v) is str)


def _decoded_size(data: dict[str, Any]) -> int:
    """The size of base64 texts, decoded."""
    return sum(len(v.rstrip("=")) * 3 // 4 for v in data.values() if type(v) is str)


_RENAME: Final = "give it a new name, and use that name in the pods; a hash of the content as suffix is common"


def config_map_update(update: Update) -> Iterator[Problem]:
    """A ConfigMap: nothing of it changes once it is immutable."""
    yield from _immutable(update, "data", "binaryData")


def secret_update(update: Update) -> Iterator[Problem]:
    """A Secret: its type never changes."""
    if update.under("type"):
        yield immutable(("type",), update.new.get("type"), "delete it and apply again, or give it a new name")
    yield from _immutable(update, "data", "stringData")


def _immutable(update: Update, *fields: str) -> Iterator[Problem]:
    if update.old.get("immutable") is not True:
        return
    for name in (*fields, "immutable"):
        if update.under(name):
            yield forbidden_change((name,), "field is immutable when `immutable` is set", _RENAME)
