"""The JSON Schema of a difference: `schemas/diff.schema.json`."""

from __future__ import annotations

from typing import get_args  # noqa: TID253 - no cold start reads it

from ptcompile.differ.model import VERSION, ApplyOutcome, ChangeKind
from ptcompile.report.json import BOOLEAN, TEXT, TEXT_OR_NULL, closed, diagnostic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.report.json import Schema

_SIDES: Schema = {"from": TEXT_OR_NULL, "to": TEXT_OR_NULL}
_MASKED: Schema = {"masked": {**BOOLEAN, "description": "Whether `***` stands for a secret on a side."}}


def _fact() -> Schema:
    who = {**TEXT, "description": "`job`, `rank 0`, `workers`, `rank 0 and workers`, or `role NAME`."}
    return closed(
        "Something of the world that differs; null: not there.", {"subject": who, "what": TEXT, **_SIDES, **_MASKED}
    )


def _change() -> Schema:
    path = {"description": "`[name]` is an item of a list.", "type": "array", "items": TEXT, "minItems": 1}
    kind = {"enum": list(get_args(ChangeKind))}
    sides = {"from": True, "to": True}
    return closed("A place of a manifest that differs.", {"path": path, "kind": kind, **sides, **_MASKED})


def _object() -> Schema:
    return closed(
        "Two objects that belong together, as `Kind/name`, or one that only one side has.",
        {
            **_SIDES,
            "differs": {"type": "boolean"},
            "same": {"description": "Of a job: what is the same.", "type": "array", "items": TEXT},
            "facts": {"type": "array", "items": {"$ref": "#/$defs/fact"}},
            "changes": {"type": "array", "items": {"$ref": "#/$defs/change"}},
            "note": {**TEXT_OR_NULL, "description": "Why there are no changes to look at."},
            "apply": {"anyOf": [{"$ref": "#/$defs/apply"}, {"type": "null"}]},
        },
    )


def _apply() -> Schema:
    outcome = {"enum": list(get_args(ApplyOutcome))}
    return closed("What an apply does to the object.", {"outcome": outcome, "why": TEXT_OR_NULL})


def json_schema() -> Schema:
    """The schema of what `ptcompile diff --format json` prints, and of `Difference.to_dict()`."""
    difference = closed(
        "How two sides differ. Secrets are hidden in all of it.",
        {
            "version": {"const": VERSION},
            "from": TEXT,
            "to": TEXT,
            "differs": {"type": "boolean"},
            "objects": {"type": "array", "items": {"$ref": "#/$defs/object"}},
            "diagnostics": {"type": "array", "items": {"$ref": "#/$defs/diagnostic"}},
        },
    )
    parts = {"object": _object(), "fact": _fact(), "change": _change(), "apply": _apply(), "diagnostic": diagnostic()}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "diff.schema.json"}
    return {**head, "title": "Difference", **difference, "$defs": parts}
