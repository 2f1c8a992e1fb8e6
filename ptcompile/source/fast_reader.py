"""The fast reader, ryaml, and a check whether kubectl would read the same.

`ryaml` follows YAML 1.2, kubectl its own table (`scalars`). They differ in words such as `on`, in
numbers, and in anchors, tags and merges. Text for which they might differ is read by
`exact_reader`, so the result never depends on the reader.

The output of `kubectl get ... -o yaml` is one List, whose items are read one by one, since a
cluster has any size.

The extension module is loaded without its package, which imports typing for a few annotations at
the cost of every start (`ptcompile._internal.namedtuple`). That workaround goes when ryaml no
longer does so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ExtensionFileLoader, PathFinder
from itertools import pairwise

from ptcompile._internal.lazy import Pattern, bounded_cache
from ptcompile._internal.namedtuple import Any
from ptcompile.source.nodes import (
    MAX_DEPTH,
    MAX_DOCUMENT,
    MAX_VALUES,
    TOO_LARGE,
    Parsed,
    ReaderProblem,
)
from ptcompile.source.scalars import WORDS, resolve

_EXTENSION = "ryaml._ryaml"
_LARGE = 1 << 19
"""Number of characters above which a List is divided; a smaller one is a document like any
other.
"""
_head = Pattern(r"apiVersion: v1\nitems:\n(?=- )")
"""How kubectl begins a List: keys in the order of the alphabet, items at the left margin."""
_item = Pattern(r"(?m)^- ")
_end = Pattern(r"(?m)^[^\s#-]")
_is_tail = Pattern(r"kind: List\n(?:metadata:[^\n]*\n(?: [^\n]*\n)*)?\s*").fullmatch


def extension() -> Callable[[str], Any] | None:
    """Return the function that reads a text as YAML, or None if the package or its extension
    module is missing.
    """
    try:
        return getattr(sys.modules.get(_EXTENSION) or _load_extension(), "loads", None)
    except ImportError:
        # no wheel for this platform
        return None


def _load_extension() -> object:
    """Return the extension module, registered under the name by which its package would find it
    later.
    """
    package = PathFinder.find_spec("ryaml")
    spec = package and PathFinder.find_spec(_EXTENSION, package.submodule_search_locations)
    if spec is None or not isinstance(spec.loader, ExtensionFileLoader):
        import ryaml

        return ryaml

    module = spec.loader.create_module(spec)
    spec.loader.exec_module(module)
    sys.modules[_EXTENSION] = module

    return module


loads = extension()
"""`ryaml.loads`, or None if it is not installed: the exact reader then reads everything."""

_bracket = Pattern(r"[\[{\]}]")
# words that kubectl does not read as strings unless they are quoted; the empty string always is
_words = (WORDS.keys() | {"<<"}) - {""}
_number_start = frozenset("0123456789+-.")
_around_plain = frozenset(" \t\r\n,[]{}:?")


def read_document(text: str) -> Parsed:
    """Read one YAML document with the fast reader if the result is the same. Never raises on its
    content.
    """
    if len(text) > MAX_DOCUMENT:
        help = "split the document, or mount the data"
        return Parsed(None, None, [ReaderProblem("too-large", TOO_LARGE, help, 0, 1)])

    if loads is not None and not _looks_doubtful(text):
        try:
            data = loads(text)
        except Exception:  # noqa: S110 - the exact reader reports it better
            pass
        else:
            texts = _strings_in(data) if type(data) is dict or type(data) is list else None
            if texts is not None and not _may_not_be_strings(texts, text):
                return Parsed(data, None, [], texts)

    from ptcompile.source.exact_reader import parse

    return parse(text)


def _looks_doubtful(text: str) -> bool:
    if "\\/" in text or "\n%" in text or "\n..." in text or text.startswith(("%", "...")):
        return True
    for mark in "&*!":
        if mark in text and _may_begin_value(text, mark):
            return True
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False

    # brackets may nest beyond the limit: the fast reader takes quadratic time in the depth
    depth = 0
    for match in _bracket.finditer(text):
        depth += 1 if match[0] in "[{" else -1
        if depth > MAX_DEPTH:
            return True
        depth = max(depth, 0)

    return False


def _may_begin_value(text: str, mark: str) -> bool:
    """Return whether an anchor, alias or tag may occur; also true if deciding would take long."""
    offset = -1
    for _ in range(300):
        offset = text.find(mark, offset + 1)
        if offset < 0:
            return False
        if offset == 0 or text[offset - 1] in _around_plain or text[offset - 1] > "\x7f":
            after = text[offset + 1 : offset + 2]
            if mark == "!" or after.isalnum() or after in ("_", "-"):
                return True

    return True


def _strings_in(data: Any) -> frozenset[str] | None:
    """Return all keys and strings of the fast reader's data, or None if a key is not a string or
    JSON changes a number.
    """
    strings: set[Any] = set()
    numbers: list[float] = []
    add = strings.add
    level = [data]
    depth = values = 0
    while level:
        depth += 1
        below: list[Any] = []
        for collection in level:
            values += len(collection)
            if type(collection) is dict:
                strings.update(collection)
                collection = collection.values()
            for value in collection:
                value_type = type(value)
                if value_type is str:
                    add(value)
                elif value_type is dict or value_type is list:
                    below.append(value)
                elif value_type is int or value_type is float:
                    numbers.append(value)

        level = below

    if (
        depth > MAX_DEPTH
        or values > MAX_VALUES
        or not {*map(type, strings)} <= {str}
        or any(map(_changes_in_json, numbers))
    ):
        return None

    return frozenset(strings)


def _changes_in_json(number: float) -> bool:
    """Return whether kubectl's JSON turns the number into another one, or rejects it."""
    if type(number) is int:
        return not -(2**63) <= number < 2**63
    return number % 1 == 0 or number - number != 0


def _may_not_be_strings(texts: frozenset[str], text: str) -> bool:
    """Return whether kubectl may not read one of the strings as a string: `on`, or an unquoted
    `0o7`.
    """
    # all numbers and few words sort before a colon
    candidates = [string for string in texts if string < ":"]
    suspects = [
        *_words & texts,
        *[string for string in candidates if string[:1] in _number_start and string[:2] != "--"],
    ]
    return any(_is_not_string(string) and _may_be_plain(text, string) for string in suspects)


@bounded_cache(2048)
def _is_not_string(text: str) -> bool:
    """Return whether kubectl reads a plain word as something else but the fast reader reads it as a
    string.

    If both read it as something else and it still came out as a string, it was quoted.
    """
    if text == "<<":
        return True
    if isinstance(resolve(text), str) or loads is None:
        return False
    try:
        return isinstance(loads(text), str)
    except Exception:
        # the fast reader fails on it: leave it to the exact one
        return True


def _may_be_plain(text: str, word: str) -> bool:
    """Return whether a word occurs without quotes around it; also true if deciding would take
    long.
    """
    offset = -1
    size = len(word)
    for _ in range(300):
        offset = text.find(word, offset + 1)
        if offset < 0:
            return False
        before = text[offset - 1] if offset else "\n"
        after = text[offset + size : offset + size + 1] or "\n"
        if (before in _around_plain or before > "\x7f") and (
            after in _around_plain or after > "\x7f"
        ):
            return True

    return True


def read_dumped_document(text: str) -> Parsed:
    """Read one document of a dump. The limits of a document hold for each item of a List that
    kubectl printed.

    Positions of a divided List are found on first use. Never raises on its content.
    """
    head = _head.match(text) if len(text) > _LARGE else None
    end = _end.search(text, head.end()) if head is not None else None
    if head is None or end is None or not _is_tail(f"{text[end.start() :]}\n"):
        return read_document(text)

    items: list[Any] = []
    findings: list[ReaderProblem] = []
    body = text[head.end() : end.start()]
    starts = [head.end() + match.start() for match in _item.finditer(body)]
    for start, stop in pairwise([*starts, end.start()]):
        parsed = read_document("  " + text[start + 2 : stop])
        findings += [
            item._replace(start=start + item.start, end=start + item.end)
            for item in parsed.findings
        ]
        items.append(parsed.data)

    return Parsed({"apiVersion": "v1", "items": items, "kind": "List"}, None, findings)
