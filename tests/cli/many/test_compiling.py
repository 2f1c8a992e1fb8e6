"""`ptcompile compile` over many files: the same bytes in one process and in several."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ptcompile.cli.many import processes
from tests.cli.running import ROOT, here, process
from tests.making import smallest


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """Specs of golden/, one with a secret, and what is no spec."""
    for path in sorted((ROOT / "golden").glob("*/spec.yaml"))[::16]:
        shutil.copy(path, tmp_path / f"{path.parent.name}.yaml")
    (tmp_path / "bad.yaml").write_text("a: [")
    (tmp_path / "other.yaml").write_text("kind: Pod\napiVersion: v1\n")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ("--target", "all", "--format", "json", "--no-lint"),
        ("--set", "spec.nodes=3", "--set-string", "metadata.labels.a=b", "--target", "job"),
        ("--cluster", str(ROOT / "golden" / "spot-a100" / "cluster.yaml")),
    ],
)
def test_the_same_bytes_in_several_processes(golden: Path, words: tuple[str, ...]) -> None:
    alone = process(".", *words, "--jobs", "1", cwd=golden)
    assert process(".", *words, "--jobs", "3", cwd=golden) == alone
    assert alone.status == 1
    assert "bad.yaml" in alone.err


def test_the_same_files_are_written(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"{number:02}.yaml").write_text(smallest(f"nodes: {number + 1}", f"job-{number}"))
    ran = [process(".", "--target", "all", "-o", f".{jobs}/", "--jobs", jobs, cwd=tmp_path) for jobs in "13"]
    assert ran[0] == ran[1]
    assert ran[0].status == 0
    written = [
        {path.relative_to(tmp_path / f".{jobs}"): path.read_bytes() for path in (tmp_path / f".{jobs}").rglob("*.yaml")}
        for jobs in "13"
    ]
    assert written[0] == written[1]
    assert len(written[0]) > 25


def test_a_process_that_is_no_fork_compiles_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads the configuration and the profile again."""
    monkeypatch.setattr(processes, "_can_fork", lambda: False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ptcompile.toml").write_text('ignore = ["PTC302"]\n')
    (tmp_path / ".cluster.yaml").write_text(
        "kind: ClusterProfile\napiVersion: ptcompile/v1\nspec: {defaults: {env: {A: b}}}\n"
    )
    for number in range(4):
        (tmp_path / f"{number}.yaml").write_text(smallest("resources: {gpu: 8}", f"job-{number}"))
    options = ("--cluster", ".cluster.yaml", "--set", "spec.nodes=2", "--target", "all", "--format", "json")
    told = [here(capsys, "compile", ".", *options, "--jobs", jobs) for jobs in "12"]
    assert told[0] == told[1]
    assert told[0].status == 0
    assert '"A"' in told[0].out
