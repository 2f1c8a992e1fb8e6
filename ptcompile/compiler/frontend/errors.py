"""Problems of a spec in plain words: similar names, other tools' names, values of another form.

Users write what they know from torchrun, Kubernetes and the operators. Suggestions are computed
only for unknown fields.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.schema_files import load, load_table
from ptcompile._internal.spelling import closest_match, distance, normalize
from ptcompile.compiler.frontend import aliases
from ptcompile.diagnostics import (
    Edit,
    Fix,
    Path,
    Problem,
    field_path,
    fixes,
    own_problem,
    shorten,
)
from ptcompile.diagnostics.fixes import FixTemplate
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.resources import is_accelerator
from ptcompile.kubernetes.unstructured import JsonDict, as_mapping, get, nested_value
from ptcompile.spec.reader import SPEC_FILE, Block, SpecViolation

_CONTAINERS = "podTemplate.spec.containers: [{name: pytorch, %s: ...}]"

_TABLE = load_table("compiler/frontend/errors.json")
_LAUNCH_FIELDS = ("script", "module", "elastic")
"""Fields that an auxiliary role does not have."""


class FieldSuggestion(NamedTuple):
    """The place of a misplaced field: as a help sentence, and as a path if it is one field."""

    help: str
    path: Path | None = None
    is_movable: bool = True
    """Whether the value can be moved there unchanged."""


def suggest_field(key: str, path: Path, block: Block, root: Block) -> FieldSuggestion | None:
    """Return where a field belongs that the `block` at `path` does not have, or None if its name
    has no meaning.

    `path` ends with the field; `root` is the document's block.
    """
    if path[-3:-2] == ("env",) and key in _TABLE["variables"]:
        return FieldSuggestion(_TABLE["variables"][key].format(name=path[-2]))
    if "gpu" in block.fields and "/" in key and is_accelerator(key):
        return FieldSuggestion(f"use {field_path(path[:-1])}.gpu", (*path[:-1], "gpu"))
    if "devices" in block.fields and "/" in key:
        return FieldSuggestion(f"write {field_path(path[:-1])}.devices: {{{key}: 1}}")
    if path[:2] == ("spec", "roles") and key in _LAUNCH_FIELDS:
        return FieldSuggestion("write command: torchrun starts only the nodes of the job")
    if (
        root.file == SPEC_FILE
        and path[:1] == ("spec",)
        and (known := _known_name(key, path, block, root))
    ):
        return known
    if home := _closest_home(key, path, block, root):
        return FieldSuggestion(f"use {field_path(home)}", home)
    if in_pod := _pod_field_help(key, path, root):
        return FieldSuggestion(in_pod)
    return None


def _known_name(key: str, path: Path, block: Block, root: Block) -> FieldSuggestion | None:
    """Return the suggestion for a name that another tool or the document has for something in a
    spec, or None.
    """
    if path[:-1] == ("spec", "elastic") and (help := _torchrun_option_help(key)):
        return FieldSuggestion(help)

    alias = aliases.find_alias(key)
    name = normalize(key)
    exact_paths = [home for home in _paths_by_name(root).get(name, ()) if home[:-1] != path[:-1]]
    if alias and not (exact_paths and alias.keeps_value and len(alias.field) > 1):
        return _alias_suggestion(alias, path, block)
    if len(path) == 2 and name in aliases.DOCUMENT:
        return FieldSuggestion(aliases.DOCUMENT[name])

    return None


def _torchrun_option_help(key: str) -> str | None:
    """Return how to set an option of torchrun that `elastic` does not have, or None for any
    other name.
    """
    from ptcompile.simulator.launchers.torchrun import (
        COMMAND_LINE_ONLY,
        OPTIONS,
        SWITCHES,
        option_variable,
    )

    names = {normalize(option): option for option in OPTIONS.difference(_TABLE["options"])}
    option = names.get(normalize(key))
    if option is None:
        return None

    argument = f"--{option}" if option in SWITCHES else f"--{option}=..."
    help = f"write spec.command: [torchrun, {argument}, train.py] instead of script"
    if option in COMMAND_LINE_ONLY:
        return help

    value = '"1"' if option in SWITCHES else "..."
    return f"{help}, or spec.env: {{{option_variable(option)}: {value}}}"


def _alias_suggestion(alias: aliases.Alias, path: Path, block: Block) -> FieldSuggestion:
    """Return the suggestion for an alias: a field of the block at `path` if it has the field,
    else of the job.
    """
    first, *_ = alias.field
    home = (*path[:-1], *alias.field) if first in block.fields else ("spec", *alias.field)
    if not alias.keeps_value:
        help = f"write {field_path(home)}: {alias.note}"
        return FieldSuggestion(help, home, is_movable=False)

    is_movable = first != "podTemplate" and home != path
    return FieldSuggestion(
        help=f"use {field_path(home)}",
        path=home,
        is_movable=is_movable,
    )


def misplaced_field_help(key: str, path: Path, block: Block, root: Block) -> str | None:
    """Return the help for a field that is misspelled and belongs elsewhere, or None."""
    likely = likely_field(key, _field_names(root))
    home = _closest_home(likely, path, block, root) if likely else None
    return f"did you mean {field_path(home)}?" if home else None


_WORD = Pattern(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def likely_field(key: str, fields: Iterable[str]) -> str | None:
    """Return the field that a misspelled or incomplete name most likely means, or None.

    A name is similar if it has the same letters, differs in one letter (two from seven letters on),
    or has at least half of the words of exactly one field.
    """
    names = list(fields)
    normalized = normalize(key)
    for name in names:
        if normalize(name) == normalized:
            return name
    if not 4 <= len(normalized) <= _MAX_FIELD:
        return None

    max_distance = 1 if len(normalized) < 7 else 2
    distances = {name: distance(normalized, normalize(name), max_distance) for name in names}
    best = min(distances, key=lambda name: (distances[name], name), default=None)
    if best is not None and distances[best] <= max_distance and best[:1].lower() == normalized[:1]:
        return best
    if contained := [
        name
        for name in names
        if normalize(name) in normalized and 3 * len(name) > 2 * len(normalized)
    ]:
        return max(contained, key=len)

    words = {word.lower() for word in _WORD.findall(key)}
    words_by_name = {name: {word.lower() for word in _WORD.findall(name)} for name in names}
    matches = [
        name
        for name, name_words in words_by_name.items()
        if words < name_words and 2 * len(words) > len(name_words)
    ]

    return matches[0] if len(matches) == 1 else None


_MAX_FIELD = 64
"""Maximum length of a name that is compared: no field is half as long."""


def _closest_home(key: str, path: Path, block: Block, root: Block) -> Path | None:
    """Return the path of a field with this name that shares most with `path`; the shortest if
    several do.
    """
    below = ((*path[:-1], *home) for home in _paths_by_name(block).get(normalize(key), ()))
    homes = [
        home
        for home in (*below, *_paths_by_name(root).get(normalize(key), ()))
        if home[:-1] != path[:-1]
    ]
    return min(homes, key=lambda home: (-_common_depth(home, path), len(home)), default=None)


def _common_depth(home: Path, path: Path) -> int:
    pairs = zip(home[:-1], path[:-1], strict=False)
    return next(
        (depth for depth, (a, b) in enumerate(pairs) if a != b), min(len(home), len(path)) - 1
    )


@cache
def _paths_by_name(block: Block) -> Mapping[str, Sequence[Path]]:
    """Return the paths of all fields below a block by their normalized names."""
    paths: dict[str, list[Path]] = {}
    for home in _field_paths(block, ()):
        paths.setdefault(normalize(str(home[-1])), []).append(home)
    return paths


@cache
def _field_names(root: Block) -> Sequence[str]:
    """Return the distinct names of all fields of a document."""
    return tuple(dict.fromkeys(str(home[-1]) for home in _field_paths(root, ())))


_SKIPPED_BLOCKS = ("master", "worker", "runtimeRef")
"""Blocks that repeat the job's fields or describe another object."""


def _field_paths(block: Block, path: Path) -> Iterator[Path]:
    """Yield the paths of all fields below a block."""
    for name in block.fields:
        child_path = (*path, name)
        yield child_path
        inner = block.inside(name)
        if inner is not None and name not in _SKIPPED_BLOCKS:
            yield from _field_paths(inner, child_path)


def _pod_field_help(key: str, path: Path, root: Block) -> str | None:
    """Return the help for a field of Kubernetes' pods or containers that is not a spec field, or
    None.
    """
    if root.file != SPEC_FILE or path[:1] != ("spec",):
        return None
    core = load("kubernetes/core.json")["$defs"]
    if key in core["PodSpec"]["properties"]:
        return f"move it to podTemplate.spec.{key}"
    if key in core["Container"]["properties"]:
        return f"set {_CONTAINERS % key}"
    return None


def is_same_name(a: str | None, b: str) -> bool:
    """Return whether two names differ only in letter case, `_` and `-`."""
    return a is not None and normalize(a) == normalize(b)


problem = own_problem
"""Makes a problem of a spec or a profile."""


invalid_field = partial(problem, "spec-invalid-value")
"""Makes the problem for a meaningless value."""


def name_help(name: str, example: str) -> str:
    """Return the help for an invalid name: the user's own name made valid, or the example if
    nothing remains.
    """
    return f"use a name such as {(fixes.nearest_label(name) or example)!r}"


conflict = partial(problem, "spec-conflict")
"""Makes the problem for two contradicting fields."""


def problems(violations: Iterable[SpecViolation], data: Any, document: Block) -> list[Problem]:
    """Return the problems of a document, at most one per value."""
    by_path: dict[Path, list[SpecViolation]] = {}
    for violation in violations:
        by_path.setdefault(violation.path, []).append(violation)
    # the other branch of a union reports the whole value, this one a part
    outer = {path[:size] for path in by_path for size in range(len(path))}

    return [
        _to_problem(path, group, data, document)
        for path, group in by_path.items()
        if path not in outer
    ]


def _to_problem(path: Path, violations: list[SpecViolation], data: Any, document: Block) -> Problem:
    """Return one problem for all violations of a value: a field of several types has a violation
    for each type.
    """
    by_kind = {violation.kind: violation for violation in reversed(violations)}
    types = _TABLE["types"]
    expected = [*dict.fromkeys(types[item.kind] for item in violations if item.kind in types)]
    violation = by_kind.get("value_error", violations[0])
    value = violation.value
    if violation.kind == "extra_forbidden":
        return _unknown_field(path, data, document)
    if violation.kind == "missing":
        return problem("spec-missing-field", path, "is missing", f"add {path[-1]}")
    if bound := next(
        (item for item in violations if item.kind.startswith(("greater_than", "less_than"))), None
    ):
        return invalid_field(
            path,
            f"{_describe_value(bound.value)}: {bound.message[:1].lower()}{bound.message[1:]}",
            None,
        )
    if "literal_error" in by_kind:
        return _literal_problem(path, by_kind["literal_error"], expected)
    if violation.kind == "value_error":
        suggestion = quantity.likely_quantity(value) if isinstance(value, str) else None
        fix = fixes.fix_quantity(value) if suggestion else None
        help = f"did you mean {suggestion}?" if suggestion else None
        return problem(
            "spec-invalid-value", path, str(violation.error), help, fix=fix and fix.at(path)
        )

    if expected:
        help = _quoting_help(value) if "a string" in expected else None
        fix = None
        if len(expected) == 1:
            fix = fixes.fix_type(_TABLE["jsonTypes"].get(expected[0], ""), value)

        help, fix = form_help(path, value) or (help, fix)
        if help is None and fix is not None and isinstance(value, str):
            help = f"{fix.title}, without quotes"
        message = f"{_describe_value(value)} is not {' or '.join(expected)}"
        return problem("spec-wrong-type", path, message, help, fix=fix and fix.at(path))
    if violation.kind == "string_pattern_mismatch":
        expectation, help = _TABLE["patterns"][violation.message]
        return invalid_field(path, f"{_describe_value(value)} is not {expectation}", help)

    return invalid_field(path, f"{violation.message[:1].lower()}{violation.message[1:]}", None)


def _literal_problem(path: Path, violation: SpecViolation, types: list[str]) -> Problem:
    value = violation.value
    allowed = violation.expected
    other_name = aliases.find_value(str(path[-1]), value) if path else None
    suggestion = other_name or (
        closest_match(str(value), allowed) if isinstance(value, str) else None
    )
    help = f"did you mean {suggestion}?" if suggestion else None
    fix = fixes.fix_spelling(value, suggestion) if isinstance(value, str) else None
    if isinstance(value, bool) or value is None:
        help = "quote it: YAML does not read this plain word as a string"
    message = f"{_describe_value(value)} is not one of {', '.join([*types, *allowed])}"

    return problem("spec-invalid-value", path, message, help, fix=fix and fix.at(path))


def _unknown_field(path: Path, data: Any, document: Block) -> Problem:

    key = str(path[-1])
    block = _block_at(document, path[:-1])
    siblings = [] if block is None else [*block.fields]
    message = "unknown field" + (f" in {field_path(path[:-1])}" if len(path) > 1 else "")
    likely = _sibling_alias(key, path, siblings)
    suggestion = None
    if likely is None:
        likely = likely_field(key, siblings)
        if block is not None and not is_same_name(likely, key):
            suggestion = suggest_field(key, path, block, document)
    if suggestion is not None:
        home = suggestion.path
        help = suggestion.help
        fix = None
        if home and suggestion.is_movable:
            fix = _move_fix(path, home, data)
        if home and (seconds := _seconds(home[-1], get(data, path))) is not None:
            help = f"write {field_path(home)}: {seconds}, in seconds"

        return problem(
            "spec-unknown-field",
            path,
            message,
            help,
            on_key=True,
            fix=fix,
        )

    cure = fixes.fix_key(key, likely, as_mapping(get(data, path[:-1])))
    if likely:
        help = f"did you mean {likely}?"
    else:
        help = (block and misplaced_field_help(key, path, block, document)) or _siblings_help(
            siblings, path, document
        )

    return problem(
        "spec-unknown-field", path, message, help, on_key=True, fix=cure and cure.at(path)
    )


def _sibling_alias(key: str, path: Path, siblings: Iterable[str]) -> str | None:
    """Return the neighboring field that another tool's name means with the same value, or None."""
    alias = aliases.find_alias(key) if path[:1] == ("spec",) else None
    if alias is None or not alias.keeps_value:
        return None
    *parents, name = alias.field
    if name in siblings and (not parents or parents[-1] in path):
        return name
    return None


def _move_fix(path: Path, home: Path, data: Any) -> Fix | None:
    """Return the fix that moves a value to its proper path, or None if that path is already set."""
    holder: Any = data
    for part in home:
        if not isinstance(holder, Mapping):
            return None
        if part not in holder:
            edits = (Edit("set", home, get(data, path)), Edit("remove", path))
            return Fix(f"move it to {field_path(home)}", edits)
        holder = holder[part]
    return None


_MAX_LISTED_FIELDS = 12
"""Maximum number of fields that a help lists."""


def _siblings_help(siblings: Sequence[str], path: Path, document: Block) -> str:
    """Return the help that lists the known fields, or says where to find a long list."""
    if len(siblings) > _MAX_LISTED_FIELDS:
        if document.file == SPEC_FILE:
            address = field_path(path[:-1])
        else:
            address = f"ClusterProfile.{field_path(path[:-1])}"
        return f"run ptcompile explain {address} to list its fields"
    if siblings:
        return f"use one of {', '.join(sorted(siblings))}"
    return "remove it"


def _block_at(block: Block, path: Path) -> Block | None:
    """Return the block at a path of a document, or None if the schema lacks it."""
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


def _quoting_help(value: Any) -> str | None:
    """Return the help for an unquoted value. YAML loses the spelling of `on` and `1.0`, so they
    are not repeated.
    """
    if isinstance(value, bool | float):
        return "write it in quotes"
    return f'write it in quotes: "{value}"' if isinstance(value, int) else None


def _describe_value(value: Any) -> str:
    """Return a value roughly as the user wrote it, shortened."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return shorten(repr(value), 60)


_DURATION = Pattern(r"(?P<number>[0-9]{1,6})(?P<unit>[smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def _seconds(key: str | int, value: Any) -> int | None:
    """Return the seconds of a duration such as 24h in a field of seconds, or None for another
    value.
    """
    match = _DURATION.fullmatch(value) if isinstance(value, str) and "Seconds" in str(key) else None
    return match and int(match["number"]) * _SECONDS[match["unit"]]


_MAX_COMMAND = 60
"""Maximum length of a command line that a help repeats; the message is cut at the same length."""


def form_help(path: Path, value: Any) -> tuple[str, FixTemplate | None] | None:
    """Return the help for a value of another form, with its fix if there is exactly one; None for
    other values.

    Values of variables are not repeated, because they may be secrets.
    """
    if value is None:
        return "leave it out: null stands only for values that something else would fill in", None

    if path[-2:-1] and path[-2] in _TABLE["items"] and isinstance(value, str):
        cure = None
        if path[-2] == "imagePullSecrets":
            cure = FixTemplate("write a mapping", "set", {"name": value})
        return f"write {_TABLE['items'][path[-2]].format(shorten(value, _MAX_COMMAND))}", cure
    if path and (seconds := _seconds(path[-1], value)) is not None:
        return f"write {seconds}, in seconds", FixTemplate(f"write {seconds}", "set", seconds)
    if path[-1:] == ("env",) and isinstance(value, list):
        variables = _env_mapping(value)
        cure = FixTemplate("write a mapping", "set", variables) if variables else None
        name = next(iter(variables or {}), "NAME")
        return f"write a mapping, not a list of name and value: {name}: ...", cure
    if path[-1:] in (("args",), ("command",)) and isinstance(value, str):
        words = _split_command(value)
        if not words or len(value) > _MAX_COMMAND:
            return "write a list, one word per item", None
        return f"write a list, one word per item: {json.dumps(words)}", FixTemplate(
            "write a list", "set", words, safe=False
        )

    return None


def _env_mapping(entries: list[Any]) -> JsonDict | None:
    """Return Kubernetes' env entries as a mapping of the spec, or None for other items and
    repeated names.
    """
    variables: JsonDict = {}
    for entry in entries:
        name = nested_value(entry, "name")
        if not isinstance(name, str) or name in variables:
            return None

        source = entry.get("valueFrom")
        value = entry.get("value", "")
        if entry.keys() - {"name", "value", "valueFrom"} or not isinstance(value, str):
            return None

        variables[name] = source if isinstance(source, dict) and source else value

    return variables


def _split_command(text: str) -> list[str]:
    import shlex

    try:
        return shlex.split(text)
    except ValueError:  # an unclosed quotation mark
        return []
