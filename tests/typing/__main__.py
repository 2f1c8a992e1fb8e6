"""Run mypy --strict and pyright (basedpyright in pyright's strict mode) on `right.py`, `wrong.py` and the guide.

Uses no plugin and none of this project's configuration, like a user's checker. The exit status is 1 if a line of
`wrong.py` that ends in `# wrong` has no error, or any other line has one.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGES = (ROOT / "README.md", ROOT / "docs/guide/python.md", ROOT / "docs/guide/flyte.md")
Errors = set[tuple[str, int]]


def laid_out(folder: Path) -> list[str]:
    """Copy the programs and the code blocks of the README and the guide to a folder outside the project."""
    shutil.copy(HERE / "pyrightconfig.json", folder)
    programs = {
        path.name: path.read_text(encoding="utf-8")
        for path in (HERE / "right.py", HERE / "wrong.py")
    }
    for page in PAGES:
        blocks = re.findall(
            r"^```python(?: title=\"(.*?)\")?\n(.*?)^```$",
            page.read_text("utf-8"),
            re.MULTILINE | re.DOTALL,
        )
        stem = page.stem.replace("-", "_").lower()
        programs |= {title or f"{stem}_{at}.py": block for at, (title, block) in enumerate(blocks)}
    for name, text in programs.items():
        (folder / name).write_text(text, encoding="utf-8")
    return list(programs)


def mypy(folder: Path, names: list[str]) -> Errors:
    """Return file and line of each mypy error; print mypy's output."""
    words = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file=",
        "--strict",
        "--cache-dir=/dev/null",
        "--no-error-summary",
    ]
    done = subprocess.run([*words, *names], cwd=folder, capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr)
    return {
        (file, int(line))
        for file, line in re.findall(r"^(?:.*/)?(\w+\.py):(\d+): error:", done.stdout, re.M)
    }


def pyright(folder: Path, _names: list[str]) -> Errors:
    """Return file and line of each pyright error; print the errors."""
    words = [
        sys.executable,
        "-m",
        "basedpyright",
        "--outputjson",
        "--pythonpath",
        sys.executable,
        "-p",
        str(folder),
    ]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    diagnostics = [
        diagnostic
        for diagnostic in json.loads(done.stdout)["generalDiagnostics"]
        if diagnostic["severity"] == "error"
    ]
    for one in diagnostics:
        print(f"{Path(one['file']).name}:{one['range']['start']['line'] + 1}: {one['message']}")
    return {
        (Path(diagnostic["file"]).name, diagnostic["range"]["start"]["line"] + 1)
        for diagnostic in diagnostics
    }


def wanted() -> Errors:
    """Return the marked lines."""
    lines = (HERE / "wrong.py").read_text(encoding="utf-8").splitlines()
    return {("wrong.py", at) for at, line in enumerate(lines, 1) if line.endswith("  # wrong")}


def main() -> int:
    """Run both checkers and write unexpected and missing errors to standard error."""
    wrong = []
    with tempfile.TemporaryDirectory() as place:
        names = laid_out(Path(place))
        for checker in (mypy, pyright):
            reported = checker(Path(place), names)
            wrong += [
                (checker.__name__, "an error at", *one) for one in sorted(reported - wanted())
            ]
            wrong += [
                (checker.__name__, "no error at", *one) for one in sorted(wanted() - reported)
            ]
    for name, words, file, line in wrong:
        sys.stderr.write(f"{name}: {words} {file}:{line}\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
