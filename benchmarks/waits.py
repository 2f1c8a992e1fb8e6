"""What people wait for besides starts: the page of `explain`, `import` and `convert` of a folder,
`admit` beside many nodes, and a thousand files.

Whole processes, by turns with those of another checkout (`--before PATH`). The size of a spec is in
its variables, its volumes or its script. The folder has the published training manifests of
tests/recorded, repeated.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.jobs import spec, streams
from benchmarks.timing import PTCOMPILE, line, processes, ratio
from ptcompile.source.emitter import emit

_ROUNDS: Final = 5
_CHARACTERS: Final = 64 * 1024
_PUBLISHED: Final = 100
_FILES: Final = 1000
_NODES: Final = 5000
_BEFORE: Final = "import sys; sys.path.insert(0, {path!r}); from ptcompile.cli import run; run()"
_EXPLAIN: Final = "explain SPEC"
_COMPILE: Final = "compile SPEC"


def run(before: str | None = None) -> None:
    """Print seconds of processor time, and the ratios to those of the other checkout."""
    checkouts = {
        "now": PTCOMPILE,
        **({"before": ("-c", _BEFORE.format(path=before))} if before else {}),
    }
    with TemporaryDirectory() as folder:
        commands = _commands(Path(folder))
        words = {
            f"{name}, {checkout}": [sys.executable, *start, *command]
            for name, command in commands.items()
            for checkout, start in checkouts.items()
        }
        spent = processes(words, folder, _ROUNDS)

    for name in commands:
        for times, unit in zip(spent, ("wall", "processor"), strict=True):
            figures = [f"{median(times[f'{name}, {checkout}']):.2f} s" for checkout in checkouts]
            figures += [f"{ratio(times, f'{name}, now', f'{name}, before'):.2f}"] if before else []
            line(f"{name}, {unit}", ", ".join(figures))

    for checkout in checkouts:
        explained = ratio(spent.cpu, f"{_EXPLAIN}, {checkout}", f"{_COMPILE}, {checkout}")
        line(f"{_EXPLAIN} against {_COMPILE}, {checkout}", f"{explained:.2f}", "<= 1.4")


def _commands(folder: Path) -> dict[str, list[str]]:
    """Write the inputs to the folder, and return the arguments of each command."""
    # need pytest, which other benchmarks do not
    from tests.growing import queue_with_nodes
    from tests.importer.test_published import (
        published,
    )

    small = _write(folder, {"small": spec(1, env=20)}) / "small.yaml"
    commands = {_EXPLAIN: ["explain", str(small)], _COMPILE: ["compile", str(small)]}
    pages = _write(folder / "pages", _large_specs())
    for path in sorted(pages.iterdir()):
        page = str(folder / "page.html")
        commands[f"explain --html, 64 KB of {path.stem}"] = ["explain", str(path), "--html", page]
    texts = islice(cycle(map(emit, published().values())), _PUBLISHED)
    manifests = str(_write(folder / "published", {f"{n:04}": text for n, text in enumerate(texts)}))
    racks = str(_write(folder, {"racks": queue_with_nodes(_NODES)}) / "racks.yaml")
    many = str(_write(folder / "many", {f"{n:04}": text for n, text in enumerate(streams(_FILES))}))
    commands |= {
        f"import, {_PUBLISHED} files": ["import", manifests, "-o", str(folder / "specs")],
        f"convert, {_PUBLISHED} files": [
            "convert",
            manifests,
            "--target",
            "jobset",
            "-o",
            str(folder / "converted"),
        ],
        f"admit, {_NODES} nodes with a topology": ["admit", racks],
        f"lint, {_FILES} files, one process": ["lint", many, "--no-cache", "--jobs", "1"],
        f"lint, {_FILES} files, all cores": ["lint", many, "--no-cache"],
    }

    return commands


def _write(folder: Path, texts: Mapping[str, str]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def _large_specs() -> dict[str, str]:
    """Return specs of 64 KB, by the field that has their size."""
    head, _, fields = spec(1).partition("  args:")
    fields = "  nodes:" + fields.partition("  nodes:")[2]
    without_env = "".join(
        line for line in fields.splitlines(keepends=True) if not line.startswith("  env:")
    )
    items = {
        "variables": (f"{head}{without_env}  env:\n", "    VARIABLE_{n}: value-{n}\n"),
        "arguments": (f"{head}{fields}  args:\n", "    - --option-{n}=value-{n}\n"),
        "script": (
            head.replace("  script: train.py\n", "")
            + f"{fields}  command:\n    - bash\n    - -c\n    - |\n",
            "      python step_{n}.py --input /data/{n} --output /out/{n}\n",
        ),
    }

    return {
        name: start
        + "".join(
            item.format(n=n) for n in range((_CHARACTERS - len(start)) // len(item.format(n=1000)))
        )
        for name, (start, item) in items.items()
    }
