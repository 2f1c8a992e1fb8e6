"""A rule's own fix, made to its bad example, leaves nothing to find; and it changes what the example says."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ptcompile.linting import every_rule, run
from ptcompile.linting.pages import page
from ptcompile.linting.rule import Rule
from tests.linting.asking import applied

FIRST_FOUR = ("containers", "pods", "jobs", "services")
RULES = [rule for rule in every_rule() if rule.check.__module__.split(".")[2] in FIRST_FOUR]


def _bad(rule: Rule) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(page(rule).bad))


FIXED = [rule for rule in RULES if any(p.fix for d in _bad(rule) for p in run(d, others=_bad(rule), only={rule.name}))]


@pytest.mark.parametrize("rule", FIXED, ids=lambda rule: rule.name)
def test_the_fix_mends(rule: Rule) -> None:
    documents = _bad(rule)
    for i, document in enumerate(documents):
        for problem in run(document, others=documents, only={rule.name}):
            assert problem.fix is not None
            mended = document
            for edit in problem.fix.edits:
                mended = applied(mended, edit)
            others = [*documents[:i], mended, *documents[i + 1 :]]
            assert mended != document
            assert not list(run(mended, others=others, only={rule.name})), problem.fix.title


def test_a_third_of_the_rules_have_one() -> None:
    assert len(FIXED) * 3 >= len(RULES)
