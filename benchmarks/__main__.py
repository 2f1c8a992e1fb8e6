"""`python -m benchmarks [NAME...]`: run all of them, or those that are named."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable

from benchmarks import cold, lint, memory, throughput

ALL: dict[str, Callable[[], None]] = {
    "cold": cold.run,
    "compile": throughput.run,
    "lint": lint.run,
    "memory": memory.run,
}


def main() -> int:
    names = sys.argv[1:] or list(ALL)
    unknown = [name for name in names if name not in ALL]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(ALL)}", file=sys.stderr)
        return 2
    print(f"Python {platform.python_version()}, {platform.machine()}; medians of interleaved runs")
    for name in names:
        print(f"\n{name}")
        ALL[name]()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
