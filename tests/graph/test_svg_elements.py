"""Elements of the SVG, and a picture as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptcompile.graph.svg import render_svg
from ptcompile.graph.svg_elements import (
    MONO,
    SANS,
    arc,
    box,
    coord,
    curve,
    cylinder,
    escape,
    fit_text,
    text_line,
    tooltip,
)
from ptcompile.simulator.world import simulate
from tests.graph.test_graph import with_volumes


@pytest.mark.parametrize(
    ("value", "text"), [(1, "1"), (1.0, "1"), (1.25, "1.2"), (0.96, "1"), (-2.5, "-2.5")]
)
def test_coordinates_are_written_shortly(value: float, text: str) -> None:
    assert coord(value) == text


def test_characters_of_xml_are_escaped() -> None:
    assert escape("a<b> & \"c\" 'd'\x00") == "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;\\x00"


@pytest.mark.parametrize(
    ("text", "room", "fitted"),
    [
        ("abcdef", 60, "abcdef"),
        ("abcdef", 59, "ab…ef"),
        ("abcdefg", 60, "ab…efg"),
        ("abcdef", 0, "a…f"),
    ],
)
def test_texts_are_shortened_in_the_middle(text: str, room: float, fitted: str) -> None:
    assert fit_text(text, room, 10, factor=1) == fitted
    assert fit_text("a" * 9, 10 * 9 * MONO, 10) == "a" * 9
    assert fit_text("a" * 9, 10 * 9 * SANS, 10) != "a" * 9


def test_shapes_have_their_svg_elements() -> None:
    assert box(1, 2, 3, 4, "k") == '<rect x="1" y="2" width="3" height="4" rx="8" class="k"/>'
    assert (
        box(1, 2, 3, 4, "k", radius=3)
        == '<rect x="1" y="2" width="3" height="4" rx="3" class="k"/>'
    )
    assert curve(1, 2, 3, 8, "k") == '<path d="M1 2 C1 5 3 5 3 8" class="k"/>'
    sides, front = "M0 7 V25 A10 6 0 0 0 20 25 V7 A10 6 0 0 0 0 7", "A10 6 0 0 0 20 7"
    assert cylinder(0, 1, 20, 30, "k") == f'<path d="{sides} {front}" class="k"/>'
    line, head = "M1 3 C1 43 20 43 20 10", "M20 4 l-4.5 8 h9 z"
    assert arc(1, 20, 3, 40) == f'<path d="{line}" class="meet"/><path d="{head}" class="head"/>'


def test_texts_are_escaped() -> None:
    assert text_line(1, 2, "a<", "k") == '<text x="1" y="2" class="k">a&lt;</text>'
    assert (
        text_line(1, 2, "a", "k", anchor="end")
        == '<text x="1" y="2" class="k" text-anchor="end">a</text>'
    )
    assert tooltip("<", ["x"]) == ["<g>", "<title>&lt;</title>", "x", "</g>"]


def test_the_recorded_picture_is_drawn() -> None:
    """The file beside this test is the picture of a job with many pods and three volumes: look at it in a browser."""
    assert (
        render_svg(simulate([with_volumes(7)])) == (Path(__file__).parent / "job.svg").read_text()
    )
