"""The profile of `ptcompile.toml` in the commands that have --cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import here, spec

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A spec in a folder whose configuration names a profile with a queue."""
    profile = "apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {defaults: {queue: %s}}\n"
    (tmp_path / "cluster.yaml").write_text(profile % "configured", encoding="utf-8")
    (tmp_path / "other.yaml").write_text(profile % "other", encoding="utf-8")
    (tmp_path / "ptcompile.toml").write_text('cluster = "cluster.yaml"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return spec(tmp_path, body="nodes: 2")


COMMANDS = [
    ("compile", "--target", "job"),
    ("simulate", "--target", "job"),
    ("simulate", "--target", "job", "--stored"),
    ("explain", "--target", "job"),
    ("requires", "--target", "job"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_commands_read_the_configured_profile(
    words: tuple[str, ...], job: Path, capsys: Capture
) -> None:
    ran = here(capsys, *words, job)
    assert ran.status == 0, ran.err
    assert "configured" in ran.out, ran.err
    other = here(capsys, *words, job, "--cluster", "other.yaml")
    assert other.status == 0
    assert "configured" not in other.out
    assert "other" in other.out


def test_import_reads_the_configured_profile(job: Path, capsys: Capture) -> None:
    manifest = Path("job.yaml")
    compiled = here(capsys, "compile", "--target", "job", "--set", "spec.queue=null", job)
    manifest.write_text(compiled.out, encoding="utf-8")
    imported = here(capsys, "import", manifest)
    assert imported.status == 0
    assert "labels: null" in imported.out
    written = here(capsys, "import", manifest, "-o", "specs/", "--profile", "written.yaml")
    assert written.status == 0, written.err


def test_a_code_is_explained_beside_a_broken_configuration(job: Path, capsys: Capture) -> None:
    Path("ptcompile.toml").write_text("cluster = 1\n", encoding="utf-8")
    assert here(capsys, "explain", "PTC302").status == 0
    assert here(capsys, "explain", job).status == 2
    assert here(capsys, "compile", job).status == 2
