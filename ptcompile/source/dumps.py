"""The output of `kubectl get ... -o yaml`: one List, whose items are read one by one, since a cluster has any size."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.lazy import Pattern
from ptcompile.source.fast_reader import read_document
from ptcompile.source.nodes import Parsed, ReaderProblem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_LARGE: Final = 1 << 19
"""Number of characters above which a List is divided; a smaller one is a document like any other."""
_head = Pattern(r"apiVersion: v1\nitems:\n(?=- )")
"""How kubectl begins a List: keys in the order of the alphabet, items at the left margin."""
_item = Pattern(r"(?m)^- ")
_end = Pattern(r"(?m)^[^\s#-]")
_is_tail = Pattern(r"kind: List\n(?:metadata:[^\n]*\n(?: [^\n]*\n)*)?\s*").fullmatch


def read_dumped_document(text: str) -> Parsed:
    """Read one document of a dump. The limits of a document hold for each item of a List that kubectl printed.

    Positions of a divided List are found on first use. Never raises on its content.
    """
    head = _head.match(text) if len(text) > _LARGE else None
    end = _end.search(text, head.end()) if head is not None else None
    if head is None or end is None or not _is_tail(f"{text[end.start() :]}\n"):
        return read_document(text)
    items: list[Any] = []
    findings: list[ReaderProblem] = []
    for start, stop in _spans(text, head.end(), end.start()):
        parsed = read_document("  " + text[start + 2 : stop])
        findings += [item._replace(start=start + item.start, end=start + item.end) for item in parsed.findings]
        items.append(parsed.data)
    return Parsed({"apiVersion": "v1", "items": items, "kind": "List"}, None, findings)


def _spans(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield start and end of each item, with its hyphen."""
    starts = [begin + match.start() for match in _item.finditer(text[begin:end])]
    yield from zip(starts, [*starts[1:], end], strict=True)
