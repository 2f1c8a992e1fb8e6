"""Fields added to a manifest by the server's own OpenAPI, with values that a field's schema takes,
or nearly.

They reach the whole surface of a kind, not only the fields that published manifests use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import Any

from tests.places import children
from tests.recorded.apiserver.changes import Change
from tests.recorded.recording import Json, Server, root_of

NAMES = ("a", "data", "train-0", "my-name", "x1", "pytorch", "main", "tcp-1", "v1")
BAD_NAMES = (
    "",
    "A",
    "a_b",
    "-a",
    "a.",
    "a..b",
    "x" * 64,
    "x" * 254,
    "1",
    "a b",
    "é",
    "a/b",
    "a.b",
    "0",
)
PATHS = ("/data", "/dev/shm", "/", "rel/path", "../x", "/a/../b", "", "/a:b", "/x" * 300)  # noqa: S108
GOOD_QUANTITIES = ("1", "2", "1Gi", "500m", 1, 2)
QUANTITIES = (
    "1", "500m", "1Gi", "10M", "0", "-1", "1.5", "1e3", "1E3", "0.5m", "1Gi ", "abc", "", "1n", "1k", "100", "8Gi", "2",
    "1.0000000001", "9999999999999999999", ".5", "5.", "+1", "1e-1",
)  # fmt: skip
RESOURCES = (
    "cpu", "memory", "nvidia.com/gpu", "ephemeral-storage", "hugepages-2Mi", "gpu", "x.com/y",
    "a/b/c", "pods", "storage", "rdma/hca",
)  # fmt: skip
LABELS = (
    "a", "a/b", "kubernetes.io/hostname", "example.com/x", "a/b/c", "", "-a", "A", "x" * 64, "a b", "nvidia.com/gpu",
    "node.kubernetes.io/x",
)  # fmt: skip
LABEL_VALUES = ("", "a", "A_b.c", "-a", "a b", "x" * 64, "1", "true")
SMALL_NUMBERS = (0, 1, 1, 2, 3, 5, 10, 30, 100, 8080)
NUMBERS = (0, 1, 2, 3, 5, 10, 30, 100, 1000, 8080, 65535, 65536, -1, 2147483647, 2147483648, 3600)
NUMBERS_OR_TEXTS = (1, 80, "80", "http", "50%", "100%", "101%", -1, 0, "a_b", "", "150", "tcp-port")
TIMES = ("2026-11-22T00:00:00Z", "2026-11-22", "x", "")
ADDRESSES = (
    "10.0.0.1",
    "::1",
    "256.1.1.1",
    "a",
    "",
    "010.0.0.1",
    "None",
    "fe80::1%eth0",
    "127.0.0.1",
)
RANGES = ("10.0.0.0/8", "10.0.0.1/8", "a", "::/0", "10.0.0.0/33", "")
IMAGES = ("a", "a:b", "", " a", "a/b:c@sha256:" + "0" * 64, "A B")
ANYTHING: tuple[Any, ...] = (None, "", {}, [], 0, True, "x", 7)
NOT_WRITTEN = (
    "status",
    "apiVersion",
    "kind",
    "managedFields",
    "selfLink",
    "generateName",
    "uid",
    "resourceVersion",
)


class Growth:
    """Draws additions to manifests; the same ones for the same server and random numbers."""

    def __init__(self, server: Server, versions: set[str], rng: Random) -> None:
        self.rng = rng
        self.definitions: dict[str, Json] = {}
        self.kinds: dict[tuple[str, str], Json] = {}
        for version in sorted(versions):
            schemas = (
                server.request("GET", f"/openapi/v3{root_of(version)}")
                .data.get("components", {})
                .get("schemas", {})
            )
            self.definitions = schemas | self.definitions
            self.kinds |= {kind: schema for schema in schemas.values() for kind in kinds_of(schema)}

    def addition(self, manifest: Json) -> Change | None:
        """Return a field to set in a manifest, or None if the server has no schema of its kind."""
        schema = self.kinds.get((manifest["apiVersion"], manifest["kind"]))
        places = list(self.places(manifest, schema, [])) if schema else []
        if not places:
            return None
        path, node, found = self.rng.choice(places)
        key = self.rng.choice([key for key in found["properties"] if key not in NOT_WRITTEN])
        value = self.value(found["properties"][key], key, 1 + len(path) // 3)
        if isinstance(node.get(key), list) and isinstance(value, list):
            value = node[key] + value
        return "set", [*path, key], value

    def places(
        self, node: Any, schema: Json, path: list[Any]
    ) -> Iterator[tuple[list[Any], Json, Json]]:
        """Yield every mapping of a manifest that may get fields, with its path and its schema."""
        schema = self.resolve(schema)
        if isinstance(node, dict) and schema.get("properties"):
            yield path, node, schema
        for key, value in children(node):
            below = schema_below(schema, key)
            if below and key != "status":
                yield from self.places(value, below, [*path, key])

    def resolve(self, schema: Json) -> Json:
        """Return a schema without the reference or the single `allOf` around it; `ref` is the
        definition's name.
        """
        while True:
            if len(schema.get("allOf", ())) == 1:
                schema = {
                    **schema["allOf"][0],
                    **({"description": schema["description"]} if "description" in schema else {}),
                }
            elif "$ref" in schema:
                name = schema["$ref"].rpartition("/")[2]
                schema = {**self.definitions[name], "ref": name.rpartition(".")[2],
                          **{key: schema[key] for key in ("description",) if key in schema}}  # fmt: skip
            else:
                return schema

    def value(self, schema: Json, name: str, depth: int) -> Any:
        """Return a value for a field: mostly one that its schema takes."""
        rng, schema = self.rng, self.resolve(schema)
        if rng.random() < 0.02:
            return rng.choice(ANYTHING)
        if special := special_values(schema):
            return rng.choice(special)
        if "enum" in schema and rng.random() < 0.9:
            return rng.choice(schema["enum"])
        if "oneOf" in schema and "type" not in schema:
            return self.value(rng.choice(schema["oneOf"]), name, depth)
        return self.of_type(schema, name, depth)

    def of_type(self, schema: Json, name: str, depth: int) -> Any:
        """Return a value of the schema's type."""
        rng = self.rng
        match schema.get("type", "object" if "properties" in schema else ""):
            case "object":
                return self.mapping(schema, name, depth)
            case "array":
                items = schema.get("items", {})
                return [
                    self.value(items, name, depth + 1) for _ in range(rng.choice((0, 1, 1, 1, 2)))
                ]
            case "boolean":
                return rng.random() < 0.5
            case "integer" | "number":
                is_bounded = "minimum" in schema or "maximum" in schema
                return rng.choice(NUMBERS if is_bounded or rng.random() < 0.3 else SMALL_NUMBERS)
            case "string":
                return self.text(name, schema)
            case _:
                return rng.choice(({}, "x", 1))

    def mapping(self, schema: Json, name: str, depth: int) -> Json:
        """Return a mapping with the required fields, mostly, and some of the others."""
        if "properties" in schema:
            return self.fields(schema, depth)
        if schema.get("x-kubernetes-preserve-unknown-fields"):
            return {"a": 1}
        values = schema.get("additionalProperties")
        if not isinstance(values, dict):
            return {}
        return {
            self.key(name): self.value(values, f"{name}:", depth + 1)
            for _ in range(self.rng.choice((0, 1, 1, 2)))
        }

    def fields(self, schema: Json, depth: int) -> Json:
        rng, properties = self.rng, schema["properties"]
        required = [
            key for key in schema.get("required", ()) if key in properties and rng.random() < 0.96
        ]
        free = [key for key in properties if key not in (*required, "status", "managedFields")]
        is_union = len(free) > 12 and depth > 0
        counts = (0, 0, 1) if depth >= 5 else (1, 1, 1, 2) if is_union else (0, 1, 1, 2, 3)
        count = max(rng.choice(counts), 0 if schema.get("required") else 1)
        chosen = rng.sample(free, min(count, len(free)))
        return {key: self.value(properties[key], key, depth + 1) for key in (*required, *chosen)}

    def key(self, name: str) -> str:
        if name.lower() in ("limits", "requests", "overhead", "capacity", "hard"):
            return self.rng.choice(RESOURCES)
        return self.rng.choice(LABELS[:4] if self.rng.random() < 0.7 else LABELS)

    def text(self, name: str, schema: Json) -> str:
        """Return a text for a field, by its name and by the words that its description names."""
        rng = self.rng
        words = named_words(schema.get("description", ""))
        if words and rng.random() < 0.55:
            return rng.choice(words)
        usual, all_texts = texts_for(name, schema)
        return rng.choice(usual if rng.random() < 0.7 else all_texts)


def special_values(schema: Json) -> tuple[Any, ...]:
    """Return the values of times, bytes and numbers that may be texts; empty for other schemas."""
    if schema.get("ref") == "IntOrString" or schema.get("x-kubernetes-int-or-string"):
        return NUMBERS_OR_TEXTS
    if schema.get("ref") in ("Time", "MicroTime"):
        return TIMES
    if schema.get("ref") == "Quantity":
        return (*QUANTITIES, *GOOD_QUANTITIES * 6)
    formats = {
        "int-or-string": NUMBERS_OR_TEXTS,
        "date-time": TIMES,
        "byte": ("YQ==", "a", "", "%%%"),
    }
    return formats.get(schema.get("format", ""), ())


def texts_for(name: str, schema: Json) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the usual and all texts of a field; a name that ends with a colon is that of a map's
    values.
    """
    field = name.lower().rstrip(":")
    if "path" in field and field != "subpathexpr":
        return PATHS[:3], PATHS
    if name.endswith(":"):
        return LABEL_VALUES[:3], LABEL_VALUES
    if field.endswith("ip") or field in (
        "nameservers",
        "podips",
        "clusterips",
        "externalips",
        "ips",
    ):
        return ADDRESSES, ADDRESSES
    if "cidr" in field or field == "except" or "ranges" in field:
        return RANGES, RANGES
    return (IMAGES, IMAGES) if field == "image" else (NAMES, BAD_NAMES)


def named_words(description: str) -> list[str]:
    """Return the words that a description names as values: in quotes, or after "one of" and the
    like.
    """
    quoted = re.findall(r'"([A-Za-z][A-Za-z0-9./-]{1,40})"', description)
    listed = re.findall(
        r"\b(?:One of|Must be|Valid (?:values|options) (?:are|is)|Possible values are|can be)[^.]*",
        description,
    )
    return [
        word
        for text in (*quoted, *listed)
        for word in re.findall(r"[A-Z][A-Za-z]{2,30}|[a-z]{3,20}", text)
    ]


def schema_below(schema: Json, key: Any) -> Json | None:
    """Return the schema of a mapping's field or of a list's item, or None if there is none."""
    values = schema.get("items") if isinstance(key, int) else schema.get("properties", {}).get(key)
    values = values or (None if isinstance(key, int) else schema.get("additionalProperties"))
    return values if isinstance(values, dict) else None


def kinds_of(schema: Json) -> Iterator[tuple[str, str]]:
    for kind in schema.get("x-kubernetes-group-version-kind", ()):
        yield "/".join(part for part in (kind["group"], kind["version"]) if part), kind["kind"]
