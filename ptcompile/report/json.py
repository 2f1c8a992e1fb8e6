"""The JSON report and its JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args  # noqa: TID253 - no cold start reads it

from ptcompile.diagnostics import Diagnostic
from ptcompile.diagnostics.terms import Authority, Severity, Stage
from ptcompile.report import Unchecked
from ptcompile.report.layout import format_json, sort_by_location

TYPE_CHECKING = False
if TYPE_CHECKING:
    Schema = dict[str, Any]


VERSION = 1


def json(
    diagnostics: Sequence[Diagnostic], _texts: Mapping[str | None, str], unchecked: Sequence[Unchecked] = ()
) -> str:
    """Return the report as JSON. It is ASCII only, so it cannot send control characters to a terminal."""
    report = {
        "version": VERSION,
        "diagnostics": [d.to_dict() for d in sort_by_location(diagnostics)],
        "unchecked": [each._asdict() for each in unchecked],
    }
    return format_json(report)


TEXT: Schema = {"type": "string"}
BOOLEAN: Schema = {"type": "boolean"}
TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
_POSITION: Schema = {"type": "integer", "minimum": 1}


def object_schema(description: str, properties: Schema) -> Schema:
    """Return the schema of an object with exactly these properties, all of them required."""
    return {
        "description": description,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def diagnostic_schema() -> Schema:
    """Return the schema of one finding."""
    span = object_schema(
        "Lines and columns count from 1, in code points; the end is exclusive.",
        dict.fromkeys(("line", "column", "end_line", "end_column"), _POSITION),
    )
    fix = object_schema(
        "Whether `--fix` applies it; if not, `--unsafe-fixes` is required.", {"title": TEXT, "safe": BOOLEAN}
    )
    return object_schema(
        "One finding.",
        {
            "code": {"type": "string", "pattern": "^[A-Z]{2,8}[0-9]{3}$"},
            "name": {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"},
            "severity": {"enum": list(get_args(Severity))},
            "message": TEXT,
            "help": {**TEXT_OR_NULL, "description": "How to fix it."},
            "path": {
                "description": "Keys and indexes from the document's root.",
                "type": "array",
                "items": {"type": ["string", "integer"]},
            },
            "span": {"anyOf": [span, {"type": "null"}]},
            "stage": {"description": "When it would have failed.", "enum": list(get_args(Stage))},
            "authority": {"description": "Who says so.", "enum": list(get_args(Authority))},
            "filename": TEXT_OR_NULL,
            "document": {"description": "Index of the document in the stream.", "type": "integer", "minimum": 0},
            "resource": {**TEXT_OR_NULL, "description": "`Kind/name` of the object."},
            "fix": {"description": "How to fix it automatically.", "anyOf": [fix, {"type": "null"}]},
            "template": {**TEXT_OR_NULL, "description": "What the document was rendered from."},
            "masked": {**BOOLEAN, "description": "Whether `***` stands for a secret in message, help or path."},
            "url": {
                "type": ["string", "null"],
                "description": "The page of the code, or null for a rule of yours without one.",
            },
        },
    )


def json_schema() -> Schema:
    """Return the schema of the output of `--output-format json`."""
    unchecked = object_schema(
        "What was not checked: an object as `apiVersion Kind/name`, or what it is in words.",
        {"filename": TEXT_OR_NULL, "object": TEXT},
    )
    report = object_schema(
        "Findings of ptcompile.",
        {
            "version": {"const": VERSION},
            "diagnostics": {"type": "array", "items": {"$ref": "#/$defs/diagnostic"}},
            "unchecked": {"type": "array", "items": unchecked},
        },
    )
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "report.schema.json"}
    return {**head, "title": "Report", **report, "$defs": {"diagnostic": diagnostic_schema()}}
