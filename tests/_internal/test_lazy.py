"""Values computed on first use, and caches that stay small."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ptcompile._internal.lazy import MAX_CACHED_LENGTH, Pattern, bounded_cache, cached_property


def _counted() -> tuple[Callable[[str], int], list[str]]:
    """Return a cached function of two entries, and the texts for which it was computed."""
    calls: list[str] = []

    def length(text: str) -> int:
        calls.append(text)
        return len(text)

    return bounded_cache(2)(length), calls


def test_a_result_is_computed_once() -> None:
    length, calls = _counted()
    assert [length("a"), length("a"), length("bb"), length("a"), length("bb")] == [1, 1, 2, 1, 2]
    assert calls == ["a", "bb"]


def test_a_full_cache_is_emptied() -> None:
    length, calls = _counted()
    for text in ("a", "b", "c", "c", "a"):
        length(text)
    assert calls == ["a", "b", "c", "a"]


@pytest.mark.parametrize(("size", "count"), [(MAX_CACHED_LENGTH, 1), (MAX_CACHED_LENGTH + 1, 2)])
def test_long_texts_are_not_kept(size: int, count: int) -> None:
    length, calls = _counted()
    assert length("x" * size) == length("x" * size) == size
    assert len(calls) == count


def test_the_longest_name_in_kubernetes_is_kept() -> None:
    """A label with its prefix has up to 253 + 1 + 63 characters, but most names have at most 253."""
    assert MAX_CACHED_LENGTH == 256


def test_a_property_is_computed_once_per_object() -> None:
    class Counted:
        calls = 0

        @cached_property
        def number(self) -> int:
            """The number."""
            self.calls += 1
            return self.calls

    first, second = Counted(), Counted()
    assert [first.number, first.number, second.number, first.calls] == [1, 1, 1, 1]
    assert Counted.number.__doc__ == "The number."


def test_a_pattern_has_the_methods_of_the_standard_library() -> None:
    digits = Pattern(r"(\d)\d*")
    assert digits.match("a12") is None
    assert (match := digits.match("a12", 1)) is not None
    assert match.group() == "12"
    assert (match := digits.match("a12", 1, 2)) is not None
    assert match.group() == "1"
    assert digits.fullmatch("12a") is None
    assert digits.fullmatch("12") is not None
    assert (match := digits.search("a12 34")) is not None
    assert match.group() == "12"
    assert (match := digits.search("a12 34", 4)) is not None
    assert match.group() == "34"
    assert [match.group() for match in digits.finditer("a12 34")] == ["12", "34"]
    assert digits.findall("a12 34") == ["1", "3"]
    assert digits.sub("#", "a12 34") == "a# #"
    assert digits.compiled is digits.compiled
