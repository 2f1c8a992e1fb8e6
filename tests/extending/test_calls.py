"""Calls of third-party rules: which objects a rule checks, its page, and its failures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from ptcompile.extending import Extensions, Found, Rule
from ptcompile.extending.calls import (
    applies_to,
    as_dicts,
    find_rule,
    pages,
    rule_problems,
    terminal_page,
    title_and_page,
)

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}


def _check(manifest: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> Iterator[Found]:
    """Every object has a team.

    Why: so that someone is asked.
    """
    yield Found(("metadata",), f"no team; {len(others)} others", help="add one")


def _fails(manifest: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> Iterator[Found]:
    raise ValueError("broken\n  in two lines")


def _rule(
    check: Any = _check, code: str = "ACME001", name: str = "needs-team", **fields: Any
) -> Rule:
    return Rule(code, name, check, **fields)


def test_a_rule_s_finding_becomes_a_problem() -> None:
    (problem,) = rule_problems(Extensions(rules=(_rule(),)), POD, [POD, POD])
    assert (problem.name, problem.code, problem.path) == ("needs-team", "ACME001", ("metadata",))
    assert (problem.message, problem.help, problem.owner) == (
        "no team; 2 others",
        "add one",
        "custom rule",
    )
    assert problem.severity == _rule().severity


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ((), True),
        (("Pod",), True),
        (("v1/Pod",), True),
        (("Job", "Pod"), True),
        (("Job",), False),
        (("v2/Pod",), False),
    ],
)
def test_a_rule_applies_to_its_kinds(kinds: tuple[str, ...], expected: bool) -> None:
    rule = _rule(kinds=kinds)
    assert applies_to(rule, POD) is expected
    assert bool(list(rule_problems(Extensions(rules=(rule,)), POD, []))) is expected


def test_a_rule_that_fails_does_not_stop_the_others() -> None:
    rules = (_rule(_fails), _rule(code="ACME002", name="other"))
    failure, finding = rule_problems(Extensions(rules=rules), POD, [])
    assert (failure.name, failure.severity, failure.path) == ("extension-failed", "error", ())
    assert failure.message == "rule ACME001 (needs-team) failed: ValueError: broken in two lines"
    assert failure.help == "report it to the plugin's author"
    assert finding.name == "other"


def test_a_rule_s_page_names_its_identity() -> None:
    rule = _rule()
    title, page = title_and_page(rule)
    assert title == "Every object has a team."
    assert page.endswith("Why: so that someone is asked.")
    assert title_and_page(_rule(page="Own\npage.\n\nMore."))[0] == "Own page."
    assert title_and_page(_rule(lambda *_: ()))[0] == "needs-team"
    assert terminal_page(rule).startswith(
        f"ACME001 needs-team  ({rule.severity}, stage {rule.stage}, {rule.authority})\n\n"
    )
    assert terminal_page(rule).endswith("is asked.\n")


def test_rules_are_found_by_code_and_name() -> None:
    extensions = Extensions(rules=(_rule(), _rule(code="ACME002", name="other")))
    found = [
        find_rule(extensions, query) for query in ("ACME002", "other", "needs-team", "ACME", "")
    ]
    assert [rule and rule.name for rule in found] == ["other", "other", "needs-team", None, None]
    assert pages(extensions, ["other", "unknown"]) == {"other": title_and_page(extensions.rules[1])}
    first, second = as_dicts(extensions)
    assert (first["code"], first["title"], second["name"]) == (
        "ACME001",
        "Every object has a team.",
        "other",
    )
    assert first["page"].startswith("Every object has a team.\n\nWhy")
