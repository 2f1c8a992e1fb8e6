"""Loader of kind definitions from CustomResourceDefinitions and schema files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from ptcompile._internal import files as disk
from ptcompile._internal.lazy import Pattern
from ptcompile._internal.limits import limits
from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.crds import Definition, Definitions
from ptcompile.apiserver.crds.schema import rejection_reason
from ptcompile.apiserver.evaluations import Evaluations
from ptcompile.apiserver.goregex import UntrustedPattern
from ptcompile.apiserver.structure.json_schema import JsonSchema
from ptcompile.apiserver.structure.keywords import LOGIC_KEYWORDS
from ptcompile.kubernetes.requests import GroupVersionKind
from ptcompile.kubernetes.unstructured import Json, as_mapping, kind_of, nested_map, nested_value
from ptcompile.source import documents as source
from ptcompile.source.streams import objects_in

_KEPT_KEYWORDS = (
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
_TEXT_SCHEMA: dict[str, Any] = {"type": "string"}
_METADATA_REFERENCE: dict[str, Any] = {
    "$ref": "kubernetes/core.json#/$defs/ObjectMeta",
    "x-decoded": True,
}
_kubernetes_version = Pattern(r"v([0-9]{1,18})(?:(alpha|beta)([0-9]{1,18}))?").fullmatch


def is_crd(manifest: Json) -> bool:
    """Return whether an object is a CustomResourceDefinition of the version that servers accept."""
    return kind_of(manifest) == ("apiextensions.k8s.io/v1", "CustomResourceDefinition")


def served_versions(crd: Json) -> Iterator[tuple[str, str, Json]]:
    """Yield the apiVersion, kind and version entry of each served version of a CRD that has a
    schema.
    """
    spec = nested_map(crd, "spec")
    group = spec.get("group")
    kind = nested_value(spec, "names", "kind")
    versions = spec.get("versions")
    if not isinstance(group, str) or not isinstance(kind, str) or not isinstance(versions, list):
        return

    for version in versions:
        schema = nested_value(version, "schema", "openAPIV3Schema")
        if isinstance(schema, dict) and version.get("served") is not False:
            yield f"{group}/{version.get('name')}", kind, version


def kinds_of(
    crd: Json, metadata: dict[str, Any] = _METADATA_REFERENCE
) -> Iterator[tuple[str, str, dict[str, Any], bool, str]]:
    """Yield each served version of a CRD: apiVersion, kind, schema in ptcompile's dialect, whether
    status is a subresource, and the warning about its objects if the version is deprecated.

    `metadata` refers to the schema of an object's metadata. The API server must accept the CRD's
    schemas.
    """
    spec = nested_map(crd, "spec")
    for api_version, kind, version in served_versions(crd):
        root = to_dialect(version["schema"]["openAPIV3Schema"])
        if root.get("x-kubernetes-preserve-unknown-fields") or spec.get("preserveUnknownFields"):
            root["x-kubernetes-preserve-unknown-fields"] = True
        object_fields = {"apiVersion": _TEXT_SCHEMA, "kind": _TEXT_SCHEMA, "metadata": metadata}
        root["properties"] = {**root.get("properties", {}), **object_fields}
        status = "status" in nested_map(version, "subresources")
        yield api_version, kind, root, status, deprecation_of(spec, version)


def deprecation_of(spec: Json, version: Json) -> str:
    """Return the API server's warning about objects of one version of a CRD, or "" if the version
    is not deprecated.

    Source: Kubernetes 1.36, apiextensions-apiserver/pkg/apiserver: defaultDeprecationWarning.
    """
    if version.get("deprecated") is not True:
        return ""
    if isinstance(version.get("deprecationWarning"), str):
        return str(version["deprecationWarning"])

    group = spec["group"]
    kind = spec["names"]["kind"]
    name = str(version.get("name"))
    newer = [
        str(other.get("name"))
        for other in map(as_mapping, spec["versions"])
        if other.get("served") is not False and other.get("deprecated") is not True
    ]
    # of two names without a number, the alphabetically first counts as the newer version
    newest = max(sorted(newer), key=_priority, default=name)
    text = f"{group}/{name} {kind} is deprecated"
    if (_priority(newest), name) > (_priority(name), newest):
        return f"{text}; use {group}/{newest} {kind}"

    return text


def _priority(version: str) -> tuple[int, int, int]:
    """Return the sort key of an API version: stable after beta after alpha, each by its numbers.
    Other names come first.
    """
    match = _kubernetes_version(version)
    if match is None:
        return (0, 0, 0)
    major, level, minor = match.groups()
    return {"alpha": 1, "beta": 2}.get(level, 3), int(major), int(minor or 0)


def to_dialect(node: Json) -> dict[str, Any]:
    """Convert one node of a structural schema to ptcompile's dialect, without descriptions. A field
    with a default is not required.
    """
    converted = _own_keywords(node)
    children = {
        name: to_dialect(child)
        for name, child in nested_map(node, "properties").items()
        if isinstance(child, dict)
    }
    if node.get("x-kubernetes-embedded-resource"):
        children |= {
            "apiVersion": _TEXT_SCHEMA,
            "kind": _TEXT_SCHEMA,
            "metadata": _METADATA_REFERENCE,
        }
        converted["required"] = ["apiVersion", "kind"]
        converted["x-embedded"] = True
    if children:
        converted["properties"] = children

    required = [
        name or "" for name in node.get("required") or () if "default" not in children.get(name, {})
    ]
    if required:
        converted["required"] = sorted({*required, *converted.get("required", ())})

    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            converted[key] = to_dialect(node[key])
    if converted.get("type") == "array":
        converted.setdefault("items", {})
    if node.get("additionalProperties") is True:
        converted["x-kubernetes-preserve-unknown-fields"] = True

    rules = [
        dict(rule) for rule in node.get("x-kubernetes-validations") or () if isinstance(rule, dict)
    ]
    if rules:
        converted["x-rules"] = rules

    parts = [
        *children.values(),
        *(converted[key] for key in ("items", "additionalProperties") if key in converted),
    ]
    _mark_parts(converted, parts)

    return converted


def _mark_parts(converted: dict[str, Any], parts: Sequence[Json]) -> None:
    """Mark a node that has rules or embedded objects, or a part with some."""
    if "x-rules" in converted or any(part.get("x-ruled") for part in parts):
        converted["x-ruled"] = True
    if "x-embedded" in converted or any(part.get("x-embeds") for part in parts):
        converted["x-embeds"] = True


def _own_keywords(node: Json) -> dict[str, Any]:
    """Return the keywords of a node for its own value, without its children. As in Go, null and
    `enum: []` mean absent.
    """
    keywords: dict[str, Any] = {
        key: node[key] for key in _KEPT_KEYWORDS if node.get(key) is not None
    }
    if keywords.get("enum") == []:
        del keywords["enum"]
    if isinstance(keywords.get("pattern"), str):
        keywords["pattern"] = UntrustedPattern(keywords["pattern"])
    if node.get("x-kubernetes-int-or-string"):
        keywords["type"] = "int-or-string"
        return keywords

    if node.get("type"):
        keywords["type"] = node["type"]
    if logic := {key: node[key] for key in LOGIC_KEYWORDS if node.get(key) is not None}:
        keywords["x-logic"] = logic

    return keywords


_FILE_ENDINGS = (".json", ".yaml", ".yml")


def read_definitions(paths: Iterable[str | os.PathLike[str]]) -> Definitions:
    """Read the definitions in these files and in all files below these folders.

    Raises ValueError for a missing path, an unreadable file and a path without definitions.
    """
    kinds: dict[GroupVersionKind, Definition] = {}
    schemas: dict[str, JsonSchema] = {}
    for path in [paths] if isinstance(paths, str | os.PathLike) else paths:
        name = os.fspath(path)
        before = len(kinds) + len(schemas)
        reader = disk.read_found if os.path.isdir(name) else disk.read
        for file in files_of(name):
            definitions = _read_file(file, reader, *_modified_and_size(file))
            kinds.update(definitions.kinds)
            schemas.update(definitions.files)
        if len(kinds) + len(schemas) == before:
            raise ValueError(f"{name} contains no CustomResourceDefinition or JSON Schema")

    return Definitions(kinds, schemas, Evaluations())


def definitions_of(manifests: Iterable[Json]) -> dict[GroupVersionKind, Definition]:
    """Return the kinds that the CustomResourceDefinitions among the manifests define."""
    kinds: dict[GroupVersionKind, Definition] = {}
    for manifest in manifests:
        if is_crd(manifest):
            kinds.update(_kinds_by_name(manifest))
    return kinds


def _kinds_by_name(crd: Json) -> dict[GroupVersionKind, Definition]:
    """Return the kinds of one CRD. Those of a CRD that the API server rejects contain the reason
    why they are not checked.
    """
    try:
        why = rejection_reason(crd)
        if not why:
            return {
                (version, kind): Definition(schema, "", status, deprecation=deprecation)
                for version, kind, schema, status, deprecation in kinds_of(crd)
            }
    except Exception as error:
        # a user's CRD may raise anything
        why = f"it cannot be read ({type(error).__name__}: {str(error)[:200]})"

    return {
        (version, kind): Definition({}, "", False, why) for version, kind, _ in served_versions(crd)
    }


def files_of(path: str) -> Iterator[str]:
    """Yield a file that was named, or the files below a folder that may hold definitions."""
    if not os.path.isdir(path):
        yield path
        return

    def fail(error: OSError) -> None:
        raise ValueError(f"{error.filename}: {error.strerror or error}") from None

    for folder, inner, names in disk.walk(path, fail):
        inner.sort()
        yield from (
            os.path.join(folder, name) for name in sorted(names) if name.endswith(_FILE_ENDINGS)
        )


def _modified_and_size(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from None
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=512)
def _read_file(path: str, reader: Callable[[str], bytes], changed: int, size: int) -> Definitions:
    """Return the definitions of a file. `changed` and `size` are part of the cache key, so a
    modified file is read again.
    """
    try:
        content = reader(path)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from None

    if len(content) > limits().characters:
        raise ValueError(f"{path}: larger than {limits().characters} bytes")
    if path.endswith(".json"):
        schema = _parse_schema(content, path)
        if not is_crd(schema):
            return Definitions({}, {name: JsonSchema(schema, path) for name in _lookup_names(path)})
        return Definitions(definitions_of([schema]))

    stream = source.read(content, path)
    if stream.problems:
        raise ValueError(f"{path}: {stream.problems[0].message}")

    return Definitions(
        definitions_of(
            manifest for document in stream.documents for _, manifest in objects_in(document.data)
        )
    )


def _parse_schema(content: bytes, path: str) -> dict[str, Any]:
    try:
        schema = json.loads(content)
    except RecursionError:
        raise ValueError(f"{path}: nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(schema, dict):
        raise ValueError(f"{path}: a JSON Schema must be a mapping")
    return schema


def _lookup_names(path: str) -> tuple[str, str]:
    """Return the two names under which a schema file can be looked up: with its folder,
    `batch/job_v1`, and without, `job-batch-v1`.
    """
    stem = path.removesuffix(".json").replace(os.sep, "/").split("/")
    return "/".join(stem[-2:]).lower(), stem[-1].lower()
