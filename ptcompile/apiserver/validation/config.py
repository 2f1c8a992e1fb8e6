"""ConfigMap and Secret.

Source: docs/facts/api-server.md#services-and-configmaps 209 to 212, Kubernetes 1.36.
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any
from ptcompile.diagnostics import Path, Problems
from ptcompile.diagnostics.field_errors import FieldErrors, forbidden_change, immutable, is_empty, key_path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer, Update
from ptcompile.kubernetes.unstructured import Json, nested_map

DATA_MAX = 1024 * 1024
"""Maximum number of bytes in all values of a ConfigMap or Secret."""

_ACCOUNT_ANNOTATION = "kubernetes.io/service-account.name"
_KEYS_BY_TYPE = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}


def check_config_map(manifest: Any, context: ApiServer, problems: FieldErrors) -> None:
    """Check a ConfigMap, except its metadata."""
    data = nested_map(manifest, "data")
    binary = nested_map(manifest, "binaryData")
    _check_keys(data, ("data",), problems)
    _check_keys(binary, ("binaryData",), problems)
    for key in data:
        if key in binary:
            field = key_path(("data", key))
            problems.invalid(("data", key), key, "duplicate of key present in binaryData", "keep one", field)
    size = _text_bytes(data) + _decoded_bytes(binary)
    if size > DATA_MAX:
        problems.too_long(("data",), DATA_MAX, "put large files into an image or a volume", "[]")


def check_secret(manifest: Any, context: ApiServer, problems: FieldErrors) -> None:
    """Check a Secret, except its metadata."""
    data = nested_map(manifest, "data")
    text = nested_map(manifest, "stringData")
    _check_keys(data, ("data",), problems)
    _check_keys(text, ("stringData",), problems)
    if _text_bytes(text) + _decoded_bytes({k: v for k, v in data.items() if k not in text}) > DATA_MAX:
        problems.too_long(("data",), DATA_MAX, "put large files into a volume")
    keys = {**data, **text}
    kind = manifest.get("type")
    for key in _KEYS_BY_TYPE.get(kind, ()) if type(kind) is str else ():
        if key not in keys:
            entry_path = ("data", key)
            problems.required(
                entry_path, help=f"add it: a Secret of type {kind} has this key", field=key_path(entry_path)
            )
    if kind == "kubernetes.io/basic-auth" and not keys.keys() & {"username", "password"}:
        problems.required(("data", "username"), help="set username or password", field="data[username]")
    if kind == "kubernetes.io/service-account-token":
        notes = nested_map(manifest, "metadata", "annotations")
        if is_empty(notes.get(_ACCOUNT_ANNOTATION)):
            path: Path = ("metadata", "annotations", _ACCOUNT_ANNOTATION)
            problems.required(path, help="name the service account", field=key_path(path))


def _check_keys(data: Json, path: Path, problems: FieldErrors) -> None:
    for key in data:
        if why := names.why_not_config_key(key):
            entry_path = (*path, key)
            problems.invalid(entry_path, key, why, "rename the key", key_path(entry_path))


def _text_bytes(data: Json) -> int:
    return sum(len(v.encode("utf-8", "surrogatepass")) for v in data.values() if type(v) is str)


def _decoded_bytes(data: Json) -> int:
    """Return the number of bytes in base64 texts after decoding."""
    return sum(len(v.rstrip("=")) * 3 // 4 for v in data.values() if type(v) is str)


_RENAME_HELP = "give it a new name, and use that name in the pods; a hash of the content as suffix is common"


def config_map_update(update: Update) -> Problems:
    """Yield a problem for each change to an immutable ConfigMap."""
    yield from _immutable_changes(update, "data", "binaryData")


def secret_update(update: Update) -> Problems:
    """Yield a problem if the type of a Secret changes, and for each change to an immutable Secret."""
    if update.under("type"):
        yield immutable(("type",), update.new.get("type"), "delete it and apply again, or give it a new name")
    yield from _immutable_changes(update, "data", "stringData")


def _immutable_changes(update: Update, *fields: str) -> Problems:
    if update.old.get("immutable") is not True:
        return
    for name in (*fields, "immutable"):
        if update.under(name):
            yield forbidden_change((name,), "field is immutable when `immutable` is set", _RENAME_HELP)
