"""Records of many cases: each file has a line for each case, in order, and is small enough to be reviewed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.records import as_lines, read_records, write_records

FOLDERS = sorted(path for name in ("differences", "effects", "near_misses", "verdicts")
                 for path in (ROOT / "tests").rglob(name) if path.is_dir())  # fmt: skip
MOST_BYTES = 50_000


@pytest.mark.parametrize(
    "folder", FOLDERS, ids=lambda path: path.relative_to(ROOT / "tests").as_posix()
)
def test_each_record_has_a_line_for_each_case(folder: Path) -> None:
    for path in folder.iterdir():
        text = path.read_text(encoding="utf-8")
        assert text == as_lines(json.loads(text)), path
        assert len(text) < MOST_BYTES, f"{path}: split it by subject"


def test_subjects_that_are_gone_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "records"
    write_records(folder, {"a": {"2": ["x"], "1": None}, "b": {}})
    assert (folder / "a.json").read_text() == '{\n"1": null,\n"2": ["x"]\n}\n'
    write_records(folder, {"a": {"1": {"k": "ä"}}})
    assert read_records(folder) == {"a": {"1": {"k": "ä"}}}
