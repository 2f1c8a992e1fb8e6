"""A mistake in a spec in plain words: near names, the words of other systems, other shapes.

People write what they know from torchrun, Kubernetes and the operators. Asked only where a field is unknown.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.paths import get
from ptcompile._internal.schema_files import load
from ptcompile._internal.spelling import closest_match, distance
from ptcompile.compiler.frontend import aliases
from ptcompile.diagnostics import Edit, Fix, Path, Problem, field_path, fixes
from ptcompile.diagnostics.fixes import Cure
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.resources import is_accelerator
from ptcompile.kubernetes.unstructured import as_mapping
from ptcompile.spec.reader import SPEC_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.diagnostics.terms import Authority, Severity, Stage
    from ptcompile.spec.reader import Block, SpecViolation


_CONTAINERS: Final = "podTemplate.spec.containers: [{name: pytorch, %s: ...}]"

_ENV: Final = {
    "valueFrom": "omit valueFrom: {name}: {{secretKeyRef: {{name: ..., key: ...}}}}",
    "value": "write the value itself: {name}: value",
}
"""Fields of Kubernetes' env entries, which a variable of the spec does not have."""

_LAUNCH: Final = ("script", "module", "elastic")
"""What an auxiliary role has no counterpart of."""


class FieldSuggestion(NamedTuple):
    """Where a word belongs: in words, and as a path where its value is the same there."""

    help: str
    path: Path | None = None


def suggest_field(key: str, path: Path, block: Block, root: Block) -> FieldSuggestion | None:
    """Return where a field belongs that the `block` at `path` does not have, or None if its name means nothing.

    `path` ends with the field; `root` is the document.
    """
    if path[-3:-2] == ("env",) and key in _ENV:
        return FieldSuggestion(_ENV[key].format(name=path[-2]))
    if "gpu" in block.fields and "/" in key and is_accelerator(key):
        return FieldSuggestion(f"it is {field_path(path[:-1])}.gpu", (*path[:-1], "gpu"))
    if "devices" in block.fields and "/" in key:
        return FieldSuggestion(f"write {field_path(path[:-1])}.devices: {{{key}: 1}}")
    if path[:2] == ("spec", "roles") and key in _LAUNCH:
        return FieldSuggestion("write command: torchrun starts only the nodes of the job")
    if root.file == SPEC_FILE and path[:1] == ("spec",):
        alias = aliases.find(key)
        exact = [home for home in _homes(root).get(aliases.letters(key), ()) if home[:-1] != path[:-1]]
        if alias and not (exact and alias.keeps_value and len(alias.field) > 1):
            return _aliased(alias, path, block)
        if len(path) == 2 and aliases.letters(key) in aliases.DOCUMENT:
            return FieldSuggestion(aliases.DOCUMENT[aliases.letters(key)])
    if home := _nearest(key, path, block, root):
        return FieldSuggestion(f"it is {field_path(home)}", home)
    if in_pod := _in_a_pod(key, path, root):
        return FieldSuggestion(in_pod)
    return None


def _aliased(alias: aliases.Alias, path: Path, block: Block) -> FieldSuggestion:
    """Return the field of an alias: of the role at `path` if it has the field, else of the job."""
    home = (*path[:-1], *alias.field) if alias.field[0] in block.fields else ("spec", *alias.field)
    if not alias.keeps_value:
        return FieldSuggestion(f"write {field_path(home)}: {alias.note}")
    movable = alias.field[0] != "podTemplate" and home != path
    return FieldSuggestion(f"it is {field_path(home)}", home if movable else None)


def slip(key: str, path: Path, block: Block, root: Block) -> str | None:
    """Return the help for a field that is misspelled and belongs elsewhere, or None."""
    near = likely_field(key, _field_names(root))
    home = _nearest(near, path, block, root) if near else None
    return f"did you mean {field_path(home)}?" if home else None


_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def likely_field(key: str, fields: Iterable[str]) -> str | None:
    """Return the field that a misspelled or incomplete name most likely means, or None if none is near enough.

    A name is near if it has the same letters, is one slip away (two from seven letters on), or is at least half of the
    words of exactly one field.
    """
    names = list(fields)
    folded = aliases.letters(key)
    for name in names:
        if aliases.letters(name) == folded:
            return name
    if not 4 <= len(folded) <= _MAX_FIELD:
        return None
    slips = 1 if len(folded) < 7 else 2
    near = {name: distance(folded, aliases.letters(name), slips) for name in names}
    best = min(near, key=lambda name: (near[name], name), default=None)
    if best is not None and near[best] <= slips and best[:1].lower() == folded[:1]:
        return best
    if inside := [name for name in names if aliases.letters(name) in folded and 3 * len(name) > 2 * len(folded)]:
        return max(inside, key=len)
    words = {word.lower() for word in _WORD.findall(key)}
    parts = {name: {word.lower() for word in _WORD.findall(name)} for name in names}
    whole = [name for name, of_name in parts.items() if words < of_name and 2 * len(words) > len(of_name)]
    return whole[0] if len(whole) == 1 else None


_MAX_FIELD: Final = 64
"""Maximum length of a name that is compared: no field is half as long."""


def _nearest(key: str, path: Path, block: Block, root: Block) -> Path | None:
    """The place of a word that shares most with where it was written; of several the highest."""
    below = ((*path[:-1], *home) for home in _homes(block).get(aliases.letters(key), ()))
    places = [home for home in (*below, *_homes(root).get(aliases.letters(key), ())) if home[:-1] != path[:-1]]
    return min(places, key=lambda home: (-_shared(home, path), len(home)), default=None)


def _shared(home: Path, path: Path) -> int:
    pairs = zip(home[:-1], path[:-1], strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(home), len(path)) - 1)


@cache
def _homes(block: Block) -> Mapping[str, Sequence[Path]]:
    """The places of all fields below a block, by their letters."""
    found: dict[str, list[Path]] = {}
    for home in _fields(block, ()):
        found.setdefault(aliases.letters(str(home[-1])), []).append(home)
    return found


@cache
def _field_names(root: Block) -> Sequence[str]:
    """The names of all fields of a document, each once."""
    return tuple(dict.fromkeys(str(home[-1]) for home in _fields(root, ())))


_OTHERS: Final = ("master", "worker", "runtimeRef")
"""Blocks whose words are the job's own, or another object's."""


def _fields(block: Block, path: Path) -> Iterator[Path]:
    """The places of all fields."""
    for name in block.fields:
        here = (*path, name)
        yield here
        inner = block.inside(name)
        if inner is not None and name not in _OTHERS:
            yield from _fields(inner, here)


def _in_a_pod(key: str, path: Path, root: Block) -> str | None:
    """For a field of Kubernetes' pods and containers that a spec has no word for."""
    if root.file != SPEC_FILE or path[:1] != ("spec",):
        return None
    core = load("kubernetes/core.json")["$defs"]
    if key in core["PodSpec"]["properties"]:
        return f"it goes into podTemplate.spec.{key}"
    return f"it goes into {_CONTAINERS % key}" if key in core["Container"]["properties"] else None


def is_same_name(a: str | None, b: str) -> bool:
    """Return whether two names differ only in letter case, `_` and `-`."""
    return a is not None and aliases.letters(a) == aliases.letters(b)


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


def invalid_field(path: Path, message: str, help: str | None) -> Problem:
    """A value that means nothing."""
    return problem("spec-invalid-value", path, message, help)


def such_as(name: str, example: str) -> str:
    """The help for a name that is not a DNS label: the user's own made valid, an example if nothing is left."""
    return f"such as {(fixes.label(name) or example)!r}"


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


def problems(faults: Iterable[SpecViolation], data: Any, document: Block) -> list[Problem]:
    """Every mistake that was found in a document, at most one for each value of it."""
    by_path: dict[Path, list[SpecViolation]] = {}
    for fault in faults:
        by_path.setdefault(fault.path, []).append(fault)
    # A union's other branch complains of the whole, this one of the part.
    outer = {path[:size] for path in by_path for size in range(len(path))}
    return [_problem(path, group, data, document) for path, group in by_path.items() if path not in outer]


def _problem(path: Path, faults: list[SpecViolation], data: Any, document: Block) -> Problem:
    by_kind = {fault.kind: fault for fault in reversed(faults)}
    fault = by_kind.get("value_error", faults[0])
    value = fault.value
    if fault.kind == "extra_forbidden":
        return _unknown(path, data, document)
    if fault.kind == "missing":
        return problem("spec-missing-field", path, "is missing", f"add {path[-1]}")
    if bound := next((one for one in faults if one.kind.startswith(("greater_than", "less_than"))), None):
        return invalid_field(path, f"{_shown(bound.value)}: {bound.message[:1].lower()}{bound.message[1:]}", None)
    if "literal_error" in by_kind:
        return _literal(path, by_kind["literal_error"], faults)
    if fault.kind == "value_error":
        meant = quantity.likely_quantity(value) if isinstance(value, str) else None
        cure = fixes.fix_quantity(value) if meant else None
        help = f"did you mean {meant}?" if meant else None
        return problem("spec-invalid-value", path, str(fault.error), help, fix=cure and cure.at(path))
    wanted = list(dict.fromkeys(_KINDS[one.kind] for one in faults if one.kind in _KINDS))
    if wanted:
        help = _in_quotes(value) if "a string" in wanted else None
        cure = fixes.fix_type(_TYPES.get(wanted[0], ""), value) if len(wanted) == 1 else None
        help, cure = _reshaped(path, value) or (help, cure)
        message = f"{_shown(value)} is not {' or '.join(wanted)}"
        return problem("spec-wrong-type", path, message, help, fix=cure and cure.at(path))
    return invalid_field(path, f"{fault.message[:1].lower()}{fault.message[1:]}", None)


def _reshaped(path: Path, value: Any) -> tuple[str, fixes.Cure | None] | None:

    return reshaped(path, value)


def _literal(path: Path, fault: SpecViolation, faults: list[SpecViolation]) -> Problem:
    given, allowed = fault.value, fault.expected
    others = [_KINDS[one.kind] for one in faults if one.kind in _KINDS]
    near = closest_match(str(given), allowed) if isinstance(given, str) else None
    help = f"did you mean {near}?" if near else None
    cure = fixes.fix_spelling(given, near) if isinstance(given, str) else None
    if isinstance(given, bool) or given is None:
        help = "YAML does not read a plain word such as this as a string: quote it"
    message = f"{_shown(given)} is not one of {', '.join([*others, *allowed])}"
    return problem("spec-invalid-value", path, message, help, fix=cure and cure.at(path))


def _unknown(path: Path, data: Any, document: Block) -> Problem:

    key, block = str(path[-1]), _block_at(document, path[:-1])
    siblings = [] if block is None else [*block.fields]
    message = "unknown field" + (f" in {field_path(path[:-1])}" if len(path) > 1 else "")
    near = _sibling_alias(key, path, siblings)
    other = None
    if near is None:
        near = likely_field(key, siblings)
        if block is not None and not is_same_name(near, key):
            other = suggest_field(key, path, block, document)
    if other is not None:
        fix = _move(path, other.path, data) if other.path else None
        return problem("spec-unknown-field", path, message, other.help, on_key=True, fix=fix)
    cure = fixes.fix_key(key, near, as_mapping(get(data, path[:-1])))
    help = f"did you mean {near}?" if near else (block and slip(key, path, block, document)) or _known(siblings, path)
    return problem("spec-unknown-field", path, message, help, on_key=True, fix=cure and cure.at(path))


def _sibling_alias(key: str, path: Path, siblings: Iterable[str]) -> str | None:
    """Return the field next to an unknown one that another tool's name means with the same value, or None."""
    alias = aliases.find(key) if path[:1] == ("spec",) else None
    if alias is None or not alias.keeps_value or alias.field[-1] not in siblings:
        return None
    return alias.field[-1] if len(alias.field) == 1 or alias.field[-2] in path else None


def _move(path: Path, home: Path, data: Any) -> Fix | None:
    """The change that takes a value to where it belongs; None where something stands there."""
    there: Any = data
    for part in home:
        if not isinstance(there, Mapping):
            return None
        if part not in there:
            edits = (Edit("set", home, get(data, path)), Edit("remove", path))
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


_SHOWN = 60
"""Characters of a command line that a help repeats; the message shows no more of it."""


def reshaped(path: Path, value: Any) -> tuple[str, Cure | None] | None:
    """How to write a value of another shape, with the change that does it where that is beyond doubt; None for others.

    A value of a variable is not repeated: it may be a secret.
    """
    if path[-1:] == ("env",) and isinstance(value, list):
        variables = _variables(value)
        cure = Cure("write a mapping", "set", variables) if variables else None
        name = next(iter(variables or {}), "NAME")
        return f"write a mapping, not a list of name and value: {name}: ...", cure
    if path[-1:] in (("args",), ("command",)) and isinstance(value, str):
        words = _words(value)
        if not words or len(value) > _SHOWN:
            return "write a list, one word per item", None
        return f"write a list, one word per item: {json.dumps(words)}", Cure("write a list", "set", words, safe=False)
    return None


def _variables(entries: list[Any]) -> dict[str, Any] | None:
    """Kubernetes' env as a spec's; None where an item is anything else, or a name comes twice."""
    found: dict[str, Any] = {}
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or entry["name"] in found:
            return None
        source, value = entry.get("valueFrom"), entry.get("value", "")
        if entry.keys() - {"name", "value", "valueFrom"} or not isinstance(value, str):
            return None
        found[entry["name"]] = source if isinstance(source, dict) and source else value
    return found


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quotation mark that is not closed
        return []
