"""Known names that a word misspells: by letters, by letter case, and by the words of a name."""

from __future__ import annotations

import pytest

from ptcompile._internal.spelling import (
    closest,
    closest_match,
    distance,
    nearest,
    normalize,
    pluralize,
)


@pytest.mark.parametrize(
    ("a", "b", "letters"),
    [
        ("", "", 0),
        ("a", "", 1),
        ("nodes", "nodes", 0),
        ("nods", "nodes", 1),
        ("noodes", "nodes", 1),
        ("nodez", "nodes", 1),
        ("ndoes", "nodes", 1),  # two letters swapped count once
        ("onde", "nodes", 2),
        ("nodess", "node", 2),
    ],
)
def test_a_letter_added_dropped_changed_or_swapped_counts_one(a: str, b: str, letters: int) -> None:
    assert distance(a, b, 3) == distance(b, a, 3) == letters


def test_a_distance_above_the_limit_is_only_known_to_be_above() -> None:
    assert distance("nodes", "image", 1) > 1
    assert distance("onde", "nodes", 1) > 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nodes", None),  # known
        ("nods", "nodes"),
        ("nodesxx", None),
        ("terminatonGrace", None),  # 15 letters, but three edits from the known name
        ("maxRestartCount", "maxRestartsCounts"),  # 15 letters: two edits
        ("maxRestartsX", None),  # 12 letters: two edits are too many
        ("backoffLimitAB", "backoffLimit"),  # 14 letters: two edits
        ("backofLimitA", None),
        ("cap", "cat"),  # as near as "map", but first in the alphabet
    ],
)
def test_a_long_name_may_differ_in_two_letters(name: str, expected: str | None) -> None:
    names = (
        "nodes",
        "terminationGracePeriod",
        "maxRestartsCounts",
        "maxRestarts9_",
        "backoffLimit",
        "map",
        "cat",
    )
    assert nearest(name, names) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("HOSTPATH", "hostPath"),
        ("hostpaht", "hostPath"),
        ("mountPath", None),  # shares only one of its words with hostPath
        ("replica", "replicas"),
        ("replicaz", "replicas"),
        ("banana", None),
        ("port2", "port1"),  # numbers may differ
    ],
)
def test_the_most_similar_name_has_similar_words(word: str, expected: str | None) -> None:
    assert closest_match(word, ["hostPath", "replicas", "port1"]) == expected


def test_single_words_are_compared_as_a_whole() -> None:
    """The second check is for names that share one of several words."""
    assert closest("ab", ["abc"]) == "abc"
    assert closest("xReplica", ["yReplica"]) is None


def test_long_words_are_not_compared() -> None:
    assert closest_match("a" * 252 + "b", ["a" * 253]) == "a" * 253
    assert closest_match("a" * 253 + "b", ["a" * 254]) is None


def test_many_names_are_compared_only_in_another_case() -> None:
    names = [f"other{number}" for number in range(999)]
    assert closest_match("replica", [*names, "replicas"]) == "replicas"
    assert closest_match("replica", [*names, "replicas", "last"]) is None
    assert closest_match("REPLICAS", [*names, "replicas", "last"]) == "replicas"


@pytest.mark.parametrize(
    ("number", "noun", "ending", "text"),
    [(1, "GPU", "s", "1 GPU"), (0, "GPU", "s", "0 GPUs"), (2, "process", "es", "2 processes")],
)
def test_pluralize_follows_the_number(number: int, noun: str, ending: str, text: str) -> None:
    assert pluralize(number, noun, ending) == text


def test_normal_names_have_no_marks_and_no_case() -> None:
    assert normalize("nproc_per-Node") == normalize("nprocPerNode") == "nprocpernode"
