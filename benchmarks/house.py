"""The layout in figures: files, packages, and what a compile and a lint load."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from benchmarks.timing import ROOT, line

PACKAGE = ROOT / "ptcompile"
SHORT = 60
"""Lines below which a module that is no rule, pass or `__init__` is hardly a subject."""
_MANIFEST = "golden/elastic-range/pytorchjob.yaml"
_SPEC = "examples/mnist/spec.yaml"


def run() -> None:
    """Print the figures."""
    files = sorted(PACKAGE.rglob("*.py"))
    others = [path for path in files if "rules" not in path.relative_to(PACKAGE).parts]
    line("Python files (without rules)", f"{len(files)} ({len(others)})")
    subjects = [
        path for path in others if path.name != "__init__.py" and path.parent.name != "passes"
    ]
    short = [path for path in subjects if _lines(path) < SHORT]
    line(f"modules under {SHORT} lines that are no rule, pass or __init__", str(len(short)))
    line("longest file", str(max(map(_lines, files))))
    graph = packages()
    line("packages and top modules", str(len(graph)))
    line("circles of packages", str(int(_circular(graph))))
    line("floors of packages", str(len(_floors(graph))) if not _circular(graph) else "-")
    line(
        "imports of module names in strings",
        str(sum(_text(path).count("import_module(") for path in files)),
    )
    for verb, file in (("compile", _SPEC), ("lint", _MANIFEST)):
        line(f"modules loaded for a {verb}", str(len(loaded(verb, file))))


def packages() -> dict[str, set[str]]:
    """Each package below the top, and each module beside them, with those that it imports, at
    any level.
    """
    graph: dict[str, set[str]] = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts in (("__init__",), ("__main__",)):
            continue
        graph[parts[0]] |= {name for name in _imported(path) if name != parts[0]}
    return dict(graph)


def loaded(verb: str, file: str) -> list[str]:
    """The modules of ptcompile that one command loads, in a process of its own."""
    code = (
        "import sys\nfrom ptcompile.cli import main\n"
        f"main([{verb!r}, {file!r}])\n"
        "print(*(name for name in sys.modules if name.split('.')[0] == 'ptcompile'), "
        "file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stderr.splitlines()[-1].split()


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(_text(path))):
        names: Iterable[str] = ()
        if isinstance(node, ast.Import):
            names = (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "ptcompile":
            names = (f"ptcompile.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = (node.module or "",)

        for name in names:
            match = re.match(r"ptcompile\.(\w+)", name)
            if match and ((PACKAGE / match[1]).is_dir() or (PACKAGE / f"{match[1]}.py").exists()):
                yield match[1]


def _circular(graph: dict[str, set[str]]) -> bool:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        return True
    return False


def _floors(graph: dict[str, set[str]]) -> list[tuple[str, ...]]:
    """The packages in layers: each stands above all that it imports."""
    sorter = TopologicalSorter(graph)
    sorter.prepare()
    floors = []
    while ready := sorter.get_ready():
        floors.append(ready)
        sorter.done(*ready)
    return floors


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _lines(path: Path) -> int:
    return len(_text(path).splitlines())
