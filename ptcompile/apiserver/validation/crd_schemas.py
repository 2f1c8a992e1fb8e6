"""Defaults and CEL rules in the schemas of a CustomResourceDefinition, and paths of fields in them.

Source: apiextensions-apiserver 1.36, pkg/apiserver/schema/defaulting/validation.go,
pkg/apiserver/schema/cel (compilation.go, validation.go: ValidFieldPath).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.apiserver.cel.checker import CelTypeError, Environment, type_of
from ptcompile.apiserver.cel.environments import rule_environment
from ptcompile.apiserver.cel.syntax import CelLimitError
from ptcompile.apiserver.cel.types import BOOL, STRING
from ptcompile.apiserver.crds.loader import to_dialect
from ptcompile.apiserver.crds.rules import rule_problems
from ptcompile.apiserver.crds.schema import schemas_of
from ptcompile.apiserver.kinds import known_version
from ptcompile.apiserver.structure.checks import SchemaScope, compile_node
from ptcompile.diagnostics import Path, field_path
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_mappings
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, as_mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    CustomSchema = Json

_USES_OLD = Pattern(r"\boldSelf\b")
_RULE_HELP = "the rule reads `self`, a value of the schema it is in"


class SchemaPathError(Exception):
    """Raised when a path does not lead to a field of a schema."""


class _PlacedSchema(NamedTuple):
    """A schema within a version's schema."""

    path: Path
    schema: CustomSchema
    is_root: bool
    """Whether its values are objects with apiVersion, kind and metadata."""
    unmatched: Path | None
    """The outermost schema whose values have no counterparts in the old object, or None."""


def crd_value_problems(crd: CustomSchema, context: ApiServer) -> FieldErrors:
    """Return the problems of the defaults of all schemas and, if there are none, of their CEL
    rules.
    """
    problems = FieldErrors()
    nodes = [node for path, schema, _ in schemas_of(crd) for node in _nodes(schema, path)]
    for node in nodes:
        if node.schema.get("default") is not None:
            _check_default(node, context, problems)
    if not problems:
        for node in nodes:
            if node.schema.get("x-kubernetes-validations"):
                _check_rules(node, problems)

    return problems


def _nodes(schema: CustomSchema, path: Path) -> Iterator[_PlacedSchema]:
    """Yield the schemas of an object and of its parts."""
    stack = [_PlacedSchema(path=path, schema=schema, is_root=True, unmatched=None)]
    while stack:
        node = stack.pop()
        yield node

        # fields of an atomic mapping, and items of a list without keys, have no older value
        below_unmatched = node.unmatched or node.path
        is_granular = node.schema.get("x-kubernetes-map-type") in (None, "granular")
        unmatched = node.unmatched if is_granular else below_unmatched
        for name, child in as_mapping(node.schema.get("properties")).items():
            if isinstance(child, Mapping):
                stack.append(_child(child, (*node.path, "properties", name), unmatched))

        additional = node.schema.get("additionalProperties")
        if isinstance(additional, Mapping):
            stack.append(_child(additional, (*node.path, "additionalProperties"), node.unmatched))

        items = node.schema.get("items")
        is_keyed = node.schema.get("x-kubernetes-list-type") == "map"
        unmatched = node.unmatched if is_keyed else below_unmatched
        if isinstance(items, Mapping):
            stack.append(_child(items, (*node.path, "items"), unmatched))


def _child(schema: CustomSchema, path: Path, unmatched: Path | None) -> _PlacedSchema:
    return _PlacedSchema(
        path, schema, schema.get("x-kubernetes-embedded-resource") is True, unmatched
    )


def _check_default(node: _PlacedSchema, context: ApiServer, problems: FieldErrors) -> None:
    """Check that a default is a valid value of its schema, without unknown fields."""
    path = (*node.path, "default")
    value = node.schema["default"]
    dialect = to_dialect(node.schema)
    server = context.kubernetes
    violations = (
        compile_node(dialect, SchemaScope("", known_version(server), True, server))(value) or []
    )
    for violation in violations:
        where = field_path(tuple(reversed(violation.path)))
        why = violation.text
        if violation.name == "unknown-field":
            where, why = "", f"must be pruned: {where} is not a field"
        elif " value: " in why:
            # the reason quotes the value itself
            why = why.partition(": ")[2].partition(": ")[2]
        help = "write a default that the schema accepts"
        problems.invalid(path, value, f"{where}: {why}" if where else why, help)

    if not violations and dialect.get("x-ruled"):
        for problem in rule_problems(dialect, "", value):
            if problem.severity != "warning":
                problems.invalid(
                    path, value, problem.message, "write a default that the rules accept"
                )


def _check_rules(node: _PlacedSchema, problems: FieldErrors) -> None:
    environments = {
        optional: rule_environment(node.schema, root=node.is_root, optional_old=optional)
        for optional in (False, True)
    }
    for index, rule in indexed_mappings(node.schema["x-kubernetes-validations"]):
        path: Path = (*node.path, "x-kubernetes-validations", index)
        environment = environments[rule.get("optionalOldSelf") is True]
        if environment is not None:
            _check_rule(rule, path, environment, problems)

        text = rule.get("rule")
        uses_old = type(text) is str and _USES_OLD.search(text) is not None
        if uses_old and node.unmatched is not None:
            why = "oldSelf cannot be used on the uncorrelatable portion of the schema within"
            help = "make the list a map with keys, or move the rule up"
            problems.invalid((*path, "rule"), text, f"{why} {field_path(node.unmatched)}", help)
        if not uses_old and rule.get("optionalOldSelf") is not None:
            why = "may not be set if oldSelf is not used in rule"
            problems.invalid((*path, "optionalOldSelf"), rule["optionalOldSelf"], why)
        _check_field_path(rule.get("fieldPath"), node.schema, (*path, "fieldPath"), problems)


def _check_rule(rule: Json, path: Path, environment: Environment, problems: FieldErrors) -> None:
    text = rule.get("rule")
    message = rule.get("messageExpression")
    for expression, key, expected, why_not in (
        (text, "rule", BOOL, "cel expression must evaluate to a bool"),
        (message, "messageExpression", STRING, "messageExpression must evaluate to a string"),
    ):
        if type(expression) is not str or not expression:
            continue
        if not expression.strip():
            problems.required((*path, key), f"{key} must be non-empty if specified", "remove it")
            continue
        try:
            kind = type_of(expression, environment)
        except CelTypeError as error:
            prefix = "" if key == "rule" else "messageExpression "
            problems.invalid(
                (*path, key), expression, f"{prefix}compilation failed: {error}", _RULE_HELP
            )
        except CelLimitError:
            # too long or too deep to be read here, but the API server may accept it
            continue
        else:
            if kind != expected:
                problems.invalid((*path, key), expression, why_not, _RULE_HELP)


def _check_field_path(text: Any, schema: CustomSchema, path: Path, problems: FieldErrors) -> None:
    if type(text) is not str or not text:
        return
    if not text.strip():
        problems.invalid(path, text, "fieldPath must be non-empty if specified", "remove it")
    elif "\n" in text or "\r" in text:
        problems.invalid(path, text, "fieldPath must not contain line breaks")
    else:
        try:
            field_at(text, schema, brackets=True)
        except SchemaPathError as error:
            problems.invalid(
                path, text, f"must be a valid path: {error}", "write it as .spec.field"
            )


_PATH_PART = Pattern(r"[.\[\]]|'(?:\\'|[^'])*'|[^.\[\]]+")


def field_at(
    text: str, schema: CustomSchema, *, brackets: bool
) -> tuple[tuple[str, ...], CustomSchema]:
    """Return the keys of a path such as `.spec.names['a']` and the schema of its field. Raises
    SchemaPathError.

    `brackets` allows keys in brackets.
    """
    parts = iter(match.group() for match in _PATH_PART.finditer(text))
    keys: list[str] = []
    for part in parts:
        if part == "[" and brackets:
            key = next(parts, "")
            if len(key) < 2 or key[0] != "'" or key[-1] != "'":
                raise SchemaPathError(f"expected single quoted string but got {key}")
            schema = _schema_of_key(schema, key[1:-1].replace("\\'", "'").replace("\\\\", "\\"))
            keys.append(key[1:-1])
            if (end := next(parts, "")) != "]":
                raise SchemaPathError(f"expected ] but got {end}")
        elif part == ".":
            key = next(parts, "")
            if not key:
                raise SchemaPathError("unexpected end of JSON path")
            schema = _schema_of_key(schema, key)
            keys.append(key)
        elif part == "[":
            raise SchemaPathError("array notation is not allowed")
        else:
            raise SchemaPathError(f"expected [ or . but got: {part}")

    return tuple(keys), schema


def _schema_of_key(schema: CustomSchema, key: str) -> CustomSchema:
    properties = schema.get("properties")
    additional = schema.get("additionalProperties")
    if isinstance(properties, Mapping) and properties:
        if not isinstance(properties.get(key), Mapping):
            raise SchemaPathError("does not refer to a valid field")
        field: CustomSchema = properties[key]
        return field
    if isinstance(additional, Mapping):
        return additional

    raise SchemaPathError("does not refer to a valid field")
