"""Conversion of positions to the client's units, and the cache of open texts' analyses."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from lsprotocol.types import Position, Range

from ptcompile.diagnostics import Span
from ptcompile.server.diagnostics import diagnostics
from ptcompile.server.document import Lines, OpenDocument, Texts
from ptcompile.server.lenses import inlay_hints
from ptcompile.server.symbols import symbols
from ptcompile.server.workspace import FileSettings, WorkspaceFile
from ptcompile.source import documents as source
from tests.conftest import thinned
from tests.editing import Editor, examples
from tests.making import gather

TEXT = "a: 1\r\nb😀c: 'é'\n\rd\u2028e: 2\x0bx\nlast"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8", "utf-32"])
def test_positions_round_trip(encoding: str) -> None:
    lines = Lines(TEXT, encoding)
    for offset in range(len(TEXT) + 1):
        if TEXT[offset - 1 : offset + 1] != "\r\n":
            assert lines.offset(lines.position(offset)) == offset


@pytest.mark.parametrize(("encoding", "character"), [("utf-16", 3), ("utf-8", 5), ("utf-32", 2)])
def test_a_character_beyond_the_first_plane_has_the_width_of_its_encoding(
    encoding: str, character: int
) -> None:
    lines = Lines(TEXT, encoding)
    assert lines.position(TEXT.index("c")) == Position(1, character)
    assert lines.offset(Position(1, character)) == TEXT.index("c")


def test_half_a_surrogate_pair_is_its_start() -> None:
    assert Lines("😀x").offset(Position(0, 1)) == 0


def test_only_line_ends_of_the_protocol_end_lines() -> None:
    lines = Lines(TEXT)
    assert len(lines) == 5
    assert lines.position(TEXT.index("\u2028")) == Position(3, 1)
    assert lines.position(TEXT.index("x")) == Position(3, 7)
    assert lines.position(len(TEXT)) == Position(4, 4)


def test_positions_after_the_end_are_at_the_end() -> None:
    lines = Lines("ab\r\ncd")
    assert lines.offset(Position(0, 99)) == 2
    assert lines.offset(Position(99, 0)) == 6


def test_a_byte_order_mark_counts_only_for_the_client() -> None:
    lines = Lines("\ufeffab\ncd")
    assert lines.text == "ab\ncd"
    assert lines.position(1) == Position(0, 2)
    assert lines.offset(Position(0, 2)) == 1
    assert lines.position(3) == Position(1, 0)


def test_a_span_counts_utf_16_units() -> None:
    text = "kind: Pod\nmetadata: {name: '😀', labels: {a: \"b\"}}\n"
    span = source.read(text).documents[0].span(("metadata", "labels", "a"))
    assert span is not None
    where = Lines(text).of_span(span)
    assert (where.start, where.end) == (Position(1, 35), Position(1, 38))


def test_a_span_after_a_lone_carriage_return() -> None:
    """The reader counts only line feeds as line ends."""
    assert Lines("a: 1\rb: 2\nc: 3").of_span(Span(1, 6, 1, 7)).start == Position(1, 0)


POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: [{name: main, image: 'a:1'}]}\n"

KEPT = 64


class Nothing:
    """A workspace without other files."""

    def settings(self, path: str) -> FileSettings:
        return FileSettings()

    def files(self) -> Sequence[WorkspaceFile]:
        return ()

    def earlier_files(self, path: str) -> Sequence[WorkspaceFile]:
        return ()

    def changed(self) -> None:
        return


class OneEarlierFile(Nothing):
    """A folder whose first file defines a pod."""

    def earlier_files(self, path: str) -> Sequence[WorkspaceFile]:
        return (WorkspaceFile("/folder/0.yaml", POD.replace("a:1", "a:2").encode()),)


def _uri(number: int) -> str:
    return f"file:///folder/{number}.yaml"


def _get(kept: Texts, number: int, text: str = POD) -> OpenDocument:
    return kept.get(_uri(number), f"/folder/{number}.yaml", text, lambda: None)


def test_an_unchanged_text_is_not_analyzed_again() -> None:
    kept = Texts(Nothing(), "utf-16")
    before = [_get(kept, number) for number in range(3)]
    assert all(_get(kept, number) is one for number, one in enumerate(before))
    assert _get(kept, 1, POD + "# more\n") is not before[1]
    assert _get(kept, 0) is before[0]


def _repeated(opened: OpenDocument) -> list[str]:
    return [
        diagnostic.message
        for diagnostic in opened.report.diagnostics
        if diagnostic.name == "repeated-object"
    ]


def test_an_object_that_an_earlier_file_defines_too_is_reported() -> None:
    kept = Texts(OneEarlierFile(), "utf-16")
    message = "metadata.name: 0.yaml in this folder also defines Pod/x: if both are applied, one overwrites the other"
    assert _repeated(_get(kept, 1)) == [message]
    assert _repeated(_get(kept, 1, POD.replace("name: x", "name: y"))) == []
    _get(kept, 0, POD.replace("name: x", "name: renamed"))
    assert (
        _repeated(_get(kept, 1, POD + "# the open text of 0.yaml counts, not the saved one\n"))
        == []
    )


def test_an_equal_copy_of_a_config_map_is_not_reported() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
    earlier = (WorkspaceFile("/folder/0.yaml", text),)
    assert _repeated(OpenDocument("", "/folder/1.yaml", text, earlier=earlier)) == []
    assert (
        len(
            _repeated(
                OpenDocument("", "/folder/1.yaml", f"{text}data: {{a: b}}\n", earlier=earlier)
            )
        )
        == 1
    )


def test_the_page_that_compiled_outlives_edits() -> None:
    kept = Texts(Nothing(), "utf-16")
    _get(kept, 0).compiled_page = page = gather("")
    assert _get(kept, 0, "a: [").compiled_page is page
    assert _get(kept, 0, POD).compiled_page is page
    assert _get(kept, 1).compiled_page is None


def test_a_changed_workspace_clears_the_cache() -> None:
    kept = Texts(Nothing(), "utf-16")
    before = _get(kept, 0)
    kept.forget()
    assert _get(kept, 0) is not before


def test_the_most_recently_used_texts_are_kept() -> None:
    kept = Texts(Nothing(), "utf-16")
    first, second = _get(kept, 0), _get(kept, 1)
    for number in range(2, KEPT):
        _get(kept, number)
    assert _get(kept, 0) is first
    _get(kept, KEPT)
    assert _get(kept, 0) is first
    assert _get(kept, 1) is not second


def test_a_byte_order_mark_that_comes_and_goes() -> None:
    kept = Texts(Nothing(), "utf-16")
    starts = [
        symbols(_get(kept, 0, text))[0].range.start.character for text in (POD, f"\ufeff{POD}", POD)
    ]
    assert starts == [0, 1, 0]


@pytest.mark.parametrize("seed", thinned(range(32), 8))
def test_answers_after_edits_are_those_of_a_new_text(seed: int) -> None:
    editor, encoding = Editor(Random(seed), examples()), "utf-16"  # noqa: S311 - the same edits each time
    texts = Texts(Nothing(), encoding)
    whole = Range(Position(0, 0), Position(100_000, 0))
    for _ in range(20):
        opened = texts.get("file:///w/a.yaml", "/w/a.yaml", editor.text, lambda: None)
        again = OpenDocument("file:///w/a.yaml", "/w/a.yaml", editor.text, encoding=encoding)
        assert symbols(opened) == symbols(again)
        assert inlay_hints(opened, whole) == inlay_hints(again, whole)
        assert diagnostics(opened) == diagnostics(again)
        assert opened.named_objects == again.named_objects
        editor.edit()
