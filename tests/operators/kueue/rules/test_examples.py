"""The examples of this family's pages: the whole finding in the bad one, and none in the good one."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptcompile
from ptcompile.linter.pages import rule_page
from ptcompile.linter.rule import Rule
from tests.linter.examples import (
    AGAIN,
    EXAMPLES,
    NEAR_MISSES,
    example_findings,
    near_misses,
    recorded,
    rules_of,
)

FOLDER = Path(__file__).parent
RULES = rules_of(FOLDER)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_bad_examples_are_found_and_good_ones_are_not(rule: Rule) -> None:
    assert example_findings(rule) == recorded(FOLDER, EXAMPLES)[rule.name], AGAIN
    assert rule.name not in {
        diagnostic.name for diagnostic in ptcompile.lint(rule_page(rule).good).diagnostics
    }


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_near_misses_have_the_recorded_findings(rule: Rule) -> None:
    assert near_misses(rule) == recorded(FOLDER, NEAR_MISSES)[rule.name], AGAIN


@pytest.mark.parametrize("name", [EXAMPLES, NEAR_MISSES])
def test_no_record_is_left_over(name: str) -> None:
    assert sorted(recorded(FOLDER, name)) == sorted(rule.name for rule in RULES)
