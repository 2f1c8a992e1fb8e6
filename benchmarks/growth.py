"""How time grows with nodes, roles, documents and env entries: seconds, the exponent between sizes, and curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from math import log
from pathlib import Path
from statistics import median

import ptcompile
from benchmarks.jobs import documents, spec
from benchmarks.plot import plot
from benchmarks.timing import ROOT, interleaved, line
from ptcompile.emit import emit

ROUNDS = 3
Curve = Mapping[int, float]


def run(folder: Path = ROOT / "benchmarks" / "curves") -> None:
    """Print the curves, and draw them into the folder."""
    for name, (sizes, make) in CURVES.items():
        work = {str(size): make(size) for size in sizes}
        seconds = {int(size): median(found) for size, found in interleaved(work, ROUNDS).items()}
        first, last = sizes[0], sizes[-1]
        line(f"{name}, {first} to {last}: {_shown(seconds)} ms", f"exponent {exponent(seconds):.2f}", "<= 1.1")
        slug = name.replace(", ", "-").replace(" ", "-")
        (folder / f"{slug}.svg").write_text(plot(name, seconds), encoding="utf-8")


def exponent(curve: Curve) -> float:
    """The steepest slope between neighbours of the larger half, on logarithmic scales: 1 is linear, 2 quadratic."""
    sizes = sorted(curve)
    upper = sizes[len(sizes) // 2 - 1 :]
    return max(log(curve[b] / curve[a]) / log(b / a) for a, b in pairwise(upper))


def _shown(curve: Curve) -> str:
    return " ".join(f"{seconds * 1000:.3g}" for seconds in curve.values())


def _compile(text: str) -> Callable[[], object]:
    return lambda: ptcompile.compile(text, target="job").yaml()


def _lint(text: str) -> Callable[[], object]:
    return lambda: ptcompile.lint(text)


def _simulated(nodes: int) -> Callable[[], object]:
    text = emit(ptcompile.compile(spec(nodes=nodes), target="job").unwrap()[-1])
    return lambda: [pod.env for pod in ptcompile.simulate(text).pods]


NODES = (1, 10, 100, 1_000, 10_000)
CURVES: dict[str, tuple[tuple[int, ...], Callable[[int], Callable[[], object]]]] = {
    "compile, nodes": (NODES, lambda n: _compile(spec(nodes=n))),
    "compile, env entries": ((1, 10, 100, 1_000, 4_000), lambda n: _compile(spec(env=n))),
    "compile, roles": ((1, 4, 16, 64), lambda n: lambda: ptcompile.compile(spec(roles=n), target="jobset").yaml()),
    "compile, documents": ((10, 100, 1_000), lambda n: _compile("---\n".join(map(spec, range(n))))),
    "lint, nodes": (NODES, lambda n: _lint(emit(ptcompile.compile(spec(nodes=n), target="job").unwrap()[-1]))),
    "lint, env entries": ((1, 10, 100, 1_000, 4_000), lambda n: _lint(documents(1, env=n)[0])),
    "lint, documents": ((10, 100, 1_000, 10_000), lambda n: _lint("---\n".join((documents(100) * 100)[:n]))),
    "simulate, nodes": (NODES, _simulated),
}
"""By name: the sizes, and what to do for one of them."""
