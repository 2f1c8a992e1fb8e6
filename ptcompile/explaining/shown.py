"""Paths and values as people read and write them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ptcompile.documents import emit
from ptcompile.explaining.leaves import identity
from ptcompile.findings.diagnostics import Path, field_path
from ptcompile.kubernetes.merge_keys import MERGE_KEYS
from ptcompile.report.common import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WORD = re.compile(r"\[([^\[\]]*)\]|([^.\[\]]+)")


Named = dict[int, list[str | int]]
"""By the identity of a list, what its items are called: made when it is first asked for."""


def shown_path(path: Path, data: Any, named: Named | None = None) -> str:
    """A path in the API server's notation, list items by name where they have one of their own.

    Who asks for many paths of the same data gives the same `named` each time.

    >>> shown_path(("env", 0, "value"), {"env": [{"name": "NCCL_DEBUG", "value": "INFO"}]})
    'env[NCCL_DEBUG].value'
    """
    out, field = "", ""
    named = {} if named is None else named
    for part in path:
        items = data
        data = data[part]
        if isinstance(part, int):
            if id(items) not in named:
                named[id(items)] = _names(items, field)
            out += f"[{named[id(items)][part]}]"
        else:
            step = field_path((part,))
            out += step if not out or step.startswith("[") else f".{step}"
            field = part
    return out


def _names(items: Sequence[Any], field: str) -> list[str | int]:
    """For each list item its name where no other item has it and it is not a number, else its index."""
    key = MERGE_KEYS.get(field, "name")
    given = [one.get(key) if isinstance(one, Mapping) else None for one in items]
    names = [one if isinstance(one, str) and not one.isdigit() else None for one in given]
    counts = Counter(names)
    return [i if name is None or counts[name] > 1 else name for i, name in enumerate(names)]


def words(query: str) -> list[str]:
    """The parts of a path as typed: `env[NCCL_DEBUG]`, `env.NCCL_DEBUG`, `command[--nnodes]`, `[0].name`."""
    return [bracket.strip("\"'") if bracket else word for bracket, word in _WORD.findall(query)]


def matches(query: Sequence[str], path: Path, data: Any, *, anywhere: bool = False) -> bool:
    """Whether a path begins with what was typed, or with `anywhere` has it somewhere. An item goes by index or name."""
    steps = list(_steps(path, data))
    starts = range(len(steps) - len(query) + 1) if anywhere else range(min(1, len(steps) - len(query) + 1))
    return any(all(word in step for word, step in zip(query, steps[start:], strict=False)) for start in starts)


def _steps(path: Path, data: Any) -> Iterator[tuple[str, ...]]:
    """For each part of a path the words that mean it."""
    field = ""
    for part in path:
        data = data[part]
        if isinstance(part, int):
            yield str(part), str(identity(data, field))
        else:
            field = part
            yield (part,)


def shown_value(value: Any, width: int = 100) -> str:
    """A value in one line of at most `width` characters, as YAML's flow style writes it."""
    text = printable(_flow(value))
    return text if len(text) <= width else f"{text[: width - 4]} ..."


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if not isinstance(value, str):
        return json.dumps(value)
    line = emit.emit({"": value}).partition(": ")[2].removesuffix("\n")
    return line if "\n" not in value and "\n" not in line else json.dumps(value, ensure_ascii=False)
