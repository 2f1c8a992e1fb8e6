"""`lint FOLDER`: an object that an earlier file of the folder defines too is a warning at its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptcompile.cli.repeated import repeated_objects
from tests.cli.lints import Counted
from tests.cli.running import Ran, here, process, spec

Capture = pytest.CaptureFixture[str]

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: "i:1", command: [sleep, "1"]}]
"""
SETTINGS = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata: {lr: '0.1'}\n"
AUTOSCALER = """\
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
"""


def lint(capsys: Capture, *words: str | Path) -> Ran:
    return here(capsys, "lint", *words, "--output-format", "concise")


def write(folder: Path, **contents: str) -> Path:
    """Write one YAML file per keyword into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / f"{name}.yaml").write_text(content, encoding="utf-8")
    return folder


def test_a_copied_job_is_a_warning_in_the_later_file(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path, a=JOB, b=JOB.replace("i:1", "i:2"))
    ran = lint(capsys, tmp_path)
    assert ran.status == 0
    (finding,) = ran.out.splitlines()
    assert finding == (
        f"{tmp_path}/b.yaml:3:18: warning PTC576 repeated-object: metadata.name: a.yaml in this folder also defines "
        "Job/train: if both are applied, one overwrites the other (Job/train)"
    )
    assert lint(capsys, tmp_path / "a.yaml", tmp_path / "b.yaml").out == ran.out
    assert lint(capsys, f"{tmp_path}/*.yaml").out == ran.out
    assert not lint(capsys, tmp_path / "b.yaml").out


def test_a_copied_spec_is_a_warning(tmp_path: Path, capsys: Capture) -> None:
    spec(tmp_path, "a.yaml")
    spec(tmp_path, "b.yaml", "nodes: 2")
    assert "b.yaml:3:18: warning PTC576" in lint(capsys, tmp_path).out


def test_versions_of_one_group_are_one_object(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path, a=AUTOSCALER, b=AUTOSCALER.replace("/v1\nkind: Hor", "/v2\nkind: Hor"))
    assert "a.yaml in this folder also defines HorizontalPodAutoscaler/web" in lint(capsys, tmp_path).out


def test_every_repeated_object_of_a_file_is_reported_once(tmp_path: Path, capsys: Capture) -> None:
    changed = SETTINGS.replace("0.1", "0.2")
    write(tmp_path, a=f"{JOB}---\n{SETTINGS}", b=f"{SETTINGS}---\n{JOB}", c=f"{changed}---\n{JOB}")
    shown = [
        line.partition(": warning")[0].removeprefix(f"{tmp_path}/") for line in lint(capsys, tmp_path).out.splitlines()
    ]
    assert shown == ["b.yaml:9:18", "c.yaml:4:9", "c.yaml:9:18"]


@pytest.mark.parametrize(
    "other",
    [
        JOB.replace("train}", "other}"),
        JOB.replace("train}", "train, namespace: team-b}"),
        JOB.replace("name: train}", "generateName: train}"),
        JOB.replace("name: train}", "name: ''}"),
        JOB.replace("batch/v1", "example.com/v1").replace("kind: Job", "kind: Unknown"),
        JOB.replace("train}", "train}").replace("kind: Job", "kind: CronJob"),
        "a: 1\nkind: 3\n",
        "- 1\n",
        "",
        "a: [",
    ],
)
def test_different_objects_are_not_reported(tmp_path: Path, capsys: Capture, other: str) -> None:
    write(tmp_path, a=JOB, b=other)
    assert "PTC576" not in lint(capsys, tmp_path).out


@pytest.mark.parametrize("name", ["'${NAME}'", "__NAME__", "'<name>'", "'{{ name }}'", "'{{ .Release.Name }}-x'", "''"])
def test_the_name_of_a_template_is_unknown(tmp_path: Path, capsys: Capture, name: str) -> None:
    job = JOB.replace("name: train", f"name: {name}")
    write(tmp_path, a=job, b=job.replace("i:1", "i:2"))
    assert "PTC576" not in lint(capsys, tmp_path).out


def test_generated_names_differ(tmp_path: Path, capsys: Capture) -> None:
    job = JOB.replace("name: train}", "generateName: train-}")
    write(tmp_path, a=job, b=job)
    assert not lint(capsys, tmp_path).out


def test_objects_of_unknown_kinds_are_not_compared(tmp_path: Path, capsys: Capture) -> None:
    widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x}\nspec: {size: 1}\n"
    profile = "apiVersion: ptcompile/v1\nkind: ClusterProfile\nmetadata: {name: x}\nspec: {cloud: gke}\n"
    write(tmp_path, a=widget, b=widget.replace("1}", "2}"), c=profile, d=profile.replace("gke", "eks"))
    assert "PTC576" not in lint(capsys, tmp_path).out


def test_a_shared_object_with_the_same_content_is_not_reported(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path, a=SETTINGS, b=f"# a copy\n{SETTINGS}")
    assert not lint(capsys, tmp_path).out
    write(tmp_path, c=SETTINGS.replace("0.1", "0.2"))
    assert "c.yaml:4:9: warning PTC576 repeated-object: metadata.name: a.yaml " in lint(capsys, tmp_path).out


def test_a_job_with_the_same_content_is_reported(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path, a=JOB, b=JOB)
    assert lint(capsys, tmp_path).out.count("PTC576") == 1


def test_files_of_other_folders_are_not_compared(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path / "blue", job=JOB)
    write(tmp_path / "green", job=JOB)
    write(tmp_path, job=JOB)
    assert not lint(capsys, tmp_path).out


@pytest.mark.parametrize("place", [".", ".."])
@pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.yml", "Kustomization"])
def test_a_kustomization_may_patch_one_object_twice(tmp_path: Path, capsys: Capture, place: str, name: str) -> None:
    folder = write(tmp_path / "overlay", a=JOB, b=JOB)
    (folder / place / name).write_text("patches: [{path: overlay/a.yaml}, {path: overlay/b.yaml}]\n", encoding="utf-8")
    assert "PTC576" not in lint(capsys, folder).out


def test_standard_input_is_in_no_folder(tmp_path: Path) -> None:
    write(tmp_path, a=JOB)
    ran = process("lint", "a.yaml", "-", stdin=JOB.encode(), cwd=tmp_path)
    assert "PTC576" not in ran.out


def test_a_comment_an_option_or_the_configuration_ignores_it(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path, a=JOB, b=JOB)
    assert not lint(capsys, tmp_path, "--ignore", "PTC576").out
    assert not lint(capsys, tmp_path, "--select", "PTC1").out
    (tmp_path / "ptcompile.toml").write_text('[per-file-ignores]\n"b.yaml" = ["PTC576"]\n', encoding="utf-8")
    ran = lint(capsys, "--config", tmp_path / "ptcompile.toml", tmp_path)
    assert (ran.out, "1 ignored" in ran.err) == ("", True)
    write(tmp_path, b=JOB.replace("train}", "train}  # ptcompile: ignore[PTC576]"))
    ran = lint(capsys, tmp_path)
    assert (ran.out, "1 ignored" in ran.err) == ("", True)


def test_add_ignore_writes_the_comment(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path, a=JOB, b=JOB)
    assert here(capsys, "lint", "--add-ignore", tmp_path).status == 0
    assert (tmp_path / "b.yaml").read_text("utf-8") == JOB.replace("train}", "train}  # ptcompile: ignore[PTC576]")
    assert not lint(capsys, tmp_path).out


def test_remaining_findings_have_the_address(tmp_path: Path, capsys: Capture) -> None:
    spec(tmp_path, "a.yaml")
    spec(tmp_path, "b.yaml", "working_dir: /data")
    ran = lint(capsys, tmp_path, "--fix")
    assert (ran.out.count("PTC576"), "1 fixed" in ran.err) == (1, True)


def test_the_same_in_several_processes_and_with_earlier_results(many: Path, asked: Counted, capsys: Capture) -> None:
    write(many, a=JOB, b=JOB)
    first = lint(capsys, ".")
    assert first.out.count("PTC576") == 1
    asked.clear()
    assert lint(capsys, ".") == first
    assert asked == ["./b.yaml"]
    assert lint(capsys, ".", "--no-cache", "--jobs", "2") == first
    write(many, a=JOB.replace("train}", "other}"))
    assert "PTC576" not in lint(capsys, ".").out
    write(many, c=JOB)
    assert "c.yaml:3:18: warning PTC576 repeated-object: metadata.name: b.yaml " in lint(capsys, ".").out


def test_the_first_file_is_the_first_of_the_run() -> None:
    key = ("batch", "Job", "default", "train")
    assert repeated_objects([("x/b.yaml", ((key, ""),)), ("x/a.yaml", ((key, ""),)), ("y/a.yaml", ((key, ""),))]) == {
        "x/a.yaml": {key: "b.yaml"}
    }
