"""Pages of rules: the bad example gives exactly the rule's finding at the marked line, the good example none."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from importlib import import_module
from typing import get_args

import pytest

import ptcompile
import ptcompile.linter
from ptcompile.diagnostics import Diagnostic
from ptcompile.diagnostics.codes import CODES
from ptcompile.diagnostics.terms import Severity, Stage
from ptcompile.linter import every_rule
from ptcompile.linter.examples import FINDING_MARK
from ptcompile.linter.pages import explain_name, name_of, pages, rule_page
from ptcompile.linter.rule import Rule
from tests.new_rule import PLACEHOLDER
from tests.small_cases import check_each

RULES = every_rule()


CLUSTER = {
    "apiVersion": "ptcompile/v1",
    "kind": "ClusterProfile",
    "spec": {"featureGates": {"kubernetes": {"GenericWorkload": True}}},
}
"""A cluster whose API server keeps every field of the examples."""


def findings_of(text: str) -> tuple[Diagnostic, ...]:
    return ptcompile.lint(text, cluster=CLUSTER).diagnostics


def without_notes_of_others(findings: Iterable[Diagnostic], rule: Rule) -> list[Diagnostic]:
    """Return the findings of an example, without notes of other rules on what it leaves out."""
    return [
        finding for finding in findings if finding.severity != "note" or finding.name == rule.name
    ]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_bad_example_is_reported_at_its_line(rule: Rule) -> None:
    bad = rule_page(rule).bad
    marked = [
        number for number, line in enumerate(bad.splitlines(), 1) if line.endswith(FINDING_MARK)
    ]
    assert len(marked) == 1, "mark one line"
    findings = findings_of(bad)
    [finding] = without_notes_of_others(findings, rule)
    assert (finding.name, finding.span and finding.span.line) == (rule.name, marked[0])
    assert (finding.severity, finding.stage, finding.authority) == (
        rule.severity,
        rule.stage,
        rule.authority,
    )
    for each in findings:
        assert each.message[0].islower()
        assert each.help is not None
        assert each.help[0] == each.help[0].lower()
        assert not each.help.endswith(".")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_good_example_is_clean(rule: Rule) -> None:
    findings = without_notes_of_others(findings_of(rule_page(rule).good), rule)
    assert [finding.name for finding in findings] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_page_is_written(rule: Rule) -> None:
    unwritten = [name for name, text in rule_page(rule)._asdict().items() if PLACEHOLDER in text]
    assert unwritten == []


def check_rule(rule: Rule) -> None:
    assert rule.name in CODES
    assert rule.check.__module__.rpartition(".")[2] == rule.name.replace("-", "_")
    assert rule.stage in get_args(Stage)
    assert rule.severity in get_args(Severity)
    if rule.stage == "apply":  # an operator's webhook; rejections by the API server are not rules
        assert rule.authority not in ("kube-apiserver", "kubelet", "torchrun", "ptcompile")


def test_every_rule_has_the_form() -> None:
    check_each(RULES, check_rule, name=lambda rule: rule.name)


def test_every_module_of_a_family_is_in_its_table() -> None:
    """A rule that is missing from the table would never run."""
    named = {rule.check.__module__ for rule in RULES}
    for family in pkgutil.iter_modules(ptcompile.linter.__path__, "ptcompile.linter."):
        if family.ispkg:
            for module in pkgutil.iter_modules(
                import_module(family.name).__path__, family.name + "."
            ):
                assert (module.name in named) == hasattr(import_module(module.name), "check"), (
                    module.name
                )


def test_a_name_is_found_by_its_code() -> None:
    assert name_of("missing-shm") == "missing-shm"
    assert name_of(CODES["missing-shm"]) == "missing-shm"
    assert name_of(CODES["missing-shm"].lower()) == "missing-shm"
    assert name_of("no-such-name") is None


def test_pages_are_written_for_known_names() -> None:
    (page,) = pages(["missing-shm", "no-such-name", "missing-shm"]).items()
    name, (title, text) = page
    assert name == "missing-shm"
    assert text.startswith(title)
    assert "**Bad**\n\n```yaml\napiVersion" in text
    code_only = next(name for name in CODES if name not in {rule.name for rule in RULES})
    assert "**Fix**: " in pages([code_only])[code_only][1]


def test_the_page_for_a_terminal_begins_with_the_title() -> None:
    text = explain_name("missing-shm")
    assert text.startswith(
        f"{CODES['missing-shm']} missing-shm  (warning, stage run, ptcompile)\n\n"
    )
    assert "\nBad:\n\n    apiVersion: " in text
    assert not any(line != line.rstrip() for line in text.splitlines())
    assert max(map(len, text.splitlines())) <= 100 + len("    ")
    code_only = next(name for name in CODES if name not in {rule.name for rule in RULES})
    assert explain_name(code_only).startswith(f"{CODES[code_only]} {code_only}\n\n")
    assert "\n\nFix: " in explain_name(code_only)


def test_lines_for_a_terminal_are_filled_to_100_columns() -> None:
    lines = [
        line
        for rule in RULES
        for line in explain_name(rule.name).splitlines()
        if line and line[0] != " "
    ]
    assert max(len(line) for line in lines) == 100
