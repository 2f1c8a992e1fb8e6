"""`python -m benchmarks [NAME...]`: run all of them, or those that are named. Exit status 1 if a
limit is passed.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Callable

from benchmarks import (
    cold,
    dump,
    editor,
    growth,
    house,
    instructions,
    lint,
    memory,
    peers,
    throughput,
    waits,
)

ALL: dict[str, Callable[[], object]] = {
    "cold": cold.run,
    "instructions": instructions.run,
    "house": house.run,
    "compile": throughput.run,
    "lint": lint.run,
    "growth": growth.run,
    "memory": memory.run,
    "dump": dump.run,
    "editor": editor.run,
    "waits": waits.run,
    "peers": peers.run,
}


def main() -> None:
    """Run them and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(ALL)}")
    parser.add_argument("--kubeconform", metavar="PATH", help="compare with this kubeconform")
    parser.add_argument(
        "--before", metavar="PATH", help="compare editor and waits with this checkout"
    )
    parser.add_argument("--torchx", metavar="PATH", help="compare with this torchx")
    parser.add_argument(
        "--kubeflow", metavar="PYTHON", help="compare with the Kubeflow SDK of this Python"
    )
    parser.add_argument("--flytekit", metavar="PYTHON", help="compare with flytekit of this Python")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in ALL]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(ALL)}")
    print(f"Python {platform.python_version()}, {platform.machine()}; medians of interleaved runs")
    above: list[str] = []
    for name in options.names or ALL:
        print(f"\n{name}", flush=True)
        if name == "peers":
            peers.run(options.kubeconform, options.torchx, options.kubeflow, options.flytekit)
        elif name == "instructions":
            above = instructions.run()
        elif name in ("editor", "waits"):
            {"editor": editor.run, "waits": waits.run}[name](options.before)
        else:
            ALL[name]()

    if above:
        sys.exit("\n".join(above))


if __name__ == "__main__":
    main()
