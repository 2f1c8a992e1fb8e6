"""Instructions of a few cold starts, counted by valgrind: the same on a loaded machine as on a quiet one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from tempfile import TemporaryDirectory

from benchmarks.cold import PLAIN, PYDANTIC, WRONG, commands
from benchmarks.timing import ROOT, line

COUNTED = (
    PLAIN, PYDANTIC, "import ptcompile", "compile --no-lint", "compile", WRONG, "explain, a spec", "explain, a code",
    "diff, two specs", "targets", "lint, Pod", "lint, Job", "lint, PyTorchJob",
)  # fmt: skip


def run() -> None:
    """Print millions of instructions, and the ratio to an empty process; nothing without valgrind."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        line("valgrind is not installed", "not counted")
        return
    with TemporaryDirectory() as folder:
        told = commands(folder)
        env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        env |= {"PYTHONPYCACHEPREFIX": f"{folder}/pycache", "PYTHONHASHSEED": "0"}
        counts = {}
        for name in COUNTED:
            words = [sys.executable, *told[name]]
            subprocess.run(words, cwd=ROOT, env=env, capture_output=True, check=False)
            counts[name] = _count([valgrind, *_OPTIONS, *words], env)
            line(name, f"{counts[name] / 1e6:.0f} M, {counts[name] / counts[PLAIN]:.1f}")
        line(f"compile, against {PYDANTIC}", f"{counts['compile'] / counts[PYDANTIC]:.2f}", "<= 1.1")
        if find_spec("yamllint") is not None:
            words = [sys.executable, "-m", "yamllint", told["lint, PyTorchJob"][-1]]
            subprocess.run(words, env=env, capture_output=True, check=False)
            theirs = _count([valgrind, *_OPTIONS, *words], env)
            line("lint, PyTorchJob, against yamllint", f"{counts['lint, PyTorchJob'] / theirs:.2f}", "<= 0.5")


_OPTIONS = ("--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")


def _count(words: list[str], env: dict[str, str]) -> int:
    said = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, check=False, text=True).stderr
    found = re.search(r"I +refs: +([0-9,]+)", said)
    return int(found[1].replace(",", "")) if found else 0
