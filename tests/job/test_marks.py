"""Marked values: equal to the data that they stand for, and carried on by what is made of them."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.job.marks import NOTHING, Mark, mark_of, marked, place_of, stamped

NODES, NAME = ("spec", "nodes"), ("metadata", "name")


def said(value: Any, *place: str | int) -> Any:
    return marked(value, Mark((place,)))


@pytest.mark.parametrize("value", ["x", 3, True, False, ""])
def test_a_marked_value_is_the_value(value: Any) -> None:
    one = said(value, *NODES)
    assert one == value
    assert hash(one) == hash(value)
    assert bool(one) == bool(value)
    assert mark_of(one) == Mark((NODES,))


@pytest.mark.parametrize("value", [None, 1.5])
def test_what_can_carry_no_mark_stays_as_it_is(value: Any) -> None:
    assert said(value, *NODES) is value
    assert mark_of(value) is NOTHING


@pytest.mark.parametrize(
    ("made", "value"),
    [
        (said(3, *NODES) - 1, 2), (1 + said(3, *NODES), 4), (said(3, *NODES) + 1, 4), (2 * said(3, *NODES), 6),
        (sum([said(3, *NODES)]), 3), ("--n=" + said("3", *NODES), "--n=3"),
        (said("3", *NODES) + ":4", "3:4"),
    ],
)  # fmt: skip
def test_what_is_made_of_it_says_so(made: Any, value: Any) -> None:
    assert made == value
    assert mark_of(made) == Mark((NODES,), whole=False)


def test_a_number_as_text_is_the_same_value() -> None:
    assert mark_of(str(said(3, *NODES))) == Mark((NODES,))


def test_two_words_are_both_said() -> None:
    assert mark_of(said("a", *NAME) + said("b", *NODES)).words == (NAME, NODES)


def test_a_stamp_is_the_first_one_s() -> None:
    first = stamped({"a": said("x", *NODES), "b": [1], "c": {}}, "shm", "node")
    again = stamped(first, "env")
    assert [mark_of(one) for one in (again["a"], again["b"][0])] == [
        Mark((NODES,), by="shm", role="node"),
        Mark(by="shm", role="node"),
    ]
    assert [mark_of(key).by for key in again] == ["", "", "shm"]  # an empty mapping carries no mark itself


VOLUMES = ("spec", "volumes")
HELD: list[tuple[Any, tuple[Any, ...] | None]] = [
    ({said("name", *VOLUMES, 0, "name"): said("v", *VOLUMES, 0, "name")}, (*VOLUMES, 0)),
    ([{said("name", *VOLUMES, 0, "name"): said("v", *VOLUMES, 0, "name")}], VOLUMES),
    ({"name": said("A", "spec", "env", "A"), "value": said("b", "spec", "env", "A")}, ("spec", "env", "A")),
    ({"cpu": said("1", "spec", "resources", "cpu"), "gpu": said("2", "spec", "resources", "gpu")},
     ("spec", "resources")),
    ({"cpu": said("1", "spec", "resources", "cpu"), "memory": "2Gi"}, ("spec", "resources")),
    ({"cpu": said("1", "spec", "resources", "cpu")}, ("spec", "resources")),
    ({"medium": "Memory"}, None),
    ([], None),
]  # fmt: skip


@pytest.mark.parametrize(("value", "place"), HELD)
def test_what_holds_marked_values_has_the_place_that_holds_theirs(value: Any, place: tuple[Any, ...] | None) -> None:
    assert place_of(value) == place
