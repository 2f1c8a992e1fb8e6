"""Run the code blocks of a Markdown page, and compare what they print with what the page shows.

A page is run from top to bottom in a folder of its own that has `examples/`:

- a block with a title (```` ```yaml title="job.yaml" ````) is written to the file of that name;
- of a `console` block each line that begins with `$ ` is run, and the lines below it are its output (standard output
  and error); a line `...` stands for any lines;
- a `sh` block is run as it is, and a `python` block without a title is a program.

A comment on the line above a block changes that: `<!-- exit 1 -->` (the status of its last command), `<!-- not run:
WHY -->`, `<!-- setup: COMMAND -->` (run first, not shown) and `<!-- output -->` on a `text` block (what the block
before it printed).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
SKILL: Final = ROOT / "integrations" / "skill" / "ptcompile" / "SKILL.md"
PAGES: Final = (ROOT / "README.md", SKILL, *sorted((ROOT / "docs").rglob("*.md")))
ANY: Final = "..."

_BLOCK: Final = re.compile(
    r"(?:^<!-- (?P<note>[^\n]*) -->\n+)?"
    r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?[^\n]*\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_STAND_INS: Final = """
set -o pipefail
kubectl() { if [[ "$*" == *"-f -"* ]]; then grep -q '^kind:'; else cat live.yaml; fi; }
helm() { printf '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "rendered"}}\\n'; }
kustomize() { helm; }
python() { if [[ "$1 $2 $3" == "-m pip install" ]]; then return; fi; command python "$@"; }
pip() { return; }
npm() { return; }
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
"""
"""What talks to a cluster, renders charts or installs is replaced: `kubectl apply` must be given objects, `kubectl get`
prints the page's `live.yaml`, charts render to a ConfigMap, and nothing is installed.
"""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, title and text, the comment above it, and where its text is in the page."""

    language: str
    title: str | None
    text: str
    note: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mismatch:
    """What a page shows and what happened, with the text that should be in its place."""

    block: Block
    command: str
    shown: str
    happened: str
    better: str


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [
        Block(
            one["language"],
            one["title"],
            one["text"],
            one["note"] or "",
            one.start("text"),
            one.end("text"),
        )
        for one in _BLOCK.finditer(page)
    ]


def run(page: str, folder: Path) -> Iterator[Mismatch]:
    """Run every block of a page in this folder, and yield each difference."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    printed = ""
    for block in blocks(page):
        if block.note.startswith("not run: "):
            continue
        if block.title:
            path = folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.language in ("console", "sh", "python"):
            if block.note.startswith("setup: "):
                _execute(block.note.removeprefix("setup: "), "bash", folder)
            shown = list(_commands(block)) if block.language == "console" else [(block.text, ANY)]
            results = [(*one, *_execute(one[0], block.language, folder)) for one in shown]
            printed = results[-1][3]
            yield from _judged(block, results)
        elif block.note == "output" and not _matches(block.text, printed):
            yield Mismatch(
                block, "the block above", block.text, printed, _updated(block.text, printed)
            )


def _commands(block: Block) -> Iterator[tuple[str, str]]:
    """Each command of a console block, and the output that is shown below it."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        lines = part.splitlines(keepends=True)
        last = next(at for at, line in enumerate(lines) if not line.rstrip().endswith("\\"))
        yield "".join(lines[: last + 1]), "".join(lines[last + 1 :])


def _execute(command: str, language: str, folder: Path) -> tuple[int, str]:
    """The exit status of a command, and what it printed."""
    words = (
        [sys.executable, "-c", command]
        if language == "python"
        else ["bash", "-c", _STAND_INS + command]
    )
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "COLUMNS": "120", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        words, cwd=folder, env=env, input="", text=True, timeout=120, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.returncode, done.stdout.replace(str(folder) + "/", "")


def _judged(block: Block, results: list[tuple[str, str, int, str]]) -> Iterator[Mismatch]:
    expected = int(block.note.removeprefix("exit ")) if block.note.startswith("exit ") else 0
    for at, (command, shown, status, printed) in enumerate(results):
        wanted = expected if at == len(results) - 1 else 0
        if status != wanted:
            yield Mismatch(
                block, command, f"exit status {wanted}", f"exit status {status}\n{printed}", shown
            )
        elif not _matches(shown, printed):
            yield Mismatch(block, command, shown, printed, _updated(shown, printed))


def _matches(shown: str, printed: str) -> bool:
    pattern = "".join(
        r"(?:.*\n)*" if line == f"{ANY}\n" else re.escape(line)
        for line in shown.splitlines(keepends=True)
    )
    return shown == ANY or re.fullmatch(pattern, printed) is not None


def _updated(shown: str, printed: str) -> str:
    """The output with as many lines before and after `...` as the page shows now."""
    if f"{ANY}\n" not in shown:
        return printed
    first, _, rest = shown.partition(f"{ANY}\n")
    lines = printed.splitlines(keepends=True)
    head, tail = first.count("\n"), rest.rpartition(f"{ANY}\n")[2].count("\n")
    return "".join([*lines[:head], f"{ANY}\n", *lines[len(lines) - tail :]])


def update(path: Path, folder: Path) -> list[Mismatch]:
    """Write what happened into a page. Returns what could not be written: a wrong exit status."""
    page = path.read_text(encoding="utf-8")
    found = list(run(page, folder))
    for one in reversed(found):
        text = page[one.block.start : one.block.end]
        before = "" if one.block.language == "text" else f"$ {one.command}"
        changed = text.replace(before + one.shown, before + one.better, 1)
        page = page[: one.block.start] + changed + page[one.block.start + len(text) :]
    path.write_text(page, encoding="utf-8")
    return [one for one in found if one.shown.startswith("exit status")]
