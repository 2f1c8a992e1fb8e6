"""Small changes of the package that its tests must notice, each made alone in a scratch copy.

python -m tests.mutants            # all of them, one after the other
python -m tests.mutants kueue      # those whose file has this in its name

tests/mutants.json has the changes: the file, the text that is replaced and by what, what breaks then, and the tests
that must fail. Each line of the output has the first test that failed: it should be about what breaks. Exit status 1 if
the tests of a change pass all the same, 2 if a test fails before anything is changed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
TABLE = Path(__file__).parent / "mutants.json"
NOT_COPIED = (".git", ".venv", "*.egg-info", "__pycache__", "node_modules")
LIMIT = 900
"""Seconds that a run of tests may take."""
FAILED = 1
"""pytest's exit status if tests ran and some failed; a change that breaks the import of a test is no test of it."""


class Mutant(NamedTuple):
    """A change, and the tests that must fail."""

    file: str
    before: str
    after: str
    tests: list[str]
    breaks: str

    def apply(self, root: Path) -> str:
        """Make the change in the project at `root`, and return the text that it replaced."""
        path = root / self.file
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(self.before, self.after), encoding="utf-8")
        return text


def mutants() -> list[Mutant]:
    """Return the changes of the table."""
    rows = json.loads(TABLE.read_text(encoding="utf-8"))["mutants"]
    return [Mutant(**row) for row in rows]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "part", nargs="?", default="", help="part of the names of the files to change"
    )
    part = parser.parse_args().part
    chosen = [mutant for mutant in mutants() if part in mutant.file]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(*NOT_COPIED))
        tests = sorted({test for mutant in chosen for test in mutant.tests})
        status, failed = run(root, tests) if chosen else (FAILED, "no change has this in its name")
        if status != 0:
            print(f"not run, tests must pass before anything is changed: {failed}", file=sys.stderr)
            return 2

        survivors = [mutant for mutant in chosen if not is_noticed(root, mutant)]
    print(f"{len(chosen)} changes, {len(survivors)} survived")
    return 1 if survivors else 0


def is_noticed(root: Path, mutant: Mutant) -> bool:
    """Return whether the tests of a change fail with it, and print a line about it; the change is undone."""
    text = mutant.apply(root)
    status, failed = run(root, mutant.tests)
    (root / mutant.file).write_text(text, encoding="utf-8")
    outcome = "noticed" if status == FAILED else "SURVIVED"
    print(f"{outcome}: {mutant.file}: {mutant.breaks}: {failed}", flush=True)
    return status == FAILED


def run(root: Path, tests: Sequence[str]) -> tuple[int, str]:
    """Run tests of the project at `root`, and return pytest's exit status and the first test that failed.

    Tests that do not end have failed.
    """
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "--tb=no",
        *tests,
    ]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        process = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return FAILED, f"no end after {LIMIT} seconds"

    last = process.stdout.strip().rpartition("\n")[2]
    failed = re.search(r"^(?:FAILED|ERROR) (.*)", process.stdout, re.MULTILINE)
    return process.returncode, failed[1] if failed else last


if __name__ == "__main__":
    sys.exit(main())
