"""The annotation `admission-gated-by`."""

from __future__ import annotations

import pytest

import ptcompile
from tests.operators.kueue.objects.making import Json, messages_of, workload

GATES = "kueue.x-k8s.io/admission-gated-by"


def gated(gates: str | None) -> Json:
    return workload({}, annotations={} if gates is None else {GATES: gates})


@pytest.mark.parametrize(
    ("gates", "reason"),
    [
        ("example.com/a,", "cannot contain empty gate names"),
        ("example.com/a, example.com/a", "duplicate gate name: example.com/a"),
        ("a", "must be a domain and a path (such as acme.io/foo)"),
        ("example.com/" + "g" * 52, "may not be more than 63 bytes"),
    ],
)
def test_names_of_gates(gates: str, reason: str) -> None:
    ((authority, message),) = messages_of(gated(gates))
    assert authority == "kueue"
    assert message.startswith(f"metadata.annotations[{GATES}]: ")
    assert message.endswith(reason)
    assert messages_of(gated(gates), (0, 18)) == []


@pytest.mark.parametrize(
    "gates", [None, "", " example.com/a ", "example.com/a,example.com/b", "a.b/" + "g" * 59]
)
def test_valid_gates_are_accepted(gates: str | None) -> None:
    assert messages_of(gated(gates)) == []


@pytest.mark.parametrize(
    ("before", "after", "is_valid"),
    [
        (None, "a.b/c", False),
        ("", "a.b/c", False),
        ("a.b/c", "a.b/d", False),
        ("a.b/c,a.b/d", "a.b/d", True),
        ("a.b/c", None, True),
        ("a.b/c", "", True),
        (None, "", True),
    ],
)
def test_gates_are_only_removed(before: str | None, after: str | None, is_valid: bool) -> None:
    assert bool(ptcompile.diff(gated(before), gated(after)).diagnostics) != is_valid
