"""Faults and durations as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ptcompile.rehearsal.settings import DEFAULT_FAULT_SECONDS, fault, parse_duration
from ptcompile.simulator.faults import Fault

if TYPE_CHECKING:
    from ptcompile.simulator.faults import FaultKind


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("late", "0=150s", Fault("late", 0, 150)),
        ("late", "2=2m", Fault("late", 2, 120)),
        ("kill", "2@10s,back=20s", Fault("kill", 2, 10, 20)),
        ("kill", "1", Fault("kill", 1, DEFAULT_FAULT_SECONDS)),
        ("kill", "1,back=8", Fault("kill", 1, DEFAULT_FAULT_SECONDS, 8)),
        ("drain", "1@1.5s", Fault("drain", 1, 1.5)),
        ("fail-process", "1", Fault("fail-process", 1, DEFAULT_FAULT_SECONDS)),
        ("dns-lag", "6s", Fault("dns-lag", 0, 6)),
    ],
)
def test_faults_are_parsed(kind: FaultKind, text: str, expected: Fault) -> None:
    assert fault(kind, text) == expected


@pytest.mark.parametrize(
    ("kind", "text"),
    [("late", "0"), ("late", "0@5s"), ("late", "x=5s"), ("kill", ""), ("kill", "1@"), ("kill", "1,back="),
     ("kill", "-1"), ("kill", "1@5d"), ("fail-process", "1,back=5s"), ("dns-lag", "0=6s"), ("dns-lag", "")],
)  # fmt: skip
def test_an_invalid_argument_is_rejected(kind: FaultKind, text: str) -> None:
    with pytest.raises(ValueError, match=r"such as \d"):
        fault(kind, text)


@pytest.mark.parametrize(("text", "seconds"), [("0", 0), ("20s", 20), ("1.5m", 90), ("1h", 3600)])
def test_durations_become_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


def test_an_unknown_fault_is_rejected_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'explode' is not a fault: use late, kill, drain"):
        fault("explode", "1")  # type: ignore[arg-type]
