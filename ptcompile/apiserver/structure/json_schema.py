"""Checks against plain JSON Schemas of users, with jsonschema and patterns that match in linear
time.

Evaluations and their depth are limited. Errors of alternatives are not kept, long messages are cut,
and equal values are found by hash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from ptcompile.apiserver.evaluations import (
    ASK_SERVER,
    Evaluations,
    OutOfEvaluationsError,
    current_evaluations,
    enter,
    leave,
    unchecked_problem,
)
from ptcompile.apiserver.goregex import matches
from ptcompile.apiserver.structure.logic import comparable_form
from ptcompile.diagnostics import Path, Problem, Problems, field_path, message_at, problem_at
from ptcompile.kubernetes.unstructured import Json, as_mapping, values_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Keyword = Callable[[Any, Any, Any, Any], Iterator[Any] | None]


MESSAGE_MAX = 300
"""Maximum number of characters of a message."""
_DEPTH_MAX = 100
"""Maximum nesting of keywords."""
_MAX_LISTED_CHOICES = 20
"""Maximum number of choices in a message."""
_COST_OF_KEYWORD = 4
_COST_OF_REFERENCE = 24
_COST_OF_ERROR = 12
"""Evaluations that a keyword, a reference and an error of jsonschema cost: CRD checks are that
much faster.
"""


class TooDeepError(Exception):
    """Raised when the evaluation of a schema nests too deep."""


class UnsafeError(Exception):
    """Raised for a keyword whose patterns jsonschema matches itself, which may take exponential
    time.
    """


def bounded_validator(validator: Any, schema: Any) -> Any:
    """Return a subclass of `validator`, a class of jsonschema, that ends soon or raises; it only
    fits this schema.
    """
    from jsonschema.validators import extend

    replaced: dict[str, Keyword] = {
        "additionalProperties": _additional_properties,
        "anyOf": _any_of,
        "enum": _enum(),
        "oneOf": _one_of,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "uniqueItems": _unique,
    }
    keywords: Mapping[str, Keyword] = validator.VALIDATORS
    if "unevaluatedProperties" in keywords and any(
        "patternProperties" in as_mapping(node) for node in values_in(schema)
    ):
        replaced["unevaluatedProperties"] = _raise_unsafe
    costs = dict.fromkeys(("$ref", "$dynamicRef", "$recursiveRef"), _COST_OF_REFERENCE)
    counted_keywords = {
        name: _with_cost(replaced.get(name, keyword), costs.get(name, _COST_OF_KEYWORD))
        for name, keyword in keywords.items()
    }

    return extend(validator, counted_keywords)  # type: ignore[no-untyped-call]


def _with_cost(keyword: Keyword, cost: int) -> Keyword:
    """Wrap a keyword so that it pays for the values it examines and for the text of its
    messages.
    """

    def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        evaluations = current_evaluations()
        evaluations.spend(cost + (len(value) if isinstance(value, list | dict) else 0))
        if evaluations.depth >= _DEPTH_MAX:
            raise TooDeepError

        evaluations.depth += 1
        try:
            for error in keyword(validator, value, instance, schema) or ():
                evaluations.spend(_COST_OF_ERROR)
                if len(error.message) > MESSAGE_MAX:
                    evaluations.spend(len(error.message) // 8)
                    # the end of jsonschema's message says what is wrong
                    error.message = f"{error.message[:150]}...{error.message[-147:]}"
                    error.args = ()
                yield error
        finally:
            evaluations.depth -= 1

    return counted


def _validation_error(message: str) -> Any:
    from jsonschema import ValidationError

    return ValidationError(message)


def _raise_unsafe(_validator: Any, _value: Any, _instance: Any, _schema: Any) -> Iterator[Any]:
    raise UnsafeError


def _enum() -> Keyword:
    prepared: dict[int, tuple[frozenset[Any], str]] = {}

    def enum(_validator: Any, values: list[Any], instance: Any, _schema: Any) -> Iterator[Any]:
        if id(values) not in prepared:
            omitted = len(values) - _MAX_LISTED_CHOICES
            listed = ", ".join(map(repr, values[:_MAX_LISTED_CHOICES]))
            if omitted > 0:
                listed += f", and {omitted} more"
            prepared[id(values)] = frozenset(map(comparable_form, values)), f"[{listed}]"

        allowed, choices = prepared[id(values)]
        if comparable_form(instance) not in allowed:
            yield _validation_error(f"{instance!r} is not one of {choices}")

    return enum


def _unique(_validator: Any, is_unique: bool, instance: Any, _schema: Any) -> Iterator[Any]:
    if is_unique and isinstance(instance, list):
        current_evaluations().spend(len(instance))
        if len(set(map(comparable_form, instance))) < len(instance):
            yield _validation_error(f"{instance!r} has non-unique elements")


def _any_of(validator: Any, branches: list[Any], instance: Any, _schema: Any) -> Iterator[Any]:
    if not any(_holds(validator, branch, instance) for branch in branches):
        yield _validation_error(f"{instance!r} is not valid under any of the given schemas")


def _one_of(validator: Any, branches: list[Any], instance: Any, _schema: Any) -> Iterator[Any]:
    holding = list(
        islice((branch for branch in branches if _holds(validator, branch, instance)), 2)
    )
    if not holding:
        yield _validation_error(f"{instance!r} is not valid under any of the given schemas")
    elif len(holding) > 1:
        first, second = holding
        yield _validation_error(f"{instance!r} is valid under each of {second!r}, {first!r}")


def _holds(validator: Any, branch: Any, instance: Any) -> bool:
    return next(validator.descend(instance, branch), None) is None


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    if isinstance(instance, str) and not matches(pattern, instance):
        yield _validation_error(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Json, instance: Any, _schema: Any
) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return

    for pattern, inner in patterns.items():
        current_evaluations().spend(len(instance))
        for key, value in instance.items():
            if matches(pattern, key):
                yield from validator.descend(value, inner, path=key, schema_path=pattern)


def _additional_properties(
    validator: Any, allowed: Any, instance: Any, schema: Json
) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return

    patterns = schema.get("patternProperties", {})
    fields = schema.get("properties", {})
    current_evaluations().spend(len(instance) * len(patterns))
    extra = [
        key
        for key in instance
        if key not in fields and not any(matches(pattern, key) for pattern in patterns)
    ]
    if isinstance(allowed, dict):
        for key in extra:
            yield from validator.descend(instance[key], allowed, path=key)
    elif not allowed and extra:
        names = ", ".join(map(repr, extra))
        verb = "was" if len(extra) == 1 else "were"
        yield _validation_error(
            f"Additional properties are not allowed ({names} {verb} unexpected)"
        )


_ERRORS_MAX = 100
"""Maximum number of errors reported per object."""
_EXPLANATION_BUDGET = 100_000
"""Evaluations for explaining why a schema is invalid."""


class JsonSchema:
    """A user's JSON Schema and the file that it comes from."""

    def __init__(self, schema: Json, filename: str) -> None:
        self.schema = schema
        self.filename = filename
        self.validator: Any = None
        """Validator of jsonschema, created when the schema first checks an object."""
        self.notes: Sequence[Problem] | None = None
        """Warnings about patterns that cannot be matched; None until the schema first checks an
        object.
        """


def json_schema_problems(manifest: Json, definition: JsonSchema) -> Problems:
    """Yield the problems that a JSON Schema finds in a manifest. A null is an unset field, as
    everywhere in Kubernetes.
    """
    values = [0]
    data = _without_nulls(manifest, values)
    current_evaluations().grant(values[0])
    errors: list[Any] = []
    why, help = _apply(definition, data, errors)
    for error in sorted(errors, key=lambda error: [str(part) for part in error.path]):
        yield _to_problem(error, definition.filename)
    if why:
        to_the_end = " to the end" if errors else ""
        message = f"the JSON Schema in {definition.filename} was not applied{to_the_end}: {why}"
        yield unchecked_problem((), message, help)


def _apply(definition: JsonSchema, data: Any, errors: list[Any]) -> tuple[str, str]:
    """Append the errors of an object, and return why there may be others and the help; both are ""
    if there are none.
    """
    try:
        from referencing.exceptions import Unresolvable
    except ImportError as missing:
        # a native module for which this platform has no wheel
        return (
            f"{missing.name} cannot be imported",
            "install it, or check the file where it is installed",
        )

    try:
        if definition.validator is None:
            definition.validator = _create_validator(definition.schema)
        errors += islice(definition.validator.iter_errors(data), _ERRORS_MAX)
    except Unresolvable as missing:
        return (
            f"it refers to {missing.ref}, which is not in the file",
            "add the referenced schema to its definitions",
        )
    except OutOfEvaluationsError:
        current_evaluations().ran_out = False
        return "checking it takes too long", ASK_SERVER
    except (TooDeepError, RecursionError):
        return "it is nested too deep or refers to itself endlessly", ASK_SERVER
    except UnsafeError:
        return "unevaluatedProperties together with patternProperties is not supported", ASK_SERVER
    except ValueError as error:
        # such as an invalid address in $schema
        return f"it is not a JSON Schema: {str(error)[:100]}", "correct the schema"
    except Exception as error:
        # a user's schema may raise anything
        why = f"it is not a JSON Schema ({type(error).__name__}: {str(error)[:100]})"
        return _explain_invalid_schema(definition.schema) or why, "correct the schema"

    if len(errors) == _ERRORS_MAX:
        return f"it reports more than {_ERRORS_MAX - 1} mistakes", "correct those first"

    return "", ""


def _create_validator(schema: Json) -> Any:
    from jsonschema.validators import validator_for
    from referencing.jsonschema import EMPTY_REGISTRY

    # without a registry, jsonschema fetches remote references
    return bounded_validator(validator_for(schema), schema)(schema, registry=EMPTY_REGISTRY)


def _explain_invalid_schema(schema: Json) -> str:
    """Return where a JSON Schema is invalid, or "" if that is unknown."""
    from jsonschema.validators import validator_for
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    if not isinstance(schema.get("$schema", ""), str):
        return "it is not a JSON Schema: $schema: must be a string"

    token = enter(Evaluations(_EXPLANATION_BUDGET))
    try:
        validator = validator_for(schema)
        checked = bounded_validator(validator, {})(validator.META_SCHEMA, registry=REGISTRY)
        error = next(checked.iter_errors(schema), None)
    except Exception:
        # the caller reports its own exception
        return ""
    finally:
        leave(token)

    if error is None:
        return ""

    return (
        f"it is not a JSON Schema: {field_path(tuple(error.absolute_path)) or 'it'}: "
        f"{error.message[:200]}"
    )


_RULES = {
    "type": "wrong-type",
    "required": "required-value",
    "additionalProperties": "unknown-field",
}
"""The rules that report the errors of these keywords."""


def _to_problem(error: Any, filename: str) -> Problem:
    path: Path = tuple(error.absolute_path)
    name = _RULES.get(error.validator, "invalid-value")
    on_key = name == "unknown-field"
    if on_key:
        properties = schema_properties(error.schema)
        instance = as_mapping(error.instance)
        unknown = next((key for key in instance if key not in properties), None)
        if isinstance(unknown, str):
            path = (*path, unknown)

    text = str(error.message)[: MESSAGE_MAX - len(message_at(path, ""))]
    return problem_at(name, path, text, f"see the schema in {filename}", on_key=on_key)


def schema_properties(schema: Any) -> frozenset[str]:
    """Return the properties that a schema names."""
    if isinstance(schema, dict):
        return frozenset(schema.get("properties", ()))
    return frozenset()


def _without_nulls(value: Any, values: list[int]) -> Any:
    """Return a value without nulls; `values[0]` counts its parts."""
    values[0] += 1
    if isinstance(value, Mapping):
        return {
            key: _without_nulls(item, values) for key, item in value.items() if item is not None
        }
    if isinstance(value, list):
        return [_without_nulls(item, values) for item in value]
    return value
