"""The grammar of field paths: parsing and printing."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, strategies as st

from ptcompile.diagnostics import field_path
from ptcompile.diagnostics.paths import PathSyntaxError, parse_assignment, parse_path

PLACES = {
    "spec.nodes": ("spec", "nodes"),
    "spec.args[1]": ("spec", "args", 1),
    "spec.args[1][2].x": ("spec", "args", 1, 2, "x"),
    'metadata.labels."a.b/c"': ("metadata", "labels", "a.b/c"),
    "metadata.labels[a.b/c]": ("metadata", "labels", "a.b/c"),
    'labels["a]b"].x': ("labels", "a]b", "x"),
    '"a\\\\b\\"c"': ('a\\b"c',),
    "containers[pytorch].image": ("containers", "pytorch", "image"),
    "a-b.c_d./e": ("a-b", "c_d", "/e"),
    "spec.args.0": ("spec", "args", "0"),
    'a."0"': ("a", "0"),
}


@pytest.mark.parametrize("text", PLACES)
def test_valid_paths_are_parsed(text: str) -> None:
    assert parse_path(text) == PLACES[text]
    assert parse_assignment(f"{text}=x=y") == (PLACES[text], len(text) + 1)


BAD = {
    "": 0,
    ".a": 0,
    "a.": 2,
    "a..b": 2,
    "a[": 1,
    'a."b': 2,
    'a["b"': 5,
    "a]b": 1,
    "a=b": 1,
    'a"b"': 1,
    "a[0]b": 4,
}


@pytest.mark.parametrize("text", BAD)
def test_invalid_paths_fail_at_their_offset(text: str) -> None:
    with pytest.raises(PathSyntaxError) as caught:
        parse_path(text)
    assert caught.value.offset == BAD[text]


KEYS = st.text(st.characters(exclude_characters="]", exclude_categories=["Cs"]), max_size=8).filter(
    lambda key: not key.startswith('"') and not (key.isdigit() and key.isascii())
)


@given(
    st.lists(KEYS.filter(lambda key: key.isalpha()), min_size=1, max_size=1),
    st.lists(KEYS | st.integers(0, 999)),
)
def test_printed_paths_are_parsed_back(head: list[str], rest: list[str | int]) -> None:
    path = (*head, *rest[:60])
    assert parse_path(field_path(path)) == path


@given(st.text(max_size=40))
def test_any_text_parses_or_raises_path_syntax_error(text: str) -> None:
    for read in (parse_path, parse_assignment):
        with contextlib.suppress(PathSyntaxError):
            read(text)
