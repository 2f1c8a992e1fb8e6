"""Misspelled commands, options and targets: a suggestion is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import here
from tests.making import smallest

SLIPS = [
    (["lnt", "x.yaml"], "no command and no file 'lnt'; did you mean lint?"),
    (["simulat", "x.yaml"], "did you mean simulate?"),
    (["validate", "x.yaml"], "no command and no file 'validate'; did you mean lint?"),
    (["render", "x.yaml"], "did you mean compile?"),
    (["x.yaml", "--targt", "job"], "unrecognized arguments: --targt; did you mean --target?"),
    (["x.yaml", "--outptu=a"], "did you mean --output?"),
    (["lint", "x.yaml", "--exit-zro"], "did you mean --exit-zero?"),
    (["x.yaml", "--target", "volcanno"], "no target 'volcanno'; did you mean volcano?"),
    (["x.yaml", "--target", "kubeflow-trainer-v2"], "did you mean trainjob?"),
    (["init", "--target", "kubeflow-trainer"], "did you mean trainjob?"),
    (["init", "my.yaml"], "unrecognized arguments: my.yaml; to write to a file, use -o my.yaml"),
    (
        ["submit", "x.yaml"],
        "no command 'submit': pipe the manifests to the cluster with `ptcompile SPEC |",
    ),
    (["apply", "-f", "x.yaml"], "no command 'apply': pipe"),
    (["explain", "max_restarts"], "run 'ptcompile explain spec.elastic.maxRestarts'"),
    (["explain", "preemption"], "run 'ptcompile explain spec.spot'"),
    (["explain", "elastic.maxRestarts"], "run 'ptcompile explain spec.elastic.maxRestarts'"),
    (["explain", "PTC9999"], "no rule has this code: run 'ptcompile rules'"),
    (["x.yaml", "--target", "slurm"], "no target 'slurm'; the targets are pod, job, "),
]


@pytest.mark.parametrize(("words", "message"), SLIPS, ids=[" ".join(words) for words, _ in SLIPS])
def test_a_slip_has_a_helpful_message(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = here(capsys, *words)
    assert (ran.status, ran.out) == (2, "")
    assert message in ran.err


def test_nothing_is_suggested_for_an_unfamiliar_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean" not in here(capsys, "x.yaml", "--frobnicate").err
    assert "no such file" in here(capsys, "frobnicate").err


def test_a_file_named_almost_like_a_command_is_a_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lnt").write_text(smallest())
    assert here(capsys, "lnt").status == 0


def test_each_of_sixteen_mistakes_has_a_help(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Each layer reports its mistakes with a help, also for those that could be fixed automatically."""
    path = tmp_path / "spec.yaml"
    path.write_text(MISTAKES)
    for words in ([path], [path, "--target", "jobset"], [path, "--output-format", "json"]):
        ran = here(capsys, *words)
        assert (ran.status, ran.out) == (1, "")
        assert ran.err.count("metadata.name") >= 1
    ran = here(capsys, path)
    assert "16 errors, 0 warnings" in ran.err
    assert ran.err.count("  = help: ") == 14, "all but a bound, and an amount that is near nothing"


MISTAKES = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: Llama_SFT}
image: a:1
spec:
  image: a:1:2
  scrpt: t.py
  nprocPerNode: 8
  backoffLimit: 2
  gpu: 8
  initContainers: []
  env: [{name: A, value: b}]
  args: --lr 1
  restartPolicy: always
  resources: {cpu: 4x, memry: 8Gi}
  tolerations: [{key: a, operatr: Exists}]
  volumeMounts: [{name: dta, mountPath: /data}]
  runPolicy: {ttlSecondsAfterFinished: -1}
"""
