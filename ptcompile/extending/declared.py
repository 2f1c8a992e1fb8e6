"""Rules without code: tables of the configuration, each with a place and an expression in CEL that has to hold there.

    [[tool.ptcompile.rule]]
    code = "ACME101"
    name = "cost-center"
    kind = ["Job", "JobSet"]
    path = "metadata.labels"
    expression = "'cost-center' in self"
    message = "every job has the label cost-center"

`self` is the value at the path, `object` the whole object. A rule is data, so that a repository may carry it: its
expression can read the object, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, get_args  # noqa: TID253 - rules of a configuration

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.paths import get
from ptcompile._internal.spelling import closest_match
from ptcompile.apiserver.cel import checked, evaluate, fresh_budget
from ptcompile.apiserver.cel.values import CelError
from ptcompile.diagnostics import Path
from ptcompile.diagnostics.paths import PlaceError, place
from ptcompile.diagnostics.terms import Severity, Stage
from ptcompile.extending import Found, Rule, found_at
from ptcompile.extending.calls import shared
from ptcompile.registry.table import templates_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.extending import Json

CODE: Final = re.compile(r"(?!PTC)[A-Z]{2,8}[0-9]{3}")
_is_name: Final = re.compile(r"[a-z]+(-[a-z0-9]+)+").fullmatch
EACH: Final = ("object", "pod", "container")
_NEEDED: Final = ("code", "name", "path", "expression", "message")
_KEYS: Final = (*_NEEDED, "kind", "each", "help", "severity", "stage")


class _Declared(NamedTuple):
    """What a table says, read."""

    path: Path
    expression: str
    message: str
    help: str | None
    each: str


def rule(table: object) -> Rule:
    """The rule of one table. Raises ValueError with what is wrong with it."""
    if not isinstance(table, Mapping):
        raise ValueError('a table, such as [[tool.ptcompile.rule]] with code = "ACME101"')
    for key in table:
        if key not in _KEYS:
            near = closest_match(str(key), _KEYS)
            raise ValueError(f"unknown key {key!r}" + (f"; did you mean {near}?" if near else f": {', '.join(_KEYS)}"))
    missing = [key for key in _NEEDED if key not in table]
    if missing:
        raise ValueError(f"{', '.join(missing)}: missing")
    text = {key: _text(key, value) for key, value in table.items() if key != "kind"}
    check_code(text["code"], text["name"])
    each = _one_of("each", text.get("each", "object"), EACH)
    read = _Declared(_path(text["path"]), text["expression"], text["message"], text.get("help"), each)
    wrong = checked(read.expression, frozenset(("self", "object")))
    if wrong:
        raise ValueError(f"expression: {wrong}")
    severity: Any = _one_of("severity", text.get("severity", "warning"), get_args(Severity))
    stage: Any = _one_of("stage", text.get("stage", "style"), get_args(Stage))
    page = f"{read.message}.\n\nExpected at {text['path']}: {read.expression}"
    return Rule(text["code"], text["name"], _check(read), _kinds(table.get("kind", [])), severity, stage, page=page)


def check_code(code: str, name: str) -> None:
    """Raises ValueError for a code or a name that a rule outside ptcompile cannot have."""
    if not CODE.fullmatch(code):
        raise ValueError(f"code {code!r}: two to eight capital letters, not PTC, and three digits, such as ACME101")
    if not _is_name(name):
        raise ValueError(f"name {name!r}: lower-case words joined by hyphens, such as cost-center")


def _text(key: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{key}: a string that is not empty")
    return value


def _one_of(key: str, value: str, allowed: Sequence[str]) -> str:
    if value not in allowed:
        raise ValueError(f"{key} {value!r}: one of {', '.join(allowed)}")
    return value


def _kinds(value: object) -> tuple[str, ...]:
    kinds = [value] if isinstance(value, str) else value
    if not isinstance(kinds, list) or not all(isinstance(one, str) and one for one in kinds):
        raise ValueError('kind: a kind or a list of them, such as ["Job", "jobset.x-k8s.io/v1alpha2/JobSet"]')
    return tuple(kinds)


def _path(text: str) -> Path:
    try:
        return place(text)
    except PlaceError as error:
        raise ValueError(f"path {text!r}: {error}") from None


def _check(read: _Declared) -> Callable[[Json, Sequence[Json]], Iterator[Found]]:
    def check(manifest: Json, _others: Sequence[Json]) -> Iterator[Found]:
        of_object = shared()
        if "budget" not in of_object:
            of_object["budget"] = fresh_budget(manifest)
        budget = of_object["budget"]
        for under, data in _each(read.each, manifest):
            for path, value in _values(data, read.path, under):
                wrong = _wrong(read.expression, value, manifest, budget)
                if wrong is not None:
                    yield found_at(path, read.message + wrong, read.help)

    return check


def _each(each: str, manifest: Json) -> Iterator[tuple[Path, Any]]:
    """Where the path begins: at the object, at each of its pod templates, or at each container of those."""
    if each == "object":
        yield (), manifest
        return
    for template in templates_of((str(manifest.get("apiVersion")), str(manifest.get("kind"))), manifest):
        if each == "pod":
            yield template.path, template.template
            continue
        for key in ("initContainers", "containers"):
            yield from (
                (path, one) for path, one in _values(template.template, ("spec", key, "*"), template.path) if one
            )


def _values(data: Any, path: Path, under: Path) -> Iterator[tuple[Path, Any]]:
    """The values at a path, with `*` for every item; one that is not there is None, at the place where it would be."""
    if not path:
        yield under, data
        return
    key, rest = path[0], path[1:]
    if key == "*":
        items = data.items() if isinstance(data, Mapping) else enumerate(data) if isinstance(data, list) else ()
        for at, one in items:
            yield from _values(one, rest, (*under, at))
    elif isinstance(data, list) and isinstance(key, str):  # an item by its name
        for at, one in enumerate(data):
            if isinstance(one, Mapping) and one.get("name") == key:
                yield from _values(one, rest, (*under, at))
    elif "*" not in rest or get(data, (key,)) is not None:
        yield from _values(get(data, (key,)), rest, (*under, key))


def _wrong(expression: str, value: Any, manifest: Json, budget: list[int]) -> str | None:
    """Return None if the expression is true, else why it failed if there is more to say than that it is not.

    One that fails on its values does not hold, as on the API server. Raises UncheckedError and CostError.
    """
    try:
        return None if evaluate(expression, {"self": value, "object": manifest}, budget) is True else ""
    except CelError as error:
        return "" if value is None or str(error).startswith("no such key") else f" ({error})"
