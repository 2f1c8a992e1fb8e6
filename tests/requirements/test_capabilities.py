"""The table of what targets can express: made by asking."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from ptcompile.api.reference import targets
from ptcompile.registry.table import FEATURES
from ptcompile.registry.targets import TARGETS
from ptcompile.requirements import capabilities
from ptcompile.requirements.capabilities import PROBES


@cache
def made() -> dict[str, Any]:
    return capabilities.capability_table()


def rows() -> Any:
    return made()["capabilities"]


def test_the_committed_table_is_what_the_targets_answer() -> None:
    """`python schemas/targets.py` writes it."""
    assert targets().to_dict() == made()
    assert list(targets().to_dict()["capabilities"]) == list(rows())


def test_the_text_has_every_row() -> None:
    text = targets().text()
    assert all(f"\n{name} " in text for name in rows())


def test_every_probe_is_a_row_with_an_answer_for_every_target() -> None:
    assert [name for name in rows() if not name.startswith("longest")] == [probe.name for probe in PROBES]
    assert len({probe.name for probe in PROBES}) == len(PROBES)
    for probe in PROBES:
        assert list(rows()[probe.name]) == list(TARGETS)
        assert set(rows()[probe.name].values()) <= {"yes", "roughly", "no"}


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_somebody_can_do_it(probe: capabilities.Probe) -> None:
    """A probe that nobody understands is misspelt."""
    assert "yes" in rows()[probe.name].values()


@pytest.mark.parametrize(
    ("row", "target", "answer"),
    [
        ("several nodes", "pod", "no"),
        ("auxiliary roles", "volcano", "yes"),
        ("auxiliary roles", "pytorchjob", "no"),
        ("restartPolicy ExitCode", "pytorchjob", "yes"),
        ("queue of Kueue", "volcano", "roughly"),
        ("queue of Volcano, topology", "pytorchjob", "no"),
        ("gang of Volcano, range of nodes", "trainjob", "roughly"),
        ("longest name, 8 nodes", "trainjob", "48"),
        ("longest name, 8 nodes", "pod", ""),
    ],
)
def test_answers_that_are_known(row: str, target: str, answer: str) -> None:
    assert rows()[row][target] == answer


def test_the_versions_are_the_table_of_changes() -> None:
    *lines, last = capabilities.versions_text().splitlines()
    assert "facts/NAME" in last
    assert len(lines) == len(FEATURES)
    assert all(any(change.what in line and change.source in line for line in lines) for change in FEATURES.values())
