"""The cursor's path and role in a text, which usually cannot be parsed while it is edited."""

from __future__ import annotations

import time

import pytest

from ptcompile.diagnostics import Path as Keys
from ptcompile.server.cursor import cursor_at, sketch
from ptcompile.source import documents as source
from tests.conftest import GOLDEN
from tests.server.making import split

PLACES: list[tuple[str, Keys, str, str]] = [
    ("|", (), "key", ""),
    ("spec:\n  |", ("spec",), "item", ""),
    ("spec:\n  im|\n  nodes: 2\n", ("spec",), "item", "im"),
    ("spec:\n  image: x\nme|", (), "key", "me"),
    ("spec:\n  target: vo|\n", ("spec", "target"), "value", "vo"),
    ("spec:\n  target:|\n", ("spec", "target"), "value", ""),
    ("spec:\n  target: 'vo|'\n", ("spec", "target"), "value", "vo"),
    ("spec:\n  'target': vo|\n", ("spec", "target"), "value", "vo"),
    ("a:\n- x: 1\n- y: 2\n  z|", ("a", 1), "item", "z"),
    ("a:\n  - x: 1\n  - |", ("a", 1), "item", ""),
    ("a:\n  - x:\n      - 1\n      - 2\n  - y: |", ("a", 1, "y"), "value", ""),
    ("a:\n  - - 1\n    - |", ("a", 0, 1), "item", ""),
    ("a: [{b: 1}, {b|", ("a", 1), "key", "b"),
    ("a: [{b: 1}, {b: 2, c: x|", ("a", 1, "c"), "value", "x"),
    ("a: {b: [1, 2], c: {d|", ("a", "c"), "key", "d"),
    ("a: {b: 1,\n    c: {d: 'x, y', e|\n", ("a", "c"), "key", "e"),
    ("a: [x, 'y|", ("a", 1), "item", "y"),
    ("- [a, |", (0, 1), "item", ""),
    ("a:\n  b: |\n    some\n    te\n  c: x|", ("a", "c"), "value", "x"),
    ("x: 1\n---\nspec:\n  q|\n---\ny: 1\n", ("spec",), "item", "q"),
    ("x: 1\n--- # a\nspec:\n  q|\n", ("spec",), "item", "q"),
    ("spec: &a\n  b|", ("spec",), "item", "b"),
    ("spec: # a comment\n  b: c # {\n  d|", ("spec",), "item", "d"),
    ("a: 'b: {c'\nd: e|", ("d",), "value", "e"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "path", "part", "prefix"), PLACES, ids=[text for text, *_ in PLACES]
)
def test_the_cursor_knows_its_path_and_prefix(
    text: str, path: Keys, part: str, prefix: str
) -> None:
    before, _, after = text.rpartition("|")  # one of the texts has a block scalar
    cursor = cursor_at(before + after, len(before))
    assert (cursor.path, cursor.part, cursor.prefix) == (path, part, prefix)
    assert (before + after)[cursor.start : cursor.end] == prefix


def test_a_block_scalar_is_text() -> None:
    text, offset = split("a:\n  b: >\n    some te^".replace("^", "|"))
    assert cursor_at(text, offset).part == "text"


def test_text_after_a_hash_is_a_comment() -> None:
    text, offset = split("a: 1 # ptcompile: ignore[P|\n")
    assert cursor_at(text, offset).part == "comment"
    text, offset = split('a: "1 # b|\n')
    assert cursor_at(text, offset).part == "value"


def test_the_cursor_knows_its_document() -> None:
    text, offset = split(
        "kind: A\n---\nkind: B\nspec:\n  vol|\n  volumes: [{name: x}, {name: y}]\n---\nkind: C\n"
    )
    cursor = cursor_at(text, offset)
    assert cursor.document.value("kind") == "B"
    assert list(cursor.document.values(("spec", "volumes"), "name")) == ["x", "y"]
    assert cursor.document.keys(("spec",)) == {"volumes"}


def test_an_outline_has_the_keys_that_a_reader_finds() -> None:
    compared = 0
    for case in sorted(GOLDEN.glob("*/*.yaml")):
        text = case.read_text(encoding="utf-8")
        for document in source.read(text).documents:
            part = text[document.start() : document.end()]
            if "&" not in part:
                missing = _paths(document.data) - {entry.path for entry in sketch(part).entries}
                assert {path for path in missing if not _odd(path)} == set(), case
                compared += 1
    assert compared > 400


def _paths(value: object, path: Keys = ()) -> set[Keys]:
    if isinstance(value, dict):
        inner = {(*path, str(key)): one for key, one in value.items()}
    elif isinstance(value, list):
        inner = {(*path, index): one for index, one in enumerate(value)}
    else:
        return set()
    known = {key for key in inner if isinstance(key[-1], str)}
    return known.union(*(_paths(one, key) for key, one in inner.items()), set())


def _odd(path: Keys) -> bool:
    """Return the keys whose written form differs from their value."""
    return any(
        isinstance(part, str) and (not part.isascii() or part in ("true", "false")) for part in path
    )


@pytest.mark.parametrize(
    "hostile", [" ", "- ", "{", "[", "a: ", "'", '"', "#", "? ", "a:b", "&a ", "\t", ",", "}"]
)
def test_the_time_is_linear(hostile: str) -> None:
    def seconds(count: int) -> float:
        text = hostile * count
        best = 9.0
        for _ in range(3):
            start = time.thread_time()
            cursor_at(text, len(text))
            best = min(best, time.thread_time() - start)
        return best

    seconds(1_000)
    assert seconds(20_000) < 0.05 + 8 * seconds(5_000)
