"""The note on objects of an operator that has a successor."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptcompile.cli import main
from ptcompile.linter.successors import successor_notes
from ptcompile.source.documents import read

JOB = """apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: p}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      template: {spec: {containers: [{name: pytorch, image: "img:1", command: [python, train.py]}]}}
"""
OTHER = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: PyTorchJob}\n"


def test_the_first_object_of_a_file_gets_the_note() -> None:
    (note,) = successor_notes(read(f"{OTHER}---\n{JOB}---\n{JOB}"), "jobs.yaml")
    assert (note.name, note.severity, note.document, note.filename) == (
        "operator-with-successor",
        "note",
        1,
        "jobs.yaml",
    )
    assert (
        note.message
        == "kind: PyTorchJob (training-operator, kubeflow.org/v1) has a successor: TrainJob"
    )
    assert note.help is not None
    assert note.help.endswith("ptcompile convert --target trainjob")


def test_other_objects_have_no_note() -> None:
    assert [*successor_notes(read(OTHER), None)] == []


@pytest.mark.parametrize("selector", ["PTC606", "operator-with-successor", "PTC6"])
def test_the_configuration_disables_the_note(
    selector: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "job.yaml").write_text(JOB, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["lint", "job.yaml"]) == 0
    assert "PTC606" in "".join(capsys.readouterr())
    (tmp_path / "pyproject.toml").write_text(
        f'[tool.ptcompile]\nignore = ["{selector}"]\n', encoding="utf-8"
    )
    assert main(["lint", "job.yaml"]) == 0
    assert "PTC606" not in "".join(capsys.readouterr())
