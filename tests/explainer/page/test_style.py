"""The colors of the page: contrast in both schemes, as WCAG 2.2 level AA requires for text."""

from __future__ import annotations

import itertools
import re
from functools import cache

import pytest

from ptcompile.explainer.page.html import AUTHORS
from ptcompile.graph.svg_elements import STYLE
from tests.explainer.page.colors import author_styles
from tests.explainer.page.making import SIX, text
from tests.explainer.page.reading import read_html

AA = 4.5
TEXTS = (
    "ink",
    "soft",
    "key",
    "comment",
    "accent",
    "error",
    "warning",
    *(f"a{i}" for i in range(len(AUTHORS))),
)
GROUNDS = ("paper", "ground", "faint")
MARKED = ("value", "there", "here")
"""Backgrounds of highlighted lines."""


@cache
def css() -> str:
    return next(read_html(text(SIX)).all("style")).text


def colours(scheme: str) -> dict[str, str]:
    """Return the variables of a scheme; the dark scheme overrides the light one's."""
    blocks: list[str] = re.findall(r":root \{([^}]*)\}", css())
    authors = [block for block in blocks if "--a0" in block]
    found = [*blocks[:2], *authors] if scheme == "dark" else [blocks[0], authors[0]]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", "".join(found)))


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast_on_every_background(scheme: str) -> None:
    shades = colours(scheme)
    pairs = [
        *itertools.product(TEXTS, (*GROUNDS, *MARKED)),
        ("soft", "error-ground"),
        ("soft", "warning-ground"),
    ]
    pairs += [("ink", f"{sort}-ground") for sort in ("error", "warning")]
    pairs += [(sort, f"{sort}-ground") for sort in ("error", "warning")]
    poor = {pair: round(contrast(shades[pair[0]], shades[pair[1]]), 2) for pair in pairs}
    assert {pair: ratio for pair, ratio in poor.items() if ratio < AA} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_author_has_a_distinct_color(scheme: str) -> None:
    shades = colours(scheme)
    assert len({shades[f"a{i}"] for i in range(len(AUTHORS))}) == len(AUTHORS)
    assert all(f".a{i} {{" in css() for i in range(len(AUTHORS)))


def test_code_has_no_background_of_its_own() -> None:
    """VS Code gives code in its web views a background and a padding."""
    assert "code { padding: 0; border-radius: 0; background: none; color: inherit }" in css()


def test_graph_styles_apply_only_to_graphs() -> None:
    assert f".graph {{{STYLE}}}" in css()
    assert read_html(text(SIX)).text.count(STYLE) == 1


@pytest.mark.parametrize("count", [14, 30])
def test_more_passes_get_distinct_colors(count: int) -> None:
    colors = re.findall(r"--a\d+: (#[0-9a-f]{6});", author_styles(count))
    assert len(colors) == 2 * count
    assert all(len(set(half)) == count for half in (colors[:count], colors[count:]))
