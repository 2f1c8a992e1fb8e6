"""Custom resources over an update: the transition rules of their CRDs (`self == oldSelf`).

Such a rule runs only where both objects have the value: a field that is added or removed passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.diffing.applying.merging import merged
from ptcompile.diffing.applying.told import ANEW, fixed
from ptcompile.documents.schema_files import load
from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.kubernetes.untyped import kind_of
from ptcompile.operators.all import kind_named
from ptcompile.validate.definitions import Definition, shipped
from ptcompile.validate.definitions.rules import filled, rule_problems
from ptcompile.validate.schemas import CUSTOM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.operators.record import Update

_KEYS: Final = ("name", "manager")


def stored(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Problem]]:
    """What is made of a file over a custom resource, and what is said of nulls in it."""
    kind = kind_of(new)
    if kind in CUSTOM:
        schema, document = load(CUSTOM[kind]), CUSTOM[kind]
    elif (definition := shipped(kind)) is not None:
        schema, document = dict(definition.schema), definition.document
    else:
        return new, []
    nulls: list[Path] = []
    made = merged(schema, document, old, new, (), nulls)
    help = "remove the line: an apply treats null as a value"
    problems = (Problem("wrong-type", path, f"{field_path(path)}: must not be null", help) for path in nulls)
    return made, list(problems)


def custom_update(kind: tuple[str, str], update: Update) -> Iterator[Problem]:
    """What the CRD of a kind says to a change."""
    definition: Definition | None
    if kind in CUSTOM:
        schema, document = load(CUSTOM[kind]), CUSTOM[kind]
        old, new = (filled(schema, document, one) for one in (update.old, update.new))
        for path, why in kind_named(kind).immutable_fields():
            for place, before, after in _pairs(old, new, path.split("."), ()):
                if before != after:
                    yield fixed(place, None, ANEW, why)
    elif (definition := shipped(kind)) is not None and definition.schema.get("x-ruled"):
        said = {one.path for one in rule_problems(definition.schema, definition.document, update.new)}
        for problem in rule_problems(definition.schema, definition.document, update.new, update.old):
            if problem.path not in said:
                yield problem


def _pairs(old: Any, new: Any, steps: list[str], path: Path) -> Iterator[tuple[Path, Any, Any]]:
    """Each place that both objects have, with its two values."""
    if not steps:
        yield path, old, new
    elif steps[0] == "*":
        if isinstance(old, list) and isinstance(new, list):
            before = {_key(one): one for one in old}
            for index, one in enumerate(new):
                if _key(one) in before:
                    yield from _pairs(before[_key(one)], one, steps[1:], (*path, index))
    elif isinstance(old, Mapping) and isinstance(new, Mapping) and steps[0] in old and steps[0] in new:
        yield from _pairs(old[steps[0]], new[steps[0]], steps[1:], (*path, steps[0]))


def _key(item: Any) -> str:
    return next((str(item[key]) for key in _KEYS if key in item), "") if isinstance(item, Mapping) else ""
