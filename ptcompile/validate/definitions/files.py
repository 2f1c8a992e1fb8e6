"""Definitions of the files and folders that a user names: CRD manifests, and JSON Schemas in kubeconform's layout."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

from ptcompile import disk
from ptcompile.documents import source
from ptcompile.limits import limits
from ptcompile.streams import objects
from ptcompile.validate.definitions import Definition, Definitions, Kind
from ptcompile.validate.definitions.crd import is_crd, kinds_of, served
from ptcompile.validate.definitions.crd_schema import refusal
from ptcompile.validate.definitions.json_schema import JsonSchema
from ptcompile.validate.evaluations import Evaluations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_ENDINGS: Final = (".json", ".yaml", ".yml")


def read_definitions(paths: Iterable[str | os.PathLike[str]]) -> Definitions:
    """The definitions of every file, and of every file under every folder.

    Raises ValueError for a path that is not there, a file that cannot be read, and a path without any definition.
    """
    kinds: dict[Kind, Definition] = {}
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


def definitions_of(manifests: Iterable[Mapping[str, Any]]) -> dict[Kind, Definition]:
    """What the CustomResourceDefinitions among some manifests define."""
    found: dict[Kind, Definition] = {}
    for manifest in manifests:
        if is_crd(manifest):
            found.update(_defined(manifest))
    return found


def _defined(crd: Mapping[str, Any]) -> dict[Kind, Definition]:
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
    return Definitions(definitions_of(one for document in read.documents for _, one in objects(document.data)))


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
