"""The GitLab component: its inputs, and its script run by the shells that GitLab's runner uses."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests.cli.running import ROOT, Ran
from tests.test_action import take_over

TEMPLATE = ROOT / "integrations" / "gitlab" / "templates" / "lint.yml"
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  containers:
    - {name: pytorch, image: ghcr.io/acme/train:1.0, imge: x}
"""
PYTHON = """\
#!/bin/sh
case "$1 $2 $3" in
  "-I -m venv") mkdir "$4/bin" && cp "$0" "$4/bin/python" && exit ;;
  "-I -m pip") printf '%s\\n' "$@" > installed && exit ;;
esac
exec {python} "$@"
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the script is for a POSIX shell")


def job(**inputs: str) -> dict[str, Any]:
    """Return the component's job with its inputs in place, as GitLab fills them in."""
    head, body = yaml.safe_load_all(TEMPLATE.read_text(encoding="utf-8"))
    declared = head["spec"]["inputs"]
    assert set(inputs) <= set(declared)
    values = {name: row["default"] for name, row in declared.items() if "default" in row} | inputs

    def fill(data: Any) -> Any:
        if isinstance(data, dict):
            return {fill(key): fill(value) for key, value in data.items()}
        if isinstance(data, list):
            return [fill(value) for value in data]
        if not isinstance(data, str):
            return data
        return re.sub(
            r"\$\[\[ inputs\.(\w+) \]\]",
            lambda match: str(values[match[1]]).replace("True", "true"),
            data,
        )

    ((_, filled),) = fill(body).items()
    return dict(filled)


def run(folder: Path, shell: str, **inputs: str) -> Ran:
    """Run the job's script in a folder; its environment has our `ptcompile` and a `pip` that notes its arguments."""
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"{shell} is not installed")
    filled = job(package="ptcompile", **inputs)
    python = folder / "bin" / "python3"
    python.parent.mkdir(exist_ok=True)
    python.write_text(PYTHON.format(python=sys.executable), encoding="utf-8")
    python.chmod(0o755)
    variables = {name: str(row["value"]) for name, row in filled["variables"].items()}
    env = {
        **os.environ,
        **variables,
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": ".",
    }
    script = "set -e\n" + "\n".join(filled["script"])
    done = subprocess.run(
        [path, "-c", script],
        capture_output=True,
        text=True,
        cwd=folder,
        env=env,
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "my manifests").mkdir()
    (tmp_path / "my manifests" / "train.yaml").write_text(POD, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("shell", ["sh", "dash", "bash"])
def test_a_finding_fails_the_job_and_is_in_its_reports(repository: Path, shell: str) -> None:
    ran = run(repository, shell, paths="my manifests/\n")
    assert (ran.status, ran.out.count("error[")) == (1, 1), ran.err
    reports = job(package="ptcompile")["artifacts"]["reports"]
    (finding,) = json.loads((repository / reports["codequality"]).read_text(encoding="utf-8"))
    assert finding["location"]["path"] == "my manifests/train.yaml"
    assert len(ElementTree.parse(repository / reports["junit"]).findall(".//failure")) == 1  # noqa: S314 - our own
    assert (repository / "installed").read_text().split("\n")[-2] == "ptcompile"


def test_options_are_one_per_line_and_paths_are_never_options(repository: Path) -> None:
    ran = run(
        repository, "sh", paths="my manifests/", args="--ignore=PTC501\n\n--fail-on=warning\n"
    )
    assert (ran.status, ran.out.count("error[")) == (0, 0), ran.err
    ran = run(repository, "sh", paths="--version\n$(touch hacked); touch hacked `touch hacked`\n")
    assert ran.status == 2
    assert not (repository / "hacked").exists()


def test_nothing_of_the_checkout_is_run(repository: Path) -> None:
    mark = take_over(repository)
    environment = repository / ".ptcompile" / "lib" / "python3.12" / "site-packages"
    environment.mkdir(parents=True)
    (environment / "hacked.pth").write_text(
        f"import pathlib; pathlib.Path({str(mark)!r}).touch()\n", encoding="utf-8"
    )
    ran = run(repository, "sh", paths="my manifests/")
    assert (ran.status, ran.out.count("error[")) == (1, 1), ran.err
    assert not mark.exists()


def test_untrusted_is_the_default(repository: Path) -> None:
    (repository / "many.yaml").write_text("---\n" * 2_001, encoding="utf-8")
    assert "too-large" in run(repository, "sh", paths="many.yaml").out
    assert "too-large" not in run(repository, "sh", paths="many.yaml", untrusted="false").out


def test_values_reach_the_script_as_they_are() -> None:
    """GitLab would replace $NAME in a variable's value."""
    assert all(row["expand"] is False for row in job(package="x")["variables"].values())
    assert "$[[" not in json.dumps(job(package="x"))
