"""CI's scripts name files that are there."""

from __future__ import annotations

import re

from tests.conftest import ROOT


def test_ci_installs_with_hashes_what_people_have_as_constraints() -> None:
    lock = (ROOT / "requirements-ci.lock").read_text(encoding="utf-8")
    hashed = dict(re.findall(r"^([\w.-]+)==([^\s;]+)", lock, re.MULTILINE))
    people = dict(re.findall(r"^([\w.-]+)==(.+)$", (ROOT / "requirements-dev.lock").read_text(), re.MULTILINE))
    people = {name.replace(".", "-"): version for name, version in people.items()}
    assert people.items() <= hashed.items()
    assert {"hatchling", "build", "cyclonedx-bom"} <= hashed.keys(), "the build backend, and what makes the bill"
    entries = re.split(r"(?m)^(?=[\w.-]+==)", lock)[1:]
    assert all("--hash=sha256:" in one for one in entries)
    assert "--require-hashes -r requirements-ci.lock" in (ROOT / ".ci" / "run").read_text()


def test_every_path_of_a_test_is_there() -> None:
    named = {
        path
        for script in (ROOT / ".ci").iterdir()
        for path in re.findall(r"(?<![\w/])tests/[\w/.]+", script.read_text(encoding="utf-8"))
    }
    assert "tests/test_golden.py" in named
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
