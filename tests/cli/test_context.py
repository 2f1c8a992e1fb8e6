"""Partial runs: named files are judged beside the files around them, and what changed since a commit is reported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from ptcompile.cli import git
from ptcompile.cli.commands.mcp import _read_surroundings, _settings
from ptcompile.cli.files import UsageError
from ptcompile.mcp.inputs import Call
from ptcompile.mcp.tools import TOOLS
from tests.cli.running import Ran
from tests.cli.test_hooks import HOOKS, git as run_git, run as run_hook
from tests.conftest import GOLDEN, ROOT

QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: {0}}}
spec: {{clusterQueue: {0}}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: {0}}}
spec: {{namespaceSelector: {{}}}}
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {{name: {0}, labels: {{kueue.x-k8s.io/queue-name: {1}}}}}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{{name: main, image: "a:1", resources: {{limits: {{cpu: 1}}}}}}]
"""
PATCH = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: one}\nspec: {template: {spec: {priority: 3}}}\n"
COUNT = 60


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a committed repository of sixty manifests, among them queues, jobs that name them, a name that is given
    twice and a patch of a kustomization.
    """
    files = {f"queues/{name}.yaml": QUEUE.format(name) for name in "ab"}
    jobs = [("one", "b"), ("two", "a"), ("three", "c"), ("one", "b")]
    files |= {f"jobs/{i}.yaml": JOB.format(*names) for i, names in enumerate(jobs)}
    files["kustomized/patch.yaml"] = PATCH
    files["kustomized/kustomization.yaml"] = "resources: [../jobs]\npatches: [{path: patch.yaml}]\n"
    golden = sorted(GOLDEN.glob("*/[a-rt-z]*.yaml"))
    for i, path in enumerate(golden[: COUNT - len(files)]):
        files[f"teams/{i % 4}/{i}.yaml"] = path.read_text(encoding="utf-8")
    assert len(files) == COUNT
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    run_git(tmp_path, "init")
    run_git(tmp_path, "add", ".")
    run_git(tmp_path, "commit", "-m", "first")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lint(*words: str) -> list[dict[str, Any]]:
    """Return the findings of a run, with the names of files as git writes them."""
    done = run("lint", *words, "--no-cache", "--output-format", "json")
    findings: list[dict[str, Any]] = json.loads(done.out)["diagnostics"]
    return [{**finding, "filename": os.path.normpath(finding["filename"])} for finding in findings]


def run(*words: str) -> Ran:
    done = subprocess.run(
        [sys.executable, "-m", "ptcompile", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def test_named_files_have_the_findings_of_a_full_run(repository: Path) -> None:
    full = lint(".")
    for named in (
        ["jobs/0.yaml"],
        ["jobs/2.yaml", "jobs/3.yaml"],
        ["queues/a.yaml", "teams/1/1.yaml"],
    ):
        partial = lint(*named, "--context", ".")
        assert partial == [finding for finding in full if finding["filename"] in named]
    assert {"PTC290", "PTC292", "PTC576"} <= {finding["code"] for finding in full}


def test_without_context_a_queue_in_another_file_is_missed(repository: Path) -> None:
    """This is what the option is for."""
    named = ["jobs/0.yaml", "queues/a.yaml"]
    assert "PTC292" in {finding["code"] for finding in lint(*named)}
    assert "PTC292" not in {finding["code"] for finding in lint(*named, "--context", ".")}


def test_a_real_hook_reports_what_a_full_run_does(repository: Path) -> None:
    pytest.importorskip("pre_commit")
    hook = HOOKS["ptcompile-lint"]
    entry = hook["entry"].replace("ptcompile", f"{sys.executable} -m ptcompile", 1)
    report = repository / "report.txt"
    ours = {
        **hook,
        "language": "system",
        "entry": entry,
        "args": ["--output-format", f"json={report}"],
    }
    config = {"repos": [{"repo": "local", "hooks": [ours]}]}
    (repository / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    changed = ["jobs/0.yaml", "jobs/3.yaml", "kustomized/patch.yaml"]
    for name in changed:
        (repository / name).write_text((repository / name).read_text() + "# changed\n")
    run_git(repository, "add", *changed)

    status, output = run_hook(repository, "ptcompile-lint", every_file=False)
    diagnostics = json.loads(report.read_text())["diagnostics"]

    expected = [finding for finding in lint(".") if finding["filename"] in changed]
    assert status == 1, output
    assert diagnostics == expected
    assert {finding["filename"] for finding in diagnostics} == {"jobs/0.yaml", "jobs/3.yaml"}
    assert "kustomized/patch.yaml: left out" in output


def test_entries_of_files_whose_context_was_not_read_stay(repository: Path) -> None:
    run("lint", ".", "--write-baseline", "known.toml")
    known = (repository / "known.toml").read_text()
    assert "PTC905" not in run("lint", "jobs/0.yaml", "--baseline", "known.toml").out
    run("lint", "jobs/0.yaml", "--write-baseline", "known.toml")
    assert (repository / "known.toml").read_text() == known

    (repository / "queues/b.yaml").unlink()
    stale = run("lint", "jobs/0.yaml", "--context", ".", "--baseline", "known.toml").out
    assert "PTC290" in stale
    assert "PTC905" in stale
    run("lint", "jobs/0.yaml", "--context", ".", "--write-baseline", "known.toml")
    assert (repository / "known.toml").read_text() != known


def test_what_changed_since_a_commit_is_reported(repository: Path) -> None:
    assert lint(".", "--since", "HEAD") == []
    (repository / "jobs/3.yaml").write_text(
        (repository / "jobs/3.yaml").read_text() + "# changed\n"
    )
    (repository / "jobs/4.yaml").write_text(JOB.format("four", "nowhere"))
    full = lint(".")
    changed = ("jobs/3.yaml", "jobs/4.yaml")
    assert lint("--since", "HEAD") == [
        finding for finding in full if finding["filename"] in changed
    ]
    run_git(repository, "add", ".")
    run_git(repository, "commit", "-m", "second")
    assert lint(".", "--since", "HEAD~1") == [
        finding for finding in full if finding["filename"] in changed
    ]
    assert lint("--since", "HEAD") == []


def test_git_starts_no_program_of_the_repository(repository: Path) -> None:
    trap = repository / ".git" / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {repository}/sprung\n")
    trap.chmod(0o755)
    settings = (
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "filter.x.clean",
        "filter.x.smudge",
        "alias.ls-tree",
        "core.sshCommand",
    )
    for setting in settings:
        run_git(repository, "config", setting, str(trap))
    (repository / ".gitattributes").write_text("*.yaml filter=x diff=x\n")
    for hook in ("post-index-change", "reference-transaction"):
        (repository / ".git" / "hooks").mkdir(exist_ok=True)
        (repository / ".git" / "hooks" / hook).write_text(trap.read_text())
        (repository / ".git" / "hooks" / hook).chmod(0o755)
    (repository / "jobs/0.yaml").write_text("{}\n")
    assert run("lint", "--since", "HEAD", "--allow-empty").err.startswith("ptcompile: ")
    assert not (repository / "sprung").exists()


@pytest.mark.parametrize("revision", ["nowhere", "--output=x", "HEAD:jobs"])
def test_an_unknown_commit_is_wrong_usage(repository: Path, revision: str) -> None:
    done = run("lint", f"--since={revision}")
    assert done.status == 2
    assert f"--since {revision}: the repository has no such commit; fetch it first" in done.err


def test_a_shallow_clone_lacks_the_common_commit(repository: Path, tmp_path: Path) -> None:
    run_git(repository, "branch", "side")
    for name in ("second", "third"):
        run_git(repository, "commit", "--allow-empty", "-m", name)
    run_git(repository, "checkout", "-q", "side")
    run_git(repository, "commit", "--allow-empty", "-m", "on the side")
    clone = tmp_path / "clone"
    run_git(
        tmp_path,
        "clone",
        "-q",
        "--depth",
        "1",
        "--no-single-branch",
        f"file://{repository}",
        str(clone),
    )
    os.chdir(clone)
    done = run("lint", "--since", "origin/main")
    assert done.status == 2
    assert "no common commit with HEAD: the clone is shallow; run git fetch --unshallow" in done.err


def test_since_needs_a_repository_and_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("lint", "--since", "HEAD")
    assert done.status == 2
    assert "not a git repository" in done.err
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UsageError, match="--since needs git"):
        git.changed_since("HEAD", [])


def test_line_ends_of_windows_are_no_change(repository: Path) -> None:
    (repository / "jobs/0.yaml").write_bytes(
        (repository / "jobs/0.yaml").read_bytes().replace(b"\n", b"\r\n")
    )
    assert lint("--since", "HEAD") == []


def test_a_run_over_a_file_shares_the_results_of_the_folder(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(repository / ".cache"))
    run("lint", ".")
    stored = {path: path.read_bytes() for path in (repository / ".cache").rglob("*.entry")}
    partial = run("lint", "jobs/3.yaml", "--context", ".")
    assert "PTC576" in partial.out
    assert {path: path.read_bytes() for path in (repository / ".cache").rglob("*.entry")} == stored


def test_an_assistant_has_the_findings_of_a_run_over_the_root(repository: Path) -> None:
    (repository / "ptcompile.toml").write_text('baseline = "known.toml"\n')
    run("lint", ".", "--ignore", "PTC576", "--write-baseline", "known.toml")
    root = str(repository)

    def codes(**arguments: str) -> list[str]:
        call = Call(
            arguments, [root], partial(_settings, root), partial(_read_surroundings, [root])
        )
        report: dict[str, Any] = TOOLS["lint"].run(call)
        return [finding["code"] for finding in report["diagnostics"]]

    assert codes(path="jobs/3.yaml") == ["PTC576"]
    assert codes(path="kustomized/patch.yaml") == []
    assert "PTC291" not in codes(text=(repository / "jobs/3.yaml").read_text())


@pytest.mark.parametrize(
    ("form", "mark"),
    [
        ("json", '"object": "kubeflow.org/v1 MPIJob/old"'),
        ("sarif", '"text": "not checked: kubeflow.org/v1 MPIJob/old"'),
        ("junit", 'name="kubeflow.org/v1 MPIJob/old"><skipped message="not checked"/>'),
        ("github", "nothing was checked"),
        ("gitlab", "nothing was checked"),
        ("markdown", "nothing was checked"),
        ("full", "nothing was checked"),
        ("concise", "nothing was checked"),
    ],
)
def test_every_format_says_what_was_not_checked(tmp_path: Path, form: str, mark: str) -> None:
    (tmp_path / "job.yaml").write_text(
        "apiVersion: kubeflow.org/v1\nkind: MPIJob\nmetadata: {name: old}\n"
    )
    done = run("lint", str(tmp_path / "job.yaml"), "--output-format", form)
    assert mark in done.out
    assert "PTC907" in done.out
    assert done.status == 0
    assert done.err.splitlines()[-1].startswith("ptcompile: nothing was checked: 1 file")


def test_the_version_on_the_command_line_is_judged(repository: Path) -> None:
    done = run("lint", "jobs/1.yaml", "--kubernetes-version", "1.3", "--output-format", "concise")
    expected = "Kubernetes 1.3 is older than 1.30, whose rules apply; the newest known is 1.37"
    assert f"--kubernetes-version:1:1: warning PTC068 unmodeled-release: {expected}" in done.out
    assert "PTC068" not in run("lint", "jobs/1.yaml", "--kubernetes-version", "1.30").out
