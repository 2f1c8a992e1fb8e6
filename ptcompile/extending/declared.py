"""Rules without code: tables of the configuration, each with a path and a CEL expression that must
hold there.

    [[tool.ptcompile.rule]]
    code = "ACME101"
    name = "cost-center"
    kind = ["Job", "JobSet"]
    path = "metadata.labels"
    expression = "'cost-center' in self"
    message = "every job has the label cost-center"
    url = "https://wiki.acme.example/cost-centers"

`self` is the value at the path, `object` the whole object. A rule is data, so a repository may
carry it: its expression can read the object, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, get_args  # noqa: TID253 - rules of a configuration

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import nearest, spelling_help
from ptcompile.apiserver.cel import evaluate, fresh_budget, why_invalid
from ptcompile.apiserver.cel.values import CelError
from ptcompile.apiserver.kinds import known_kinds
from ptcompile.diagnostics import Path
from ptcompile.diagnostics.paths import PathSyntaxError, parse_path
from ptcompile.diagnostics.terms import Severity, Stage
from ptcompile.extending import Found, Rule, found_at
from ptcompile.extending.calls import shared_state
from ptcompile.kubernetes.unstructured import Json, entries_of, get, nested_value
from ptcompile.operators.table import templates_of

CODE = re.compile(r"(?!PTC)[A-Z]{2,8}[0-9]{3}")
_is_name = re.compile(r"[a-z]+(-[a-z0-9]+)+").fullmatch
SCOPES = ("object", "pod", "container")
_OWN_KINDS = (("ptcompile/v1", "TrainingJob"), ("ptcompile/v1", "ClusterProfile"))
_REQUIRED_KEYS = ("code", "name", "path", "expression", "message")
_ALL_KEYS = (*_REQUIRED_KEYS, "kind", "each", "help", "severity", "stage", "url")


class _DeclaredRule(NamedTuple):
    """The parsed fields of a table."""

    path: Path
    expression: str
    message: str
    help: str | None
    each: str


def declared_rule(table: object) -> Rule:
    """Return the rule of one table. Raises ValueError if the table is invalid."""
    if not isinstance(table, Mapping):
        raise ValueError(
            'a rule must be a table, such as [[tool.ptcompile.rule]] with code = "ACME101"'
        )

    for key in table:
        if key not in _ALL_KEYS:
            help = spelling_help(str(key), _ALL_KEYS, f"the keys are {', '.join(_ALL_KEYS)}")
            raise ValueError(f"unknown key {key!r}; {help}")

    missing = [key for key in _REQUIRED_KEYS if key not in table]
    if missing:
        raise ValueError(f"missing {', '.join(missing)}")

    texts = {key: _required_text(key, value) for key, value in table.items() if key != "kind"}
    check_code(texts["code"], texts["name"])
    each = _checked_choice("each", texts.get("each", "object"), SCOPES)
    declared = _DeclaredRule(
        _path(texts["path"]), texts["expression"], texts["message"], texts.get("help"), each
    )
    error = why_invalid(declared.expression, frozenset(("self", "object")))
    if error:
        raise ValueError(f"expression: {error}")

    severity: Any = _checked_choice(
        "severity", texts.get("severity", "warning"), get_args(Severity)
    )
    stage: Any = _checked_choice("stage", texts.get("stage", "style"), get_args(Stage))
    page = f"{declared.message}.\n\nExpected at {texts['path']}: {declared.expression}"
    url = texts.get("url", "")
    if url and not url.startswith(("https://", "http://")):
        raise ValueError(
            f"url must be an address such as https://wiki.acme.example/rules, not {url!r}"
        )

    return Rule(
        code=texts["code"],
        name=texts["name"],
        check=_make_check(declared),
        kinds=_kinds(table.get("kind", [])),
        severity=severity,
        stage=stage,
        page=page,
        url=url,
    )


def check_code(code: str, name: str) -> None:
    """Raise ValueError for a code or name that a rule outside ptcompile must not have."""
    if not CODE.fullmatch(code):
        raise ValueError(
            "code must be 2 to 8 capital letters (not PTC) and three digits, such as ACME101, "
            f"not {code!r}"
        )
    if not _is_name(name):
        raise ValueError(
            f"name must be lower-case words joined by hyphens, such as cost-center, not {name!r}"
        )


def _required_text(key: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{key} must be a non-empty string")
    return value


def _checked_choice(key: str, value: str, allowed: Sequence[str]) -> str:
    if value not in allowed:
        raise ValueError(f"{key} must be one of {', '.join(allowed)}, not {value!r}")
    return value


def _kinds(value: object) -> tuple[str, ...]:
    """Return the kinds of a declared rule. Raises ValueError for a kind that no object has."""
    kinds = [value] if isinstance(value, str) else value
    if not isinstance(kinds, list) or not all(isinstance(kind, str) and kind for kind in kinds):
        raise ValueError(
            'kind must be a kind or a list of kinds, such as ["Job", '
            '"jobset.x-k8s.io/v1alpha2/JobSet"]'
        )

    for kind in kinds:
        suggestion = _meant_kind(kind)
        if suggestion is not None:
            raise ValueError(
                f"kind: no object is a {kind!r}; did you mean {suggestion}? Of another API, write "
                f"acme.io/v1/{kind}"
            )

    return tuple(kinds)


def _meant_kind(written: str) -> str | None:
    """Return the known kind that differs from an unknown one only in letter case or in a letter,
    or None.
    """
    api_version, _, name = written.rpartition("/")
    kinds_by_name: dict[str, str] = {}
    for version, kind in chain(_OWN_KINDS, known_kinds()):
        if not api_version or version == api_version:
            if kind == name:
                return None
            kinds_by_name[kind.casefold()] = kind
    suggestion = kinds_by_name.get(name.casefold()) or nearest(name, kinds_by_name.values())
    return f"{api_version}/{suggestion}" if suggestion and api_version else suggestion


def _path(text: str) -> Path:
    try:
        return parse_path(text)
    except PathSyntaxError as error:
        raise ValueError(f"path {text!r}: {error}") from None


def _make_check(read: _DeclaredRule) -> Callable[[Json, Sequence[Json]], Iterator[Found]]:
    def check(manifest: Json, _others: Sequence[Json]) -> Iterator[Found]:
        state = shared_state()
        if "budget" not in state:
            state["budget"] = fresh_budget(manifest)
        budget = state["budget"]
        for under, data in _iter_roots(read.each, manifest):
            for path, value in _iter_values(data, read.path, under):
                reason = _failure_reason(read.expression, value, manifest, budget)
                if reason is not None:
                    yield found_at(path, read.message + reason, read.help)

    return check


def _iter_roots(each: str, manifest: Json) -> Iterator[tuple[Path, Any]]:
    """Yield the roots of the path: the object, each of its pod templates, or each of their
    containers.
    """
    if each == "object":
        yield (), manifest
        return
    for template in templates_of(manifest):
        if each == "pod":
            yield template.path, template.template
            continue
        for key in ("initContainers", "containers"):
            yield from (
                (path, container)
                for path, container in _iter_values(
                    template.template, ("spec", key, "*"), template.path
                )
                if container
            )


def _iter_values(data: Any, path: Path, under: Path) -> Iterator[tuple[Path, Any]]:
    """Yield the values at a path, with `*` for every item. A missing value is None, at the path
    where it would be.
    """
    if not path:
        yield under, data
        return

    key = path[0]
    rest = path[1:]
    if key == "*":
        for key_or_index, item in entries_of(data):
            yield from _iter_values(item, rest, (*under, key_or_index))
    elif isinstance(data, list) and isinstance(key, str):  # list items by name
        for index, item in enumerate(data):
            if nested_value(item, "name") == key:
                yield from _iter_values(item, rest, (*under, index))
    elif "*" not in rest or get(data, (key,)) is not None:
        yield from _iter_values(get(data, (key,)), rest, (*under, key))


def _failure_reason(expression: str, value: Any, manifest: Json, budget: list[int]) -> str | None:
    """Return None if the expression is true, else the reason why it is not, or "" if there is none
    to add.

    An expression that fails on its values does not hold, as on the API server. Raises
    UncheckedError and CostError, and TypeError for a result that is neither true nor false.
    """
    try:
        result = evaluate(expression, {"self": value, "object": manifest}, budget)
    except CelError as error:
        return "" if value is None or str(error).startswith("no such key") else f" ({error})"
    if not isinstance(result, bool):
        raise TypeError("the expression is neither true nor false")
    return None if result else ""
