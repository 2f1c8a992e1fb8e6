"""`python -m fuzz [HARNESS...]`: look for inputs that break a promise; 1 where there is one."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import pkgutil
import platform
import sys
import time
from contextlib import suppress
from mmap import mmap
from pathlib import Path
from tempfile import TemporaryDirectory

NAMES = ("reader", "lint", "compile", "server", "verbs", "secrets", "files")


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
    parser.add_argument("--runs", type=int, default=60_000, metavar="N", help="executions, in fixed shares (60000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="the same number, the same inputs (1)")
    parser.add_argument("--seeds", type=Path, action="append", default=[], metavar="DIR", help="more to begin with")
    parser.add_argument("--crashes", type=Path, default=Path("crashes"), metavar="DIR", help="kept there (crashes)")
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="of atheris: what it found worth keeping")
    return parser.parse_args()


def _run(name: str, options: argparse.Namespace) -> int:
    """One harness in a process of its own, under a memory limit; an input that ends the process is a crash too."""
    from fuzz import engine
    from fuzz.guard import last_of, shared

    if options.engine == "atheris":
        return _share(name, options)
    current = shared()
    child = os.fork()
    if child == 0:
        status = 3
        try:
            status = min(2, _share(name, options, current))
        finally:
            sys.stdout.flush()
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status in (0, 1, 2):
        return status
    _tell(name, f"the process ended with {status}\n  {engine.save(last_of(current), options.crashes)}")
    return 1


def _share(name: str, options: argparse.Namespace, current: mmap | None = None) -> int:
    from fuzz import engine
    from fuzz.guard import Guard, limit_memory
    from fuzz.harnesses import HARNESSES, SHARES
    from fuzz.seeds import seeds

    runs = round(options.runs * SHARES[name] / sum(SHARES[one] for one in options.harness or NAMES))
    start = seeds(name, options.seeds)
    for data in start[:200]:  # what is loaded late is loaded before memory is counted
        with suppress(Exception):
            HARNESSES[name](data)
    limit_memory()
    guard = Guard(HARNESSES[name], current)
    began = time.process_time()
    if options.engine == "atheris":
        with TemporaryDirectory() as folder:
            corpus = options.corpus or Path(folder)
            engine.guided(guard, start, runs=runs, seed=options.seed, crashes=options.crashes, corpus=corpus)
    crashed = engine.blind(
        guard, start, runs=runs, seed=options.seed, crashes=options.crashes, tell=lambda line: _tell(name, line)
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
