"""Functions of CEL that Kubernetes adds (apiserver `pkg/cel/library`, 1.36) and of cel-go's string extension.

A quantity is its text here: the functions that compare quantities read it.
"""

from __future__ import annotations

import ipaddress
import itertools
from collections.abc import Callable
from urllib.parse import urlsplit

from ptcompile.kubernetes.goregex import search
from ptcompile.kubernetes.quantity import Quantity, parse, valid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


def _amount(text: Any) -> Quantity:
    found = parse(text)
    if found is None:
        raise ValueError(f"no quantity: {text}")
    return found


def _compare(one: Any, other: Any) -> int:
    first, second = _amount(one), _amount(other)
    return (first > second) - (first < second)


def _is_url(text: str) -> bool:
    parts = urlsplit(text)
    return bool(parts.scheme and (parts.netloc or parts.path)) or text.startswith("/")


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_cidr(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return "/" in text


def _find(text: str, pattern: str) -> str:
    return next(iter(_find_all(text, pattern)), "")


def _find_all(text: str, pattern: str) -> list[str]:
    """All matches, apart from each other. Raises ValueError for a pattern that cannot be asked."""
    match = search(pattern)
    out: list[str] = []
    if match is None:
        raise ValueError(f"the pattern {pattern!r} cannot be asked here")
    while text and len(out) < _MATCHES:
        found = match(text)
        if found is None:
            break
        out.append(found.group())
        text = text[max(found.end(), 1) :]
    return out


_MATCHES: Final = 1000
"""Of one text."""


def _index(where: Any, what: Any) -> int:
    if isinstance(where, str):
        return where.find(what)
    return where.index(what) if what in where else -1


def _last_index(where: Any, what: Any) -> int:
    if isinstance(where, str):
        return where.rfind(what)
    return len(where) - 1 - where[::-1].index(what) if what in where else -1


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "quantity": lambda text: str(text),
    "isQuantity": lambda text: isinstance(text, str) and valid(text),
    "isGreaterThan": lambda one, other: _compare(one, other) > 0,
    "isLessThan": lambda one, other: _compare(one, other) < 0,
    "compareTo": _compare,
    "asInteger": lambda text: _amount(text).value,
    "asApproximateFloat": lambda text: _amount(text).nano / 10**9,
    "isInteger": lambda text: _amount(text).is_integer,
    "sign": lambda text: (_amount(text).nano > 0) - (_amount(text).nano < 0),
    "isURL": _is_url,
    "url": lambda text: text,
    "getScheme": lambda text: urlsplit(text).scheme,
    "getHost": lambda text: urlsplit(text).netloc,
    "getHostname": lambda text: urlsplit(text).hostname or "",
    "getPort": lambda text: str(urlsplit(text).port or ""),
    "getEscapedPath": lambda text: urlsplit(text).path,
    "isIP": _is_ip,
    "isCIDR": _is_cidr,
    "find": _find,
    "findAll": _find_all,
    "isSorted": lambda items: all(one <= other for one, other in itertools.pairwise(items)),
    "sum": sum,
    "min": lambda *items: min(items[0] if len(items) == 1 else items),
    "max": lambda *items: max(items[0] if len(items) == 1 else items),
    "indexOf": _index,
    "lastIndexOf": _last_index,
    "split": lambda text, mark: text.split(mark) if mark else list(text),
    "join": lambda items, mark="": mark.join(items),
    "lowerAscii": lambda text: text.lower(),
    "upperAscii": lambda text: text.upper(),
    "trim": lambda text: text.strip(),
    "replace": lambda text, old, new: text.replace(old, new),
    "substring": lambda text, start, end=None: text[start:end],
    "charAt": lambda text, index: text[index],
    "reverse": lambda what: what[::-1],
}
