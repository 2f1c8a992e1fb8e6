"""The fast reader, ryaml, and whether kubectl would read the same.

`ryaml` follows YAML 1.2, kubectl its own table (`scalars`). They differ in words such as `on`, in numbers, and in
anchors, tags and merges. What could differ is read again by `exact_reader`, so that the two never disagree.

Its extension module is loaded without the package around it, which imports typing for a few annotations, and every
start would pay for that (`ptcompile._internal.namedtuple`). This goes once ryaml does not do so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ExtensionFileLoader, PathFinder

from ptcompile._internal.lazy import Pattern, bounded_cache
from ptcompile.source.nodes import MAX_DEPTH, MAX_DOCUMENT, MAX_VALUES, Parsed, ReaderProblem
from ptcompile.source.scalars import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


_PART = "ryaml._ryaml"


def extension() -> Callable[[str], Any] | None:
    """The function that reads a text as YAML; None where the package is not installed, or has no such part."""
    try:
        return getattr(sys.modules.get(_PART) or _part(), "loads", None)
    except ImportError:  # no wheel for this platform
        return None


def _part() -> object:
    """The compiled part, under the name by which the package finds it when that is imported later."""
    package = PathFinder.find_spec("ryaml")
    spec = package and PathFinder.find_spec(_PART, package.submodule_search_locations)
    if spec is None or not isinstance(spec.loader, ExtensionFileLoader):
        import ryaml

        return ryaml
    part = spec.loader.create_module(spec)
    spec.loader.exec_module(part)
    sys.modules[_PART] = part
    return part


loads: Final = extension()
"""`ryaml.loads`; None where it is not installed: the exact reader reads everything."""

_bracket = Pattern(r"[\[{\]}]")
# Words that kubectl takes for something else where they stand without quotes.
_words: Final = frozenset(
    word
    for name in ("y", "n", "yes", "no", "on", "off", "true", "false", "null", ".inf", "+.inf", "-.inf", ".nan")
    for word in (name, name.capitalize(), name.upper(), name.replace("inf", "Inf"), name.replace("nan", "NaN"))
) | {"~", "<<"}
_number_start: Final = frozenset("0123456789+-.")
_around_plain: Final = frozenset(" \t\r\n,[]{}:?")


def read_document(text: str) -> Parsed:
    """Read one YAML document, the fast way where that is the same. Never raises on its content."""
    if len(text) > MAX_DOCUMENT:
        message = f"the document is larger than {MAX_DOCUMENT >> 20} MiB, the API server's limit for a request"
        return Parsed(None, None, [ReaderProblem("too-large", message, "split the document, or mount the data", 0, 1)])
    if loads is not None and not _looks_doubtful(text):
        try:
            data = loads(text)
        except Exception:  # noqa: S110 - whatever it is, the exact reader says it better
            pass
        else:
            texts = _texts(data) if type(data) is dict or type(data) is list else None
            if texts is not None and not _may_be_no_strings(texts, text):
                return Parsed(data, None, [], texts)
    from ptcompile.source.exact_reader import parse

    return parse(text)


def _looks_doubtful(text: str) -> bool:
    if "\\/" in text or "\n%" in text or "\n..." in text or text.startswith(("%", "...")):
        return True
    for mark in "&*!":
        if mark in text and _may_begin_value(text, mark):
            return True
    return text.count("[") + text.count("{") > MAX_DEPTH and _brackets_pile_up(text)


def _may_begin_value(text: str, mark: str) -> bool:
    """Whether an anchor, alias or tag may stand somewhere; also true where that takes long to say."""
    at = -1
    for _ in range(300):
        at = text.find(mark, at + 1)
        if at < 0:
            return False
        if at == 0 or text[at - 1] in _around_plain or text[at - 1] > "\x7f":
            after = text[at + 1 : at + 2]
            if mark == "!" or after.isalnum() or after in ("_", "-"):
                return True
    return True


def _brackets_pile_up(text: str) -> bool:
    """Whether open brackets may pile up beyond the limit: the fast reader takes time in the square of that."""
    depth = 0
    for match in _bracket.finditer(text):
        depth += 1 if match[0] in "[{" else -1
        if depth > MAX_DEPTH:
            return True
        depth = max(depth, 0)
    return False


def _texts(data: Any) -> frozenset[str] | None:
    """All keys and texts of what the fast reader read; None where a key is no text, or JSON changes a number."""
    found: set[Any] = set()
    numbers: list[float] = []
    add = found.add
    level: list[Any] = [data]
    depth = values = 0
    while level:
        depth += 1
        below: list[Any] = []
        for box in level:
            values += len(box)
            if type(box) is dict:
                found.update(box)
                box = box.values()
            for value in box:
                kind = type(value)
                if kind is str:
                    add(value)
                elif kind is dict or kind is list:
                    below.append(value)
                elif kind is int or kind is float:
                    numbers.append(value)
        level = below
    if depth > MAX_DEPTH or values > MAX_VALUES or not {*map(type, found)} <= {str} or any(map(_changes, numbers)):
        return None
    return frozenset(found)


def _changes(number: float) -> bool:
    """Whether kubectl's JSON makes another number of it, or refuses it."""
    if type(number) is int:
        return not -(2**63) <= number < 2**63
    return number % 1 == 0 or number - number != 0


def _may_be_no_strings(texts: frozenset[str], text: str) -> bool:
    """Whether kubectl may take one of the strings for something else: `on`, or `0o7` that is not in quotes."""
    low = [one for one in texts if one < ":"]  # as all numbers are, and few words
    suspects = [*_words & texts, *[one for one in low if one[:1] in _number_start and one[:2] != "--"]]
    return any(_is_no_string(one) and _may_be_plain(text, one) for one in suspects)


@bounded_cache(2048)
def _is_no_string(text: str) -> bool:
    """Whether kubectl takes a plain word for something else than a string, where the fast reader takes it for one.

    A word that both take for something else came out of the fast reader as a string: it stood in quotes.
    """
    if text == "<<":
        return True
    if isinstance(resolve(text), str) or loads is None:
        return False
    try:
        return isinstance(loads(text), str)
    except Exception:  # the fast reader has trouble with it: let the exact one look
        return True


def _may_be_plain(text: str, word: str) -> bool:
    """Whether a word stands anywhere without quotes around it; also true where that takes long to say."""
    at, size = -1, len(word)
    for _ in range(300):
        at = text.find(word, at + 1)
        if at < 0:
            return False
        before, after = text[at - 1] if at else "\n", text[at + size : at + size + 1] or "\n"
        if (before in _around_plain or before > "\x7f") and (after in _around_plain or after > "\x7f"):
            return True
    return True
