"""Profiles: notes about what they name."""

from __future__ import annotations

import pytest

from ptcompile.compiler.reader import load_profile
from tests.operators.kueue.webhooks.making import profile


@pytest.mark.parametrize(("release", "is_noted"), [("0.15", True), ("0.18", False), ("0.19", False)])
def test_releases_that_are_not_modeled(release: str, is_noted: bool) -> None:
    read, problems = load_profile(profile(release))
    assert read is not None
    found = [(problem.code, problem.severity, problem.path) for problem in problems]
    assert found == ([("PTC068", "note", ("spec", "versions", "kueue"))] if is_noted else [])
