"""The tables of the rules are those that `python schemas/update.py --rules` makes of the rules' docstrings."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from ptcompile.linter import every_rule
from ptcompile.linter.needs import parse_needs
from ptcompile.linter.pages import CODE_PAGES
from tests.conftest import ROOT

FAMILY = "linter/rules/checkpoints"
RULE = """A checkpoint is written where nobody looks.

PTC399 lost-checkpoint: warning at run (risks), by
kubelet. Needs: command/args {CHECKPOINT_WORDS}

What: it is lost.
"""


@pytest.fixture
def rule_tables(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "schemas")
    return importlib.import_module("rule_tables")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the rules and of the table of codes."""
    for pattern in ("linter/rules", "operators/*/rules", "diagnostics/codes.json"):
        for source in (ROOT / "ptcompile").glob(pattern):
            target = tmp_path / source.relative_to(ROOT / "ptcompile")
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
    return tmp_path


def write_rule(package: Path, text: str, name: str = "lost_checkpoint") -> None:
    source = f'"""{text}"""\n\n\ndef check(subject): ...\n'
    (package / FAMILY / f"{name}.py").write_text(source, encoding="utf-8")


def test_the_committed_tables_are_current(rule_tables: Any) -> None:
    stale = [
        str(path.relative_to(ROOT))
        for path, text in rule_tables.tables().items()
        if path.read_text(encoding="utf-8") != text
    ]
    assert stale == [], "refresh with `python schemas/update.py --rules`"


def test_every_rule_says_what_its_findings_are(rule_tables: Any) -> None:
    for rule in every_rule():
        identity = rule_tables.identity_of(sys.modules[rule.check.__module__].__doc__)
        said = (identity.name, identity.severity, identity.stage, identity.authority)
        assert said == (rule.name, rule.severity, rule.stage, rule.authority)
        assert parse_needs(identity.needs or "") or not identity.needs


def test_an_identity_is_read_from_a_rule(rule_tables: Any) -> None:
    assert rule_tables.identity_of(RULE)._asdict() == {
        "code": "PTC399",
        "name": "lost-checkpoint",
        "severity": "warning",
        "stage": "run",
        "effect": "risks",
        "authority": "kubelet",
        "needs": "command/args {CHECKPOINT_WORDS}",
    }
    shortest = rule_tables.identity_of("T.\n\nPTC100 a: note at style, by ptcompile.\n\nWhat: b.")
    assert (shortest.effect, shortest.needs) == (None, None)


@pytest.mark.parametrize(
    ("old", "new"), [("PTC399", "PTC39"), ("at run", "run"), (", by", " by"), ("Needs:", "needs")]
)
def test_another_form_is_refused_with_its_file(
    rule_tables: Any, package: Path, old: str, new: str
) -> None:
    write_rule(package, RULE.replace(old, new))
    with pytest.raises(ValueError, match=r"lost_checkpoint\.py: the second paragraph is not"):
        rule_tables.tables(package)


def test_a_rule_has_the_name_of_its_module(rule_tables: Any, package: Path) -> None:
    write_rule(package, RULE, "lost")
    with pytest.raises(ValueError, match=r"lost\.py: the rule is called lost-checkpoint"):
        rule_tables.tables(package)


def test_a_new_rule_enters_the_tables(rule_tables: Any, package: Path) -> None:
    write_rule(package, RULE)
    tables = rule_tables.tables(package)
    rows = json.loads(tables[package / FAMILY / "rules.json"])
    assert list(rows) == sorted(rows)
    assert rows["lost_checkpoint"] == {
        "severity": "warning",
        "stage": "run",
        "authority": "kubelet",
        "needs": "command/args {CHECKPOINT_WORDS}",
    }
    codes = json.loads(tables[package / rule_tables.CODES])
    assert [*codes["families"]["3xx: storage and shared memory"]][-1] == "lost-checkpoint"
    assert codes["effects"]["lost-checkpoint"] == "risks"


def test_a_rule_that_is_gone_leaves_the_tables(rule_tables: Any, package: Path) -> None:
    (package / FAMILY / "checkpoint_not_kept.py").unlink()
    tables = rule_tables.tables(package)
    assert "checkpoint_not_kept" not in json.loads(tables[package / FAMILY / "rules.json"])
    codes = tables[package / rule_tables.CODES]
    assert "checkpoint-not-kept" not in codes
    assert all(f'"{name}": "PTC' in codes for name in CODE_PAGES)
