"""`python -m fuzz [HARNESS...]`: look for inputs that break a promise; 1 where there is one."""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.util
import os
import pkgutil
import platform
import resource
import sys
import time
import traceback
from contextlib import suppress
from mmap import mmap
from pathlib import Path
from tempfile import TemporaryDirectory

NAMES = (
    *(
        "reader",
        "lint",
        "compile",
        "server",
        "verbs",
        "secrets",
        "files",
        "definitions",
        "tree",
        "scripts",
    ),
    *("logs", "batch", "baseline", "dumps"),
)
MOST_DEATHS = 50
"""Inputs of one harness that may end its process."""
_BROKEN = 100
"""Status of a process whose fuzzer failed; less are the crashes it found."""
_WARM = 40
"""Seeds that a harness runs before it is measured."""


def main() -> int:
    options = _options()
    coverage = options.engine == "atheris"
    if coverage and importlib.util.find_spec("atheris") is None:
        print(
            "fuzz: atheris is not installed: python -m pip install atheris, or --engine blind",
            file=sys.stderr,
        )
        return 2

    if coverage:
        if len(options.harness) != 1:
            print("fuzz: atheris ends the process: one harness at a time", file=sys.stderr)
            return 2
        _instrument()

    crashed = sum(_run(name, options) for name in options.harness or NAMES)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"fuzz: {crashed} crashes, {spent.ru_utime + spent.ru_stime:.0f} s of processor time in "
        "all",
        flush=True,
    )

    return int(crashed > 0)


def _instrument() -> None:
    """Import all of the package under atheris' eyes, also what is loaded late: what it does not
    see guides nobody.
    """
    import atheris

    with atheris.instrument_imports(include=["ptcompile"]):
        package = importlib.import_module("ptcompile")
        for module in pkgutil.walk_packages(package.__path__, "ptcompile."):
            if module.name != "ptcompile.__main__":
                importlib.import_module(module.name)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m fuzz", description="Look for inputs that break a promise."
    )
    parser.add_argument(
        "harness", nargs="*", choices=[*NAMES, []], help=f"of {', '.join(NAMES)} (all)"
    )
    parser.add_argument("--engine", choices=("blind", "atheris"), default="blind")
    parser.add_argument(
        "--runs", type=int, default=60_000, metavar="N", help="executions, in fixed shares (60000)"
    )
    parser.add_argument(
        "--large",
        action="store_true",
        help="inputs of 32 KB to 1 MB, each size twice the one before",
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="the same number, the same inputs (1)"
    )
    parser.add_argument(
        "--seeds", type=Path, action="append", default=[], metavar="DIR", help="more to begin with"
    )
    parser.add_argument(
        "--crashes", type=Path, default=Path("crashes"), metavar="DIR", help="kept there (crashes)"
    )
    parser.add_argument(
        "--corpus", type=Path, metavar="DIR", help="of atheris: what it found worth keeping"
    )

    return parser.parse_args()


def _run(name: str, options: argparse.Namespace) -> int:
    """One harness in a process of its own, under a memory limit; an input that ends the process
    is a crash too.
    """
    from fuzz import engine, harnesses  # noqa: F401 - what every process needs is imported once, before they part
    from fuzz.guard import count_of, last_of, shared, watch

    if options.engine == "atheris":
        return _share(name, options)

    current = shared()
    for deaths in range(MOST_DEATHS):
        began = count_of(current)
        status = watch(_child(name, options, current), current)
        if status is not None and 0 <= status < _BROKEN:
            return deaths + status
        how = "it took too long, killed" if status is None else f"the process ended with {status}"
        if count_of(current) == began:
            _tell(name, f"{how} before the first input")
            return deaths + 1
        _tell(name, f"{how}\n  {engine.save(last_of(current), options.crashes)}")

    return MOST_DEATHS


def _child(name: str, options: argparse.Namespace, current: mmap) -> int:
    """Start a process for the executions of a harness that are left."""
    child = os.fork()
    if child == 0:
        status = _BROKEN
        try:
            status = min(_BROKEN - 1, _share(name, options, current))
        except Exception:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)

    return child


def _share(name: str, options: argparse.Namespace, current: mmap | None = None) -> int:
    from fuzz import engine
    from fuzz.guard import Guard, count_of, limit_memory
    from fuzz.harnesses import GRAMMARS, HARNESSES, SHARES
    from fuzz.seeds import seeds
    from ptcompile._internal import limits

    runs = round(options.runs * SHARES[name] / sum(SHARES[one] for one in options.harness or NAMES))
    start = seeds(name, options.seeds)
    # what is loaded late is loaded before memory is counted
    for data in start[:: len(start) // _WARM or 1]:
        with suppress(Exception):
            HARNESSES[name](data)

    gc.collect()
    gc.freeze()  # every full collection would walk all that was loaded
    if options.large:
        limits.lower()  # what may be slow for an input of a stranger is refused
    limit_memory()
    guard = Guard(HARNESSES[name], current, 0 if current is None else count_of(current))
    began = time.process_time()
    if options.engine == "atheris":
        with TemporaryDirectory() as folder:
            corpus = options.corpus or Path(folder)
            engine.guided(
                guard, start, runs=runs, seed=options.seed, crashes=options.crashes, corpus=corpus
            )

    crashed = engine.blind(
        guard,
        start,
        runs=runs,
        seed=options.seed,
        crashes=options.crashes,
        tell=lambda line: _tell(name, line),
        make=GRAMMARS.get(name),
        large=options.large,
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
