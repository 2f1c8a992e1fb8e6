"""Whole processes over a thousand files: one process, as many as there are cores, and from what
was kept.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.jobs import spec, streams
from benchmarks.kubeconform import command
from benchmarks.timing import PTCOMPILE, Spent, line, processes, ratio

FILES, ROUNDS = 1000, 7
READ = """
import os, sys, yaml
for name in sorted(os.listdir(sys.argv[1])):
    with open(os.path.join(sys.argv[1], name), "rb") as file:
        list(yaml.load_all(file, yaml.CSafeLoader))
"""
FRESH = "import os, sys; sys.argv[-1] += os.urandom(8).hex(); from ptcompile.cli import run; run()"
"""The command with a cache that does not exist yet."""
ONE, ALL, FIRST, KEPT, STREAM = (
    "one process",
    "all cores",
    "all cores, results kept",
    "nothing changed",
    "one stream",
)
PYYAML, KUBECONFORM = "PyYAML's C loader", "kubeconform"
COMPILE, COMPILE_ALL = "compile, one process", "compile, all cores"


def many_files(kubeconform: str | None = None) -> None:
    """Print the ratios for files, for the same as one stream, and for as many specs."""
    with TemporaryDirectory() as folder:
        many = _files(folder, "many", streams(FILES))
        specs = _files(folder, "specs", [spec(n, nodes=4) for n in range(FILES)])
        stream = Path(folder) / "stream.yaml"
        stream.write_text("---\n".join(streams(FILES)), encoding="utf-8")
        lint, cache = [sys.executable, *PTCOMPILE, "lint"], f"{folder}/cache"
        compiled = [sys.executable, *PTCOMPILE, "compile", specs]
        commands = {
            ONE: [*lint, many, "--no-cache", "--jobs", "1"],
            ALL: [*lint, many, "--no-cache"],
            FIRST: [sys.executable, "-c", FRESH, "lint", many, "--cache-dir", cache],
            KEPT: [*lint, many, "--cache-dir", cache],
            STREAM: [*lint, str(stream)],
            PYYAML: [sys.executable, "-c", READ, many],
            COMPILE: [*compiled, "--jobs", "1"],
            COMPILE_ALL: compiled,
        }
        if kubeconform is not None:
            commands[KUBECONFORM] = command(kubeconform, Path(folder) / "schemas", Path(many))
        spent = processes(commands, folder, ROUNDS)

    _show(spent, KUBECONFORM if kubeconform is not None else None)


def _files(folder: str, name: str, texts: list[str]) -> str:
    path = Path(folder) / name
    path.mkdir()
    for n, text in enumerate(texts):
        (path / f"{n:04}.yaml").write_text(text, encoding="utf-8")
    return str(path)


def _show(spent: Spent, kubeconform: str | None) -> None:
    goals = {
        (ONE, PYYAML): "<= 1.9",
        (ALL, PYYAML): "<= 1.15",
        (ALL, KUBECONFORM): "<= 0.8",
        (KEPT, ALL): "<= 0.15",
    }
    pairs = [
        (ONE, PYYAML),
        (ALL, PYYAML),
        (ALL, ONE),
        (FIRST, ALL),
        (KEPT, ALL),
        (KEPT, ONE),
        (STREAM, PYYAML),
    ]
    pairs += [(one, kubeconform) for one in (ONE, ALL) if kubeconform is not None]
    for ours, theirs in [*pairs, (COMPILE_ALL, COMPILE)]:
        wall, cpu = (f"{ratio(times, ours, theirs):.2f}" for times in spent)
        goal = goals.get((ours, theirs), "")
        verb = "" if ours.startswith("compile") else "lint, "
        line(f"{FILES} files, {verb}{ours}, against {theirs}: wall, CPU", f"{wall}, {cpu}", goal)
