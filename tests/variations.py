"""Data that differs from other data in one place, for tests of what each value matters for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any


def variations(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield copies of the data without one value (named by its path alone), or with one other value.

    `apiVersion` and `kind` of objects in a list stay.
    """
    if isinstance(value, dict):
        for key, inner in value.items():
            place = f"{path}.{key}"
            if path.count(".") == 0 and key in {"apiVersion", "kind"}:
                continue  # every rule needs them
            if not isinstance(inner, dict | list):
                yield place, {k: v for k, v in value.items() if k != key}
            yield from ((name, {**value, key: new}) for name, new in variations(inner, place))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            before, after = value[:index], value[index + 1 :]
            if len(value) > 1 or path:
                yield f"{path}[{index}]", [*before, *after]
            yield from (
                (name, [*before, new, *after])
                for name, new in variations(inner, f"{path}[{index}]")
            )
    else:
        yield from ((f"{path} = {json.dumps(new)}", new) for new in _others(value))


def _others(value: Any) -> Iterator[Any]:
    """Yield values like this one that may mean something else."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from dict.fromkeys((value - 1, value + 1, 1))
    elif isinstance(value, str):
        yield "other"
        if number := re.search(r"\d+", value):
            for near in (int(number[0]) - 1, int(number[0]) + 1):
                yield f"{value[: number.start()]}{near}{value[number.end() :]}"
