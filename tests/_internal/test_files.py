"""Reading of files, below every command and function."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import ptcompile
from ptcompile._internal import files, limits

posix = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")


def test_a_folder_in_place_of_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError) as raised:
        ptcompile.compile(tmp_path)
    assert raised.value.filename == str(tmp_path)


@pytest.mark.parametrize(
    ("size", "most", "length"), [(5, 5, 5), (6, 5, 6), (9, 5, 6), (0, 5, 0), (9, 0, 1)]
)
def test_at_most_one_byte_more_than_the_limit_is_read(
    size: int, most: int, length: int, tmp_path: Path
) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"x" * size)
    assert len(files.read(path, most)) == length
    assert len(files.read_found(str(path), most)) == length


def test_the_limit_of_one_file_applies_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_in_force", [limits.TRUSTED._replace(characters=3)])
    (tmp_path / "a.yaml").write_bytes(b"x" * 9)
    assert files.read(tmp_path / "a.yaml") == b"xxxx"


@posix
def test_a_file_that_grows_or_hides_its_size_is_read_to_the_limit(tmp_path: Path) -> None:
    """Files below /proc have the size 0."""
    content = files.read("/proc/self/status") if sys.platform == "linux" else b"Name:"
    assert content.startswith(b"Name:")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        files.read(tmp_path / "pipe")


@posix
def test_walk_enters_no_links(tmp_path: Path) -> None:
    for name in ("b/c", "a"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("x.yaml", "b/y.yaml", "b/c/z.yaml", "a/w.yaml"):
        (tmp_path / name).touch()
    (tmp_path / "linked").symlink_to("b")
    (tmp_path / "itself").symlink_to("itself")
    top = str(tmp_path)
    walked = [
        (os.path.relpath(folder, top), sorted(inner), sorted(names))
        for folder, inner, names in files.walk(top)
    ]
    assert walked[0] == (".", ["a", "b", "linked"], ["itself", "x.yaml"])
    assert sorted(walked[1:]) == [
        ("a", [], ["w.yaml"]),
        ("b", ["c"], ["y.yaml"]),
        ("b/c", [], ["z.yaml"]),
    ]


def test_walk_yields_nothing_of_a_folder_that_it_cannot_read(tmp_path: Path) -> None:
    errors: list[OSError] = []
    assert list(files.walk(str(tmp_path / "none"), errors.append)) == []
    assert [type(error) for error in errors] == [FileNotFoundError]
    assert list(files.walk(str(tmp_path / "none"))) == []


@posix
def test_links_that_lead_out_of_a_root_are_recognized(tmp_path: Path) -> None:
    repository, deep = tmp_path / "repo", tmp_path / "repo" / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "outside.yaml").touch()
    (repository / "inside.yaml").touch()
    links = {"out": tmp_path / "outside.yaml", "in": repository / "inside.yaml"}
    for name, target in links.items():
        (deep / f"{name}.yaml").symlink_to(target)
    (deep / "plain.yaml").touch()
    (deep / "same.yaml").symlink_to("plain.yaml")
    names = ("out", "in", "plain", "same")

    def trees() -> list[str | None]:
        return [files.leads_out(str(deep / f"{name}.yaml")) for name in names]

    assert files.root_of(str(deep)) is None
    assert trees() == [str(deep), str(deep), None, None], (
        "outside a repository the tree is the file's own folder"
    )
    (repository / ".git").mkdir()
    assert files.root_of(str(deep)) == files.root_of(str(repository)) == str(repository)
    assert files.root_of(str(tmp_path)) is None
    assert trees() == [str(repository), None, None, None]
    with pytest.raises(OSError, match=f"a link that leads out of {repository}"):
        files.read_found(str(deep / "out.yaml"))
    assert files.read_found(str(deep / "in.yaml")) == b""
    assert files.leads_out("/dev/null") is None
    assert [files.is_inside(str(deep / f"{name}.yaml"), str(repository)) for name in names] == [
        False,
        True,
        True,
        True,
    ]
    assert not files.is_inside(str(tmp_path / "repository.yaml"), str(repository))
    resolve = files.link_resolver()
    assert [resolve(str(deep / f"{name}.yaml")) for name in names] == [
        (str(tmp_path / "outside.yaml"), str(repository)),
        (str(repository / "inside.yaml"), None),
        (str(deep / "plain.yaml"), None),
        (str(deep / "plain.yaml"), None),
    ]
