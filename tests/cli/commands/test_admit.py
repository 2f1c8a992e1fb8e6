"""`ptcompile admit`: options, output and exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.api.test_admit import QUEUES, SPEC, job
from tests.cli.running import here

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "queues.yaml").write_text(QUEUES, encoding="utf-8")
    for name, pods in (("job", 2), ("wide", 5)):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(job(name, pods)), encoding="utf-8")
    return tmp_path


def test_the_exit_status_tells_whether_all_jobs_are_admitted(folder: Path, capsys: Capture) -> None:
    ran = here(capsys, "admit", "job.yaml", "queues.yaml")
    assert (ran.status, ran.out.splitlines()[1]) == (0, "Job/job: admitted by research")
    ran = here(capsys, "admit", "wide.yaml", "--state", "queues.yaml")
    assert ran.status == 1
    assert "error[PTC280 never-admitted]" in ran.err
    assert "--> wide.yaml:5:" in ran.err
    assert "the quota is at queues.yaml:" in ran.err
    assert here(capsys, "admit").status == 2
    assert here(capsys, "admit", "job.yaml", "--state", "absent.yaml").status == 2
    assert here(capsys, "admit", "absent.yaml").status == 2


def test_jobs_come_in_the_order_of_the_files(folder: Path, capsys: Capture) -> None:
    (folder / "third.yaml").write_text(yaml.safe_dump(job("third", 3)), encoding="utf-8")
    for words, outcomes in (
        (("job.yaml", "third.yaml"), {"job": "admitted", "third": "waits"}),
        (("third.yaml", "job.yaml"), {"third": "admitted", "job": "waits"}),
    ):
        ran = here(capsys, "admit", *words, "--state", "queues.yaml", "--format", "json")
        jobs = json.loads(ran.out)["jobs"]
        assert (ran.status, {name: one["outcome"] for name, one in jobs.items()}) == (1, outcomes)


def test_files_without_jobs_are_an_error(folder: Path, capsys: Capture) -> None:
    ran = here(capsys, "admit", "queues.yaml")
    assert (ran.status, ran.out) == (1, "")
    assert "no job" in ran.err


def test_set_changes_the_spec(folder: Path, capsys: Capture) -> None:
    (folder / "spec.yaml").write_text(SPEC, encoding="utf-8")
    profile = "apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {queueSystem: kueue}\n"
    (folder / "cluster.yaml").write_text(profile, encoding="utf-8")
    words = ("admit", "spec.yaml", "queues.yaml", "--cluster", "cluster.yaml")
    assert here(capsys, *words).status == 1
    ran = here(capsys, *words, "--set", "spec.nodes=2", "--name", "run-7")
    assert (ran.status, ran.out.splitlines()[1]) == (0, "Job/run-7: admitted by research")
    ran = here(capsys, *words, "--set", "spec.nodes=many")
    assert (ran.status, ran.out) == (1, "")
    assert "--> --set:1:12" in ran.err
    assert here(capsys, "admit", "job.yaml", "queues.yaml", "--set", "spec.nodes=2").status == 2
