"""What Go cannot decode although the CRD's schema takes it: the webhook that reads the object refuses it."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.kubernetes import quantity
from ptcompile.operators.common.verdict import Say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_INT32 = 2**31
_AMOUNTS = frozenset({"limits", "requests", "minResources"})
_NUMBER_OR_NAME = frozenset({"port", "targetPort", "maxUnavailable"})


def undecodable(value: Any, say: Say, path: Path = ()) -> Iterator[Problem]:
    """Quantities that fit the schema's pattern and are none (`1e1.5`), and ports beyond 32 bits."""
    return iter(()) if _plainly_fine(value) else _undecodable(value, say, path)


_CLOSER = _AMOUNTS | _NUMBER_OR_NAME
_SCALARS = frozenset({str, int, bool, float, type(None)})


def _plainly_fine(value: Any) -> bool:
    """Whether one quick look, that keeps no paths, finds nothing. It doubts anything but plain JSON data."""
    stack = [value]
    while stack:
        one = stack.pop()
        if type(one) is dict:
            for key, item in one.items():
                if type(item) is str:
                    continue
                if key in _CLOSER and not _decodes(item):
                    return False
                stack.append(item)
        elif type(one) is list:
            stack += [item for item in one if type(item) is not str]
        elif type(one) not in _SCALARS:
            return False
    return True


def _decodes(item: Any) -> bool:
    if type(item) is int:
        return -_INT32 <= item < _INT32
    return type(item) is not dict or not any(isinstance(one, str) and _in_pattern(one) for one in item.values())


def _undecodable(value: Any, say: Say, path: Path) -> Iterator[Problem]:
    if isinstance(value, list):
        for i, item in enumerate(value):
            if isinstance(item, dict | list):
                yield from _undecodable(item, say, (*path, i))
        return
    for key, item in value.items():
        if isinstance(item, dict):
            if key in _AMOUNTS:
                yield from _amounts(item, say, (*path, key))
            elif item:
                yield from _undecodable(item, say, (*path, key))
        elif isinstance(item, list):
            yield from _undecodable(item, say, (*path, key))
        elif key in _NUMBER_OR_NAME and type(item) is int and not -_INT32 <= item < _INT32:
            text = f"Invalid value: json: cannot unmarshal number {item} into a 32-bit number"
            yield say((*path, key), text, "use a number from 1 to 65535")


def _amounts(amounts: dict[str, Any], say: Say, path: Path) -> Iterator[Problem]:
    for name, amount in amounts.items():
        if isinstance(amount, str) and _in_pattern(amount) and not quantity.valid(amount):
            text = f'Invalid value: "{amount}": quantities must match the Go parser: unable to parse the suffix'
            yield say((*path, name), text, "write a number such as 15 or 1500m")


def _in_pattern(amount: str) -> bool:
    """Whether a text that is not a quantity may still fit the CRD's pattern: an exponent with a point."""
    if "." not in amount:
        return False
    _, exponent, power = amount.lower().partition("e")
    return bool(exponent) and "." in power
