"""Plain JSON Schemas of users, by jsonschema, with patterns in linear time.

Evaluations are counted, and so is their depth. Of the errors of alternatives none
is kept, and no message is longer than it is shown. Equal values are found by their hash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from ptcompile.apiserver.evaluations import (
    ASK_SERVER,
    Evaluations,
    OutOfEvaluationsError,
    current,
    enter,
    leave,
    unchecked,
)
from ptcompile.apiserver.goregex import fits
from ptcompile.apiserver.structure.logic import comparable
from ptcompile.diagnostics import Path, Problem, field_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Keyword = Callable[[Any, Any, Any, Any], Iterator[Any] | None]


LONGEST: Final = 300
"""Characters of a message."""
_DEEPEST: Final = 100
"""Keywords within keywords."""
_LISTED: Final = 20
"""Choices in a message."""
_COST: Final = 4
_COST_OF_REFERENCE: Final = 24
_COST_OF_ERROR: Final = 12
"""Evaluations that a keyword, a reference and an error of jsonschema count for: checks of CRDs are so much faster."""


class TooDeepError(Exception):
    """A schema is evaluated too deep in itself."""


class UnsafeError(Exception):
    """A keyword whose patterns jsonschema matches by itself, and not in linear time."""


def bounded(validator: Any, schema: Any) -> Any:
    """Return a class like `validator`, one of jsonschema's, that ends soon or raises; for this schema alone."""
    from jsonschema.validators import extend

    own: dict[str, Keyword] = {
        "additionalProperties": _additional,
        "anyOf": _any_of,
        "enum": _enum(),
        "oneOf": _one_of,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "uniqueItems": _unique,
    }
    known: Mapping[str, Keyword] = validator.VALIDATORS
    if "unevaluatedProperties" in known and _has_patterns(schema):
        own["unevaluatedProperties"] = _unsafe
    costs = dict.fromkeys(("$ref", "$dynamicRef", "$recursiveRef"), _COST_OF_REFERENCE)
    words = {name: _counted(own.get(name, keyword), costs.get(name, _COST)) for name, keyword in known.items()}
    return extend(validator, words)  # type: ignore[no-untyped-call]


def _has_patterns(schema: Any) -> bool:
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, Mapping):
            if "patternProperties" in node:
                return True
            stack += node.values()
        elif isinstance(node, list):
            stack += node
    return False


def _counted(keyword: Keyword, cost: int) -> Keyword:
    """Return the keyword with its cost: what it looks through, and the text of its messages."""

    def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        evaluations = current()
        evaluations.spend(cost + (len(value) if isinstance(value, list | dict) else 0))
        if evaluations.depth >= _DEEPEST:
            raise TooDeepError
        evaluations.depth += 1
        try:
            for error in keyword(validator, value, instance, schema) or ():
                evaluations.spend(_COST_OF_ERROR)
                if len(error.message) > LONGEST:
                    evaluations.spend(len(error.message) // 8)
                    error.message = f"{error.message[:150]}...{error.message[-147:]}"  # what is wrong is at the end
                    error.args = ()
                yield error
        finally:
            evaluations.depth -= 1

    return counted


def _error(message: str) -> Any:
    from jsonschema import ValidationError

    return ValidationError(message)


def _unsafe(_validator: Any, _value: Any, _instance: Any, _schema: Any) -> Iterator[Any]:
    raise UnsafeError


def _enum() -> Keyword:
    prepared: dict[int, tuple[frozenset[Any], str]] = {}

    def enum(_validator: Any, values: list[Any], instance: Any, _schema: Any) -> Iterator[Any]:
        if id(values) not in prepared:
            more = len(values) - _LISTED
            first = ", ".join(map(repr, values[:_LISTED]))
            prepared[id(values)] = frozenset(map(comparable, values)), f"[{first}{f', and {more} more' * (more > 0)}]"
        allowed, choices = prepared[id(values)]
        if comparable(instance) not in allowed:
            yield _error(f"{instance!r} is not one of {choices}")

    return enum


def _unique(_validator: Any, wanted: bool, instance: Any, _schema: Any) -> Iterator[Any]:
    if wanted and isinstance(instance, list):
        current().spend(len(instance))
        if len(set(map(comparable, instance))) < len(instance):
            yield _error(f"{instance!r} has non-unique elements")


def _any_of(validator: Any, branches: list[Any], instance: Any, _schema: Any) -> Iterator[Any]:
    if not any(_holds(validator, branch, instance) for branch in branches):
        yield _error(f"{instance!r} is not valid under any of the given schemas")


def _one_of(validator: Any, branches: list[Any], instance: Any, _schema: Any) -> Iterator[Any]:
    holding = list(islice((branch for branch in branches if _holds(validator, branch, instance)), 2))
    if not holding:
        yield _error(f"{instance!r} is not valid under any of the given schemas")
    elif len(holding) > 1:
        yield _error(f"{instance!r} is valid under each of {holding[1]!r}, {holding[0]!r}")


def _holds(validator: Any, branch: Any, instance: Any) -> bool:
    return next(validator.descend(instance, branch), None) is None


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    if isinstance(instance, str) and not fits(pattern, instance):
        yield _error(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Mapping[str, Any], instance: Any, _schema: Any) -> Iterator[Any]:
    for pattern, inner in patterns.items() if isinstance(instance, dict) else ():
        current().spend(len(instance))
        for key, value in instance.items():
            if fits(pattern, key):
                yield from validator.descend(value, inner, path=key, schema_path=pattern)


def _additional(validator: Any, allowed: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    patterns, known = schema.get("patternProperties", {}), schema.get("properties", {})
    current().spend(len(instance) * len(patterns))
    extra = [key for key in instance if key not in known and not any(fits(one, key) for one in patterns)]
    if isinstance(allowed, dict):
        for key in extra:
            yield from validator.descend(instance[key], allowed, path=key)
    elif not allowed and extra:
        names = ", ".join(map(repr, extra))
        verb = "was" if len(extra) == 1 else "were"
        yield _error(f"Additional properties are not allowed ({names} {verb} unexpected)")


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
        self.notes: Sequence[Problem] | None = None
        """Warnings of patterns that cannot be matched here; None until an object is held to the schema."""


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
        yield unchecked((), message, help)


def _applied(definition: JsonSchema, data: Any, errors: list[Any]) -> tuple[str, str]:
    """Add the errors of an object, and say why there may be others and what to do about it; "" if there are none."""
    from referencing.exceptions import Unresolvable

    try:
        if definition.validator is None:
            definition.validator = _validator(definition.schema)
        errors += islice(definition.validator.iter_errors(data), _ERRORS)
    except Unresolvable as missing:
        return f"it refers to {missing.ref}, which is not in the file", "put what it refers to under its definitions"
    except OutOfEvaluationsError:
        current().ran_out = False
        return "checking it takes too long", ASK_SERVER
    except (TooDeepError, RecursionError):
        return "it is nested too deep, or refers to itself without end", ASK_SERVER
    except UnsafeError:
        return "unevaluatedProperties together with patternProperties is not supported", ASK_SERVER
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
