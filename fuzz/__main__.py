"""`python -m fuzz [HARNESS...]`: look for inputs that break a promise; 1 where there is one."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import pkgutil
import platform
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

NAMES = ("reader", "lint", "compile", "server")


def main() -> int:
    options = _options()
    coverage = options.engine == "atheris"
    if coverage and importlib.util.find_spec("atheris") is None:
        print("fuzz: atheris is not installed: python -m pip install atheris, or --engine blind", file=sys.stderr)
        return 2
    if coverage:
        if len(options.harness) != 1:
            print("fuzz: atheris ends the process: one harness at a time", file=sys.stderr)
            return 2
        _instrument()
    crashed = 0
    for name in options.harness or NAMES:
        crashed += _run(name, options)
    return int(crashed > 0)


def _instrument() -> None:
    """Import all of the package under atheris' eyes, also what is loaded late: what it does not see guides nobody."""
    import atheris

    with atheris.instrument_imports(include=["ptcompile"]):
        package = importlib.import_module("ptcompile")
        for module in pkgutil.walk_packages(package.__path__, "ptcompile."):
            if module.name != "ptcompile.__main__":
                importlib.import_module(module.name)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Look for inputs that break a promise.")
    parser.add_argument("harness", nargs="*", choices=[*NAMES, []], help=f"of {', '.join(NAMES)} (all)")
    parser.add_argument("--engine", choices=("blind", "atheris"), default="blind")
    parser.add_argument("--runs", type=int, default=10_000, metavar="N", help="executions of each harness (10000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="the same number, the same inputs (1)")
    parser.add_argument("--seeds", type=Path, action="append", default=[], metavar="DIR", help="more to begin with")
    parser.add_argument("--crashes", type=Path, default=Path("crashes"), metavar="DIR", help="kept there (crashes)")
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="of atheris: what it found worth keeping")
    return parser.parse_args()


def _run(name: str, options: argparse.Namespace) -> int:
    from fuzz import engine
    from fuzz.guard import Guard
    from fuzz.harness import HARNESSES
    from fuzz.seeds import seeds

    start = seeds(name, options.seeds)
    for data in start[:200]:  # what is loaded late is loaded before memory is counted
        with suppress(Exception):
            HARNESSES[name](data)
    guard = Guard(HARNESSES[name])
    began = time.process_time()
    if options.engine == "atheris":
        with TemporaryDirectory() as folder:
            corpus = options.corpus or Path(folder)
            engine.guided(guard, start, runs=options.runs, seed=options.seed, crashes=options.crashes, corpus=corpus)
    crashed = engine.blind(
        guard, start, runs=options.runs, seed=options.seed, crashes=options.crashes, tell=lambda line: _tell(name, line)
    )
    spent = time.process_time() - began
    _tell(
        name,
        f"{guard.executions} executions, {crashed} crashes, slowest {guard.slowest:.3f} s, "
        f"memory {guard.grown() >> 20} MiB above the start, {spent:.0f} s of processor time, "
        f"Python {platform.python_version()}",
    )
    return crashed


def _tell(name: str, line: str) -> None:
    print(f"{name}: {line}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
