"""The problems of webhooks, CRD rules and controllers, and what Go cannot decode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ptcompile._internal.spelling import closest_match
from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.kubernetes import quantity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.diagnostics.terms import Authority


def entries(value: Any, key: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects of the list under a key, with their indexes."""
    found = value.get(key) if isinstance(value, Mapping) else None
    if isinstance(found, list):
        for index, item in enumerate(found):
            if isinstance(item, Mapping):
                yield index, item


def invalid_value(path: Path, text: str, help_text: str) -> Problem:
    """An `Invalid value` of the API server."""
    return Problem("invalid-value", path, f"{field_path(path)}: Invalid value: {text}", help_text)


Say = Callable[..., Problem]
"""`say(path, text, help, *, at=None)`: one problem; `at` is the path in the webhook's own notation."""


def webhook_rejection(authority: Authority) -> Say:
    """Makes the problems of one operator's validating webhook: stage "apply"."""

    def say(path: Path, text: str, help: str, *, at: str | None = None) -> Problem:
        message = f"{at or field_path(path)}: {text}"
        return Problem("webhook-refusal", path, message, help, authority=authority)

    return say


def child_rejection(path: Path, text: str, help: str) -> Problem:
    """What the API server refuses of what the operator creates: stage "pod"."""
    return Problem("refused-child", path, f"{field_path(path)}: {text}", help, stage="pod")


def controller_failure(authority: Authority, path: Path, text: str, help: str) -> Problem:
    """Where the operator's controller fails on an object that was accepted: stage "pod"."""
    return Problem("controller-failure", path, f"{field_path(path)}: {text}", help, stage="pod", authority=authority)


def hint(word: str, known: Sequence[str]) -> str:
    """Return the help for a word that is not one of `known`: the one that it resembles, else all of them."""
    near = closest_match(word, known)
    return f'did you mean "{near}"?' if near else f"use one of {', '.join(known)}"


def quoted(names: Iterable[str]) -> str:
    """Names as the server lists them: `"a", "b"`."""
    return ", ".join(f'"{name}"' for name in names)


_INT32 = 2**31
_AMOUNTS = frozenset({"limits", "requests", "minResources"})
_NUMBER_OR_NAME = frozenset({"port", "targetPort", "maxUnavailable"})


def decode_problems(value: Any, say: Say, path: Path = ()) -> Iterator[Problem]:
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
