"""The README is short and names existing things. tests/docs/test_commands.py runs its commands."""

from __future__ import annotations

import re

from ptcompile.cli.commands import COMMANDS
from ptcompile.operators.targets import TARGETS
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_has_at_most_200_lines() -> None:
    assert len(README.splitlines()) <= 200


def test_every_target_is_a_row() -> None:
    rows = re.findall(r"^\| `(\w+)` \| \w+\S* \w+", README, re.MULTILINE)
    assert rows == list(TARGETS)


def test_the_commands_in_it_exist() -> None:
    named = set(re.findall(r"`ptcompile (\w+) [\w<./]", README))
    assert named <= set(COMMANDS)
    assert {"lint", "simulate", "explain", "diff", "import", "convert", "rehearse"} <= named


def test_links_of_the_readme_resolve() -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / link).exists(), link


def test_the_picture_is_small() -> None:
    (picture,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    content = (ROOT / picture).read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) < 200_000


def test_the_required_libraries_are_explained() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {
        re.split(r"[<>=;\s]", dependency, maxsplit=1)[0] for dependency in project["dependencies"]
    }
    table = README.partition("## The libraries")[2].partition("\n## ")[0]
    parts = {
        name
        for row in re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
        for name in row.split(", ")
    }
    assert needed <= parts


def test_the_subset_equals_that_of_contributing() -> None:
    """Both documents have it on one line, and all of its parts exist."""
    (named,) = re.findall(r"`(python -m pytest -n auto \S+ \S+ tests/[^`]+)`", README)
    assert named in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()
    assert all((ROOT / word).exists() for word in named.split() if word.startswith("tests/"))
