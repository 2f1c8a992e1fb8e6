"""Problems of webhooks, CRD rules and controllers, and values that Go cannot decode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from ptcompile._internal.spelling import closest_match
from ptcompile.diagnostics import Path, Problem, Problems, problem_at
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.names import DNS_LABEL_MAX, longest_name
from ptcompile.kubernetes.unstructured import Json, JsonDict, as_list, nested_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.diagnostics.terms import Authority


def entries(value: Any, key: str) -> Iterator[tuple[int, Json]]:
    """Yield the objects of the list under a key, with their indexes."""
    for index, item in enumerate(as_list(nested_value(value, key))):
        if isinstance(item, Mapping):
            yield index, item


def invalid_value(path: Path, text: str, help_text: str) -> Problem:
    """Return an `Invalid value` problem of the API server."""
    return problem_at("invalid-value", path, f"Invalid value: {text}", help_text)


ProblemFactory = Callable[..., Problem]
"""Makes one problem: `say(path, text, help, *, field=None)`. `field` is the path in the
webhook's own notation.
"""


def webhook_rejection(authority: Authority) -> ProblemFactory:
    """Return a function that makes the problems of one operator's validating webhook, with stage
    "apply".
    """
    return partial(problem_at, "webhook-refusal", authority=authority)


child_rejection = partial(problem_at, "refused-child", stage="pod")
"""Makes the problem of a child object that the API server rejects."""


def check_longest_name(name: str, suffixes: Sequence[str], what: str, effect: str) -> Problems:
    """Reject a valid name of an object whose longest child would have a name of over 63
    characters.
    """
    limit = longest_name(suffixes)
    if suffixes and limit < len(name) <= DNS_LABEL_MAX:
        longest = name + max(suffixes, key=len)
        why = (
            f"the {what} {longest} would have {len(longest)} characters, and 63 are allowed: "
            f"{effect}"
        )
        yield child_rejection(("metadata", "name"), why, f"use at most {limit} characters")


def controller_failure(authority: Authority, path: Path, text: str, help: str) -> Problem:
    """Return the problem of an accepted object on which the operator's controller fails, with
    stage "pod".
    """
    return problem_at("controller-failure", path, text, help, stage="pod", authority=authority)


def allowed_values_help(word: str, allowed: Sequence[str]) -> str:
    """Return the help for a word that is not one of `allowed`: the most similar one, else all of
    them.
    """
    near = closest_match(word, allowed)
    if near:
        return f'did you mean "{near}"?'
    return f"use one of {', '.join(allowed)}"


def quote_names(names: Iterable[str]) -> str:
    """Return names as the server lists them: `"a", "b"`."""
    return ", ".join(f'"{name}"' for name in names)


_INT32_LIMIT = 2**31
_AMOUNT_FIELDS = frozenset({"limits", "requests", "minResources"})
_PORT_FIELDS = frozenset({"port", "targetPort", "maxUnavailable"})


def decode_problems(value: Any, say: ProblemFactory, path: Path = ()) -> Problems:
    """Yield a problem for each value that Go cannot decode: a quantity such as `1e1.5`, or a port
    beyond 32 bits.

    Such quantities match the schema's pattern.
    """
    if _is_decodable(value):
        return iter(())
    return _problems_below(value, say, path)


_CHECKED_FIELDS = _AMOUNT_FIELDS | _PORT_FIELDS
_SCALARS = frozenset({str, int, bool, float, type(None)})


def _is_decodable(value: Any) -> bool:
    """Return whether a quick pass that tracks no paths finds no problem. Data other than plain
    JSON returns False.
    """
    stack = [value]
    while stack:
        node = stack.pop()
        if type(node) is dict:
            for key, item in node.items():
                if type(item) is str:
                    continue
                if key in _CHECKED_FIELDS and not _is_decodable_item(item):
                    return False
                stack.append(item)
        elif type(node) is list:
            stack += [item for item in node if type(item) is not str]
        elif type(node) not in _SCALARS:
            return False

    return True


def _is_decodable_item(item: Any) -> bool:
    if type(item) is int:
        return -_INT32_LIMIT <= item < _INT32_LIMIT
    return type(item) is not dict or not any(
        isinstance(amount, str) and _may_match_pattern(amount) for amount in item.values()
    )


def _problems_below(value: Any, say: ProblemFactory, path: Path) -> Problems:
    if isinstance(value, list):
        for i, item in enumerate(value):
            if isinstance(item, dict | list):
                yield from _problems_below(item, say, (*path, i))
        return
    for key, item in value.items():
        if isinstance(item, dict):
            if key in _AMOUNT_FIELDS:
                yield from _amount_problems(item, say, (*path, key))
            elif item:
                yield from _problems_below(item, say, (*path, key))
        elif isinstance(item, list):
            yield from _problems_below(item, say, (*path, key))
        elif key in _PORT_FIELDS and type(item) is int and not -_INT32_LIMIT <= item < _INT32_LIMIT:
            text = f"Invalid value: json: cannot unmarshal number {item} into a 32-bit number"
            yield say((*path, key), text, "use a number from 1 to 65535")


def _amount_problems(amounts: JsonDict, say: ProblemFactory, path: Path) -> Problems:
    for name, amount in amounts.items():
        if (
            isinstance(amount, str)
            and _may_match_pattern(amount)
            and not quantity.is_quantity(amount)
        ):
            text = (
                f'Invalid value: "{amount}": quantities must match the Go parser: unable to parse '
                "the suffix"
            )
            yield say((*path, name), text, "write a number such as 15 or 1500m")


def _may_match_pattern(amount: str) -> bool:
    """Return whether a text that is not a quantity may still match the CRD's pattern: an
    exponent with a point.
    """
    if "." not in amount:
        return False
    _, exponent, power = amount.lower().partition("e")
    return bool(exponent) and "." in power
