"""How results are written: beside their place, under a name that cannot be foreseen, then moved."""

from __future__ import annotations

import glob
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ptcompile.cli import files, temporaries
from ptcompile.cli.files import UsageError, write_files
from tests.cli.running import here

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim.txt"
    path.write_text("mine")
    return path


def test_a_link_at_a_temporary_name_is_not_followed(
    tmp_path: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "urandom", lambda size: b"\1" * size)
    trap = tmp_path / temporaries.name()
    trap.symlink_to(victim)
    with pytest.raises(UsageError, match=r"o\.yaml: file exists"):
        write_files({str(tmp_path / "o.yaml"): "a: 1\n"})
    assert victim.read_text() == "mine"
    assert trap.is_symlink(), "what was not made here is not removed"
    assert not (tmp_path / "o.yaml").exists()


def test_two_runs_take_two_names(tmp_path: Path, victim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"o.yaml.{os.getpid()}.tmp").symlink_to(victim)
    seen: list[str] = []
    replace = os.replace

    def watched(source: str, place: str) -> None:
        seen.append(source)
        replace(source, place)

    monkeypatch.setattr(os, "replace", watched)
    for text in ("a: 1\n", "a: 2\n"):
        write_files({str(tmp_path / "o.yaml"): text})
    assert len(set(seen)) == 2
    assert (tmp_path / "o.yaml").read_text() == "a: 2\n"
    assert victim.read_text() == "mine"
    assert not list(tmp_path.glob(".ptcompile-*"))


def test_permissions_are_kept_and_setuid_is_not(tmp_path: Path) -> None:
    path = tmp_path / "o.yaml"
    path.write_text("a: 1\n")
    path.chmod(0o4640)
    write_files({str(path): "a: 2\n"})
    assert path.stat().st_mode & 0o7777 == 0o640


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="root alone gives files away")
def test_the_owner_stays(tmp_path: Path) -> None:
    path = tmp_path / "o.yaml"
    path.write_text("a: 1\n")
    os.chown(path, 1234, 1234)
    write_files({str(path): "a: 2\n"})
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 1234)


def test_nothing_is_left_behind_where_one_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="is a directory"):
        write_files({str(tmp_path / "a.yaml"): "a: 1\n", str(tmp_path / "folder"): "b: 1\n"})
    assert [one.name for one in tmp_path.iterdir()] == ["folder"]


WRITER = """
import os, signal, sys
from ptcompile.cli import files, temporaries
os.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)
files.write_files({sys.argv[1]: "a: 1\\n"})
"""


@pytest.mark.skipif(not Path("/proc/sys/kernel/random/boot_id").exists(), reason="tells runs of this machine apart")
def test_what_a_killed_run_left_is_gone_after_the_next(tmp_path: Path) -> None:
    path = tmp_path / "o.yaml"
    killed = subprocess.run([sys.executable, "-c", WRITER, path], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    temporaries.sweep.cache_clear()
    write_files({str(path): "a: 2\n"})
    assert list(tmp_path.iterdir()) == [path], left


def test_what_another_run_is_writing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of this machine that lives, one of another machine or container, and one that says nothing of its run."""
    mine = temporaries.name()
    elsewhere = mine.replace(".ptcompile-", ".ptcompile-0")
    names = {mine, elsewhere, ".ptcompile-x.tmp", f".ptcompile--{2**31 - 1}-x.tmp"}
    for name in names:
        (tmp_path / name).touch()
    temporaries.sweep.cache_clear()
    write_files({str(tmp_path / "o.yaml"): "a: 1\n"})
    assert {one.name for one in tmp_path.iterdir()} == {*names, "o.yaml"}

    def another_user(number: int, sign: int) -> None:
        raise PermissionError(number, sign)

    monkeypatch.setattr(os, "kill", another_user)
    temporaries.sweep.cache_clear()
    temporaries.sweep(str(tmp_path))
    assert (tmp_path / mine).exists()


def test_a_read_only_file_is_not_replaced(tmp_path: Path) -> None:
    """root may write it, and anyone may rename over it; its owner says no."""
    path = tmp_path / "o.yaml"
    path.write_text("a: 1\n")
    path.chmod(0o444)
    with pytest.raises(UsageError, match=r"o\.yaml: is read-only"):
        write_files({str(path): "a: 2\n", str(tmp_path / "p.yaml"): "b: 1\n"})
    assert path.read_text() == "a: 1\n"
    assert [one.name for one in tmp_path.iterdir()] == ["o.yaml"]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_a_file_that_is_longer_than_it_says_is_read_whole() -> None:
    assert Path("/proc/self/status").stat().st_size == 0
    assert b"Threads:" in files.read("/proc/self/status")


def test_ctrl_c_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write_files({str(tmp_path / "a.yaml"): "a", str(tmp_path / "b.yaml"): "b"})
    assert list(tmp_path.iterdir()) == []


def test_one_file_in_two_spellings_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.yaml").touch()
    (tmp_path / "inner" / "b.yaml").symlink_to("a.yaml")
    (tmp_path / "other").symlink_to("inner")
    spellings = [["inner"], ["inner/a.yaml", "other/a.yaml"], ["inner", "other"], ["inner/../inner/a.yaml", "./inner/"]]
    for paths in spellings:
        assert len(files.read_all(paths)[0]) == 1, paths


@pytest.mark.skipif(sys.platform == "win32", reason="links")
@pytest.mark.parametrize(
    "pattern", ["**/*.yaml", "m/**/*.yaml", "m/**", "**", "*/*.y*", "m/[ab]/?.y*", "*/.h*", "none/*"]
)
def test_a_glob_finds_what_the_standard_library_finds(
    pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("m/a/x.yaml", "m/b/y.yaml", "m/.hidden/z.yaml", "m/.h.yaml", "w.yaml", "m/b/c/v.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    for top in ("", f"{tmp_path}/"):
        expected = sorted(one for one in glob.glob(top + pattern, recursive=True) if Path(one).is_file())  # noqa: PTH207
        assert [path for path, _ in files._expand([top + pattern], lambda _: False)] == expected


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_a_glob_ends_where_links_are_loops(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").touch()
    for name in ("x", "y", "z"):
        (tmp_path / name).symlink_to(".")
    found, unreadable = files.read_all([str(tmp_path / "**" / "*.yaml")])
    assert ([Path(one.name).name for one in found], unreadable) == (["a.yaml"], [])


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices")
@pytest.mark.parametrize("words", [("--schemas",), ("--cluster",), ("--config",), ()])
def test_a_pipe_or_a_device_that_is_named(words: tuple[str, ...], tmp_path: Path, capsys: Capture) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.yaml").write_text("apiVersion: v1\nkind: Pod\n")
    for path in (tmp_path / "pipe", "/dev/zero"):
        ran = here(capsys, "lint", tmp_path / "a.yaml", *words, path)
        assert (ran.status, f"{path}: not a regular file" in ran.err) == (2, True), ran.err
