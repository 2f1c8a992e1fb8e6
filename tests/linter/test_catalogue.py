"""Every code has a page; the lists of rules."""

from __future__ import annotations

import json

import pytest

from ptcompile.diagnostics.codes import CODES
from ptcompile.linter import every_rule
from ptcompile.linter.pages import (
    CODE_PAGES,
    as_dicts,
    as_markdown,
    explain_name,
    name_of,
    rule_list,
)
from tests.cli.running import here
from tests.small_cases import check_each


def check_page(name: str) -> None:
    text = explain_name(name)
    assert text.startswith(f"{CODES[name]} {name}")
    assert "Fix: " in text
    assert max(map(len, text.splitlines())) <= 130


def test_every_code_has_a_page() -> None:
    check_each(CODES, check_page)


def test_code_pages_are_for_codes_without_a_rule() -> None:
    assert CODE_PAGES.keys() <= CODES.keys()
    assert not CODE_PAGES.keys() & {rule.name for rule in every_rule()}


def test_a_code_and_its_name_give_the_same_page() -> None:
    assert name_of("PTC302") == name_of("missing-shm") == "missing-shm"
    assert name_of("PTC999") is None


def test_the_lists_have_every_rule_once() -> None:
    count = len(every_rule())
    assert len(rule_list().splitlines()) == count
    assert len(as_markdown().splitlines()) == count + 2
    assert len(json.loads(json.dumps(as_dicts()))) == count


def test_the_list_for_programs_names_no_module() -> None:
    """The names of rules are stable; the paths of their modules are not."""
    keys = [
        "code",
        "name",
        "severity",
        "stage",
        "authority",
        "title",
        "what",
        "why",
        "bad",
        "good",
        "fix",
        "source",
    ]
    assert all(list(one) == keys for one in as_dicts())
    assert "ptcompile.rules" not in json.dumps(as_dicts())


def test_the_commands_explain_and_rules_print_the_catalogue(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "Bad:" in here(capsys, "explain", "PTC302").out
    assert here(capsys, "explain", "missing-shm").out == here(capsys, "explain", "PTC302").out
    wrong = here(capsys, "explain", "PTC999")
    assert (wrong.status, wrong.out) == (2, "")
    assert "did you mean missing-shm" in here(capsys, "explain", "missing-smh").err
    assert here(capsys, "rules").out == rule_list()
    assert json.loads(here(capsys, "rules", "--output-format", "json").out) == as_dicts()
