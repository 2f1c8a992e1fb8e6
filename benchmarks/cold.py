"""Cold starts: whole processes, against an empty one and against importing pydantic as a library
of models must.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.jobs import documents, streams
from benchmarks.timing import PTCOMPILE, ROOT, line, processes, ratio

EXAMPLE = "examples/mnist/spec.yaml"
ROUNDS = 21
ANY_STATUS = (
    "-c",
    "import os; leave = os._exit; os._exit = lambda status: leave(0); from ptcompile.cli import "
    "run; run()",
)
"""A command whose exit status says something of its input."""
WRONG = "compile, a mistake"
PLAIN, PYDANTIC, FIELD = (
    "python -c pass",
    "import pydantic",
    "from pydantic import BaseModel, Field",
)


def run() -> None:
    """Print each command's median and its ratios."""
    with TemporaryDirectory() as folder:
        spent = processes(
            {name: [sys.executable, *words] for name, words in commands(folder).items()},
            folder,
            ROUNDS,
        )

    times = spent.wall
    for name, seconds in times.items():
        line(
            f"{name}: {median(seconds) * 1000:.0f} ms, against {PLAIN}",
            f"{ratio(times, name, PLAIN):.2f}",
        )

    line(
        f"compile --no-lint, against {PYDANTIC}",
        f"{ratio(times, 'compile --no-lint', PYDANTIC):.2f}",
        "<= 0.9",
    )
    line(f"compile, against {PYDANTIC}", f"{ratio(times, 'compile', PYDANTIC):.2f}", "<= 1.1")
    line(
        "a spec with a mistake, against one without",
        f"{ratio(times, WRONG, 'compile'):.2f}",
        "<= 1.3",
    )
    for name in ("explain, a spec", "explain, a code", "diff, two specs", "targets"):
        line(f"{name}, against {PLAIN}", f"{ratio(times, name, PLAIN):.1f}", "<= 10")
    for kind in ("Pod", "Job", "PyTorchJob"):
        line(
            f"lint of one {kind}, against {PLAIN}",
            f"{ratio(times, f'lint, {kind}', PLAIN):.2f}",
            "<= 5.0",
        )


def commands(folder: str) -> dict[str, list[str]]:
    """The arguments of Python for each cold start; the manifests are written into the folder."""
    told = {PLAIN: ["-c", "pass"], PYDANTIC: ["-c", PYDANTIC], FIELD: ["-c", FIELD]}
    told["import ptcompile"] = ["-c", "import ptcompile"]
    told["--version"] = [*PTCOMPILE, "--version"]
    told["compile"] = [*PTCOMPILE, EXAMPLE]
    told["compile --no-lint"] = [*PTCOMPILE, "--no-lint", EXAMPLE]
    wrong = Path(folder) / "wrong.yaml"
    text = (ROOT / EXAMPLE).read_text(encoding="utf-8")
    wrong.write_text(text.replace("nodes: 2", "nodess: 2"), encoding="utf-8")
    told[WRONG] = [*ANY_STATUS, "compile", str(wrong)]
    told["simulate, a spec"] = [*PTCOMPILE, "simulate", EXAMPLE]
    told["explain, a spec"] = [*PTCOMPILE, "explain", EXAMPLE, "volumes"]
    told["explain, a code"] = [*PTCOMPILE, "explain", "PTC302"]
    told["diff, two specs"] = [*ANY_STATUS, "diff", EXAMPLE, "golden/elastic-range/spec.yaml"]
    told["platform"] = [
        *PTCOMPILE,
        "platform",
        "examples/llm/cluster.yaml",
        "examples/llm/spec.yaml",
    ]
    told["requires"] = [*PTCOMPILE, "requires", EXAMPLE]
    told["schema"] = [*PTCOMPILE, "schema", "spec"]
    told["targets"] = [*PTCOMPILE, "targets"]
    told["rules"] = [*PTCOMPILE, "rules"]
    told["init"] = [*PTCOMPILE, "init"]
    for target, kind, nodes in (
        ("pod", "Pod", 1),
        ("job", "Job", 4),
        ("pytorchjob", "PyTorchJob", 4),
    ):
        path = Path(folder) / f"{target}.yaml"
        path.write_text(documents(1, nodes=nodes, target=target)[0], encoding="utf-8")
        told[f"lint, {kind}"] = [*PTCOMPILE, "lint", str(path)]

    whole = Path(folder) / "whole.yaml"
    whole.write_text(streams(1)[0], encoding="utf-8")
    told["lint, Job and Service"] = [*PTCOMPILE, "lint", str(whole)]
    told["simulate, Job"] = [*PTCOMPILE, "simulate", f"{folder}/job.yaml"]

    return told
