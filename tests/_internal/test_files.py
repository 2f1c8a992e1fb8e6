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
def test_a_file_that_hides_its_size_is_read() -> None:
    """Files below /proc have the size 0."""
    content = files.read("/proc/self/status") if sys.platform == "linux" else b"Name:"
    assert content.startswith(b"Name:")


@posix
def test_a_pipe_is_not_read(tmp_path: Path) -> None:
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


@pytest.fixture
def linked(tmp_path: Path) -> list[str]:
    """The paths of a link out of the repository, a link inside it, a file and a link to it."""
    deep = tmp_path / "repo" / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    (tmp_path / "outside.yaml").touch()
    (tmp_path / "repo" / "inside.yaml").touch()
    (deep / "out.yaml").symlink_to(tmp_path / "outside.yaml")
    (deep / "in.yaml").symlink_to(tmp_path / "repo" / "inside.yaml")
    (deep / "plain.yaml").touch()
    (deep / "same.yaml").symlink_to("plain.yaml")
    return [str(deep / f"{name}.yaml") for name in ("out", "in", "plain", "same")]


@posix
def test_the_root_of_a_path_is_its_repository(linked: list[str], tmp_path: Path) -> None:
    repository = str(tmp_path / "repo")
    assert files.root_of(repository) == repository
    assert files.root_of(str(tmp_path / "repo" / "a" / "b")) == repository
    assert files.root_of(str(tmp_path)) is None


@posix
def test_a_link_may_lead_out_of_its_repository(linked: list[str], tmp_path: Path) -> None:
    assert [*map(files.leads_out, linked)] == [str(tmp_path / "repo"), None, None, None]
    assert files.leads_out("/dev/null") is None


@posix
def test_without_a_repository_a_link_may_lead_out_of_its_folder(
    linked: list[str], tmp_path: Path
) -> None:
    (tmp_path / "repo" / ".git").rmdir()
    folder = str(tmp_path / "repo" / "a" / "b")
    assert files.root_of(folder) is None
    assert [*map(files.leads_out, linked)] == [folder, folder, None, None]


@posix
def test_a_file_that_was_found_is_read_unless_a_link_leads_out(
    linked: list[str], tmp_path: Path
) -> None:
    outside, inside, *_ = linked
    with pytest.raises(OSError, match=f"a link that leads out of {tmp_path / 'repo'}"):
        files.read_found(outside)
    assert files.read_found(inside) == b""


@posix
def test_a_path_is_inside_where_its_links_lead(linked: list[str], tmp_path: Path) -> None:
    repository = str(tmp_path / "repo")
    assert [files.is_inside(path, repository) for path in linked] == [False, True, True, True]
    assert not files.is_inside(f"{repository}sitory.yaml", repository)


@posix
def test_a_resolver_returns_the_real_path_and_the_tree_that_it_leaves(
    linked: list[str], tmp_path: Path
) -> None:
    plain = linked[2]
    assert [*map(files.link_resolver(), linked)] == [
        (str(tmp_path / "outside.yaml"), str(tmp_path / "repo")),
        (str(tmp_path / "repo" / "inside.yaml"), None),
        (plain, None),
        (plain, None),
    ]
