"""The harness of the language server: a text that is being typed, asked everything at places all
over it.
"""

from __future__ import annotations

import random
from functools import cache
from zlib import crc32

from cattrs import Converter
from lsprotocol.converters import get_converter
from lsprotocol.types import Position, Range, TextEdit

from ptcompile.server import completion, definition, diagnostics as actions, hover, lenses, symbols
from ptcompile.server.cursor import cursor_at
from ptcompile.server.document import OpenDocument

_ENCODINGS = ("utf-16", "utf-8", "utf-32")
_LONG = 4_000
"""Characters of a text whose fixes are asked for on one line alone: each reads the text several
times.
"""


def server(data: bytes) -> None:
    """Every question of an editor about a text, half of which is not typed yet; each answer can
    be sent.
    """
    dice = random.Random(crc32(data))
    text = data.decode("utf-8", "replace")
    before = OpenDocument("file:///a.yaml", "/a.yaml", text)
    cut = dice.randrange(len(text) + 1)
    typed = text[:cut] + text[cut + dice.choice((0, 0, 1, 7, 80)) :]
    one = OpenDocument(
        "file:///a.yaml",
        "/a.yaml",
        typed,
        before=before.last_sound(),
        encoding=dice.choice(_ENCODINGS),
    )
    offsets = {0, len(one.text), min(cut, len(one.text)), dice.randrange(len(one.text) + 1)}
    everywhere = Range(Position(0, 0), Position(len(one.lines), 0))
    converter = _converter()
    for offset in sorted(offsets):
        position = one.lines.position(offset)
        assert one.lines.offset(position) <= offset
        place = cursor_at(one.text, offset)
        assert 0 <= place.start <= place.end <= len(one.text)
        for answer in (completion.complete(one, position), hover.hover(one, position)):
            converter.unstructure(answer)
        converter.unstructure(definition.definition(one, position))

    for found in actions.diagnostics(one):
        assert found.range.start.line <= found.range.end.line < len(one.lines)
    converter.unstructure(symbols.symbols(one))
    converter.unstructure([*lenses.inlay_hints(one, everywhere), *lenses.code_lenses(one)])
    line = Range(one.lines.position(cut), one.lines.position(cut))
    for action in actions.actions(one, everywhere if len(one.text) < _LONG else line, None, None):
        for edits in (action.edit.changes or {}).values() if action.edit is not None else ():
            _applied(one, list(edits))
    if one.objects:
        lenses.manifests(one, 0, None)
        lenses.pods(one, 0)


def _applied(one: OpenDocument, edits: list[TextEdit]) -> str:
    """The text with edits made, which must not meet."""
    text, last = one.text, len(one.text)
    for edit in reversed(edits):
        start, end = one.lines.offset(edit.range.start), one.lines.offset(edit.range.end)
        assert start <= end <= last, (start, end, last)
        text, last = text[:start] + edit.new_text + text[end:], start
    return text


@cache
def _converter() -> Converter:
    return get_converter()
