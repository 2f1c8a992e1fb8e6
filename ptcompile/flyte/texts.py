"""The inputs of a task's function as the texts that the runner is given."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Mapping
from typing import Any

from ptcompile.findings.diagnostics import Problem
from ptcompile.flyte import run
from ptcompile.flyte.found import Name, changed, wrong

HELP = "inputs={{{name!r}: ...}}, or --input {name}=..."


def words(function: Any, given: Mapping[str, Any], found: list[Problem], *, torchrun: bool) -> list[str]:
    """The runner's `--input` words, in the order of the function's parameters; problems for what it would refuse.

    A dollar is written twice: the kubelet takes `$$` for one, and `$(NAME)` for a variable. Torchrun (2.13) fills
    `${local_rank}` into the arguments of its script and takes `$$` for one as well, so that it needs four.
    """
    texts: dict[str, str] = {}
    for name, value in given.items():
        try:
            texts[str(name)] = text_of(value)
        except TypeError as error:
            found.append(
                wrong("spec-wrong-type", ("inputs", str(name)), str(error), "text, numbers, lists, dataclasses")
            )
    left_out = {str(name) for name in given if name not in texts}
    for name, why in run.arguments(function, texts)[1].items():
        if name in left_out:
            continue
        kind: Name = "spec-missing-field" if name not in texts else "spec-invalid-value"
        found.append(wrong(kind, ("inputs", name), why, HELP.format(name=name)))
    dollar = "$$$$" if torchrun else "$$"
    ordered = [name for name in run.parameters(function) if name in texts]
    return [word for name in ordered for word in ("--input", f"{name}={texts[name]}".replace("$", dollar))]


def text_of(value: Any) -> str:
    """A value as a text that `run.value_of` reads back: text as it is, the rest as JSON.

    Raises:
        TypeError: JSON has no word for it.
    """
    return value if isinstance(value, str) else json.dumps(_data(value), ensure_ascii=False, default=_refuse)


def _data(value: Any) -> Any:
    """Plain data of dataclasses, enums and pydantic models, at any depth."""
    if isinstance(value, enum.Enum):
        return _data(value.value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: _data(getattr(value, one.name)) for one in dataclasses.fields(value) if one.init}
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {str(key): _data(item) for key, item in value.items()}
    return [_data(item) for item in value] if isinstance(value, list | tuple) else value


def _refuse(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} cannot be written on a command line")


def lost_result(function: Any) -> list[Problem]:
    """What to say of a function that returns something: Flyte would store it, and a job has no place for it."""
    returned = run.hints_of(function).get("return")
    if returned in (None, type(None), "None"):
        return []
    message = "the function's return value is lost: Flyte stores it, a job has nowhere to"
    return [changed(("outputs",), message, "write it to a volume or a bucket in the function")]
