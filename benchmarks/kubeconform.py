"""What kubeconform needs to judge the same files: our schemas, each in one piece, as those that
it is used with.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from ptcompile._internal.schema_files import load
from ptcompile.apiserver.kinds import BUILT_IN, CORE, CUSTOM, resolve

if TYPE_CHECKING:
    from ptcompile._internal.schema_files import Schema

INT_OR_STRING = {"oneOf": [{"type": "string"}, {"type": "integer"}]}


def command(path: str, schemas: Path, manifests: Path) -> list[str]:
    """The words of a run over a folder; the schemas are written into another one."""
    schemas.mkdir()
    for (api_version, kind), definition in BUILT_IN.items():
        _write(schemas, api_version, kind, _standalone(CORE, load(CORE)["$defs"][definition]))
    for (api_version, kind), name in CUSTOM.items():
        _write(schemas, api_version, kind, _standalone(name, load(name)))
    location = f"{schemas}/{{{{ .ResourceKind }}}}{{{{ .KindSuffix }}}}.json"
    return [path, "-strict", "-schema-location", location, str(manifests)]


def _write(folder: Path, api_version: str, kind: str, schema: Schema) -> None:
    """Under the name that kubeconform looks for: `job-batch-v1.json`; of a group only its first
    label counts.
    """
    group, _, version = api_version.rpartition("/")
    suffix = f"-{group.partition('.')[0]}-{version}" if group else f"-{version}"
    (folder / f"{kind.lower()}{suffix}.json").write_text(json.dumps(schema), encoding="utf-8")


def _standalone(file: str, part: Schema) -> Schema:
    """A schema with what it refers to in its place, and without the words that are Kubernetes'
    own.
    """
    if "$ref" in part:
        file, definition = resolve(file, part["$ref"])
        return _standalone(file, load(file)["$defs"][definition])
    if part.get("x-kubernetes-int-or-string"):
        return INT_OR_STRING

    made = {word: value for word, value in part.items() if word[0] not in "x$"}
    if "properties" in part:
        made["properties"] = {
            name: _standalone(file, one) for name, one in part["properties"].items()
        }

    for word in ("items", "additionalProperties"):
        if isinstance(part.get(word), dict):
            made[word] = _standalone(file, part[word])

    return made
