"""`target` in the configuration: the target of specs that name none."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cli.running import here
from tests.making import smallest

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    Path("ptcompile.toml").write_text('target = "jobset"\n', encoding="utf-8")
    Path("none.yaml").write_text(smallest("nodes: 2"), encoding="utf-8")
    Path("own.yaml").write_text(smallest("nodes: 2\ntarget: volcano"), encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["none.yaml"], "JobSet"),
        (["own.yaml"], "Job"),
        (["none.yaml", "--target", "pytorchjob"], "PyTorchJob"),
    ],
)
def test_the_command_line_wins_over_the_spec_and_that_over_the_configuration(
    words: list[str], kind: str, capsys: Capture
) -> None:
    ran = here(capsys, *words)
    assert ran.status == 0, ran.err
    assert kind in [manifest["kind"] for manifest in yaml.safe_load_all(ran.out)]


def test_explain_names_the_configuration_as_the_target_s_origin(capsys: Capture) -> None:
    assert "(target jobset: ptcompile.toml)" in here(capsys, "explain", "none.yaml").out
    assert "(target volcano: spec.target)" in here(capsys, "explain", "own.yaml").out


@pytest.mark.parametrize("verb", ["compile", "lint", "simulate"])
def test_an_unknown_target_is_a_mistake_of_the_configuration(verb: str, capsys: Capture) -> None:
    Path("ptcompile.toml").write_text('target = "jobst"\n', encoding="utf-8")
    ran = here(capsys, verb, "none.yaml")
    assert ran.status == 1
    assert "no target 'jobst'" in ran.out + ran.err
    assert "--> ptcompile.toml" in ran.out + ran.err


def test_a_number_for_a_text_names_set_string(capsys: Capture) -> None:
    ran = here(capsys, "none.yaml", "--set", "spec.env.LR=1e-5")
    assert ran.status == 1
    assert "help: use --set-string spec.env.LR=1e-5" in ran.err
    assert here(capsys, "none.yaml", "--set-string", "spec.env.LR=1e-5").status == 0


def test_variants_are_chosen(capsys: Capture) -> None:
    with Path("none.yaml").open("a", encoding="utf-8") as file:
        file.write("variants: {b: {nodes: 3}, c: {nodes: 4}}\n")
    names = [
        manifest["metadata"]["name"]
        for manifest in yaml.safe_load_all(here(capsys, "none.yaml").out)
    ]
    assert names == ["train-b", "train-c"]
    ran = here(capsys, "none.yaml", "--variant", "c")
    assert [manifest["metadata"]["name"] for manifest in yaml.safe_load_all(ran.out)] == ["train-c"]
    assert "no variant 'd'" in here(capsys, "none.yaml", "--variant", "d").err


def test_diff_compiles_for_the_configured_target(capsys: Capture) -> None:
    here(capsys, "none.yaml", "--target", "pytorchjob", "-o", "made.yaml")
    assert "PyTorchJob/train -> JobSet/train" in here(capsys, "diff", "made.yaml", "none.yaml").out
    same = here(capsys, "diff", "made.yaml", "none.yaml", "--target", "pytorchjob")
    assert same.status == 0
    assert "JobSet" not in same.out


@pytest.mark.parametrize("verb", ["compile", "lint", "simulate"])
def test_variants_in_a_list_are_refused(verb: str, capsys: Capture) -> None:
    spec = yaml.safe_load(Path("none.yaml").read_text(encoding="utf-8"))
    items = [{**spec, "variants": {"b": {"nodes": 3}}}]
    Path("list.yaml").write_text(
        yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items})
    )
    ran = here(capsys, verb, "list.yaml")
    assert ran.status == 1
    assert "variants are of a TrainingJob that is a document" in ran.out + ran.err
