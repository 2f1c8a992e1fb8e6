"""`ptcompile explain`: options, streams, exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import here, process, spec

Capture = pytest.CaptureFixture[str]


def test_without_a_path_the_trace_is_printed(tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, "explain", spec(tmp_path))
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("TrainingJob/train -> Pod/train  (target pod: what the job needs)\n")


def test_a_path_is_explained_with_its_line(tmp_path: Path, capsys: Capture) -> None:
    path = spec(tmp_path, body="nodes: 3")
    ran = here(capsys, "explain", path, "completions", "--target", "job")
    assert (ran.status, ran.err) == (0, "")
    assert f"  value from  {path}:7:10  spec.nodes\n              7 | nodes: 3\n" in ran.out


def test_a_value_of_the_profile_points_at_its_line(tmp_path: Path, capsys: Capture) -> None:
    profile = tmp_path / "prod.yaml"
    profile.write_text(
        "kind: ClusterProfile\nspec:\n  defaults: {env: {REGION: eu}}\n", encoding="utf-8"
    )
    ran = here(capsys, "explain", spec(tmp_path), "env.REGION", "--cluster", profile)
    assert f"{profile}:3:28  spec.defaults.env.REGION" in ran.out


def test_json_has_everything_or_the_requested_path(tmp_path: Path, capsys: Capture) -> None:
    whole = json.loads(here(capsys, "explain", spec(tmp_path), "--format", "json").out)
    part = json.loads(here(capsys, "explain", spec(tmp_path), "volumes", "--format", "json").out)
    assert [cause["shown"] for cause in part["causes"]] == [
        "spec.volumes[shm].name",
        "spec.volumes[shm].emptyDir.medium",
    ]
    assert [cause for cause in whole["causes"] if cause in part["causes"]] == part["causes"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "SPEC"),
        (("SPEC", "volumez"), "no manifest has 'volumez'; did you mean spec.volumes?"),
        (("SPEC", "xyzzy"), "no manifest has 'xyzzy'\n"),
        (
            ("SPEC", "spec.spot"),
            "no manifest has 'spec.spot'; for the field of the spec, run 'ptcompile explain spec.spot'",
        ),
        (
            ("spot",),
            "spot: no such file or directory; for the field of the spec, run 'ptcompile explain spec.spot'",
        ),
        (("maxRestarts",), "run 'ptcompile explain spec.elastic.maxRestarts'"),
        (("nowhere",), "ptcompile: nowhere: no such file or directory\n"),
        (("job.yaml:11",), "ptcompile: job.yaml:11: no such file or directory\n"),
        (("SPEC", "--target", "pods"), "no target 'pods'"),
        (("SPEC", "--cluster", "/nowhere.yaml"), "/nowhere.yaml"),
        (("/nowhere.yaml",), "/nowhere.yaml"),
        (("FOLDER",), "has 2 files"),
    ],
)
def test_wrong_usage_exits_with_2(
    words: tuple[str, ...], message: str, tmp_path: Path, capsys: Capture
) -> None:
    places = {"SPEC": spec(tmp_path), "FOLDER": spec(tmp_path / "f", "a.yaml").parent}
    spec(tmp_path / "f", "b.yaml")
    ran = here(capsys, "explain", *[places.get(word, word) for word in words])
    assert (ran.status, ran.out) == (2, "")
    assert message in ran.err


def test_a_spec_that_does_not_compile_exits_with_1(tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, "explain", spec(tmp_path, body="nods: 1"))
    assert (ran.status, ran.out) == (1, "")
    assert "spec.yaml:7:3" in ran.err


def test_a_bad_profile_is_reported_at_its_line(tmp_path: Path, capsys: Capture) -> None:
    profile = tmp_path / "prod.yaml"
    profile.write_text("kind: ClusterProfile\nspec: {gpus: 1}\n", encoding="utf-8")
    ran = here(capsys, "explain", spec(tmp_path), "--cluster", profile)
    assert (ran.status, ran.out) == (1, "")
    assert "prod.yaml:2:8" in ran.err


def test_a_warning_is_printed_in_addition_to_the_result(tmp_path: Path, capsys: Capture) -> None:
    ran = here(
        capsys, "explain", spec(tmp_path, body="resources: {gpu: 8}\nelastic: {nprocPerNode: 1}")
    )
    assert ran.status == 0
    assert "warning[" in ran.err
    assert ran.out.startswith("TrainingJob/")


def test_the_page_is_a_file_or_the_output(tmp_path: Path, capsys: Capture) -> None:
    path, page = spec(tmp_path), tmp_path / "new" / "page.html"
    ran = here(capsys, "explain", path, "--html", page)
    assert (ran.status, ran.out, ran.err) == (0, "", "")
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    ran = here(capsys, "explain", path, "--html", "-")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == page.read_text(encoding="utf-8")
    assert [one.name for one in page.parent.iterdir()] == ["page.html"]


def test_the_page_has_the_named_target_and_the_profile(tmp_path: Path, capsys: Capture) -> None:
    profile = tmp_path / "prod.yaml"
    profile.write_text(
        "kind: ClusterProfile\nspec:\n  defaults: {env: {REGION: eu}}\n", encoding="utf-8"
    )
    ran = here(
        capsys, "explain", spec(tmp_path), "--html", "-", "--target", "jobset", "--cluster", profile
    )
    assert ran.status == 0
    assert 'id="jobset-lines"' in ran.out
    assert 'id="job-lines"' not in ran.out
    assert 'id="cluster-3"' in ran.out


def test_a_page_shows_why_it_does_not_compile(tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, "explain", spec(tmp_path, body="nods: 1"), "--html", "-")
    assert ran.status == 1
    assert "spec.yaml:7:3" in ran.err
    assert "did you mean nodes?" in ran.out


def test_other_targets_may_reject_the_spec(tmp_path: Path, capsys: Capture) -> None:
    path = spec(tmp_path, body="nodes: 2")
    assert (ran := here(capsys, "explain", path, "--html", "-")).status == 0
    assert "pod cannot express this job" in ran.out
    assert here(capsys, "explain", path, "--html", "-", "--target", "pod").status == 1


def test_a_page_of_a_bad_profile_is_not_written(tmp_path: Path, capsys: Capture) -> None:
    profile = tmp_path / "prod.yaml"
    profile.write_text("kind: ClusterProfile\nspec: {gpus: 1}\n", encoding="utf-8")
    page = tmp_path / "page.html"
    ran = here(capsys, "explain", spec(tmp_path), "--cluster", profile, "--html", page)
    assert (ran.status, ran.out) == (1, "")
    assert "prod.yaml:2:8" in ran.err
    assert not page.exists()


@pytest.mark.parametrize("words", [("volumes", "--html", "-"), ("--format", "json", "--html", "-")])
def test_a_page_shows_everything(words: tuple[str, ...], tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, "explain", spec(tmp_path), *words)
    assert (ran.status, ran.out) == (2, "")
    assert "remove PATH and --format" in ran.err


def test_a_spec_is_read_from_standard_input(tmp_path: Path) -> None:
    ran = process("explain", "-", "image", stdin=spec(tmp_path).read_bytes())
    assert (ran.status, ran.err) == (0, "")
    assert "<stdin>:5:10  spec.image" in ran.out


def test_a_field_in_place_of_a_file_is_explained(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    ran = here(capsys, "explain", "PyTorchJob.spec.runPolicy")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("kubeflow.org/v1 PyTorchJob: spec.runPolicy\n  mapping\n")
    assert max(map(len, ran.out.splitlines())) <= 60
    assert json.loads(here(capsys, "explain", "spec.nodes", "--format", "json").out)["example"] == {
        "spec": {"nodes": 4}
    }


def test_a_file_with_the_name_of_a_field_is_a_file(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec").write_text(
        Path(spec(tmp_path)).read_text(encoding="utf-8"), encoding="utf-8"
    )
    assert here(capsys, "explain", "spec").out.startswith("TrainingJob/train -> ")


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("spec.gpus", "TrainingJob.spec has no field 'gpus'; did you mean spec.resources.gpu?"),
        ("spec.yaml", "spec.yaml: no such file or directory"),
        ("nowhere.spec", "nowhere.spec: no such file or directory"),
    ],
)
def test_a_word_that_is_neither_a_field_nor_a_file_is_a_usage_error(
    word: str, message: str, capsys: Capture
) -> None:
    ran = here(capsys, "explain", word)
    assert (ran.status, ran.err) == (2, f"ptcompile: {message}\n")
