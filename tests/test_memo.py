"""Caches between calls are invisible: output does not depend on call order, and results are not shared."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

import ptcompile
from ptcompile._internal.lazy import MAX_CACHED_LENGTH, bounded_cache, cached_property
from ptcompile.operators.targets import TARGETS
from ptcompile.source import emitter
from tests.conftest import GOOD, Case, thinned
from tests.making import smallest

TEXTS = [
    f"{word}{number}" for word in ("on", "a: ", "1e", "0", "v", "- ") for number in range(1500)
]
"""More strings than the emitter caches, half of which need quotes."""


def turned(seed: int) -> list[str]:
    """Return the same strings in another order."""
    at = seed * 1111
    return [*TEXTS[at:], *TEXTS[:at]][:: -1 if seed % 2 else 1]


def boxes(value: Any) -> Iterator[Any]:
    """Yield all mappings and lists in a value."""
    if isinstance(value, dict | list):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from boxes(inner)


def spoil(value: Any) -> None:
    """Change everything in a value that can be changed."""
    for box in list(boxes(value)):
        if isinstance(box, dict):
            box.clear()
            box["spoilt"] = True
        else:
            box[:] = ["spoilt"]


def test_output_of_a_string_does_not_depend_on_earlier_output() -> None:
    alone = {text: emitter.emit({text: text}) for text in TEXTS}
    for seed in range(3):
        order = turned(seed)
        assert {text: emitter.emit({text: text}) for text in order} == alone
    assert len(alone) > emitter._CACHE_SIZE >= len(emitter._lines)


def test_long_strings_are_not_kept() -> None:
    before = len(emitter._lines)
    emitter.emit({"a": ["x" * 5000 + str(number) for number in range(100)]})
    assert len(emitter._lines) <= before + 1


def test_a_key_that_is_not_a_string_is_rejected_even_if_cached() -> None:
    class Text(str):
        __slots__ = ()

    emitter.emit({"known": 1})
    with pytest.raises(TypeError, match="must be a string, not Text"):
        emitter.emit({Text("known"): 1})


def test_threads_that_fill_the_cache_write_the_same() -> None:
    alone = emitter.emit(TEXTS)
    barrier = Barrier(8)

    def write(seed: int) -> bool:
        barrier.wait()
        order = turned(seed)
        return (
            emitter.emit(TEXTS)
            == alone
            == "".join(sorted(emitter.emit(order).splitlines(True), key=place.__getitem__))
        )

    place = {line: index for index, line in enumerate(alone.splitlines(True))}
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(write, range(8)))
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize("target", TARGETS)
def test_a_modified_result_changes_no_other(target: str) -> None:
    every = [case for case in GOOD if (case.folder / f"{target}.yaml").exists()]
    cases = thinned(every, 3, start=list(TARGETS).index(target))
    before = [case.compile_anew(target) for case in cases]
    assert before
    assert all(one.manifests for one in before)
    wanted = [(one.yaml(), repr(one.diagnostics)) for one in before]
    for result in before:
        spoil(list(result.manifests))
    after = [case.compile_anew(target) for case in cases]
    assert [(one.yaml(), repr(one.diagnostics)) for one in after] == wanted


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name)
def test_no_part_of_a_result_is_shared(case: Case) -> None:
    """Editing the worker's volumes must not change the master's, the next result's, or the source."""
    given = ptcompile.source.documents.read(case.spec).documents[0].data
    for target in thinned(TARGETS, 2, start=GOOD.index(case)):
        first, second = (
            ptcompile.compile(given, target=target, cluster=case.cluster) for _ in range(2)
        )
        assert bool(first.manifests) == (case.folder / f"{target}.yaml").exists()
        everything = [
            box for part in (given, *first.manifests, *second.manifests) for box in boxes(part)
        ]
        assert len({id(box) for box in everything}) == len(everything)


def test_the_length_limit_of_a_name_comes_from_its_own_pods() -> None:
    def refused(nodes: int, target: str) -> list[str]:
        diagnostics = ptcompile.compile(
            smallest(f"nodes: {nodes}", name="n" * 61), target=target
        ).diagnostics
        return [
            diagnostic.message for diagnostic in diagnostics if diagnostic.name == "name-too-long"
        ]

    for _ in range(2):
        assert not refused(4, "job")
        assert "-10, which has a limit of 63" in refused(11, "job")[0]
        assert "-master-0, which" in refused(4, "pytorchjob")[0]
        assert "-worker-10, which" in refused(12, "pytorchjob")[0]


def test_only_results_for_short_texts_are_cached() -> None:
    asked: list[str] = []

    @bounded_cache(2)
    def answer(text: str) -> int:
        """Return the text's length."""
        asked.append(text)
        return len(text)

    short, long = "a" * MAX_CACHED_LENGTH, "a" * (MAX_CACHED_LENGTH + 1)
    assert [answer(text) for text in (short, long, short, long)] == [
        MAX_CACHED_LENGTH,
        MAX_CACHED_LENGTH + 1,
        MAX_CACHED_LENGTH,
        MAX_CACHED_LENGTH + 1,
    ]
    assert asked == [short, long, long]
    for text in ("b", "c", short):
        answer(text)
    assert asked[3:] == ["b", "c", short], "at most two are cached"


def test_a_property_is_computed_once() -> None:
    class One:
        def __init__(self) -> None:
            self.asked = 0

        @cached_property
        def answer(self) -> int:
            """The answer."""
            self.asked += 1
            return 42

    one = One()
    assert (one.answer, one.answer, one.asked) == (42, 42, 1)
    assert One.answer.__doc__ == "The answer."
