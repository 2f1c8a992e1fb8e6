"""What a structural check finds: a fault knows its path from the inside out, and becomes a `Problem` at the root."""

from __future__ import annotations

from collections.abc import Callable

from ptcompile.findings.diagnostics import Edit, Fix, Path, Problem, field_path
from ptcompile.findings.value_fixes import Cure, typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.findings.terms import Stage


class Fault:
    """One structural mistake. `path` is reversed: each container appends its key on the way to the root."""

    __slots__ = ("cure", "help", "home", "moved", "name", "on_key", "path", "stage", "suggestion", "text")

    def __init__(self, name: str, text: str, help: str | None = None, *, stage: Stage = "apply") -> None:
        self.name = name
        self.text = text
        self.help = help
        self.stage: Stage = stage
        self.path: list[str | int] = []
        self.on_key = False
        self.suggestion: str | None = None
        """Of an unknown field: the field of the same object that was probably meant."""
        self.home: int | None = None
        """Of an unknown field: how many steps up stands an object that knows it."""
        self.cure: Cure | None = None
        self.moved: str | int | None = None
        """Of an unknown field with a home that has not got it: its value, where that is one word."""


Found = list[Fault] | None
"""What a check returns: nothing wrong is `None`, so that accepting costs no allocation."""

Check = Callable[["Any"], Found]
"""Looks at one value that is not null."""

_TYPES: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}

_QUOTE = {"boolean", "integer", "number"}


def type_name(value: Any) -> str:
    """The JSON name of a value's type."""
    if value is None:
        return "null"
    for kind, name in _TYPES.items():
        if isinstance(value, kind):
            return name
    return "object"


def shown(value: Any) -> str:
    """A value in a message: JSON, cut when it is long."""
    import json

    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def mismatch(expected: str, value: Any) -> Fault:
    """A value of another type than the field has."""
    got = type_name(value)
    detail = f" ({shown(value)})" if got in _QUOTE or got == "string" else ""
    fault = Fault("wrong-type", f"must be of type {expected}, not {got}{detail}", _type_help(expected, got, value))
    fault.cure = typed(expected, value)
    return fault


def _type_help(expected: str, got: str, value: Any) -> str:
    if got == "null":
        return "remove the empty item"
    if expected == "string" and got in _QUOTE:
        return f'quote the value: "{shown(value)}"'
    if expected in {"integer", "int32", "int64", "boolean"} and got == "string":
        return "remove the quotes" if _is_bare(expected, value) else f"write a plain {expected}"
    if expected == "array":
        return "write a list, one item a line, each after a dash"
    return f"write a value of type {expected}"


def _is_bare(expected: str, value: str) -> bool:
    if expected == "boolean":
        return value in {"true", "false"}
    return value.lstrip("-").isdecimal()


def to_problem(fault: Fault) -> Problem:
    """The fault as a `Problem`, when its path is complete."""
    path: Path = tuple(reversed(fault.path))
    help_text = fault.help
    fix = fault.cure.at(path) if fault.cure else None
    if fault.home is not None:
        home = (*path[: len(path) - fault.home], fault.path[0])
        help_text = f"move it to {field_path(home)}"
        if fault.moved is not None:
            edits = (Edit("set", home, fault.moved), Edit("remove", path))
            fix = Fix(f"move it to {field_path(home)}", edits, safe=False)
    where = field_path(path)
    message = f"{where}: {fault.text}" if where else fault.text
    return Problem(fault.name, path, message, help_text, stage=fault.stage, on_key=fault.on_key, fix=fix)
