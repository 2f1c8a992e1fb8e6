from __future__ import annotations

from ptcompile.kubernetes.requests import Update
from ptcompile.kubernetes.versions import Versions


def test_an_update_gives_the_values_of_both_sides() -> None:
    update = Update({"spec": {"size": 1, "pod": {"a": 1}}}, {"spec": {"pod": 2}}, Versions(), ())
    assert update.values("spec", "size") == (1, None)
    assert update.maps("spec", "pod") == ({"a": 1}, {})
    assert update.maps("status") == ({}, {})


def test_changes_are_found_under_a_path() -> None:
    touched = (("spec", "size"), ("spec", "sizes"), ("metadata", "name"))
    update = Update({}, {}, Versions(), touched)
    assert update.under("spec", "size") == [("spec", "size")]
    assert update.under("spec") == [("spec", "size"), ("spec", "sizes")]
