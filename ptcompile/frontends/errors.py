"""What is wrong with the shape of a document as problems: one for each place, in plain words, with what was meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ptcompile.findings import value_fixes
from ptcompile.findings.diagnostics import Edit, Fix, Path, Problem, field_path
from ptcompile.kubernetes import names, quantity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.findings.terms import Authority, Severity, Stage
    from ptcompile.vocabulary.blocks import Block
    from ptcompile.vocabulary.from_schema import Fault


def problem(
    name: str,
    path: Path,
    message: str,
    help: str | None,
    *,
    severity: Severity = "error",
    stage: Stage = "apply",
    authority: Authority = "ptcompile",
    on_key: bool = False,
    fix: Fix | None = None,
) -> Problem:
    """A mistake in a document of ours. The message begins with the field's path unless it already names a place."""
    text = message if message.startswith((field_path(path), "the profile")) else f"{field_path(path)}: {message}"
    return Problem(name, path, text, help, severity, stage, authority, on_key, fix=fix)


def bad(path: Path, message: str, help: str | None) -> Problem:
    """A value that means nothing."""
    return problem("spec-invalid-value", path, message, help)


def such_as(name: str, example: str) -> str:
    """The help for a name that is not a DNS label: the user's own made valid, an example if nothing is left."""
    return f"such as {(value_fixes.label(name) or example)!r}"


def conflict(path: Path, message: str, help: str) -> Problem:
    """Two fields that cannot both be meant."""
    return problem("spec-conflict", path, message, help)


_KINDS = {
    "string_type": "a string",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
}


_TYPES = {"a string": "string", "a whole number": "integer", "true or false": "boolean"}
"""The API server's words for them."""


def problems(faults: Iterable[Fault], data: Any, document: Block) -> list[Problem]:
    """Every mistake that was found in a document, at most one for each value of it."""
    by_path: dict[Path, list[Fault]] = {}
    for fault in faults:
        by_path.setdefault(fault.path, []).append(fault)
    # A union's other branch complains of the whole, this one of the part.
    outer = {path[:size] for path in by_path for size in range(len(path))}
    return [_problem(path, group, data, document) for path, group in by_path.items() if path not in outer]


def _problem(path: Path, faults: list[Fault], data: Any, document: Block) -> Problem:
    by_kind = {fault.kind: fault for fault in reversed(faults)}
    fault = by_kind.get("value_error", faults[0])
    value = fault.value
    if fault.kind == "extra_forbidden":
        return _unknown(path, data, document)
    if fault.kind == "missing":
        return problem("spec-missing-field", path, "is missing", f"add {path[-1]}")
    if bound := next((one for one in faults if one.kind.startswith(("greater_than", "less_than"))), None):
        return bad(path, f"{_shown(bound.value)}: {bound.message[:1].lower()}{bound.message[1:]}", None)
    if "literal_error" in by_kind:
        return _literal(path, by_kind["literal_error"], faults)
    if fault.kind == "value_error":
        meant = quantity.suggest(value) if isinstance(value, str) else None
        cure = value_fixes.amount(value) if meant else None
        help = f"did you mean {meant}?" if meant else None
        return problem("spec-invalid-value", path, str(fault.error), help, fix=cure and cure.at(path))
    wanted = list(dict.fromkeys(_KINDS[one.kind] for one in faults if one.kind in _KINDS))
    if wanted:
        help = _in_quotes(value) if "a string" in wanted else None
        cure = value_fixes.typed(_TYPES.get(wanted[0], ""), value) if len(wanted) == 1 else None
        help, cure = _reshaped(path, value) or (help, cure)
        message = f"{_shown(value)} is not {' or '.join(wanted)}"
        return problem("spec-wrong-type", path, message, help, fix=cure and cure.at(path))
    return bad(path, f"{fault.message[:1].lower()}{fault.message[1:]}", None)


def _reshaped(path: Path, value: Any) -> tuple[str, value_fixes.Cure | None] | None:
    from ptcompile.frontends.shapes import reshaped

    return reshaped(path, value)


def _literal(path: Path, fault: Fault, faults: list[Fault]) -> Problem:
    given, allowed = fault.value, fault.expected
    others = [_KINDS[one.kind] for one in faults if one.kind in _KINDS]
    near = names.suggest(str(given), allowed) if isinstance(given, str) else None
    help = f"did you mean {near}?" if near else None
    cure = value_fixes.spelt(given, near) if isinstance(given, str) else None
    if isinstance(given, bool) or given is None:
        help = "YAML does not read a plain word such as this as a string: quote it"
    message = f"{_shown(given)} is not one of {', '.join([*others, *allowed])}"
    return problem("spec-invalid-value", path, message, help, fix=cure and cure.at(path))


def _unknown(path: Path, data: Any, document: Block) -> Problem:
    from ptcompile.frontends.elsewhere import elsewhere, same, slip

    key, block = str(path[-1]), _block_at(document, path[:-1])
    siblings = [] if block is None else [*block.fields]
    message = "unknown field" + (f" in {field_path(path[:-1])}" if len(path) > 1 else "")
    near = names.suggest(key, siblings)
    other = elsewhere(key, path, block, document) if block is not None and not same(near, key) else None
    if other is not None:
        fix = _move(path, other.path, data) if other.path else None
        return problem("spec-unknown-field", path, message, other.help, on_key=True, fix=fix)
    cure = value_fixes.named(key, near, _at(data, path[:-1]))
    help = f"did you mean {near}?" if near else (block and slip(key, path, block, document)) or _known(siblings, path)
    return problem("spec-unknown-field", path, message, help, on_key=True, fix=cure and cure.at(path))


def _move(path: Path, home: Path, data: Any) -> Fix | None:
    """The change that takes a value to where it belongs; None where something stands there."""
    there: Any = data
    for part in home:
        if not isinstance(there, Mapping):
            return None
        if part not in there:
            edits = (Edit("set", home, _at(data, path[:-1])[str(path[-1])]), Edit("remove", path))
            return Fix(f"move it to {field_path(home)}", edits, safe=False)
        there = there[part]
    return None


_MOST_LISTED = 12
"""How many fields a help lists; longer lists are not read."""


def _known(siblings: Sequence[str], path: Path) -> str:
    """What there is instead, where that is not too much to read."""
    if len(siblings) > _MOST_LISTED:
        return f"ptcompile schema spec lists the fields of {field_path(path[:-1])}"
    return f"the fields are {', '.join(sorted(siblings))}" if siblings else "remove it"


def _at(data: Any, path: Path) -> Mapping[str, Any]:
    for part in path:
        data = data[part]
    return data if isinstance(data, Mapping) else {}


def _block_at(block: Block, path: Path) -> Block | None:
    """The block at a path of a document; None where the vocabulary has none there."""
    parts = iter(path)
    for part in parts:
        name = str(part)
        if name not in block.fields:
            return None
        inner = block.inside(name)
        if inner is None:
            inner = block.inside(name, into_values=True)
            next(parts, None)  # a key of a mapping is not a field
        if inner is None:
            return None
        block = inner
    return block


def _in_quotes(value: Any) -> str | None:
    """How to make text of what YAML reads as something else. The value of `on` or `1.0` does not tell the spelling."""
    if isinstance(value, bool | float):
        return "write it in quotes"
    return f'write it in quotes: "{value}"' if isinstance(value, int) else None


def _shown(value: Any) -> str:
    """A value as a person wrote it, more or less, and not for long."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
