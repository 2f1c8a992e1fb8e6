"""From CustomResourceDefinitions and schema files to definitions of kinds."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

from ptcompile._internal import files as disk
from ptcompile._internal.limits import limits
from ptcompile.apiserver.crds import Definition, Definitions, GroupVersionKind
from ptcompile.apiserver.crds.schema import refusal
from ptcompile.apiserver.evaluations import Evaluations
from ptcompile.apiserver.goregex import Theirs
from ptcompile.apiserver.structure.json_schema import JsonSchema
from ptcompile.apiserver.structure.keywords import LOGIC
from ptcompile.source import documents as source
from ptcompile.source.streams import objects_in

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


_ENDINGS: Final = (".json", ".yaml", ".yml")


def read_definitions(paths: Iterable[str | os.PathLike[str]]) -> Definitions:
    """The definitions of every file, and of every file under every folder.

    Raises ValueError for a path that is not there, a file that cannot be read, and a path without any definition.
    """
    kinds: dict[GroupVersionKind, Definition] = {}
    schemas: dict[str, JsonSchema] = {}
    for path in [paths] if isinstance(paths, str | os.PathLike) else paths:
        name = os.fspath(path)
        before = len(kinds) + len(schemas)
        reader = disk.read_found if os.path.isdir(name) else disk.read
        for file in files_of(name):
            found = _read(file, reader, *_stamp(file))
            kinds.update(found.kinds)
            schemas.update(found.files)
        if len(kinds) + len(schemas) == before:
            raise ValueError(f"{name}: there is no CustomResourceDefinition and no JSON Schema in it")
    return Definitions(kinds, schemas, Evaluations())


def definitions_of(manifests: Iterable[Mapping[str, Any]]) -> dict[GroupVersionKind, Definition]:
    """What the CustomResourceDefinitions among some manifests define."""
    found: dict[GroupVersionKind, Definition] = {}
    for manifest in manifests:
        if is_crd(manifest):
            found.update(_defined(manifest))
    return found


def _defined(crd: Mapping[str, Any]) -> dict[GroupVersionKind, Definition]:
    """The kinds of one CRD; those of one that the API server refuses are known, and say why they are not checked."""
    try:
        why = refusal(crd)
        if not why:
            every = kinds_of(crd)
            return {(version, kind): Definition(schema, "", status) for version, kind, schema, status in every}
    except Exception as error:  # whatever it is, the CRD is a user's
        why = f"it cannot be read ({type(error).__name__}: {str(error)[:200]})"
    return {(version, kind): Definition({}, "", False, why) for version, kind, _ in served(crd)}


def files_of(path: str) -> Iterator[str]:
    """Yield a file that was named, or the files under a folder that may hold definitions."""
    if not os.path.isdir(path):
        yield path
        return
    for folder, inner, names in disk.walk(path):
        inner.sort()
        yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(_ENDINGS))


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from None
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=512)
def _read(path: str, reader: Callable[[str], bytes], changed: int, size: int) -> Definitions:
    """Return the definitions of a file as it is now: time and size tell a changed file from the one that is kept."""
    try:
        content = reader(path)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from None
    if len(content) > limits().characters:
        raise ValueError(f"{path}: larger than {limits().characters} bytes")
    if path.endswith(".json"):
        schema = _json(content, path)
        if not is_crd(schema):
            return Definitions({}, {name: JsonSchema(schema, path) for name in _names(path)})
        return Definitions(definitions_of([schema]))
    read = source.read(content, path)
    if read.problems:
        raise ValueError(f"{path}: {read.problems[0].message}")
    return Definitions(definitions_of(one for document in read.documents for _, one in objects_in(document.data)))


def _json(content: bytes, path: str) -> dict[str, Any]:
    try:
        schema = json.loads(content)
    except RecursionError:
        raise ValueError(f"{path}: nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(schema, dict):
        raise ValueError(f"{path}: a JSON Schema is a mapping")
    return schema


def _names(path: str) -> tuple[str, str]:
    """The names by which a schema's file is found: with its folder, `batch/job_v1`, and without, `job-batch-v1`."""
    stem = path.removesuffix(".json").replace(os.sep, "/").split("/")
    return "/".join(stem[-2:]).lower(), stem[-1].lower()
