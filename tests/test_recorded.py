"""The recorded answers are complete, named with their origin, and packed without names or times."""

from __future__ import annotations

import importlib.util
import json
import re
from datetime import date
from fnmatch import fnmatch
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests import recorded

README = (recorded.HERE / "README.md").read_text(encoding="utf-8")
FILES = sorted(recorded.HERE.rglob("*.gz"))
PAGE = recorded.HERE.parents[1] / "docs" / "maintaining" / "recording.md"
ROWS = re.findall(
    r"^\| `(.+)` \| (`.+`) \| (.+\?) \| (.+) \| (.+) \|$", PAGE.read_text("utf-8"), re.MULTILINE
)
"""Command, sets, question, what is needed and how long it takes, of each recorder."""
TORCHRUN = sorted((recorded.HERE / "torchrun").glob("*.json"))
VERSION = re.compile(r"\d+\.\d+[\w.+-]*")


def name(path: object) -> str:
    return str(path).removeprefix(f"{recorded.HERE}/").removesuffix(".jsonl.gz")


def test_every_file_is_named_with_its_rows() -> None:
    told = {
        row: int(count)
        for row, count in re.findall(r"^\| ([\w./-]+) \| (\d+) \|", README, re.MULTILINE)
    }
    assert told == {name(path): sum(1 for _ in recorded.rows(name(path))) for path in FILES}


def test_no_file_has_a_time() -> None:
    """In gzip's header, bytes 4 to 7 are a time, and flag 8 announces a name."""
    assert {(path.read_bytes()[3], path.read_bytes()[4:8]) for path in FILES} == {(0, b"\0\0\0\0")}


def header(path: Path) -> dict[str, Any]:
    """Return what a recording says of itself."""
    if path.suffix == ".json":
        whole: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return {key: whole[key] for key in ("recorder", "versions", "date") if key in whole}
    return recorded.header(name(path))


@pytest.mark.parametrize("path", [*FILES, *TORCHRUN], ids=name)
def test_a_recording_names_its_recorder_its_versions_and_its_date(path: Path) -> None:
    first = header(path)
    assert first.keys() - {"note"} == {"recorder", "versions", "date"}
    assert importlib.util.find_spec(first["recorder"])
    assert first["versions"]
    assert all(VERSION.match(version) for version in first["versions"].values())
    assert date.fromisoformat(first["date"]) >= date(2026, 11, 22)


def test_every_set_is_a_recording() -> None:
    """No other file of data stands beside them, which would have no header."""
    folders = recorded.HERE, recorded.HERE.parent / "cluster"
    data = {
        path
        for path in chain.from_iterable(folder.rglob("*") for folder in folders)
        if path.is_file() and path.suffix not in (".py", ".md", ".pyc")
    }
    assert data == {*FILES, *TORCHRUN}


@pytest.mark.parametrize("path", [*FILES, *TORCHRUN], ids=name)
def test_the_page_says_what_a_recorder_answers_and_how_long_it_takes(path: Path) -> None:
    recorder = header(path)["recorder"]
    commands = f"python -m {recorder}", f"{recorder.replace('.', '/')}.py"
    patterns = [
        pattern
        for command, sets, *_ in ROWS
        if command.endswith(commands)
        for pattern in re.findall(r"`(.+?)`", sets)
    ]
    set_ = name(path).removesuffix(".json")
    assert any(fnmatch(set_, pattern) for pattern in patterns), (set_, patterns)
