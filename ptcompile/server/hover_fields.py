"""What is said of a field: its description, what may be written, its default, and which pass uses it."""

from __future__ import annotations

import json
from typing import Final

from ptcompile.explaining.model import Cause
from ptcompile.explaining.provenance import provenance
from ptcompile.explaining.shown import shown_value
from ptcompile.findings.diagnostics import Path
from ptcompile.server.document import Object, Open
from ptcompile.server.shapes import Node, leaves, since, sort_of

_LARGEST: Final = 40
"""A line that holds more lines than this is not asked for what it is good for: that would take a compilation each."""


def field_text(name: str, node: Node) -> str:
    """The field as Markdown."""
    leaf = next(leaves(node), node)
    description = node.description or leaf.description
    parts = [f"**{name}** ({sort_of(node)})", description]
    default = node.schema.get("default")
    if default is not None and default not in ({}, []):
        parts.append(f"Default: `{json.dumps(default)}`")
    if (version := since(node)) is not None:
        parts.append(f"Since Kubernetes {version}.")
    return "\n\n".join(filter(None, parts))


def uses(opened: Open, one: Object, path: Path) -> str:
    """Which values of the manifests a line of a spec decides, and which pass or target writes them; Markdown."""
    compiled = opened.compiled.get((one.document.index, one.under))
    if compiled is None or compiled.target is None or not compiled.manifests or len(path) < 2 or _size(one, path):
        return ""
    causes = provenance(one.data, compiled, only=path)
    found: dict[str, list[Cause]] = {}
    for cause in causes:
        if any(one.file == "spec" and one.path[: len(path)] == path for one in cause.inputs):
            found.setdefault(cause.by, []).append(cause)
    if not found:
        return ""
    return "\n".join([f"What it decides, for `{compiled.target.name}`:", "", *(map(_line, found.values()))])


def _line(causes: list[Cause]) -> str:
    """Who writes some values, how many, and the first of them with the rule."""
    first = causes[0]
    by = {"spec": "carried over", "target": "the target"}.get(first.by, f"the pass **{first.by}**")
    more = f" and {len(causes) - 1} more" if len(causes) > 1 else ""
    return f"- {by}: `{first.shown}: {shown_value(first.value, 60)}`{more}. {first.rule}"


def _size(one: Object, path: Path) -> bool:
    """Whether too much is below a path."""
    value = one.data
    for part in path:
        try:
            value = value[part]  # type: ignore[index]  # an int into a list
        except (LookupError, TypeError):
            return True
    return len(json.dumps(value, default=str)) > _LARGEST * 80
