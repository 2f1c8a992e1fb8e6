"""CI scripts: the files they name, Python versions and seeds."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT


def test_ci_installs_the_published_constraints_with_hashes() -> None:
    lock = (ROOT / "requirements-ci.lock").read_text(encoding="utf-8")
    hashed = dict(re.findall(r"^([\w.-]+)==([^\s;]+)", lock, re.MULTILINE))
    people = dict(
        re.findall(r"^([\w.-]+)==(.+)$", (ROOT / "requirements-dev.lock").read_text(), re.MULTILINE)
    )
    people = {name.replace(".", "-"): version for name, version in people.items()}
    assert people.items() <= hashed.items()
    assert {"hatchling", "build", "cyclonedx-bom"} <= hashed.keys(), (
        "the build backend, and what makes the bill"
    )
    entries = re.split(r"(?m)^(?=[\w.-]+==)", lock)[1:]
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "--require-hashes -r requirements-ci.lock" in (ROOT / ".ci" / "run").read_text()


LOCKS = sorted((ROOT / ".ci" / "locks").iterdir())


def test_every_job_installs_with_hashes() -> None:
    """A version without a hash may be another file tomorrow. torch is the exception that its job
    states.
    """
    scripts = [
        script for script in (ROOT / ".ci").iterdir() if script.is_file() and script.name != "lock"
    ]
    lines = [line for script in scripts for line in script.read_text(encoding="utf-8").splitlines()]
    installs = [
        line
        for line in lines
        if re.search(r"pip install .*(-r|-e|\.)", line) and "command" not in line
    ]
    assert [
        line for line in installs if not re.search(r"--require-hashes|--no-deps|TORCH", line)
    ] == []
    used = {
        name
        for script in (ROOT / ".ci").iterdir()
        if script.is_file()
        for name in _lock_names(script)
    }
    assert {path.stem for path in LOCKS} <= used


def _lock_names(script: Path) -> list[str]:
    text = script.read_text(encoding="utf-8")
    names = re.findall(r"locks/(\w+)\.lock", text)
    if script.name == "adapters":
        names += re.findall(r"^(?:\w+=\S+ )?run \w+ (\w+) ", text, re.MULTILINE)
    return names


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_every_entry_of_a_lock_has_a_hash(path: Path) -> None:
    entries = re.split(r"(?m)^(?=[\w.-]+==)", path.read_text(encoding="utf-8"))[1:]
    assert entries
    assert all("--hash=sha256:" in entry for entry in entries)


def test_the_lowest_lock_has_the_lowest_versions() -> None:
    required = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "dependencies"
    ]
    lowest = dict(
        re.findall(
            r"^([\w.-]+)==([^\s;]+)", (ROOT / ".ci/locks/lowest.lock").read_text(), re.MULTILINE
        )
    )
    for requirement in required:
        name, _, bound = requirement.partition(">=")
        assert lowest[name.lower().replace(".", "-")].startswith(re.split("[,;]", bound)[0]), (
            requirement
        )


def test_actions_and_containers_are_pinned_by_digest() -> None:
    for path in (ROOT / ".github" / "workflows").iterdir():
        text = path.read_text(encoding="utf-8")
        actions = re.findall(r"uses: *(\S+)", text)
        assert [
            action for action in actions if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)
        ] == [], path
        containers = re.findall(r"(?:container|image): *(\S+)", text)
        assert [
            name for name in containers if not re.search(r"@sha256:[0-9a-f]{64}$", name)
        ] == [], path


def test_the_image_has_a_base_by_digest_and_a_user_without_a_name() -> None:
    """Kubernetes' runAsNonRoot needs a number, and a tag may be another image tomorrow."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    (base,) = re.findall(r"^ARG BASE=(\S+)$", text, re.MULTILINE)
    assert re.fullmatch(r"python:[\w.-]+-slim[\w-]*@sha256:[0-9a-f]{64}", base)
    stages = re.findall(r"^FROM (\S+)(?: AS (\w+))?$", text, re.MULTILINE)
    assert stages == [
        ("${BASE}", "build"),
        ("${BASE}", "ptcompile"),
        ("ptcompile", "krm"),
        ("ptcompile", ""),
    ]
    assert re.findall(r"^USER (.+)$", text, re.MULTILINE) == ["65532:65532"]
    installs = re.findall(r"pip install (.+?)(?: \\)?$", text, re.MULTILINE)
    assert all("--require-hashes" in line or "--no-deps" in line for line in installs)


def test_every_path_of_a_test_exists() -> None:
    named = {
        path
        for script in (ROOT / ".ci").iterdir()
        if script.is_file()
        for path in re.findall(r"(?<![\w/])tests/[\w/.]+", script.read_text(encoding="utf-8"))
    }
    assert "tests/test_golden.py" in named
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_flyte_is_tested_at_every_push_on_each_python_that_flytekit_has() -> None:
    """Without flytekit the tests of ptcompile.flyte are skipped, so a passing run would prove
    little.
    """
    workflow = yaml.safe_load(
        (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    )
    job = workflow["jobs"]["flyte"]
    assert "if" not in job
    assert job["strategy"]["matrix"]["python"] == ["3.11", "3.12"]
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/flyte"]


def test_ci_draws_new_examples_from_a_printed_seed(tmp_path: Path) -> None:
    """Equal seeds give equal examples; outside CI the examples are always the same."""
    test = (
        "from hypothesis import given, strategies as st\n\n@given(st.integers())\ndef "
        "test_any(x):\n    print('x', x)\n"
    )
    hooks = "from tests.conftest import pytest_configure, pytest_terminal_summary\n"
    (tmp_path / "conftest.py").write_text(hooks, encoding="utf-8")
    (tmp_path / "test_any.py").write_text(test, encoding="utf-8")

    chosen = ("CI", "HYPOTHESIS_PROFILE", "HYPOTHESIS_SEED")

    def drawn(*words: str, ci: bool, **more: str) -> tuple[list[str], list[str]]:
        env = {name: value for name, value in os.environ.items() if name not in chosen} | more
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-s",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            str(tmp_path),
        ]
        done = subprocess.run(
            [*command, *words, str(tmp_path)],
            cwd=ROOT,
            env={**env, "HYPOTHESIS_PROFILE": "ci"} if ci else env,
            capture_output=True,
            text=True,
            check=True,
        )
        return re.findall(r"x (-?\d+)", done.stdout), re.findall(
            r"--hypothesis-seed=(\d+)$", done.stdout, re.MULTILINE
        )

    first, (seed,) = drawn(ci=True)
    second, (other,) = drawn(ci=True)
    assert (first, seed) != (second, other)
    assert drawn(f"--hypothesis-seed={seed}", ci=True) == (first, [seed])
    assert drawn(ci=True, HYPOTHESIS_SEED=seed) == (first, [seed])
    assert drawn(f"--hypothesis-seed={other}", ci=True, HYPOTHESIS_SEED=seed) == (second, [other])
    local, none = drawn(ci=False)
    assert drawn(ci=False) == (local, none) == (local, [])
    assert drawn(ci=False, HYPOTHESIS_SEED=seed) == (local, [])


@pytest.mark.parametrize("script", ["run", "flyte"])
def test_ci_takes_the_seed_from_the_commit(tmp_path: Path, script: str) -> None:
    """A repeated run fails again, and the next commit tests other examples."""
    text = (ROOT / ".ci" / script).read_text(encoding="utf-8")
    (lines,) = re.findall(r"^commit=.*\nexport HYPOTHESIS_SEED=.*\n", text, re.MULTILINE)

    def seed() -> str:
        command = ["bash", "-euo", "pipefail", "-c", lines + 'printf %s "$HYPOTHESIS_SEED"']
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    def git(*words: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        return subprocess.run(
            ["git", *who, *words], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    assert seed() == ""
    git("init", "-q")
    assert seed() == ""
    seeds = []
    for message in ("one", "two"):
        git("commit", "-q", "--allow-empty", "-m", message)
        seeds.append(seed())
        assert seed() == seeds[-1] == str(int(git("rev-parse", "HEAD")[:8], 16))
    assert seeds[0] != seeds[1]
