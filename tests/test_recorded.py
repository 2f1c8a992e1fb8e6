"""The recorded answers are complete, named with their origin, and packed without names or times."""

from __future__ import annotations

import re

from tests import recorded

README = (recorded.HERE / "README.md").read_text(encoding="utf-8")
FILES = sorted(recorded.HERE.rglob("*.gz"))


def name(path: object) -> str:
    return str(path).removeprefix(f"{recorded.HERE}/").removesuffix(".jsonl.gz")


def test_every_file_is_named_with_its_rows() -> None:
    told = {row: int(count) for row, count in re.findall(r"^\| ([\w./-]+) \| (\d+) \|", README, re.MULTILINE)}
    assert told == {name(path): sum(1 for _ in recorded.rows(name(path))) for path in FILES}


def test_no_file_has_a_time() -> None:
    """In gzip's header, bytes 4 to 7 are a time, and flag 8 announces a name."""
    assert {(path.read_bytes()[3], path.read_bytes()[4:8]) for path in FILES} == {(0, b"\0\0\0\0")}
