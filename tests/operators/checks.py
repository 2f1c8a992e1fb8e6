"""The checks that all operators share: the folder of each operator runs its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.operators.table import kind_named
from tests.operators import retries, test_crd, test_lost_pods, test_status, worlds
from tests.operators.shared import test_endings
from tests.operators.test_pods_agreement import check_numbers_of_pods, check_recorded_pods
from tests.operators.test_webhook_agreement import check_recorded_defaults, check_verdicts

RECORDED = {
    "pytorchjob": "pytorchjob",
    "volcano": "volcano",
    "jobset": "jobset",
    "trainer": "trainjob",
}
"""Operators whose webhooks and controllers are recorded, with the names of their records."""


def checks(folder: str) -> list[Any]:
    """Return the checks of the operator in this folder, each with a name."""
    named = [pytest.param(check, id=name) for name, check in (*_cases(folder), *_recorded(folder))]
    assert named
    return named


def _cases(folder: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the cases about the operator's kinds."""
    cases: list[tuple[str, tuple[str, str], Callable[[], None]]] = [
        *(
            (name, kind_of(row[0]), partial(test_status.check_state, name))
            for name, row in test_status.TABLE.items()
        ),
        *(
            ("lost pod", kind_of(row[1]), partial(test_lost_pods.check_lost_pod, *row))
            for row in test_lost_pods.CASES
        ),
        *(("CRD rule", rule[0], partial(test_crd.check_rules, *rule)) for rule in test_crd.CASES),
        *(
            ("retries", retry[0], partial(retries.check_retries, *retry))
            for retry in retries.RETRIES
        ),
        *(
            ("recreated", lost[0], partial(retries.check_recreates, *lost))
            for lost in retries.RECREATED
        ),
    ]
    for name, kind, check in cases:
        if type(kind_named(kind)).__module__ == f"ptcompile.operators.{folder}":
            yield name, check


def _recorded(folder: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the comparisons with what is recorded of and for the operator."""
    for body in worlds.BODIES if folder in worlds.TARGETS else ():
        yield f"world of {body!r}", partial(check_world, folder, body)
    yield from _endings(worlds.TARGETS.get(folder, ""))
    operator = RECORDED.get(folder)
    if operator is not None:
        yield "recorded verdicts", partial(check_verdicts, operator)
        yield "recorded pods", partial(check_recorded_pods, operator)
    if operator is not None and folder != "jobset":  # its records have no number
        yield "recorded numbers of pods", partial(check_numbers_of_pods, operator)
    if operator is not None and folder != "pytorchjob":  # its webhook sets nothing
        yield "recorded defaults", partial(check_recorded_defaults, operator)


def check_world(folder: str, body: str) -> None:
    assert worlds.world(folder, body) == worlds.recorded(folder)[body], (
        "if meant: python -m tests.operators.worlds"
    )


def _endings(target: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the rows about how a job of this target ends, and what is said about that."""
    for row in test_endings.WRITTEN:
        if row[0] == target:
            yield (
                f"fields of {row[1]!r}",
                partial(test_endings.test_each_ending_becomes_fields, *row),
            )
    for case in test_endings.SAID:
        if case[0] == target:
            yield (
                f"findings of {case[1]!r}",
                partial(test_endings.test_endings_that_a_target_lacks_are_reported, *case),
            )
