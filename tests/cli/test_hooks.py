"""`.pre-commit-hooks.yaml`, run by the real tool in a temporary git repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.running import ROOT

SPEC = "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: train}\nspec: {image: a:1, script: t.py}\n"
HOOKS: dict[str, dict[str, Any]] = {
    hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
}


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with a spec, its manifests and both hooks, which run from this checkout without
    installation.
    """
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "job.yaml").write_text(SPEC)
    compiled = [sys.executable, "-m", "ptcompile", "specs/job.yaml", "-o", "manifests/"]
    subprocess.run(compiled, cwd=tmp_path, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    hooks = [
        {
            **hook,
            "language": "system",
            "entry": hook["entry"].replace("ptcompile", f"{sys.executable} -m ptcompile", 1),
        }
        for hook in HOOKS.values()
    ]
    hooks[1]["args"] = ["specs/", "-o", "manifests/"]
    config = {"repos": [{"repo": "local", "hooks": hooks}]}
    (tmp_path / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    git(tmp_path, "init")
    git(tmp_path, "add", "specs", "manifests")
    return tmp_path


def run(folder: Path, hook: str, *, every_file: bool = True) -> tuple[int, str]:
    which = ["--all-files"] if every_file else []
    words = [sys.executable, "-m", "pre_commit", "run", hook, *which, "--color", "never"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PRE_COMMIT_HOME": str(folder / ".cache")}
    done = subprocess.run(
        words, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_the_guide_names_these_hooks() -> None:
    guide = (ROOT / "docs" / "guide" / "ci.md").read_text()
    assert list(HOOKS) == ["ptcompile-lint", "ptcompile-check"]
    assert all(f"id: {name}" in guide for name in HOOKS)


def test_hooks_on_pull_requests_are_untrusted() -> None:
    """Set by the option, not by the environment, so a pull request cannot remove it."""
    guide = (ROOT / "docs" / "guide" / "ci.md").read_text()
    steps = re.findall(
        r"^ +- (?:run: )?(?:>-\n +)?(ptcompile .*|flux build .*\n +\| ptcompile .*)$",
        guide,
        re.MULTILINE,
    )
    assert len(steps) == 5
    assert all(
        "--untrusted" in value for value in [*steps, *(hook["entry"] for hook in HOOKS.values())]
    )


def test_a_clean_repository_passes(repository: Path) -> None:
    for hook in HOOKS:
        status, output = run(repository, hook)
        assert status == 0, output
        assert "Passed" in output


def test_lint_fails_for_a_bad_manifest(repository: Path) -> None:
    (repository / "pod.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {contaners: []}\n"
    )
    git(repository, "add", "pod.yaml")
    status, output = run(repository, "ptcompile-lint")
    assert status == 1
    assert "PTC501" in output
    assert "pod.yaml:4:8" in output


def test_check_fails_for_a_stale_manifest_with_a_diff(repository: Path) -> None:
    (repository / "specs" / "job.yaml").write_text(SPEC.replace("a:1", "a:2"))
    git(repository, "add", "specs")
    status, output = run(repository, "ptcompile-check")
    assert status == 1
    assert "-    image: a:1" in output
    assert "+    image: a:2" in output
