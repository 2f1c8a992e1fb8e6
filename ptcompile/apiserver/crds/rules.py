"""The CEL rules of CRDs (`x-kubernetes-validations`), on a manifest whose structure is sound.

As on the server, defaults are filled in first and nulls of fields that are not nullable are dropped; a rule runs where
its node exists, one that names `oldSelf` only where the old object has the node too, and one that fails on its values
is a refusal. The budget of the rules grows with the object: a rule that takes more is reported as not checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load
from ptcompile.apiserver import evaluations
from ptcompile.apiserver.cel import PER_CALL, evaluate, fresh_budget
from ptcompile.apiserver.cel.library import UncheckedError
from ptcompile.apiserver.cel.values import ABSENT, CelError, CostError, Optional, to_duration, to_timestamp
from ptcompile.apiserver.kinds import resolve
from ptcompile.diagnostics import Path, Problem, field_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.apiserver.cel.values import StepBudget

    Schema = Mapping[str, Any]

_ABSENT = object()


def rule_problems(
    schema: Schema, document: str, manifest: Mapping[str, Any], old: Mapping[str, Any] | None = None
) -> Iterator[Problem]:
    """What a CRD's rules have against a manifest, and with `old` against changing that into it."""
    new = _seen(schema, document, with_schema_defaults(schema, document, manifest))
    before = _ABSENT if old is None else _seen(schema, document, with_schema_defaults(schema, document, old))
    yield from _walk(schema, document, _Pair(new, before), (), _Run(fresh_budget(manifest), set()))


def _node(schema: Schema, document: str) -> tuple[Schema, str]:
    while "$ref" in schema:
        document, name = resolve(document, schema["$ref"])
        schema = load(document)["$defs"][name]
    return schema, document


def with_schema_defaults(schema: Schema, document: str, value: Any) -> Any:
    """A value with its schema's defaults, without the nulls that the server drops."""
    if schema.get("x-decoded"):
        return value
    schema, document = _node(schema, document)
    if isinstance(value, list):
        return [with_schema_defaults(schema.get("items", {}), document, one) for one in value]
    if not isinstance(value, Mapping):
        return value
    properties, other = schema.get("properties", {}), schema.get("additionalProperties")
    out = {}
    for key, one in value.items():
        child = properties.get(key, other if isinstance(other, dict) else {})
        if one is not None or child.get("nullable"):
            out[key] = with_schema_defaults(child, document, one)
    for key, child in properties.items():
        if key not in out and "default" in child:
            out[key] = with_schema_defaults(child, document, deepcopy(child["default"]))
    return out


class _Run(NamedTuple):
    """What the rules of one object share."""

    budget: StepBudget
    unchecked: set[str]
    """Rules that were reported as not checked: they are not tried again for this object."""


class _Pair(NamedTuple):
    """A value of the new object and its counterpart in the old one, as CEL sees them; either may be `_ABSENT`."""

    new: Any
    old: Any


def _walk(schema: Schema, document: str, pair: _Pair, path: Path, run: _Run) -> Iterator[Problem]:
    if not schema.get("x-ruled"):
        return
    schema, document = _node(schema, document)
    for rule in schema.get("x-rules", ()):
        yield from _evaluated(rule, pair, path, run)
    new, old = pair
    if isinstance(new, list):
        before = _by_key(schema, old)
        for index, one in enumerate(new):
            other = before.get(_key(schema, one), _ABSENT) if before else _ABSENT
            yield from _walk(schema.get("items", {}), document, _Pair(one, other), (*path, index), run)
    elif isinstance(new, Mapping):
        properties, other = schema.get("properties", {}), schema.get("additionalProperties")
        for key, one in new.items():
            child = properties.get(key, other if isinstance(other, dict) else {})
            was = old.get(key, _ABSENT) if isinstance(old, Mapping) else _ABSENT
            yield from _walk(child, document, _Pair(one, was), (*path, key), run)


def _key(schema: Schema, item: Any) -> tuple[Any, ...]:
    keys = schema.get("x-kubernetes-list-map-keys", ())
    return tuple(item.get(key) for key in keys) if isinstance(item, Mapping) else ()


def _by_key(schema: Schema, old: Any) -> dict[tuple[Any, ...], Any]:
    """The items of an old list that a new one's can be compared with: those of a list with keys."""
    if schema.get("x-kubernetes-list-type") != "map" or not isinstance(old, list):
        return {}
    return {_key(schema, item): item for item in old}


def _evaluated(rule: Mapping[str, Any], pair: _Pair, path: Path, run: _Run) -> Iterator[Problem]:
    text, budget = str(rule.get("rule", "")), run.budget
    names = _names(rule, text, pair)
    if names is None or text in run.unchecked:
        return
    at = (*path, *(part for part in str(rule.get("fieldPath", "")).split(".") if part))
    where = field_path(at)
    if budget[0] < _FINDING:
        if _REST not in run.unchecked:
            run.unchecked.add(_REST)
            yield _not_checked(
                at,
                text,
                "like the rules after it: those before took all the steps that an object of this size is given",
                True,
            )
        return
    try:
        if evaluate(text, names, budget) is True:
            return
        message = _message(rule, names, budget)
    except CelError as error:
        message = _failed(str(error), _message(rule))
    except (CostError, UncheckedError) as error:
        run.unchecked.add(text)
        yield _not_checked(at, text, str(error), isinstance(error, CostError))
        return
    budget[0] -= _FINDING
    said = f"Invalid value: {message}"
    yield Problem("invalid-value", at, f"{where}: {said}" if where else said, "see the rule in the CRD")


_FINDING: Final = 100
"""Steps that a finding costs: many rules that fail for many items do not make findings without end."""
_REST: Final = ""
"""Stands in `_Run.unchecked` for all rules, once the budget is spent."""


def _names(rule: Mapping[str, Any], text: str, pair: _Pair) -> dict[str, Any] | None:
    """Return a rule's variables, or None if the rule is about a change and there is no old value."""
    if "oldSelf" not in text:
        return {"self": pair.new}
    if rule.get("optionalOldSelf") is True:
        return {"self": pair.new, "oldSelf": ABSENT if pair.old is _ABSENT else Optional(True, pair.old)}
    return None if pair.old is _ABSENT else {"self": pair.new, "oldSelf": pair.old}


def _message(rule: Mapping[str, Any], names: dict[str, Any] | None = None, budget: StepBudget | None = None) -> str:
    """Return a rule's message: its messageExpression's if that gives a text, else its own."""
    expression = rule.get("messageExpression")
    if isinstance(expression, str) and names is not None and budget is not None:
        try:
            text = evaluate(expression, names, budget)
        except (CelError, CostError, UncheckedError):
            text = None
        # the server drops what is blank, of several lines, or longer than 5 KiB
        if isinstance(text, str) and text.strip() and "\n" not in text and len(text) <= 5 * 1024:
            return text.strip()
    message = rule.get("message")
    if isinstance(message, str) and message:
        return message
    return f"failed rule: {' '.join(str(rule.get('rule', '')).split())}"


def _failed(error: str, message: str) -> str:
    """Return what the server says of a rule that fails on its values."""
    if error == "no such overload":
        return f"'{error}': call arguments did not match a supported operator for rule: {message}"
    return f"{error} evaluating rule: {message}"


def _not_checked(path: Path, text: str, reason: str, costly: bool) -> Problem:
    """Return the warning for a rule that was not checked."""
    rule = " ".join(text.split())
    rule = rule if len(rule) <= _SHOWN else f"{rule[:_SHOWN]}..."
    said = f"{field_path(path) or 'the object'}: a rule of its CRD was not checked: {reason}"
    help = evaluations.ASK_SERVER
    if costly:
        said += (
            "; the API server refuses a CRD whose rules it estimates to cost too much, and an object for which a rule"
            f" costs more than {PER_CALL:,} units"
        )
        help = "nest fewer loops in the rule, and bound the lists and texts in the CRD's schema"
    return evaluations.unchecked(path, f"{said}: {rule}", help)


_SHOWN: Final = 200
"""Characters of a rule that a message repeats."""


def _seen(schema: Schema, document: str, value: Any) -> Any:
    """Return a value as CEL sees it: whole numbers of a `number` field as floats, texts with a format as its type."""
    if schema.get("x-decoded"):
        return value
    schema, document = _node(schema, document)
    if isinstance(value, list):
        items = schema.get("items", {})
        return [_seen(items, document, one) for one in value]
    if isinstance(value, Mapping):
        properties, other = schema.get("properties", {}), schema.get("additionalProperties")
        child = other if isinstance(other, dict) else {}
        return {key: _seen(properties.get(key, child), document, one) for key, one in value.items()}
    if type(value) is int:
        return float(value) if schema.get("type") == "number" or abs(value) >= 2**63 else value
    return _of_format(value, schema.get("format")) if isinstance(value, str) else value


def _of_format(text: str, form: object) -> Any:
    try:
        if form in ("date-time", "datetime"):
            return to_timestamp(text)
        if form == "date":
            return to_timestamp(f"{text}T00:00:00Z")
        if form == "duration":
            return to_duration(text)
    except CelError:
        return text
    if form == "byte":
        from base64 import b64decode

        try:
            return b64decode(text, validate=True)
        except ValueError:
            return text
    return text
