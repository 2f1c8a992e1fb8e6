"""Records of many cases in files that people can review: a file for each subject, a line for each case, sorted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Records = dict[str, dict[str, Any]]
"""What is recorded of each case, by subject and by the name of the case."""


def read_records(folder: Path) -> Records:
    """Return the records of a folder."""
    return {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(folder.glob("*.json"))
    }


def write_records(folder: Path, records: Records) -> None:
    """Write the records of a folder, and remove the files of subjects that are gone."""
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.json"):
        if path.stem not in records:
            path.unlink()
    for subject, cases in records.items():
        (folder / f"{subject}.json").write_text(as_lines(cases), encoding="utf-8")


def as_lines(cases: dict[str, Any]) -> str:
    """Return JSON with a line for each case, sorted by name."""
    lines = (f"{_as_json(name)}: {_as_json(cases[name])}" for name in sorted(cases))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
