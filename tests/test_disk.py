"""Files are read as bytes of regular files, up to a limit, and inside their tree unless the user named them."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

import ptcompile
from ptcompile._internal import files as disk, limits

posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes, devices and links")


@posix
@pytest.mark.parametrize(
    "reader", [disk.read, disk.read_found, lambda path: ptcompile.lint(Path(path))]
)
def test_a_pipe_and_a_device_are_not_files(reader: object, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert callable(reader)
    for path in (str(pipe), "/dev/zero"):
        with pytest.raises(OSError, match="not a regular file"):
            reader(path)


@posix
def test_a_file_with_nothing_to_read_yet_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """/proc/kmsg claims to be a regular file."""
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(stat, "S_ISREG", lambda mode: True)
    writer = os.open(tmp_path / "pipe", os.O_RDWR)
    try:
        with pytest.raises(OSError, match="not a regular file"):
            disk.read(str(tmp_path / "pipe"))
    finally:
        os.close(writer)


def test_a_file_is_read_up_to_one_byte_more_than_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 100)
    assert len(disk.read(str(path), 10)) == 11
    assert len(disk.read(str(path), 100)) == 100
    monkeypatch.setattr(limits, "_in_force", [limits.TRUSTED._replace(characters=50)])
    assert len(disk.read_found(str(path))) == 51


@posix
@pytest.mark.parametrize("repository", [True, False])
def test_a_link_out_of_the_tree_is_not_followed(repository: bool, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "deep").mkdir(parents=True)
    if repository:
        (tree / ".git").mkdir()
    (tmp_path / "outside").write_text("secret")
    (tree / "deep" / "inside").write_text("ours")
    for name, target in (("out", "../../outside"), ("in", "inside")):
        (tree / "deep" / name).symlink_to(target)
    assert disk.read(str(tree / "deep" / "out")) == b"secret", "it was named"
    assert disk.read_found(str(tree / "deep" / "in")) == b"ours"
    with pytest.raises(OSError, match="a link that leads out of"):
        disk.read_found(str(tree / "deep" / "out"))


def test_a_walk_equals_that_of_the_standard_library(tmp_path: Path) -> None:
    for name in ("a/b/c", "a/d", "e"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "x.yaml").touch()
    walked = [(folder, set(inner), names) for folder, inner, names in disk.walk(str(tmp_path))]
    assert sorted(walked) == sorted(
        (folder, set(inner), names) for folder, inner, names in os.walk(tmp_path)
    )
    assert list(disk.walk(str(tmp_path / "none"))) == []


@posix
def test_a_walk_enters_no_links_and_goes_as_deep_as_paths_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "itself").symlink_to("itself")
    monkeypatch.chdir(tmp_path)
    depth = 300
    for _ in range(depth):
        Path("a").mkdir()
        os.chdir("a")
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(depth)
    try:
        walked = list(disk.walk(str(tmp_path)))
    finally:
        sys.setrecursionlimit(limit)
    assert len(walked) == depth + 1
    assert walked[0][2] == ["itself"]
