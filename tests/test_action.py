"""The GitHub Action: its metadata, and its scripts run as the steps would run them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from ptcompile.report.ci import html_code
from tests.cli.running import ROOT, Ran

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: train}}
spec:
  restartPolicy: Never
  containers:
    - name: pytorch
      image: ghcr.io/acme/train:1.0
      command: [torchrun, --nproc-per-node={processes}, train.py]
      resources: {{requests: {{cpu: 8, memory: 64Gi}}, limits: {{cpu: 8, memory: 64Gi, nvidia.com/gpu: 2}}}}
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the scripts are for bash")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with a committed manifest, beside the folders of a runner."""
    work = tmp_path / "work"
    (work / "manifests").mkdir(parents=True)
    (work / "manifests" / "train.yaml").write_text(POD.format(processes=2), encoding="utf-8")
    (work / "manifests" / "notes.md").write_text("notes\n", encoding="utf-8")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "first"]):
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *words]
        subprocess.run(git, cwd=work, check=True, timeout=60)
    python = tmp_path / "temp" / "ptcompile" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return work


def step(repository: Path, name: str, env: Mapping[str, str]) -> tuple[Ran, dict[str, str], str]:
    """Run the script of a step; return the result, the outputs of the step and the summary of the job."""
    folder = repository.parent
    (folder / "output").write_text("")
    (folder / "summary").write_text("")
    runner = {
        "RUNNER_TEMP": str(folder / "temp"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "GITHUB_ACTION_PATH": str(ROOT),
        "PYTHONPATH": ".",  # as many projects of PyTorch users set it
    }
    script = ROOT / "integrations" / "github" / name
    done = subprocess.run(
        [script],
        cwd=repository,
        env={**os.environ, **runner, **env},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    outputs = dict(line.split("=", 1) for line in (folder / "output").read_text().splitlines())
    return Ran(done.returncode, done.stdout, done.stderr), outputs, (folder / "summary").read_text()


def lint(
    repository: Path, paths: str = "manifests/", args: str = "", untrusted: str = "true"
) -> tuple[Ran, dict[str, str], str]:
    return step(repository, "lint", {"PATHS": paths, "ARGS": args, "UNTRUSTED": untrusted})


def diff(repository: Path, base: str = "main", paths: str = ".") -> tuple[Ran, dict[str, str], str]:
    return step(repository, "diff", {"DIFF_BASE": base, "PATHS": paths, "UNTRUSTED": "true"})


def change(repository: Path, processes: object) -> None:
    (repository / "manifests" / "train.yaml").write_text(
        POD.format(processes=processes), encoding="utf-8"
    )


def test_a_clean_folder_passes_and_has_a_report(repository: Path) -> None:
    ran, outputs, _ = lint(repository)
    assert ran.status == 0
    assert '"version": "2.1.0"' in Path(outputs["sarif"]).read_text()


def test_a_finding_fails_the_step_and_is_in_the_log_the_summary_and_the_report(
    repository: Path,
) -> None:
    change(repository, 4)
    ran, outputs, summary = lint(repository)
    assert ran.status == 1
    assert "error[PTC103 more-processes-than-gpus]" in ran.out
    assert "PTC103" in summary
    assert '"PTC103"' in Path(outputs["sarif"]).read_text()


def test_paths_and_options_are_lines(repository: Path) -> None:
    change(repository, 4)
    (repository / "a folder").mkdir()
    (repository / "a folder" / "pod.yaml").write_text(POD.format(processes=4), encoding="utf-8")
    ran, _, _ = lint(
        repository,
        "manifests/\n\na folder/\n",
        "--ignore=PTC103\n--statistics\n",
        untrusted="false",
    )
    assert ran.status == 0
    assert "2 files, 2 documents, 0 errors" in ran.err


def test_a_path_is_never_an_option_or_a_command(repository: Path) -> None:
    ran, outputs, _ = lint(repository, "--exit-zero\n$(touch hacked)\n")
    assert ran.status == 2
    assert "--exit-zero: no such file or directory" in ran.err
    assert not (repository / "hacked").exists()
    assert "sarif" in outputs


def test_the_diff_names_changed_files_and_what_changes(repository: Path) -> None:
    change(repository, 1)
    (repository / "manifests" / "notes.md").write_text("other notes\n", encoding="utf-8")
    ran, outputs, _ = diff(repository)
    assert ran.status == 0
    text = Path(outputs["diff"]).read_text()
    assert text.startswith(f"### {html_code('manifests/train.yaml')}\n")
    assert "--nproc-per-node=1" in text
    assert "notes" not in text


def test_a_file_name_is_no_markup(repository: Path) -> None:
    name = "x\n\n# Approved by security\n @acme-admin `\n.yaml"
    path = repository / name
    path.write_text(POD.format(processes=2), encoding="utf-8")
    for words in (["add", "."], ["commit", "-qm", "second"]):
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *words]
        subprocess.run(git, cwd=repository, check=True, timeout=60)
    path.write_text(POD.format(processes=1), encoding="utf-8")
    text = Path(diff(repository)[1]["diff"]).read_text()
    assert text.startswith(f"### {html_code(name)}\n\n**")
    assert "@acme" not in text
    assert "\n# " not in text


def test_no_change_is_no_text(repository: Path) -> None:
    assert diff(repository)[1] == {}
    manifest = repository / "manifests" / "train.yaml"
    manifest.write_text("# a comment\n" + manifest.read_text(), encoding="utf-8")
    assert diff(repository)[1] == {}


@pytest.mark.parametrize("base", ["nowhere", "--output=hacked"])
def test_an_unknown_base_fails_the_step(repository: Path, base: str) -> None:
    ran, outputs, _ = diff(repository, base)
    assert ran.status != 0
    assert outputs == {}
    assert not (repository / "hacked").exists()


HOSTILE_FILES = (
    "venv.py", "pip/__init__.py", "pip/__main__.py", "csv.py", "json.py", "ptcompile.py", "sitecustomize.py",
    "usercustomize.py", "hacked.pth", "hatchling/__init__.py", "hatchling/build.py",
)  # fmt: skip
"""Files that Python would run if it looked for modules in the checkout."""


def take_over(folder: Path) -> Path:
    """Fill a checkout with files that leave a mark when they are run; return the mark."""
    mark = folder.parent / "hacked"
    for name in HOSTILE_FILES:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"import pathlib; pathlib.Path({str(mark)!r}).touch()\n", encoding="utf-8")
    for name in ("python", "python3"):
        (folder / name).write_text(f"#!/bin/sh\ntouch {mark}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    build = (
        "[build-system]\nrequires = []\nbuild-backend = 'hatchling.build'\nbackend-path = ['.']\n"
    )
    (folder / "pyproject.toml").write_text(build, encoding="utf-8")
    return mark


def test_nothing_of_the_checkout_is_run(repository: Path) -> None:
    mark = take_over(repository)
    ran, _, _ = lint(repository)
    assert ran.status == 0, ran.err
    change(repository, 4)
    ran, outputs, _ = diff(repository)
    assert "diff" in outputs, ran.err
    assert not mark.exists()


def test_the_installation_runs_nothing_of_the_checkout(repository: Path, tmp_path: Path) -> None:
    """Without an index, it ends where pip looks for the first of the locked packages."""
    mark = take_over(repository)
    (tmp_path / "empty").mkdir()
    shutil.rmtree(tmp_path / "temp" / "ptcompile")
    offline = {
        "PYTHON": sys.executable,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path / "empty"),
    }
    ran, _, _ = step(repository, "install", offline)
    assert ran.status != 0
    assert "annotated-types==" in ran.err
    assert not mark.exists()


def test_no_input_is_pasted_into_a_script() -> None:
    """Text of a pull request in `run` would be executed: GitHub substitutes it before bash reads the line."""
    steps = ACTION["runs"]["steps"]
    assert not any("${{" in step.get("run", "") for step in steps)
    given = {
        name
        for step in steps
        for value in step.get("env", {}).values()
        for name in re.findall(r"inputs\.([\w-]+)", value)
    }
    assert given <= set(ACTION["inputs"])
    conditions = " ".join(str(step.get("if", "")) + str(step.get("with", "")) for step in steps)
    used = given | set(re.findall(r"inputs\.([\w-]+)", conditions))
    assert used == set(ACTION["inputs"])


def test_the_steps_run_executable_scripts() -> None:
    scripts = [
        step["run"].strip('"').split("/", 1)[1] for step in ACTION["runs"]["steps"] if "run" in step
    ]
    assert scripts == [
        "integrations/github/install",
        "integrations/github/diff",
        "integrations/github/lint",
    ]
    assert all(os.access(ROOT / script, os.X_OK) for script in scripts)
    uses = [step["uses"] for step in ACTION["runs"]["steps"] if "uses" in step]
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name) for name in uses)
