"""The descriptions of Kubernetes' and the operators' fields: `schemas/descriptions/`, a file for
each schema.

They are read when a person asks about a field, in the editor or with `ptcompile explain`, and by
nothing else. A key is the name of a kind or a definition, followed by the path below it without the
items of lists and the keys of maps. `update.py` writes the files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from crds import METADATA
from groups import Definitions, Places

Schema = Mapping[str, Any]

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "descriptions"


def kubernetes(
    definitions: Definitions, files: Mapping[Path, str], places: Places
) -> dict[Path, str]:
    """Return the text of every file about Kubernetes' own kinds; a field is described by the
    newest version with it.
    """
    described: dict[str, dict[str, str]] = {}
    for _, of_version in sorted(definitions.items()):
        for name, schema in of_version.items():
            file, key = places.file_and_key(name)
            for prop, value in schema.get("properties", {}).items():
                if text := value.get("description"):
                    described.setdefault(file, {})[f"{key}.{prop}"] = _joined(text)

    out = {}
    for path, content in files.items():
        if path.name == "kinds.json":
            continue

        kept = {
            f"{key}.{prop}"
            for key, schema in json.loads(content)["$defs"].items()
            for prop in _fields(key, schema)
        }
        texts = described.get(
            "" if path.name == "core.json" and path.parent.name == "kubernetes" else path.stem, {}
        )
        out[FOLDER / path.relative_to(HERE)] = _document(
            {key: texts[key] for key in kept & texts.keys()}
        )

    return out


def _fields(name: str, schema: Schema) -> Iterable[str]:
    """Return the fields that a file may hold: not those that the server reports."""
    return (
        [prop for prop in schema.get("properties", {}) if prop != "status"]
        if not name.endswith("Status")
        else []
    )


def custom(folder: Path) -> dict[Path, str]:
    """Return the text of every file about the kinds of CRDs, from the CRD manifests of a folder."""
    crds = {}
    for path in sorted(folder.rglob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            if isinstance(document, dict) and document.get("kind") == "CustomResourceDefinition":
                names = document["spec"]["names"]["kind"]
                for version in document["spec"]["versions"]:
                    key = (f"{document['spec']['group']}/{version['name']}", names)
                    crds[key] = version.get("schema", {}).get("openAPIV3Schema", {})

    out: dict[Path, dict[str, str]] = {}
    for path, kind, schema in _custom_kinds():
        document = json.loads(path.read_text(encoding="utf-8"))
        out.setdefault(path, {}).update(
            _texts(kind[1], schema, crds.get(kind, {}), document.get("$defs", {}))
        )

    return {
        FOLDER / path.relative_to(HERE): _document(texts) for path, texts in out.items() if texts
    }


def _custom_kinds() -> Iterator[tuple[Path, tuple[str, str], Schema]]:
    """Yield each kind of a CRD that has a schema here: its file, apiVersion and kind, and the
    schema.
    """
    from ptcompile.apiserver.kinds import CUSTOM

    for kind, name in CUSTOM.items():
        yield HERE / name, kind, json.loads((HERE / name).read_text(encoding="utf-8"))
    for path in sorted((HERE / "crds").glob("*.json")):
        for version, kinds in json.loads(path.read_text(encoding="utf-8"))["kinds"].items():
            for name, entry in kinds.items():
                yield path, (version, name), entry["schema"]


def _texts(key: str, ours: Schema, theirs: Schema, defs: Schema) -> dict[str, str]:
    """Return the descriptions of the fields that our schema has in its own file, by their keys."""
    if str(ours.get("$ref", "")).startswith("#/$defs/"):
        ours = defs[ours["$ref"].removeprefix("#/$defs/")]
    texts = {}
    for name, schema in ours.get("properties", {}).items():
        inner = theirs.get("properties", {}).get(name, {})
        if schema == METADATA or name == "status" or not inner:
            continue
        if text := inner.get("description"):
            texts[f"{key}.{name}"] = _joined(text)
        texts |= _texts(f"{key}.{name}", schema, inner, defs)

    for word in ("items", "additionalProperties"):
        if isinstance(ours.get(word), dict) and isinstance(theirs.get(word), dict):
            texts |= _texts(key, ours[word], theirs[word], defs)

    return texts


def _joined(text: str) -> str:
    """Return a description with each paragraph on one line."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))


def _document(texts: Mapping[str, str]) -> str:
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(texts[key])}" for key in sorted(texts))
    return f"{{\n{lines}\n}}\n"
