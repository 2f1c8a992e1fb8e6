"""The pages of the spec, the profile and the JSON forms, made from their JSON Schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from ptcompile.api.reference import SCHEMAS, schema

Schema = dict[str, Any]

_OWN: Final = {
    "spec": ("Spec", "Writing specs", "../guide/spec.md"),
    "cluster": ("Cluster profile", "Clusters and profiles", "../guide/clusters.md"),
}

_EXPLAINED: Final = (
    " `ptcompile explain spec.elastic.maxRestarts` prints a field with an example, and what the example becomes on each"
    " target."
)

_ROOTS: Final = {"spec": "TrainingJob", "cluster": "ClusterProfile"}


def pages() -> dict[str, str]:
    """`reference/spec.md`, `reference/cluster.md` and `reference/json.md`."""
    found = {f"reference/{name}.md": _vocabulary(name) for name in _OWN}
    return {**found, "reference/json.md": _forms()}


def _vocabulary(name: str) -> str:
    title, guide, link = _OWN[name]
    found = schema(name)
    head = (
        f"# {title}\n\n{found['description']} [{guide}]({link}) explains the ideas. Unknown fields are errors. "
        f"`ptcompile schema {name}` prints the JSON Schema this page is made from."
        f"{_EXPLAINED if name == 'spec' else ''}"
    )
    order = sorted(found["$defs"], key=lambda one: (one not in ("JobSpec", "ProfileSpec"), one))
    parts = [
        _object(_ROOTS[name], found, 2),
        *(_object(one, found["$defs"][one], 2) for one in order),
    ]
    return "\n\n".join([head, *parts]) + "\n"


def _forms() -> str:
    parts = [
        "# JSON forms\n\nEach has a `version`, which changes when a field is removed, renamed or retyped; fields "
        "may be added at any time ([stability](../stability.md)). `ptcompile schema NAME` prints the schema."
    ]
    for name in SCHEMAS:
        if name not in _OWN:
            found = schema(name)
            defined = found.get("$defs", {}).items()
            parts += [
                _object(name, found, 2, name),
                *(_object(f"{name} {k}", v, 3, name) for k, v in defined),
            ]
    return "\n\n".join(parts) + "\n"


def _object(title: str, found: Schema, level: int, prefix: str = "") -> str:
    """A heading, the description, and a table of the fields; references lead to headings that begin with `prefix`."""
    parts = [f"{'#' * level} {title}", _text(found.get("description", ""))]
    rows = list(_rows(found, title, prefix))
    if rows:
        parts.append("\n".join(["| Field | Type | Meaning |", "|---|---|---|", *rows]))
    elif "type" in found or "enum" in found:
        parts.append(f"Type: {_type(found, prefix)}.")
    return "\n\n".join(part for part in parts if part)


def field_anchor(owner: str, name: str) -> str:
    """Return the id of a field's row; `owner` is the heading of its table."""
    return f"{owner}-{name}".lower()


def _rows(found: Schema, title: str, prefix: str) -> Iterator[str]:
    """A row for each field. A JSON form has all of its fields; of the others those that are required say so."""
    required = set() if prefix else set(found.get("required", ()))
    for name, any_field in found.get("properties", {}).items():
        field: Schema = {} if isinstance(any_field, bool) else any_field
        kind = _type(field, prefix)
        if not prefix:
            kind = kind.removesuffix(" or null")
        meaning = [_text(field.get("description", ""))]
        if name in required and "default" not in field:
            meaning.append("Required.")
        if field.get("default") not in (None, [], {}):
            meaning.append(f"Default: `{json.dumps(field['default'])}`.")
        anchor = "" if prefix else f'<span id="{field_anchor(title, name)}"></span>'
        yield f"| {anchor}`{name}` | {kind} | {' '.join(part for part in meaning if part)} |"


def _type(field: Schema, prefix: str) -> str:
    """The type in words, with links to the objects of the same page."""
    return " or ".join(dict.fromkeys(_types(field, prefix))) or "anything"


def _types(field: Schema | bool, prefix: str) -> Iterator[str]:
    if not isinstance(field, dict):
        yield "anything"
    elif "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        yield f"[{name}](#{f'{prefix}-{name}'.strip('-').lower()})"
    elif "const" in field:
        yield f"`{json.dumps(field['const'])}`"
    elif "enum" in field:
        yield ", ".join(f"`{one}`" for one in field["enum"] if one is not None)
    elif "anyOf" in field or "oneOf" in field:
        for one in field.get("anyOf") or field["oneOf"]:
            yield from _types(one, prefix)
    else:
        yield from _plain(field, prefix)


def _plain(field: Schema, prefix: str) -> Iterator[str]:
    """Of a field with a `type`."""
    if isinstance(field.get("type"), list):
        yield from (_word(one) for one in field["type"])
    elif field.get("type") == "array":
        yield f"list of {_type(field.get('items', {}), prefix)}"
    elif isinstance(field.get("additionalProperties"), dict):
        yield f"mapping to {_type(field['additionalProperties'], prefix)}"
    elif "type" in field:
        yield _word(field["type"])


def _word(name: str) -> str:
    return {"object": "mapping", "array": "list"}.get(name, name)


def _text(text: str) -> str:
    """A description as a cell of a table."""
    parts = text.replace("\n", " ").split("`")
    plain = [
        "".join(f"\\{c}" if c in "|*_[" else "&lt;" if c == "<" else c for c in part)
        if at % 2 == 0
        else part
        for at, part in enumerate(parts)
    ]
    return "`".join(plain)
