"""The server's other kinds: `kubernetes/kinds.json`, and a file for each API group in
`kubernetes/groups/`.

What `core.json` has is referred to and not repeated. `update.py` writes the files; `README.md`
describes them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

Schema = dict[str, Any]
Definitions = Mapping[int, Mapping[str, Schema]]
Marks = Callable[[list[int]], Schema]
"""`x-since` and `x-until` of what the given minor versions know."""

ANYTHING: Schema = {"x-kubernetes-preserve-unknown-fields": True}
OPAQUE = {
    "JSON": ANYTHING,
    "JSONSchemaPropsOrArray": ANYTHING,
    "JSONSchemaPropsOrBool": ANYTHING,
    "JSONSchemaPropsOrStringArray": ANYTHING,
    "RawExtension": {"type": "object", **ANYTHING},
}
"""Types that hold JSON of any shape."""

NOT_WRITTEN = (
    "Status",
    "APIGroup",
    "APIVersions",
    "ComponentStatus",
    "DeleteOptions",
    "WatchEvent",
)
"""What the server answers with, and lists: nothing that a file holds."""


class Places:
    """Where a definition of the source package stands among our files."""

    def __init__(self, core: Iterable[str], scalars: Iterable[str]) -> None:
        self.core = frozenset(core)
        """Full names of the definitions of `core.json`."""
        self.scalars = frozenset(scalars)
        """Short names of those that it writes by hand."""

    def file_and_key(self, name: str) -> tuple[str, str]:
        """`io.k8s.api.apps.v1.DaemonSet` -> `("apps", "v1.DaemonSet")`; the file is `""` for
        `core.json`.
        """
        short = name.rsplit(".", 1)[-1]
        if name in self.core or short in self.scalars:
            return "", short
        *_, package, version, short = name.split(".")
        return package, f"{version}.{short}"

    def reference(self, name: str, here: str) -> Schema:
        """A `$ref` to a definition from the file of another."""
        if (short := name.rsplit(".", 1)[-1]) in OPAQUE:
            return OPAQUE[short]
        file, key = self.file_and_key(name)
        document = "" if file == here else f"{file}.json" if file else "../core.json"
        return {"$ref": f"{document}#/$defs/{key}"}


def kinds(definitions: Definitions) -> dict[tuple[str, str], dict[int, str]]:
    """The definition of each kind, by apiVersion and kind, then by minor version. Lists and
    answers are left out.
    """
    found: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    for minor, of_version in definitions.items():
        for name, schema in of_version.items():
            ways = schema.get("x-kubernetes-group-version-kind", ())
            if (
                len(ways) != 1
                or ways[0]["kind"] in NOT_WRITTEN
                or "items" in schema.get("properties", {})
            ):
                continue
            group, version, kind = ways[0]["group"], ways[0]["version"], ways[0]["kind"]
            found[f"{group}/{version}" if group else version, kind][minor] = name

    return dict(found)


def index(found: Mapping[tuple[str, str], Mapping[int, str]], places: Places, marks: Marks) -> str:
    """The text of `kinds.json`: each apiVersion with its kinds, where the schema of each is, and
    in which versions.
    """
    table: dict[str, Schema] = defaultdict(dict)
    for (api_version, kind), names in sorted(found.items()):
        file, key = places.file_and_key(names[max(names)])
        place = f"groups/{file}.json" if file else "core.json"
        table[api_version][kind] = {"schema": f"{place}#/$defs/{key}", **marks(sorted(names))}
    return _lines(table)


def files(
    definitions: Definitions,
    found: Mapping[tuple[str, str], Mapping[int, str]],
    places: Places,
    merge: Callable[[str, dict[int, Schema], Callable[[str], Schema]], Schema],
) -> dict[str, str]:
    """The text of each group's file, by group. `merge` makes one definition of those of all
    versions.
    """
    needed: dict[str, dict[int, Schema]] = defaultdict(dict)
    for minor, of_version in definitions.items():
        todo = [names[minor] for names in found.values() if minor in names]
        while todo:
            name = todo.pop()
            if (
                minor in needed[name]
                or not places.file_and_key(name)[0]
                or name.rsplit(".", 1)[-1] in OPAQUE
            ):
                continue
            needed[name][minor] = of_version[name]
            todo.extend(references(of_version[name]))

    out: dict[str, Schema] = defaultdict(dict)
    for name, by_version in sorted(needed.items()):
        file, key = places.file_and_key(name)
        if by_version:
            out[file][key] = merge(key, by_version, partial(places.reference, here=file))

    return {file: _document(defs) for file, defs in out.items()}


def references(schema: Any) -> Iterable[str]:
    """Every definition name that a schema refers to."""
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):  # CustomResourceDefinition has a field of that name
            yield schema["$ref"].rsplit("/", 1)[-1]
        for value in schema.values():
            yield from references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from references(value)


def _document(defs: Mapping[str, Schema]) -> str:
    head = '"$schema": "https://json-schema.org/draft/2020-12/schema"'
    return f'{{{head},\n"$defs": {_lines(defs)}}}\n'


def _lines(table: Mapping[str, Any]) -> str:
    """A JSON object with one entry a line."""
    lines = ",\n".join(
        f"{json.dumps(key)}: {json.dumps(table[key], separators=(',', ':'))}"
        for key in sorted(table)
    )
    return f"{{\n{lines}\n}}\n"
