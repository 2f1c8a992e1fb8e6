"""Instructions of a few cold starts, counted by valgrind: the same on a loaded machine as on a
quiet one.

They differ between builds of Python. `limits.json` has the build that CI counts with
(`.ci/instructions`) and the most that each start may take there: a change that takes more raises a
limit in its own diff, and says why.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.cold import PLAIN, PYDANTIC, WRONG, commands
from benchmarks.timing import ROOT, line

COUNTED = (
    PLAIN, PYDANTIC, "import ptcompile", "compile --no-lint", "compile", WRONG, "explain, a spec", "explain, a code",
    "diff, two specs", "targets", "lint, Pod", "lint, Job and Service", "lint, Job", "lint, PyTorchJob",
)  # fmt: skip
LIMITS = json.loads((Path(__file__).parent / "limits.json").read_text(encoding="utf-8"))
_FINDING = "lint, PyTorchJob"
"""A file with a finding, whose line yamllint would have to know too."""


def run() -> list[str]:
    """Print millions of instructions and the ratio to an empty process; nothing without valgrind.

    Return a sentence for each figure above its limit, if this is the Python that the limits are
    for.
    """
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        line("valgrind is not installed", "not counted")
        return []

    with TemporaryDirectory() as folder:
        counts = dict(_counts(valgrind, folder))
    ratios = {"compile, against import pydantic": counts["compile"] / counts[PYDANTIC]}
    if "yamllint" in counts:
        ratios["lint, PyTorchJob, against yamllint"] = counts[_FINDING] / counts["yamllint"]
    for name, ratio in ratios.items():
        line(name, f"{ratio:.2f}", f"<= {LIMITS['ratios'][name]:.2f}")
    if platform.python_version() != LIMITS["python"]:
        line("the limits are for another Python", LIMITS["python"])
        return []

    above = {name: most for name, most in LIMITS["millions"].items() if counts[name] > most * 1e6}
    above |= {name: most for name, most in LIMITS["ratios"].items() if ratios.get(name, 0) > most}

    return [f"{name} is above {most} (benchmarks/limits.json)" for name, most in above.items()]


def _counts(valgrind: str, folder: str) -> Iterator[tuple[str, int]]:
    """Yield the instructions of each start, with those of yamllint where it is installed, and
    print them.
    """
    told = commands(folder)
    names = [*COUNTED]
    if find_spec("yamllint") is not None:
        told["yamllint"] = ["-m", "yamllint", told[_FINDING][-1]]
        names.append("yamllint")
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env |= {"PYTHONPYCACHEPREFIX": f"{folder}/pycache", "PYTHONHASHSEED": "0"}
    plain = None
    for name in names:
        words = [sys.executable, *told[name]]
        # writes the byte code
        subprocess.run(words, cwd=ROOT, env=env, capture_output=True, check=False)
        count = _count([valgrind, *_OPTIONS, *words], env)
        plain = plain or count
        most = LIMITS["millions"].get(name)
        line(
            name,
            f"{count / 1e6:.1f} M, {count / plain:.1f}",
            "" if most is None else f"<= {most} M",
        )
        yield name, count


_OPTIONS = ("--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")


def _count(words: list[str], env: Mapping[str, str]) -> int:
    said = subprocess.run(
        words, cwd=ROOT, env=env, capture_output=True, check=False, text=True
    ).stderr
    found = re.search(r"I +refs: +([0-9,]+)", said)
    return int(found[1].replace(",", "")) if found else 0
