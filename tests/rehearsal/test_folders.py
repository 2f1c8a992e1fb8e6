"""The folder of a rehearsal, leftovers of killed ones, and the files that come along with a script."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from ptcompile.rehearsal import folders
from ptcompile.rehearsal.folders import (
    copy_files,
    describe_files,
    find_files,
    open_folder,
    remove_leftovers,
)

_KILLED = """\
import os, sys
from ptcompile.rehearsal.folders import open_folder
with open_folder() as folder:
    print(folder, flush=True)
    os.kill(os.getpid(), 9)
"""


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_folder_of_a_killed_rehearsal_is_removed_by_the_next(scratch: Path) -> None:
    env = {**os.environ, "TMPDIR": str(scratch)}
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED], env=env, capture_output=True, text=True, check=False
    )
    left = Path(killed.stdout.strip())
    assert left.is_dir()
    with open_folder() as running:
        assert remove_leftovers() == [left.name]
        assert not left.exists()
        assert Path(running).is_dir()
    assert list(scratch.iterdir()) == []


def test_only_own_folders_with_a_lock_are_removed(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    precious = scratch / "precious"
    precious.mkdir()
    (precious / "lock").touch()
    (scratch / "ptcompile-rehearsal-link").symlink_to(precious)
    (scratch / "ptcompile-rehearsal-unlocked").mkdir()  # of an older version, or just being made
    (scratch / "ptcompile-rehearsal-file").touch()
    linked = scratch / "ptcompile-rehearsal-lock"
    linked.mkdir()
    (linked / "lock").symlink_to(precious / "lock")
    assert remove_leftovers() == []
    other = scratch / "ptcompile-rehearsal-other"
    other.mkdir()
    (other / "lock").touch()
    with (other / "lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert remove_leftovers() == []
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: 12345)
        assert remove_leftovers() == []
    assert remove_leftovers() == ["ptcompile-rehearsal-other"]
    assert (precious / "lock").exists()


def test_files_beside_the_script_come_along(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name in (
        "train.py",
        "helper.py",
        "conf/a.yaml",
        ".git/config",
        "__pycache__/x.pyc",
        "venv/pyvenv.cfg",
        "venv/a.py",
    ):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(name)
    (tmp_path / "secret").write_text("secret")
    (source / "out").symlink_to(tmp_path / "secret")
    (source / "in").symlink_to("helper.py")
    (source / "all").symlink_to(tmp_path)
    os.mkfifo(source / "pipe")
    files = find_files(str(source / "train.py"))
    assert files.paths == ("train.py", "helper.py", "in", "conf/a.yaml")
    assert describe_files(files) == (
        "3 files next to train.py come along, as copies; others do not: 1 link leads out of the folder"
    )
    copy_files(files, str(tmp_path / "copy"))
    copied = sorted(
        str(path.relative_to(tmp_path / "copy")) for path in (tmp_path / "copy").rglob("*")
    )
    assert copied == ["conf", "conf/a.yaml", "helper.py", "in", "train.py"]
    assert not (tmp_path / "copy" / "in").is_symlink()


def test_files_above_the_limits_stay_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "MAX_BYTES", 1 << 20)
    monkeypatch.setattr(folders, "MAX_FILES", 3)
    (tmp_path / "train.py").touch()
    (tmp_path / "a.bin").write_bytes(b"x" * (2 << 20))
    for name in "bcd":
        (tmp_path / name).write_text(name)
    files = find_files(str(tmp_path / "train.py"))
    assert files.paths == ("train.py", "b", "c")
    assert "2 are above 3 files or 1 MiB" in str(describe_files(files))


def test_a_script_alone_needs_no_sentence(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()
    assert describe_files(find_files(str(tmp_path / "train.py"))) is None
