"""The recipes of the guide to CI: their steps run as printed, with stand-ins for the tools of other projects."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from ruamel.yaml import YAML

from website.blocks import ROOT, blocks

SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: llama-sft}
spec: {image: "ghcr.io/acme/llama:2.1", script: train.py, resources: {cpu: 8, memory: 64Gi, gpu: 1}}
"""
FLUX = '#!/bin/sh\ncase "$1" in build) cat manifests/*.yaml ;; push) echo "pushed $3" ;; esac\n'


def recipes() -> list[Any]:
    page = (ROOT / "docs" / "guide" / "ci.md").read_text(encoding="utf-8")
    return [
        YAML(typ="safe").load(block.text)
        for block in blocks(page)
        if block.language == "yaml" and not block.title
    ]


def steps(job: str) -> list[str]:
    """Return the commands of a job in GitHub Actions or GitLab CI, without installations."""
    for recipe in recipes():
        if isinstance(recipe, dict) and job in recipe.get("jobs", {}):
            commands = [step["run"] for step in recipe["jobs"][job]["steps"] if "run" in step]
        elif isinstance(recipe, dict) and job in recipe and "script" in recipe[job]:
            commands = recipe[job]["script"]
        else:
            continue
        return [command for command in commands if not command.startswith("pip install")]
    raise LookupError(job)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a folder with a spec and its manifests, a stand-in for flux, and the console command."""
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "job.yaml").write_text(SPEC)
    (tmp_path / "bin").mkdir()
    program = f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m ptcompile "$@"\n'
    for name, text in (("ptcompile", program), ("flux", FLUX)):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    assert shell("ptcompile specs/ -o manifests/", tmp_path).returncode == 0
    return tmp_path


def shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_REPOSITORY": "acme/training",
        "GITHUB_SHA": "0" * 40,
    }
    script = script.replace("/tmp/", f"{folder}/")  # noqa: S108 - the path of the recipe
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script], cwd=folder, env=environment, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip


def break_manifest(folder: Path) -> None:
    path = folder / "manifests" / "job.yaml"
    path.write_text(path.read_text().replace("\nspec:\n", "\nspec:\n  frobnicate: 1\n", 1))


def test_github_prints_uploads_and_summarizes(repository: Path) -> None:
    check, lint = steps("lint")
    assert [shell(step, repository).returncode for step in (check, lint)] == [0, 0]
    assert json.loads((repository / "lint.sarif").read_text())["runs"][0]["results"] == []
    assert (repository / "summary.md").read_text() == ""
    break_manifest(repository)
    ran = shell(lint, repository)
    assert (shell(check, repository).returncode, ran.returncode) == (1, 1)
    assert "error[PTC501 unknown-field]" in ran.stdout
    assert len(json.loads((repository / "lint.sarif").read_text())["runs"][0]["results"]) == 1
    assert "[PTC501](" in (repository / "summary.md").read_text()


def test_gitlab_writes_both_reports_and_fails_at_the_end(repository: Path) -> None:
    script = "\n".join(steps("manifests"))
    assert shell(script, repository).returncode == 0
    break_manifest(repository)
    ran = shell(script, repository)
    assert ran.returncode == 1
    (issue,) = json.loads((repository / "quality.json").read_text())
    assert (issue["check_name"], issue["location"]["path"]) == (
        "PTC501 unknown-field",
        "manifests/job.yaml",
    )
    assert ET.parse(repository / "lint.xml").getroot().get("failures") == "1"  # noqa: S314 - our own text
    assert "manifests/job.yaml" in ran.stdout.partition("+++")[2], "the other check ran too"


def test_argo_cd_gets_manifests_or_an_error(repository: Path) -> None:
    (plugin,) = [
        recipe
        for recipe in recipes()
        if isinstance(recipe, dict) and recipe.get("kind") == "ConfigManagementPlugin"
    ]
    command = plugin["spec"]["generate"]
    assert command["command"] == ["sh", "-c"]
    (script,) = command["args"]
    ran = shell(script, repository)
    assert ran.returncode == 0
    assert "kind: TrainingJob" not in ran.stdout
    assert YAML(typ="safe").load(ran.stdout.split("\n---\n")[0])["kind"]
    (repository / "specs" / "job.yaml").write_text(SPEC.replace("cpu: 8", "cpus: 8"))
    ran = shell(script, repository)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "cpus" in ran.stderr


def test_flux_pushes_only_what_passes(repository: Path) -> None:
    build, push = steps("push")
    assert shell(build, repository).returncode == 0
    assert "pushed oci://" in shell(push, repository).stdout
    break_manifest(repository)
    assert shell(build, repository).returncode == 1
