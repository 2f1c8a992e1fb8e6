"""How dense the package is: what makes a page hard to read may become less, not more."""

from __future__ import annotations

import ast

import pytest

from tests import sources
from tests.density import Figures, is_unrelated
from tests.sources import Source

HIGHEST = {
    "tokens": 8240,
    "comprehensions": 45.8,
    "conditional expressions": 27.7,
    "conditionals within conditionals": 0,
    "unrelated values in one assignment": 0.3,
    "items taken by a number": 8.6,
    "lines above 100 columns": 2.0,
}
"""The most of each figure, in 1,000 lines that hold code. A change that lowers one lowers its number here; one that
raises it says why in its commit.
"""
UNBROKEN = 0.052
"""The highest share of the functions of 15 lines or more that have neither a blank line nor a comment."""
USED_ONCE = 0.24
"""The highest share of all functions that are private and called at one place."""


@pytest.fixture(scope="module")
def package() -> Figures:
    return Figures(sources.package().values())


@pytest.mark.parametrize("name", HIGHEST)
def test_the_package_becomes_no_denser(package: Figures, name: str) -> None:
    assert round(package.rate(name), 1) <= HIGHEST[name]


def test_long_functions_have_paragraphs(package: Figures) -> None:
    assert round(package.unbroken, 3) <= UNBROKEN


def test_functions_are_not_cut_into_pieces_without_a_use_of_their_own(package: Figures) -> None:
    assert round(package.used_once, 3) <= USED_ONCE


EACH_ONCE = '''"""Docs."""

first, second = 1, [2]
chosen = first if second else (3 if second[0] else 4)
'''


def test_each_figure_is_counted() -> None:
    counts = Figures([Source(EACH_ONCE)]).counts
    assert counts == {
        "code lines": 2,
        "tokens": 25,
        "conditional expressions": 2,
        "conditionals within conditionals": 1,
        "unrelated values in one assignment": 1,
        "items taken by a number": 1,
        "lines above 100 columns": 0,
    }


def test_swapped_names_are_related() -> None:
    assert not is_unrelated(ast.parse("a, b = b, a").body[0])


@pytest.mark.parametrize(("separator", "share"), [("", 1), ("\n", 0), ("    # why\n", 0)])
def test_a_blank_line_or_a_comment_breaks_a_long_function(separator: str, share: int) -> None:
    steps = ["    step()\n"] * 15
    steps.insert(8, separator)
    assert Figures([Source("def f():\n" + "".join(steps))]).unbroken == share


def test_private_functions_with_one_call_are_counted() -> None:
    text = "def _once(): ...\ndef _twice(): ...\n_once()\n_twice()\n_twice()\n"
    assert Figures([Source(text)]).used_once == 0.5
