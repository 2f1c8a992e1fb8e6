"""The recorded answers are complete, named with their origin, and packed without names or times."""

from __future__ import annotations

import importlib.util
import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests import recorded

README = (recorded.HERE / "README.md").read_text(encoding="utf-8")
FILES = sorted(recorded.HERE.rglob("*.gz"))


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


def test_every_recorder_is_described() -> None:
    page = (recorded.HERE.parents[1] / "docs" / "maintaining" / "recording.md").read_text(
        encoding="utf-8"
    )
    recorders = {header(path)["recorder"] for path in [*FILES, *TORCHRUN]} - {
        "tests.recorded.torchrun.slow_end"
    }
    assert {recorder for recorder in recorders if f"python -m {recorder}" not in page} == set()
