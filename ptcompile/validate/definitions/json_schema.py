"""A plain JSON Schema that a user brought, by jsonschema, within bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.validate.definitions.keywords import LONGEST, TooDeepError, UnsafeError, bounded
from ptcompile.validate.evaluations import Evaluations, OutOfEvaluationsError, current, enter, leave

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_ERRORS: Final = 100
"""Errors that are reported of one object."""
_SMALL: Final = 100_000
"""Evaluations to say why a schema is not valid."""


class JsonSchema:
    """A plain JSON Schema that a user brought, and the file that it came from."""

    def __init__(self, schema: Mapping[str, Any], filename: str) -> None:
        self.schema = schema
        self.filename = filename
        self.validator: Any = None
        """jsonschema's, made when an object is first held to the schema."""


def json_schema_problems(manifest: Mapping[str, Any], definition: JsonSchema) -> Iterator[Problem]:
    """What a JSON Schema has against a manifest. A null is an unset field, as everywhere in Kubernetes."""
    values = [0]
    data = _without_nulls(manifest, values)
    current().grant(values[0])
    errors: list[Any] = []
    why, help = _applied(definition, data, errors)
    for error in sorted(errors, key=lambda one: [str(part) for part in one.path]):
        yield _problem(error, definition.filename)
    if why:
        to_the_end = " to the end" if errors else ""
        message = f"the JSON Schema in {definition.filename} was not applied{to_the_end}: {why}"
        yield Problem("unread-rule", (), message, help, severity="warning", stage="style", authority="ptcompile")


def _applied(definition: JsonSchema, data: Any, errors: list[Any]) -> tuple[str, str]:
    """Add the errors of an object, and say why there may be others and what to do about it; "" if there are none."""
    from referencing.exceptions import Unresolvable

    check_elsewhere = "check with the API server: kubectl apply --dry-run=server"
    try:
        if definition.validator is None:
            definition.validator = _validator(definition.schema)
        errors += islice(definition.validator.iter_errors(data), _ERRORS)
    except Unresolvable as missing:
        return f"it refers to {missing.ref}, which is not in the file", "put what it refers to under its definitions"
    except OutOfEvaluationsError:
        current().ran_out = False
        return "checking it takes too long", check_elsewhere
    except (TooDeepError, RecursionError):
        return "it is nested too deep, or refers to itself without end", check_elsewhere
    except UnsafeError:
        return "unevaluatedProperties together with patternProperties is not supported", check_elsewhere
    except Exception as error:  # whatever it is, the schema is a user's
        why = f"it is not a JSON Schema ({type(error).__name__}: {str(error)[:100]})"
        return _flaw(definition.schema) or why, "correct the schema"
    if len(errors) == _ERRORS:
        return f"more than {_ERRORS - 1} mistakes were found", "correct those first"
    return "", ""


def _validator(schema: Mapping[str, Any]) -> Any:
    from jsonschema.validators import validator_for
    from referencing.jsonschema import EMPTY_REGISTRY  # without it, jsonschema fetches remote references

    return bounded(validator_for(schema), schema)(schema, registry=EMPTY_REGISTRY)


def _flaw(schema: Mapping[str, Any]) -> str:
    """Say where a JSON Schema is not valid, or "" if that is not known."""
    from jsonschema.validators import validator_for
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    if not isinstance(schema.get("$schema", ""), str):
        return "it is not a JSON Schema: $schema: must be a string"
    token = enter(Evaluations(_SMALL))
    try:
        validator = validator_for(schema)
        error = next(bounded(validator, {})(validator.META_SCHEMA, registry=REGISTRY).iter_errors(schema), None)
    except Exception:  # then its first exception has to do
        return ""
    finally:
        leave(token)
    if error is None:
        return ""
    return f"it is not a JSON Schema: {field_path(tuple(error.absolute_path)) or 'it'}: {error.message[:200]}"


def _problem(error: Any, filename: str) -> Problem:
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
    return Problem(name, path, message[:LONGEST], f"see the schema in {filename}", on_key=on_key)


def schema_properties(schema: Any) -> frozenset[str]:
    """The properties that a schema names."""
    return frozenset(schema.get("properties", ())) if isinstance(schema, dict) else frozenset()


def _without_nulls(value: Any, values: list[int]) -> Any:
    """A value without nulls; `values[0]` counts its parts."""
    values[0] += 1
    if isinstance(value, Mapping):
        return {key: _without_nulls(one, values) for key, one in value.items() if one is not None}
    return [_without_nulls(one, values) for one in value] if isinstance(value, list) else value
