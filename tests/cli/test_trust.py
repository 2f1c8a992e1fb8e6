"""Repositories of strangers: nothing in them leads out of them, neither to be read nor to be written."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest

from ptcompile import limits
from ptcompile.cli import files, temporaries, trust
from tests.cli.running import Ran, here, process

Capture = pytest.CaptureFixture[str]
BAD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {nods: 1, containers: [{name: a, image: a:1}]}\n"
FIXABLE = BAD.replace("nods: 1, ", "").replace("image: a:1", "image: a:1, imagePullPolcy: Always")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a folder of manifests, and a file beside it that is nobody's business."""
    root = tmp_path / "repo"
    (root / ".git").mkdir(parents=True)
    (root / "m").mkdir()
    (root / "m" / "good.yaml").write_text(BAD)
    (tmp_path / "secret.yaml").write_text("top: [secret-of-the-machine\n")
    monkeypatch.chdir(root)
    return root


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--untrusted` holds for a process; here for a test."""
    monkeypatch.setattr(limits, "_in_force", [limits.TRUSTED])
    monkeypatch.setattr(trust, "_untrusted", [False])


def lint(capsys: Capture, *words: str | Path) -> Ran:
    return here(capsys, "lint", *words)


def test_configuration_ends_at_the_root(repository: Path, capsys: Capture) -> None:
    (repository.parent / "ptcompile.toml").write_text('ignore = ["PTC501"]')
    assert lint(capsys, "m").status == 1
    (repository / "ptcompile.toml").write_text('ignore = ["PTC501"]')
    os.chdir(repository / "m")
    assert lint(capsys, ".").status == 0, "the repository's own counts"


def test_outside_of_a_repository_the_current_folder_counts(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.yaml").write_text(BAD)
    (tmp_path / "ptcompile.toml").write_text('ignore = ["PTC501"]')
    monkeypatch.chdir(tmp_path / "deep")
    assert lint(capsys, "a.yaml").status == 1
    monkeypatch.chdir(tmp_path)
    assert lint(capsys, "deep/a.yaml").status == 0


@pytest.mark.parametrize(
    "line", ['cluster = "../secret.yaml"', 'cluster = "/proc/self/environ"', 'schemas = ["m", ".."]']
)
def test_configuration_names_nothing_outside(repository: Path, capsys: Capture, line: str) -> None:
    (repository / "ptcompile.toml").write_text(line)
    ran = lint(capsys, "m")
    assert ran.status == 2
    assert "leads out of" in ran.err
    assert "secret-of-the-machine" not in ran.out + ran.err


def test_a_link_in_the_configuration_leads_nowhere(repository: Path, capsys: Capture) -> None:
    (repository / "cluster.yaml").symlink_to(repository.parent / "secret.yaml")
    (repository / "ptcompile.toml").write_text('cluster = "cluster.yaml"')
    ran = lint(capsys, "m")
    assert (ran.status, "secret-of-the-machine" in ran.out + ran.err) == (2, False)


@pytest.mark.parametrize("words", [("m",), ("m/*.yaml",)])
def test_links_in_folders_are_not_followed_out(repository: Path, capsys: Capture, words: tuple[str, ...]) -> None:
    (repository / "m" / "x.yaml").symlink_to(repository.parent / "secret.yaml")
    (repository / "m" / "y.yaml").symlink_to("good.yaml")
    ran = lint(capsys, *words)
    assert ran.status == 2
    assert f"m/x.yaml: a link that leads out of {repository}; name it to read it" in ran.err
    assert "secret-of-the-machine" not in ran.out + ran.err
    assert "1 file" in ran.err, "the other link is the same file in another spelling"


def test_a_link_that_is_named_is_read_unless_the_files_are_a_stranger_s(repository: Path, capsys: Capture) -> None:
    (repository / "m" / "x.yaml").symlink_to(repository.parent / "secret.yaml")
    assert "secret-of-the-machine" in lint(capsys, "m/x.yaml").out
    ran = lint(capsys, "--untrusted", "m/x.yaml")
    assert (ran.status, "secret-of-the-machine" in ran.out + ran.err) == (2, False)


def test_no_frames_of_files_outside(repository: Path, capsys: Capture) -> None:
    outside = repository.parent / "secret.yaml"
    assert "secret-of-the-machine" in lint(capsys, outside).out
    ran = lint(capsys, "--untrusted", outside)
    assert "PTC0" in ran.out
    assert "secret-of-the-machine" not in ran.out + ran.err
    assert "nods" in lint(capsys, "--untrusted", "m").out, "those inside are shown"


def test_strangers_get_lower_limits(repository: Path, capsys: Capture) -> None:
    many = repository / "many.yaml"
    many.write_text("---\n".join([BAD] * 2100))
    assert "more than 2000" in lint(capsys, "--untrusted", "--output-format", "concise", many).out


def test_nothing_is_written_through_a_link_out(repository: Path, capsys: Capture) -> None:
    outside = repository.parent / "victim.yaml"
    outside.write_text(FIXABLE)
    (repository / "m" / "x.yaml").symlink_to(outside)
    (repository / "out").symlink_to(repository.parent)
    for words in (("lint", "--fix", "--unsafe-fixes", "m/x.yaml"), ("compile", "spec.yaml", "-o", "out/victim.yaml")):
        (repository / "spec.yaml").write_text(
            "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: a}\nspec: {image: 'a:1', script: t.py}\n"
        )
        ran = here(capsys, *words)
        assert ran.status == 2
        assert "where nothing is written" in ran.err
    assert outside.read_text() == FIXABLE


def test_two_spellings_are_one_file(repository: Path, capsys: Capture) -> None:
    (repository / "d.yaml").write_text(FIXABLE)
    (repository / "e.yaml").symlink_to("d.yaml")
    ran = lint(capsys, "d.yaml", "./d.yaml", "e.yaml", "--fix", "--unsafe-fixes")
    assert "1 file," in ran.err
    assert "imagePullPolicy" in (repository / "d.yaml").read_text()


def test_a_fix_keeps_the_mode_without_setuid(repository: Path, capsys: Capture) -> None:
    path = repository / "d.yaml"
    path.write_text(FIXABLE)
    path.chmod(0o4640)
    lint(capsys, "--fix", "--unsafe-fixes", path)
    assert "imagePullPolicy" in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_what_a_killed_run_left_is_removed_by_a_later_one(repository: Path) -> None:
    old, young = (repository / f".ptcompile-{name}.tmp" for name in ("old", "young"))
    for one in (old, young):
        one.touch()
    hour = time.time() - 3700
    os.utime(old, (hour, hour))
    temporaries.sweep.cache_clear()
    files.write_files({str(repository / "a.yaml"): "a: 1\n"})
    assert not old.exists()
    assert young.exists(), "somebody may still be writing it"


def test_a_deleted_working_directory_and_no_home(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    code = "import os, sys; os.rmdir(os.getcwd()); from ptcompile.cli import main; sys.exit(main(['lint', '-']))"
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-c", code], input=BAD.encode(), cwd=gone, capture_output=True, timeout=60, check=False,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert (done.returncode, files.BUG in done.stderr.decode()) == (1, False), done.stderr
    gone.mkdir()
    shell = 'rmdir "$PWD"; exec "$0" -m ptcompile lint -'
    done = subprocess.run(
        ["/bin/sh", "-c", shell, sys.executable], input=BAD.encode(), cwd=gone, capture_output=True, timeout=60,
        check=False, env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert (done.returncode, b"Traceback" in done.stderr) == (1, False), done.stderr


def test_pages_without_docstrings() -> None:
    ran = process("explain", "PTC302", flags=("-OO",))
    assert ran.status == 0
    assert "shared memory" in ran.out
