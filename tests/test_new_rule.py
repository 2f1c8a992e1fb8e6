"""`python -m tests.new_rule` begins a rule that the checks of rules refuse until it is written, and accept then."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests import new_rule
from tests.conftest import ROOT

NAME = "greeting-container"
MODULE = Path("ptcompile/linter/rules/containers/greeting_container.py")
TESTS = Path("tests/linter/rules/containers/test_greeting_container.py")
CHECKS = [
    f"tests/linter/test_pages.py::test_the_bad_example_is_reported_at_its_line[{NAME}]",
    f"tests/linter/test_pages.py::test_the_good_example_is_clean[{NAME}]",
    f"tests/linter/test_pages.py::test_the_page_is_written[{NAME}]",
    "tests/linter/test_pages.py::test_every_rule_has_the_form",
]
TABLES = [
    "tests/linter/test_tables.py::test_the_committed_tables_are_current",
    "tests/linter/test_tables.py::test_every_rule_says_what_its_findings_are",
    "tests/diagnostics/test_codes.py",
]

IDENTITY = "greeting-container: warning at run (fails), by kubelet.\nNeeds: echo\n"
EXAMPLE = """\
Example: pod.yaml with

    - command: [echo, hello]  # <--
    + command: [python, train.py]
"""
CHECK = """\
def check(subject: Subject) -> Findings:
    for container in subject.containers:
        if container.spec.get("command") == ["echo", "hello"]:
            yield found_at((*container.path, "command"), "it only greets", "run the training")
"""
MANIFEST = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: []}}"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with a new rule."""
    root = tmp_path_factory.mktemp("project")
    (root / "golden").mkdir()
    cache = shutil.ignore_patterns("__pycache__")
    for folder in ("ptcompile", "schemas"):
        shutil.copytree(ROOT / folder, root / folder, ignore=cache)
    for pattern in ("pyproject.toml", "tests/**/*.py", "tests/diagnostics/codes.lock"):
        for path in ROOT.glob(pattern):
            (root / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, root / path.relative_to(ROOT))

    ran = run(root, "-m", "tests.new_rule", NAME, "--like", "tiny-memory-limit")
    assert ran.returncode == 0, ran.stderr
    assert f"{NAME}: written" in ran.stdout
    assert f"1. {MODULE}: " in ran.stdout
    assert f"2. {TESTS}: " in ran.stdout

    return root


def run(root: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the copy of the project."""
    return subprocess.run(
        [sys.executable, *argv],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )


def failures(root: Path, tests: Sequence[str]) -> set[str]:
    """Run tests of the copy and return the names of those that fail."""
    ran = run(root, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *tests)
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    return set(re.findall(r"^FAILED \S+::(\w+)", ran.stdout, flags=re.MULTILINE))


def test_the_checks_of_rules_name_what_is_missing(project: Path) -> None:
    assert failures(project, [*TABLES, *CHECKS, str(TESTS)]) == {
        "test_the_bad_example_is_reported_at_its_line",
        "test_the_page_is_written",
        "test_it_is_not_reported",
    }


def test_the_checks_accept_a_rule_that_is_written(project: Path) -> None:
    text = (project / MODULE).read_text(encoding="utf-8")
    code = re.findall(rf"^(PTC\d+) {NAME}", text, flags=re.MULTILINE)[0]
    page, _ = text.replace("TODO", "it is written").split("def check")
    page = re.sub(rf"{NAME}:.*?\n(?=\n)", IDENTITY, page, flags=re.DOTALL)
    page = re.sub(r"Example:.*?\n(?=\nFix)", EXAMPLE, page, flags=re.DOTALL)
    page = page.replace("Findings, Subject", "Findings, Subject, found_at")
    (project / MODULE).write_text(page + CHECK, encoding="utf-8")
    tests = (project / TESTS).read_text(encoding="utf-8").replace('"TODO"', repr(MANIFEST))
    (project / TESTS).write_text(tests, encoding="utf-8")
    assert run(project, "schemas/update.py", "--rules").returncode == 0
    assert failures(project, [*TABLES, *CHECKS, str(TESTS)]) == set()
    assert f"{code} {NAME}" in (project / new_rule.LOCK).read_text(encoding="utf-8")


def test_the_next_free_code_is_chosen() -> None:
    lock = "# comment\nPTC101 a\nPTC102 b retired\nPTC201 c\n"
    assert new_rule.free_code(lock, "PTC155") == "PTC103"
    full = "\n" + "".join(f"PTC3{number:02} a\n" for number in range(100))
    with pytest.raises(ValueError, match="PTC3xx has no free code"):
        new_rule.free_code(full, "PTC301")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["missing-shm", "--like", "small-shm"], "missing-shm is taken"),
        (["Missing_shm", "--like", "small-shm"], "Missing_shm is not words with hyphens"),
        (["new-name", "--like", "small-shn"], "there is no rule small-shn"),
    ],
)
def test_mistakes_end_with_a_message(
    argv: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        new_rule.main(argv)
    assert message in capsys.readouterr().err
