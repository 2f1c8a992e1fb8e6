"""Cold starts: whole processes, against importing the two libraries that a compiler of this kind cannot do without.

Byte code is kept, as in every installation: in a folder of its own, which the round that does not count fills. What a
start costs without it (a checkout that may not be written to) is told apart.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.timing import interleaved, line, ratio

ROOT = Path(__file__).parents[1]
EXAMPLE = "examples/mnist/spec.yaml"
ROUNDS = 21
COMMANDS = {
    "bare python": ["-c", ""],
    "libraries": ["-c", "from pydantic import BaseModel; import ruamel.yaml"],
    "import ptcompile": ["-c", "import ptcompile"],
    "version": ["-m", "ptcompile", "--version"],
    "compile": ["-m", "ptcompile", EXAMPLE],
    "lint": ["-m", "ptcompile", "lint", "{manifest}"],
}


def run() -> None:
    """Print each command's median and its ratio to the libraries."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        manifest = Path(folder) / "manifest.yaml"
        manifest.write_bytes(_output(["-m", "ptcompile", EXAMPLE]))
        words = {name: [part.replace("{manifest}", str(manifest)) for part in one] for name, one in COMMANDS.items()}
        kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        kept["PYTHONPYCACHEPREFIX"] = f"{folder}/pycache"
        contestants = {name: partial(_output, one, kept) for name, one in words.items()}
        bare = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": f"{folder}/empty"}
        contestants["compile, no byte code of anything"] = partial(_output, words["compile"], bare)
        contestants["libraries, no byte code of anything"] = partial(_output, words["libraries"], bare)
        times = interleaved(contestants, ROUNDS)
    for name, seconds in times.items():
        goal = "<= 1.6" if name == "compile" else ""
        line(
            f"{name}: {median(seconds) * 1000:.0f} ms, against the libraries",
            f"{ratio(times, name, 'libraries'):.2f}",
            goal,
        )


def _output(words: list[str], env: dict[str, str] | None = None) -> bytes:
    return subprocess.run([sys.executable, *words], cwd=ROOT, env=env, capture_output=True, check=True).stdout
