"""`--set` and `--name` in every command that reads a spec."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from ptcompile.cli import main
from ptcompile.cli.commands import watch

Capture = pytest.CaptureFixture[str]

SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: train}
spec:
  image: registry.example.com/train:1
  script: train.py
  nodes: 2
  resources: {cpu: 4, memory: 8Gi}
"""
PROFILE = "apiVersion: ptcompile/v1\nkind: ClusterProfile\nmetadata: {name: c}\nspec: {}\n"
QUEUE = ("--set", "spec.queue=research")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "spec.yaml").write_text(SPEC)
    (tmp_path / "cluster.yaml").write_text(PROFILE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_watch_shows_the_changed_spec(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """The page that it would serve; the first check of the files ends the run."""
    pages: list[str] = []
    monkeypatch.setattr(watch.Live, "show", lambda _, page: pages.append(page))
    monkeypatch.setattr(watch, "_CHECK_SECONDS", 0)
    monkeypatch.setattr(time, "sleep", _interrupt)
    assert main(["watch", "spec.yaml", "--set", "spec.nodes=5"]) == 0
    assert "an override: spec.nodes: 5" in pages[0]


def _interrupt(_: float) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("compile", "spec.yaml", "--set", "spec.nodes=5"), "parallelism: 5"),
        (("simulate", "spec.yaml", "--set", "spec.nodes=5"), "pods         5"),
        (("explain", "spec.yaml", "parallelism", "--set", "spec.nodes=5"), "value from  an override  spec.nodes: 5"),
        (("diff", "spec.yaml", "--set", "spec.nodes=5"), "~ spec.parallelism: 2 -> 5"),
        (("requires", "spec.yaml", *QUEUE), "research"),
        (("platform", "cluster.yaml", "spec.yaml", *QUEUE), "research"),
        (("explain", "spec.yaml", "--html", "-", "--set", "spec.nodes=5"), "an override: spec.nodes: 5"),
        (("compile", "spec.yaml", "--name", "run-7"), "name: run-7"),
        (("simulate", "spec.yaml", "--name", "run-7"), "Job/run-7"),
        (("explain", "spec.yaml", "metadata.name", "--name", "run-7"), "an override  metadata.name: run-7"),
        (("diff", "spec.yaml", "--name", "run-7"), "Job/train -> Job/run-7"),
    ],
)
def test_options_change_the_spec(words: tuple[str, ...], expected: str, folder: Path, capsys: Capture) -> None:
    assert main(words) in (0, 1)  # 1: diff finds a difference
    assert expected in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ("compile", "spec.yaml"),
        ("simulate", "spec.yaml"),
        ("explain", "spec.yaml"),
        ("explain", "spec.yaml", "--html", "page.html"),
        ("diff", "spec.yaml"),
        ("requires", "spec.yaml"),
        ("platform", "cluster.yaml", "spec.yaml"),
        ("rehearse", "spec.yaml"),
    ],
)
def test_mistakes_are_reported_at_the_option(words: tuple[str, ...], folder: Path, capsys: Capture) -> None:
    assert main([*words, "--set", "spec.script=a.py", "--set", "spec.nodes=many"]) == 1
    assert "--> --set:2:12" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [("simulate", "pod.yaml"), ("diff", "spec.yaml", "pod.yaml"), ("requires", "pod.yaml")]
)
def test_nothing_to_change_is_an_error(words: tuple[str, ...], folder: Path, capsys: Capture) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i:1}]}\n"
    (folder / "pod.yaml").write_text(pod)
    with pytest.raises(Exception, match="--set changes a TrainingJob, and no file here has one"):
        main([*words, "--set", "spec.nodes=5"])


def test_only_the_new_side_of_a_diff_changes(folder: Path, capsys: Capture) -> None:
    (folder / "new.yaml").write_text(SPEC.replace("nodes: 2", "nodes: 3"))
    assert main(["diff", "spec.yaml", "new.yaml", "--set", "spec.nodes=2"]) == 0
    assert "no difference" in capsys.readouterr().out


def test_overridden_inputs_are_marked_in_json(folder: Path, capsys: Capture) -> None:
    assert main(["explain", "spec.yaml", "parallelism", "--format", "json", "--set", "spec.nodes=5"]) == 0
    (cause,) = json.loads(capsys.readouterr().out)["causes"]
    (line,) = (line for line in cause["inputs"] if line["path"] == ["spec", "nodes"])
    assert line["overridden"] is True
    assert line["span"] is None
