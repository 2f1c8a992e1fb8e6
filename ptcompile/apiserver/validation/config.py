"""ConfigMap and Secret.

Source: docs/facts/api-server.md#services-and-configmaps 209 to 212, Kubernetes 1.36.
"""

from __future__ import annotations

from ptcompile.apiserver.validation.field import FieldValue, byte_count
from ptcompile.diagnostics import Problems
from ptcompile.diagnostics.field_errors import forbidden_change, immutable, key_path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import Update
from ptcompile.kubernetes.unstructured import Json, without_keys

DATA_MAX = 1024 * 1024
"""Maximum number of bytes in all values of a ConfigMap or Secret."""

_ACCOUNT_ANNOTATION = "kubernetes.io/service-account.name"
_KEYS_BY_TYPE = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}


def check_config_map(config_map: FieldValue) -> None:
    """Check a ConfigMap, except its metadata."""
    data = config_map["data"]
    binary = config_map["binaryData"]
    _check_keys(data)
    _check_keys(binary)
    for key, entry in data.entries():
        if key in binary.mapping:
            entry.replaced(key).invalid(
                "duplicate of key present in binaryData", "keep one", key_path(entry.path)
            )

    if _text_bytes(data.mapping) + _decoded_bytes(binary.mapping) > DATA_MAX:
        data.too_long(DATA_MAX, "put large files into an image or a volume", "[]")


def check_secret(secret: FieldValue) -> None:
    """Check a Secret, except its metadata."""
    data = secret["data"]
    text = secret["stringData"]
    _check_keys(data)
    _check_keys(text)
    if (
        _text_bytes(text.mapping) + _decoded_bytes(without_keys(data.mapping, *text.mapping))
        > DATA_MAX
    ):
        data.too_long(DATA_MAX, "put large files into a volume")

    keys = data.mapping.keys() | text.mapping.keys()
    kind = secret.get("type")
    if type(kind) is str:
        for key in _KEYS_BY_TYPE.get(kind, ()):
            if key not in keys:
                entry = data[key]
                entry.required(
                    help=f"add it: a Secret of type {kind} has this key", field=key_path(entry.path)
                )

    if kind == "kubernetes.io/basic-auth" and not keys & {"username", "password"}:
        data["username"].required(help="set username or password", field="data[username]")
    if kind == "kubernetes.io/service-account-token":
        account = secret["metadata"]["annotations"][_ACCOUNT_ANNOTATION]
        if account.is_empty:
            account.required(help="name the service account", field=key_path(account.path))


def _check_keys(data: FieldValue) -> None:
    for key, entry in data.entries():
        if why := names.why_not_config_key(key):
            entry.replaced(key).invalid(why, "rename the key", key_path(entry.path))


def _text_bytes(data: Json) -> int:
    return sum(byte_count(value) for value in data.values() if type(value) is str)


def _decoded_bytes(data: Json) -> int:
    """Return the number of bytes in base64 texts after decoding."""
    return sum(len(v.rstrip("=")) * 3 // 4 for v in data.values() if type(v) is str)


_RENAME_HELP = (
    "give it a new name, and use that name in the pods; a hash of the content as suffix is common"
)


def config_map_update(update: Update) -> Problems:
    """Yield a problem for each change to an immutable ConfigMap."""
    yield from _immutable_changes(update, "data", "binaryData")


def secret_update(update: Update) -> Problems:
    """Yield a problem if the type of a Secret changes, and for each change to an immutable
    Secret.
    """
    if update.under("type"):
        yield immutable(
            ("type",), update.new.get("type"), "delete it and apply again, or give it a new name"
        )
    yield from _immutable_changes(update, "data", "stringData")


def _immutable_changes(update: Update, *fields: str) -> Problems:
    if update.old.get("immutable") is not True:
        return
    for name in (*fields, "immutable"):
        if update.under(name):
            yield forbidden_change(
                (name,), "field is immutable when `immutable` is set", _RENAME_HELP
            )
