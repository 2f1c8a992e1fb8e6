"""CEL rules of CRDs (`x-kubernetes-validations`), for manifests whose structure is valid.

As on the server, defaults are set first and nulls of fields that are not nullable are dropped. A
rule runs if its node exists; a rule with `oldSelf` runs only if the old object has the node too. A
rule that fails on its values rejects the object. The step budget grows with the object: a rule that
exceeds it is reported as not checked.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.apiserver import evaluations
from ptcompile.apiserver.cel import STEPS_PER_CALL_MAX, evaluate, fresh_budget
from ptcompile.apiserver.cel.library import UncheckedError
from ptcompile.apiserver.cel.values import (
    ABSENT,
    CelError,
    CostError,
    Optional,
    to_duration,
    to_timestamp,
)
from ptcompile.apiserver.defaulting.schemas import (
    property_schema,
    resolve_node,
    with_schema_defaults,
)
from ptcompile.diagnostics import Path, Problem, Problems, field_path, problem_at
from ptcompile.kubernetes.unstructured import Json, JsonDict, as_mapping
from ptcompile.operators.table import record_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.cel.values import StepBudget
    from ptcompile.apiserver.kinds import Schema
    from ptcompile.kinds.model import Kind


_ABSENT = object()


def rule_problems(
    schema: Schema,
    document: str,
    manifest: Json,
    old: Json | None = None,
    *,
    webhooks: bool = False,
) -> Problems:
    """Yield the problems that a CRD's rules find in a manifest and, with `old`, in the update
    from `old` to it. `webhooks` leaves out the rules that the operator's webhooks repeat.
    """
    new = _to_cel_value(schema, document, with_schema_defaults(schema, document, manifest))
    if old is None:
        before = _ABSENT
    else:
        before = _to_cel_value(schema, document, with_schema_defaults(schema, document, old))
    kind = record_of(as_mapping(manifest))
    run = _Run(fresh_budget(manifest), set(), kind, webhooks)
    yield from _walk(schema, document, _Pair(new, before), (), run)


class _Run(NamedTuple):
    """State that the rules of one object share."""

    budget: StepBudget
    unchecked: set[str]
    """Rules already reported as not checked; they are not tried again for this object."""
    kind: Kind
    """Knows the fields that its rules are about, and what helps."""
    webhooks: bool
    """Whether the operator's webhooks report what they repeat."""


class _Pair(NamedTuple):
    """A value of the new object and its counterpart in the old one, as CEL reads them; either
    may be `_ABSENT`.
    """

    new: Any
    old: Any


def _walk(schema: Schema, document: str, pair: _Pair, path: Path, run: _Run) -> Problems:
    """Yield the problems of all rules at a value and below it."""
    if not schema.get("x-ruled"):
        return

    schema, document = resolve_node(schema, document)
    for rule in schema.get("x-rules", ()):
        yield from _rule_result(rule, pair, path, run)
    new, old = pair
    if isinstance(new, list):
        before = {}
        # items of a list without keys have no counterparts
        if schema.get("x-kubernetes-list-type") == "map" and isinstance(old, list):
            before = {_item_key(schema, item): item for item in old}
        for index, item in enumerate(new):
            old_item = before.get(_item_key(schema, item), _ABSENT) if before else _ABSENT
            yield from _walk(
                schema.get("items", {}), document, _Pair(item, old_item), (*path, index), run
            )
    elif isinstance(new, Mapping):
        for key, item in new.items():
            child = property_schema(schema, key)
            old_item = old.get(key, _ABSENT) if isinstance(old, Mapping) else _ABSENT
            yield from _walk(child, document, _Pair(item, old_item), (*path, key), run)


def _item_key(schema: Schema, item: Any) -> tuple[Any, ...]:
    keys = schema.get("x-kubernetes-list-map-keys", ())
    if isinstance(item, Mapping):
        return tuple(item.get(key) for key in keys)
    return ()


def _rule_result(rule: Json, pair: _Pair, path: Path, run: _Run) -> Problems:
    expression = str(rule.get("rule", ""))
    budget = run.budget
    names = _variables(rule, expression, pair)
    if names is None or expression in run.unchecked:
        return

    rule_path = (*path, *(part for part in str(rule.get("fieldPath", "")).split(".") if part))
    if budget[0] < _FINDING_STEPS:
        if _REMAINING_RULES not in run.unchecked:
            run.unchecked.add(_REMAINING_RULES)
            reason = (
                "earlier rules used up the steps for an object of this size; later rules were not "
                "checked either"
            )
            yield _unchecked_rule(rule_path, expression, reason, True)
        return

    try:
        if evaluate(expression, names, budget) is True:
            return
        reason = _message(rule, names, budget)
        message = reason
    except CelError as error:
        reason = _message(rule)
        message = f"{error} evaluating rule: {reason}"
        if str(error) == "no such overload":
            why = "call arguments did not match a supported operator for rule"
            message = f"'{error}': {why}: {reason}"
    except (CostError, UncheckedError) as error:
        run.unchecked.add(expression)
        yield _unchecked_rule(rule_path, expression, str(error), isinstance(error, CostError))
        return

    if run.webhooks and reason in run.kind.repeated_rules:
        return

    budget[0] -= _FINDING_STEPS
    field, help = run.kind.rule_helps.get(reason, ((), "see the rule in the CRD"))
    yield problem_at(
        "invalid-value",
        (*rule_path, *field),
        f"Invalid value: {message}",
        help,
        field=field_path(rule_path) if field else None,
    )


_FINDING_STEPS = 100
"""Steps that a finding costs, so that many rules failing for many items cannot produce findings
endlessly.
"""
_REMAINING_RULES = ""
"""Entry of `_Run.unchecked` for all remaining rules once the budget is spent."""


def _variables(rule: Json, text: str, pair: _Pair) -> JsonDict | None:
    """Return a rule's variables, or None if the rule needs an old value that does not exist."""
    if "oldSelf" not in text:
        return {"self": pair.new}
    old = pair.old
    if rule.get("optionalOldSelf") is True:
        old = ABSENT if old is _ABSENT else Optional(True, old)
    if old is _ABSENT:
        return None
    return {"self": pair.new, "oldSelf": old}


def _message(rule: Json, names: JsonDict | None = None, budget: StepBudget | None = None) -> str:
    """Return the text that a rule's messageExpression gives, else the rule's message."""
    expression = rule.get("messageExpression")
    if isinstance(expression, str) and names is not None and budget is not None:
        try:
            text = evaluate(expression, names, budget)
        except (CelError, CostError, UncheckedError):
            text = None
        # the server ignores an empty, multi-line or longer text
        if isinstance(text, str) and text.strip() and "\n" not in text and len(text) <= 5 * 1024:
            return text.strip()

    message = rule.get("message")
    if isinstance(message, str) and message:
        return message

    return f"failed rule: {' '.join(str(rule.get('rule', '')).split())}"


def _unchecked_rule(path: Path, text: str, reason: str, costly: bool) -> Problem:
    """Return the warning for a rule that was not checked."""
    rule = " ".join(text.split())
    if len(rule) > _MAX_QUOTED_CHARACTERS:
        rule = f"{rule[:_MAX_QUOTED_CHARACTERS]}..."
    message = f"a rule of its CRD was not checked: {reason}"
    help = evaluations.ASK_SERVER
    if costly:
        message += (
            "; the API server rejects a CRD whose rules have too high an estimated cost, and an "
            "object for which a rule"
            f" costs more than {STEPS_PER_CALL_MAX:,} units"
        )
        help = "nest fewer loops in the rule, and bound the lists and texts in the CRD's schema"

    problem = evaluations.unchecked_problem(path, f"{message}: {rule}", help)
    return problem._replace(field=None if path else "the object")


_MAX_QUOTED_CHARACTERS = 200
"""Maximum number of characters of a rule that a message repeats."""


def _to_cel_value(schema: Schema, document: str, value: Any) -> Any:
    """Return a value as CEL reads it: integers of a `number` field as floats, texts with a
    format as that type.
    """
    if schema.get("x-decoded"):
        return value

    schema, document = resolve_node(schema, document)
    if isinstance(value, list):
        items = schema.get("items", {})
        return [_to_cel_value(items, document, item) for item in value]
    if isinstance(value, Mapping):
        return {
            key: _to_cel_value(property_schema(schema, key), document, item)
            for key, item in value.items()
        }
    if type(value) is int and (schema.get("type") == "number" or abs(value) >= 2**63):
        return float(value)
    if isinstance(value, str):
        return _parse_format(value, schema.get("format"))

    return value


def _parse_format(text: str, form: object) -> Any:
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
