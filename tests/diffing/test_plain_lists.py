"""Two lists of plain values: the same answers as deepdiff's, and a few by hand."""

from __future__ import annotations

from typing import Any

import pytest
from deepdiff import DeepDiff
from hypothesis import given
from hypothesis import strategies as st

from ptcompile.diffing.paths import _KINDS, _pruned
from ptcompile.diffing.plain_lists import plain_lists

ITEMS = st.one_of(st.sampled_from(["a", "b", "c", "--d", "e"]), st.integers(0, 2), st.booleans(), st.just(1.5))


def _of_deepdiff(one: list[Any], other: list[Any], *, zipped: bool) -> list[tuple[int, str]]:
    found = DeepDiff(one, other, view="tree", threshold_to_diff_deeper=0, zip_ordered_iterables=zipped)
    levels = ((kind, level) for kind, levels in found.items() for level in levels)
    return sorted((level.path(output_format="list")[0], _KINDS[kind]) for kind, level in levels)


@given(st.lists(ITEMS, max_size=7), st.lists(ITEMS, max_size=7), st.booleans())
def test_deepdiff_says_the_same(one: list[Any], other: list[Any], zipped: bool) -> None:
    left, right = _pruned(one, other)
    assert sorted(plain_lists(left, right, zipped=zipped)) == _of_deepdiff(left, right, zipped=zipped)


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        (["a", "b"], ["a", "c"], [(1, "changed")]),
        (["a", "b", "c", "d"], ["b", "c", "d"], [(0, "removed")]),
        (["b", "c", "d"], ["a", "b", "c", "d"], [(0, "added")]),
        ([1], [True], []),
        (["1"], [1], [(0, "changed")]),
        (["a", "b"], [], [(0, "removed"), (1, "removed")]),
    ],
)
def test_by_hand(one: list[Any], other: list[Any], told: list[tuple[int, str]]) -> None:
    assert plain_lists(one, other, zipped=False) == told
