"""A plain JSON Schema that a user brought, by jsonschema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.validate.definitions.patterns import linear

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def json_schema_problems(manifest: Mapping[str, Any], schema: Mapping[str, Any], filename: str) -> Iterator[Problem]:
    """What a JSON Schema has against a manifest. A null is an unset field, as everywhere in Kubernetes."""
    from jsonschema.validators import validator_for
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import EMPTY_REGISTRY  # without it, jsonschema fetches remote references

    validator = linear(validator_for(schema))(schema, registry=EMPTY_REGISTRY)
    try:
        errors = sorted(validator.iter_errors(_without_nulls(manifest)), key=lambda one: [str(p) for p in one.path])
    except Unresolvable as missing:
        yield Problem(
            "unread-rule",
            (),
            f"the JSON Schema in {filename} was not applied: it refers to {missing.ref}, which is not in the file",
            "put what it refers to under its definitions",
            severity="warning",
            stage="style",
            authority="ptcompile",
        )
        return
    for error in errors:
        path: Path = tuple(error.absolute_path)
        name, on_key = "invalid-value", False
        if error.validator == "type":
            name = "wrong-type"
        elif error.validator == "required":
            name = "required-value"
        elif error.validator == "additionalProperties":
            name, on_key = "unknown-field", True
            known = schema_properties(error.schema)
            here = error.instance if isinstance(error.instance, dict) else {}
            unknown = next((key for key in here if key not in known), None)
            path = (*path, unknown) if isinstance(unknown, str) else path
        where = field_path(path)
        message = f"{where}: {error.message}" if where else str(error.message)
        yield Problem(name, path, message[:300], f"see the schema in {filename}", on_key=on_key)


def schema_properties(schema: Any) -> frozenset[str]:
    """The properties that a schema names."""
    return frozenset(schema.get("properties", ())) if isinstance(schema, dict) else frozenset()


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nulls(one) for key, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value
