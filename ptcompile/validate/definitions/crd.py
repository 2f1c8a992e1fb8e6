"""From a CustomResourceDefinition to the dialect of our own schemas (`schemas/README.md`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.kubernetes.goregex import Theirs
from ptcompile.validate.structure_further import LOGIC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Schema = dict[str, Any]

_KEPT: Final = (
    "default",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "nullable",
    "pattern",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-preserve-unknown-fields",
)
_TEXT: Final[Schema] = {"type": "string"}
_METADATA: Final[Schema] = {"$ref": "kubernetes/core.json#/$defs/ObjectMeta", "x-decoded": True}


def is_crd(manifest: Mapping[str, Any]) -> bool:
    """Whether an object is a CustomResourceDefinition of the version that servers still take."""
    kind = manifest.get("kind"), manifest.get("apiVersion")
    return kind == ("CustomResourceDefinition", "apiextensions.k8s.io/v1")


def served(crd: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Each served version of a CRD that has a schema: apiVersion, kind and the version as the CRD has it."""
    spec = _object(crd.get("spec"))
    group, kind = spec.get("group"), _object(spec.get("names")).get("kind")
    versions = spec.get("versions")
    if not isinstance(group, str) or not isinstance(kind, str) or not isinstance(versions, list):
        return
    for version in versions:
        schema = _object(_object(version).get("schema")).get("openAPIV3Schema")
        if isinstance(schema, dict) and version.get("served") is not False:
            yield f"{group}/{version.get('name')}", kind, version


def kinds_of(crd: Mapping[str, Any], metadata: Schema = _METADATA) -> Iterator[tuple[str, str, Schema, bool]]:
    """Each served version of a CRD: apiVersion, kind, schema in our dialect, and whether status is a subresource.

    `metadata` refers to the schema of an object's metadata. The CRD's schemas are ones that the API server takes.
    """
    spec = _object(crd.get("spec"))
    for api_version, kind, version in served(crd):
        root = dialect(version["schema"]["openAPIV3Schema"])
        if root.get("x-kubernetes-preserve-unknown-fields") or spec.get("preserveUnknownFields"):
            root["x-kubernetes-preserve-unknown-fields"] = True
        own = {"apiVersion": _TEXT, "kind": _TEXT, "metadata": metadata}
        root["properties"] = {**root.get("properties", {}), **own}
        status = "status" in _object(version.get("subresources"))
        yield api_version, kind, root, status


def dialect(node: Mapping[str, Any]) -> Schema:
    """One node of a structural schema in our dialect: no prose; what a default fills in is not required."""
    out = _itself(node)
    children = {name: dialect(one) for name, one in _object(node.get("properties")).items() if isinstance(one, dict)}
    if node.get("x-kubernetes-embedded-resource"):
        children = {**children, "apiVersion": _TEXT, "kind": _TEXT, "metadata": _METADATA}
        out["required"] = ["apiVersion", "kind"]
    if children:
        out["properties"] = children
    required = [name or "" for name in node.get("required") or () if "default" not in children.get(name, {})]
    if required:
        out["required"] = sorted({*required, *out.get("required", ())})
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            out[key] = dialect(node[key])
    if out.get("type") == "array":
        out.setdefault("items", {})
    if node.get("additionalProperties") is True:
        out["x-kubernetes-preserve-unknown-fields"] = True
    rules = [dict(rule) for rule in node.get("x-kubernetes-validations") or () if isinstance(rule, dict)]
    if rules:
        out["x-rules"] = rules
    below = [*children.values(), *(out[key] for key in ("items", "additionalProperties") if key in out)]
    if rules or any(child.get("x-ruled") for child in below):
        out["x-ruled"] = True
    return out


def _itself(node: Mapping[str, Any]) -> Schema:
    """What a node says of its own value, without its parts. As in Go, null is an absent field, and so is `enum: []`."""
    out: Schema = {key: node[key] for key in _KEPT if node.get(key) is not None}
    if out.get("enum") == []:
        del out["enum"]
    if isinstance(out.get("pattern"), str):
        out["pattern"] = Theirs(out["pattern"])
    if node.get("x-kubernetes-int-or-string"):
        out["type"] = "int-or-string"
        return out
    if node.get("type"):
        out["type"] = node["type"]
    if logic := {key: node[key] for key in LOGIC if node.get(key) is not None}:
        out["x-logic"] = logic
    return out


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
