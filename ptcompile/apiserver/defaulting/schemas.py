"""Defaults of the schema of a CustomResourceDefinition."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy

from ptcompile._internal.schema_files import load
from ptcompile.apiserver.kinds import resolve
from ptcompile.kubernetes.unstructured import JsonDict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.apiserver.kinds import Schema


_EMBEDDED_DEFAULTS: dict[str, JsonDict] = {
    **{
        name: {"name": ""}
        for name in (
            "ConfigMapEnvSource",
            "ConfigMapKeySelector",
            "ConfigMapProjection",
            "ConfigMapVolumeSource",
            "SecretEnvSource",
            "SecretKeySelector",
            "SecretProjection",
        )
    },
    "AzureDiskVolumeSource": {"fsType": "ext4", "readOnly": False},
    "FileKeySelector": {"optional": False},
    "GRPCAction": {"service": ""},
    "ISCSIVolumeSource": {"iscsiInterface": "default"},
    "RBDVolumeSource": {"keyring": "/etc/ceph/keyring", "pool": "rbd", "user": "admin"},
    "ScaleIOVolumeSource": {"fsType": "xfs", "storageMode": "ThinProvisioned"},
}
"""Defaults that controller-gen writes into every CRD with a pod template, by the name of the type.
The shared schema of these types has none, because the server sets defaults of built-in kinds in
code.
"""


def resolve_node(schema: Schema, document: str) -> tuple[Schema, str]:
    """Return the schema that a node refers to, and its file."""
    while "$ref" in schema:
        document, name = resolve(document, schema["$ref"])
        schema = load(document)["$defs"][name]
    return schema, document


def property_schema(schema: Schema, key: str) -> Schema:
    """Return the schema of a property: its own, or that of additional properties."""
    own: Schema | None = schema.get("properties", {}).get(key)
    if own is not None:
        return own
    additional = schema.get("additionalProperties")
    return additional if isinstance(additional, dict) else {}


def with_schema_defaults(schema: Schema, document: str, value: Any) -> Any:
    """Return a value with its schema's defaults, without the nulls that the server drops."""
    if schema.get("x-decoded"):
        return value

    embedded = _EMBEDDED_DEFAULTS.get(str(schema.get("$ref", "")).rpartition("/")[2], {})
    schema, document = resolve_node(schema, document)
    if isinstance(value, list):
        return [with_schema_defaults(schema.get("items", {}), document, item) for item in value]
    if not isinstance(value, Mapping):
        return value

    out = {}
    for key, item in value.items():
        child = property_schema(schema, key)
        if item is not None or child.get("nullable"):
            out[key] = with_schema_defaults(child, document, item)

    for key, child in schema.get("properties", {}).items():
        if key not in out and "default" in child:
            out[key] = with_schema_defaults(child, document, deepcopy(child["default"]))

    return {**out, **{key: item for key, item in embedded.items() if key not in out}}
