"""The CEL rules of CRDs (`x-kubernetes-validations`), on a manifest whose structure is sound.

As on the server: defaults first, nulls of fields that may not be null dropped; a rule is asked where its node exists,
one that speaks of `oldSelf` only where the old object has the node too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy

from ptcompile.documents.schema_files import load
from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.validate.definitions.cel import Unreadable, ask, escaped
from ptcompile.validate.schemas import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Schema = Mapping[str, Any]

_ABSENT = object()


def rule_problems(
    schema: Schema, document: str, manifest: Mapping[str, Any], old: Mapping[str, Any] | None = None
) -> Iterator[Problem]:
    """What a CRD's rules have against a manifest, and with `old` against changing that into it."""
    new = filled(schema, document, manifest)
    before = _ABSENT if old is None else filled(schema, document, old)
    yield from _walk(schema, document, new, before, ())


def _node(schema: Schema, document: str) -> tuple[Schema, str]:
    while "$ref" in schema:
        document, name = resolve(document, schema["$ref"])
        schema = load(document)["$defs"][name]
    return schema, document


def filled(schema: Schema, document: str, value: Any) -> Any:
    """A value with its schema's defaults, without the nulls that the server drops."""
    if schema.get("x-decoded"):
        return value
    schema, document = _node(schema, document)
    if isinstance(value, list):
        return [filled(schema.get("items", {}), document, one) for one in value]
    if not isinstance(value, Mapping):
        return value
    properties, other = schema.get("properties", {}), schema.get("additionalProperties")
    out = {}
    for key, one in value.items():
        child = properties.get(key, other if isinstance(other, dict) else {})
        if one is not None or child.get("nullable"):
            out[key] = filled(child, document, one)
    for key, child in properties.items():
        if key not in out and "default" in child:
            out[key] = filled(child, document, deepcopy(child["default"]))
    return out


def _walk(schema: Schema, document: str, new: Any, old: Any, path: Path) -> Iterator[Problem]:
    if not schema.get("x-ruled"):
        return
    schema, document = _node(schema, document)
    for rule in schema.get("x-rules", ()):
        yield from _asked(rule, schema, document, new, old, path)
    if isinstance(new, list):
        before = _by_key(schema, old)
        for index, one in enumerate(new):
            other = before.get(_key(schema, one), _ABSENT) if before else _ABSENT
            yield from _walk(schema.get("items", {}), document, one, other, (*path, index))
    elif isinstance(new, Mapping):
        properties, other = schema.get("properties", {}), schema.get("additionalProperties")
        for key, one in new.items():
            child = properties.get(key, other if isinstance(other, dict) else {})
            was = old.get(key, _ABSENT) if isinstance(old, Mapping) else _ABSENT
            yield from _walk(child, document, one, was, (*path, key))


def _key(schema: Schema, item: Any) -> tuple[Any, ...]:
    keys = schema.get("x-kubernetes-list-map-keys", ())
    return tuple(item.get(key) for key in keys) if isinstance(item, Mapping) else ()


def _by_key(schema: Schema, old: Any) -> dict[tuple[Any, ...], Any]:
    """The items of an old list that a new one's can be compared with: those of a list with keys."""
    if schema.get("x-kubernetes-list-type") != "map" or not isinstance(old, list):
        return {}
    return {_key(schema, item): item for item in old}


def _asked(rule: Mapping[str, Any], schema: Schema, document: str, new: Any, old: Any, path: Path) -> Iterator[Problem]:
    text = str(rule.get("rule", ""))
    changes = "oldSelf" in text
    if changes and old is _ABSENT:
        return
    names = {"self": _seen(schema, document, new)}
    if changes:
        names["oldSelf"] = _seen(schema, document, old)
    message = rule.get("message") or f"failed rule: {' '.join(text.split())}"
    at = (*path, *(part for part in str(rule.get("fieldPath", "")).split(".") if part))
    where = field_path(at)
    try:
        held = ask(text, names)
    except KeyError as error:
        held, message = False, f"no such key: {error.args[0]} evaluating rule: {message}"
    except Unreadable as error:
        yield Problem(
            "unread-rule",
            at,
            f"{where or 'the object'}: a rule of its CRD was not checked,  {error}: {' '.join(text.split())}",
            "check with the API server: kubectl apply --dry-run=server",
            severity="warning",
            stage="style",
            authority="ptcompile",
        )
        return
    if not held:
        said = f"Invalid value: {message}"
        yield Problem("invalid-value", at, f"{where}: {said}" if where else said, "see the rule in the CRD")


def _seen(schema: Schema, document: str, value: Any) -> Any:
    """A value as CEL sees it: names of fields escaped, times as times."""
    if schema.get("x-decoded"):
        return value
    schema, document = _node(schema, document)
    if isinstance(value, list):
        return [_seen(schema.get("items", {}), document, one) for one in value]
    if isinstance(value, Mapping):
        properties, other = schema.get("properties"), schema.get("additionalProperties")
        if not properties:
            child = other if isinstance(other, dict) else {}
            return {key: _seen(child, document, one) for key, one in value.items()}
        out = {}
        for key, one in value.items():
            seen = _seen(properties.get(key, {}), document, one)
            out[key] = seen
            if (name := escaped(key)) != key:
                out[name] = seen
        return out
    if isinstance(value, str) and schema.get("format") in ("date-time", "datetime"):
        from datetime import datetime

        try:
            return datetime.fromisoformat(value)
        except ValueError:
            return value
    return value
