"""Fixes of rules: applied to the bad example of the rule's page, each removes its finding and adds none."""

from __future__ import annotations

import json
from functools import cache

import pytest

import ptcompile
from ptcompile.diagnostics import Diagnostic
from ptcompile.fixer import fix_in_rounds
from ptcompile.linter import every_rule
from ptcompile.linter.pages import rule_page
from ptcompile.linter.rule import Rule
from ptcompile.source.documents import read

STATED_OF_ALL = frozenset({"ray-workers-unchecked", "gate-off"})
"""What is said of every object of a kind, or of every pod in a gang of Kubernetes."""


@cache
def judge(content: bytes) -> tuple[Diagnostic, ...]:
    return ptcompile.lint(content).diagnostics


def has_fix(rule: Rule) -> bool:
    return any(d.fix is not None for d in judge(rule_page(rule).bad.encode()))


def test_a_third_of_the_rules_have_a_fix() -> None:
    assert 3 * sum(map(has_fix, every_rule())) >= len(every_rule())


@pytest.mark.parametrize("rule", every_rule(), ids=lambda rule: rule.name)
def test_the_fixes_of_a_rule_obey_the_laws(rule: Rule) -> None:
    """One test checks all five laws: most rules have no fix, and the results are computed once for all laws."""
    if has_fix(rule):
        the_fix_of_the_bad_example(rule)
        safe_fixes_alone_leave_what_is_not_safe(rule)
        the_title_says_what_is_done(rule)
        a_fix_in_a_list_of_objects_and_in_json(rule)


def the_fix_of_the_bad_example(rule: Rule) -> None:
    bad = rule_page(rule).bad.encode()
    mended = fix_in_rounds(bad, judge, unsafe=True)
    assert mended.skipped == ()
    assert rule.name in {d.name for d in mended.applied}
    assert {d.name for d in judge(mended.content)} <= STATED_OF_ALL
    assert fix_in_rounds(mended.content, judge, unsafe=True).content == mended.content


def safe_fixes_alone_leave_what_is_not_safe(rule: Rule) -> None:
    bad = rule_page(rule).bad.encode()
    mended = fix_in_rounds(bad, judge, unsafe=False)
    assert all(d.fix is not None and d.fix.safe for d in mended.applied)
    assert (mended.content == bad) == (not mended.applied)


def the_title_says_what_is_done(rule: Rule) -> None:
    for diagnostic in judge(rule_page(rule).bad.encode()):
        if diagnostic.fix is not None:
            assert diagnostic.fix.edits
            assert diagnostic.fix.title[:1].islower()
            assert not diagnostic.fix.title.endswith(".")


def a_fix_in_a_list_of_objects_and_in_json(rule: Rule) -> None:
    """Paths of fixes start at the object; the document may be JSON, or a List around the object."""
    objects = [document.data for document in read(rule_page(rule).bad).documents]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, indent=1).encode()
    mended = fix_in_rounds(text, judge, unsafe=True)
    assert mended.skipped == ()
    assert {d.name for d in judge(mended.content)} <= STATED_OF_ALL
    alone = read(fix_in_rounds(rule_page(rule).bad.encode(), judge, unsafe=True).content)
    assert json.loads(mended.content)["items"] == [document.data for document in alone.documents]
