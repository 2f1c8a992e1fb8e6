"""The JSON Schema of a comparison: `schemas/diff.schema.json`."""

from __future__ import annotations

from typing import get_args  # noqa: TID253 - no cold start reads it

from ptcompile.differ.model import VERSION, ApplyOutcome, ChangeKind
from ptcompile.report.json import BOOLEAN, TEXT, TEXT_OR_NULL, diagnostic_schema, object_schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.report.json import Schema

_SIDES: Schema = {"from": TEXT_OR_NULL, "to": TEXT_OR_NULL}
_MASKED: Schema = {"masked": {**BOOLEAN, "description": "Whether `***` replaces a secret on either side."}}


def _fact() -> Schema:
    subject = {**TEXT, "description": "`job`, `rank 0`, `workers`, `rank 0 and workers`, or `role NAME`."}
    return object_schema(
        "A difference between the simulated jobs; null: absent.",
        {"subject": subject, "what": TEXT, **_SIDES, **_MASKED},
    )


def _change() -> Schema:
    path = {"description": "`[name]` is an item of a list.", "type": "array", "items": TEXT, "minItems": 1}
    kind = {"enum": list(get_args(ChangeKind))}
    sides = {"from": True, "to": True}
    return object_schema("A path at which the manifests differ.", {"path": path, "kind": kind, **sides, **_MASKED})


def _object() -> Schema:
    return object_schema(
        "Two corresponding objects, as `Kind/name`, or an object of only one side.",
        {
            **_SIDES,
            "differs": {"type": "boolean"},
            "same": {"description": "For a job: what both sides have in common.", "type": "array", "items": TEXT},
            "facts": {"type": "array", "items": {"$ref": "#/$defs/fact"}},
            "changes": {"type": "array", "items": {"$ref": "#/$defs/change"}},
            "note": {**TEXT_OR_NULL, "description": "Why the manifests are not compared."},
            "apply": {"anyOf": [{"$ref": "#/$defs/apply"}, {"type": "null"}]},
        },
    )


def _apply() -> Schema:
    outcome = {"enum": list(get_args(ApplyOutcome))}
    return object_schema("The effect of an apply on the object.", {"outcome": outcome, "why": TEXT_OR_NULL})


def json_schema() -> Schema:
    """Return the schema of `ptcompile diff --format json` and of `Difference.to_dict()`."""
    difference = object_schema(
        "The differences between two sides. All secrets are masked.",
        {
            "version": {"const": VERSION},
            "from": TEXT,
            "to": TEXT,
            "differs": {"type": "boolean"},
            "objects": {"type": "array", "items": {"$ref": "#/$defs/object"}},
            "diagnostics": {"type": "array", "items": {"$ref": "#/$defs/diagnostic"}},
        },
    )
    parts = {
        "object": _object(),
        "fact": _fact(),
        "change": _change(),
        "apply": _apply(),
        "diagnostic": diagnostic_schema(),
    }
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "diff.schema.json"}
    return {**head, "title": "Difference", **difference, "$defs": parts}
