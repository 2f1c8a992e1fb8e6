"""Arbitrary data in manifests: no rule raises, and every finding can be encoded."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from ptcompile.linter import run
from ptcompile.linter.pages import rule_page
from tests.linter.asking import of_families
from tests.oracle import rows
from tests.strategies import mutated

BAD = st.sampled_from(list(of_families("launch", "pytorchjob", "kueue"))).flatmap(
    lambda rule: st.sampled_from(list(yaml.safe_load_all(rule_page(rule).bad)))
)


@given(mutated(BAD))
def test_any_data_raises_nothing(manifest: dict[str, Any]) -> None:
    for problem in run(manifest, every=True):
        json.dumps(problem._asdict())


@pytest.mark.parametrize("operator", ["pytorchjob", "volcano", "jobset", "trainjob"])
def test_problems_of_recorded_manifests_are_plain_data(operator: str) -> None:
    for _, manifest in list(rows(operator))[::7]:
        for problem in run(manifest):
            json.dumps(problem._asdict())
