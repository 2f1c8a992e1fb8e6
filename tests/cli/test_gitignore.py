"""Patterns of .gitignore, compared with git itself."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from ptcompile.cli.gitignore import lines_of, matcher, matches

FOLDERS = ("a", "a/b", "ab", "foo", "foo/x", "foobar")
FILES = (
    "a/b/c.yaml", "a/b.yaml", "ab/a", "b.yaml", "a b", "a ", "a]", "-", "x\\", "#c", "z-a", "[z", "^", "1", "é",
    "foo/bar", "foo/x/bar", "foobar/b", "aXb",
)  # fmt: skip


def ignored(
    content: bytes, folders: Iterable[str] = FOLDERS, files: Iterable[str] = FILES
) -> set[str]:
    """Return the paths that are ignored, themselves or through an ignored folder."""
    verdict = matcher(lines_of(content))

    def is_ignored(path: str, is_folder: bool) -> bool:
        above = path.rpartition("/")[0]
        return (above != "" and is_ignored(above, True)) or verdict(
            os.fsencode(path), is_folder
        ) is True

    return {
        *(path for path in folders if is_ignored(path, True)),
        *(path for path in files if is_ignored(path, False)),
    }


LINES: list[tuple[str, Iterable[str]]] = [
    ("!", ()), ("\\", ()), ("a\\", ()), ("[z-a]", ()), ("[a-\\]", ()), ("[a", ()), ("[[:bad:]]", ()), ("/", ()),
    ("[!z-a]", ("-", "1", "^", "a", "a/b", "a/b.yaml", "a/b/c.yaml", "ab/a", "foo/x", "foo/x/bar", "foobar/b")),
    ("[[:digit:]^]", ("1", "^")),
    ("a]", ("a]",)), ("[]-]", ("-",)), ("x[\\\\]", ("x\\",)), ("\\#c", ("#c",)), ("#c", ()),
    ("a ", ("a", "a/b", "a/b.yaml", "a/b/c.yaml", "ab/a")), ("a\\ ", ("a ",)), ("a\\ b", ("a b",)),
    ("b.yaml\r\n", ("a/b.yaml", "b.yaml")), ("b.yaml\0x", ("a/b.yaml", "b.yaml")), ("\ufeff/b.yaml", ("b.yaml",)),
    ("/b.yaml", ("b.yaml",)), ("a/*.yaml", ("a/b.yaml",)), ("a//b", ()), ("**//", ()),
    ("foo/**/bar", ("foo/bar", "foo/x/bar")), ("foo/**", ("foo/bar", "foo/x", "foo/x/bar")),
    ("foo**/bar", ("foo/bar", "foo/x/bar", "foobar", "foobar/b")),
    ("/foo**", ("foo", "foo/bar", "foo/x", "foo/x/bar", "foobar", "foobar/b")),
    ("*/b.yaml", ("a/b.yaml",)), ("foo/*/bar", ("foo/x/bar",)), ("foo**bar", ("foobar", "foobar/b")),
    ("x\\\\ ", ("x\\",)),
    ("[[:]*", ("[z",)), ("[[:z]", ()), ("[[::]]", ()), ("[!-", ()), ("a[x-", ()), ("[a-[:digit:]]", ("a]",)),
    ("**/x", ("foo/x", "foo/x/bar")), ("**\\/x", ("foo/x", "foo/x/bar")), ("x/", ("foo/x", "foo/x/bar")),
    ("b.yaml/", ()), ("a?b", ("a b", "aXb")), ("??", ("a ", "a]", "ab", "ab/a", "[z", "x\\", "#c", "é")),
    ("*\n!*/\n!*.yaml", {*FILES} - {"a/b/c.yaml", "a/b.yaml", "b.yaml"}),
    ("foo\n!foo/bar", ("foo", "foo/bar", "foo/x", "foo/x/bar")),
]  # fmt: skip


@pytest.mark.parametrize(("content", "expected"), LINES)
def test_each_line_ignores_its_files(content: str, expected: Iterable[str]) -> None:
    assert ignored(content.encode()) == set(expected)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("a", "a/b/c.yaml", True), ("b", "a/b/c.yaml", True), ("c.yaml", "a/b/c.yaml", True),
        ("c", "a/b/c.yaml", False),
        ("a/", "a/b/c.yaml", True), ("b/", "a/b/c.yaml", True), ("c.yaml/", "a/b/c.yaml", False),
        ("c.yaml/", "a/b/c.yaml/", True), ("!a", "a/b", True), ("/b", "a/b", False), ("a/b", "a/b", True),
        ("a/b/", "a/b", False), ("x/", "x/", True), ("x/", "x", False),
    ],
)  # fmt: skip
def test_one_pattern_matches_a_path_or_a_folder_above_it(
    pattern: str, path: str, expected: bool
) -> None:
    assert matches(pattern, path.replace("/", os.sep)) is expected


PIECES = (
    "a", "b", "foo", "*", "**", "/", "**/", "/**", "***", "?", "[ab]", "[!a]", "[^b]", "[z-a]", "[a-\\]", "[[:alpha:]]",
    "[[:bad:]]", "[]a]", "[a-b]", "[\\]]", "[a", "\\", "\\/", "\\*", " ", "\\ ", "!", "#", "bar", ".yaml", "]", "[]-a]",
    "[a-]", "[[:digit:]-z]", "[!]]", "[[:a]", "é", "[\\]", "[", "X", "\r", "[/]", "-",
)  # fmt: skip


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_ignores_the_same_files(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for name in FOLDERS:
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (tmp_path / name).touch()
    asked = b"\0".join(map(os.fsencode, (*FOLDERS, *FILES))) + b"\0"
    chance = random.Random(33)  # noqa: S311
    drawn = [
        "\n".join(
            "".join(chance.choices(PIECES, k=chance.randint(1, 5)))
            for _ in range(chance.choice((1, 1, 3)))
        )
        for _ in range(150)
    ]
    for content in (one.encode() for one in (*(line for line, _ in LINES), *drawn)):
        (tmp_path / ".gitignore").write_bytes(content)
        command = ["git", "-C", str(tmp_path), "check-ignore", "--no-index", "-z", "--stdin"]
        answer = subprocess.run(command, input=asked, capture_output=True, check=False)
        assert answer.returncode in (0, 1), answer.stderr
        assert ignored(content) == {
            os.fsdecode(part) for part in answer.stdout.split(b"\0") if part
        }, content


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("**/a/" * 20 + "**/c", "a/" * 1500 + "b.yaml"),
        ("*a" * 30 + "b", "a" * 250),
        ("**/" + "*a" * 30 + "/b", ("a" * 250 + "/") * 15 + "c"),
        ("*?" * 100 + "b", "a" * 250),
        ("[a-z]*" * 50 + "/b", "a" * 250 + "/c"),
    ],
)
def test_no_pattern_backtracks(line: str, path: str) -> None:
    """A backtracking matcher would practically never finish these; this one takes a millisecond."""
    assert matcher([line.encode()])(path.encode(), False) is None


def test_thousands_of_lines_are_read() -> None:
    lines = [*(f"x{i}*y*z" for i in range(4000)), "*.yaml", *(f"!keep{i}.yaml" for i in range(100))]
    verdict = matcher(line.encode() for line in lines)
    assert [verdict(name, False) for name in (b"a.yaml", b"keep7.yaml", b"x9-y-z", b"x9")] == [
        True,
        False,
        True,
        None,
    ]
