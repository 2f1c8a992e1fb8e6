"""How time grows with nodes, roles, documents and env entries: seconds, the exponent between
sizes, and curves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from math import log
from pathlib import Path
from statistics import median

import ptcompile
from benchmarks.jobs import dirty, documents, spec
from benchmarks.plot import plot
from benchmarks.timing import ROOT, interleaved, line
from ptcompile.source.emitter import emit

ROUNDS = 3
LEAST = 0.05
"""Seconds that a measurement takes at least: what is shorter is done several times."""

Curve = Mapping[int, float]


def run(folder: Path = ROOT / "benchmarks" / "curves") -> None:
    """Print the curves, and draw them into the folder."""
    for name, (sizes, make) in CURVES.items():
        seconds = _measured({size: make(size) for size in sizes})
        first, last = sizes[0], sizes[-1]
        goal = "<= 2.1, as what is made" if name in SQUARES else "<= 1.1"
        line(
            f"{name}, {first} to {last}: {_shown(seconds)} ms",
            f"exponent {exponent(seconds):.2f}",
            goal,
        )
        slug = name.lower().replace(", ", "-").replace(" ", "-")
        title, axis = name.split(", ")
        (folder / f"{slug}.svg").write_text(plot(title, axis, seconds), encoding="utf-8")


def _measured(work: Mapping[int, Callable[[], object]]) -> Curve:
    """The median seconds of each size. All is loaded and done before the clock is read that
    counts.
    """
    first, second = ({size: _seconds(one) for size, one in work.items()} for _ in range(2))
    times = {size: max(1, round(LEAST / min(first[size], second[size]))) for size in work}
    again = {str(size): partial(_repeat, one, times[size]) for size, one in work.items()}
    return {
        int(size): median(found) / times[int(size)]
        for size, found in interleaved(again, ROUNDS).items()
    }


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _repeat(work: Callable[[], object], times: int) -> None:
    for _ in range(times):
        work()


def exponent(curve: Curve) -> float:
    """The steepest slope between neighbours of the larger half, on logarithmic scales: 1 is
    linear, 2 quadratic.
    """
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


def _tasks(tasks: int) -> Callable[[], object]:
    """A Volcano Job, each of whose pods is told the hosts of all tasks."""
    one = "{replicas: 1, template: {spec: {containers: [{name: c, image: i}]}}, name: t"
    text = (
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j}\nspec:\n  plugins: "
        "{svc: []}\n  tasks:\n"
    )
    text += "".join(f"  - {one}{i}}}\n" for i in range(tasks))
    return lambda: [pod.env for pod in ptcompile.simulate(text).pods]


def _beside_services(jobs: int) -> Callable[[], object]:
    """Jobs of two nodes, each with a headless Service of its own."""
    results = (ptcompile.compile(spec(n % 100), target="job").unwrap() for n in range(jobs))
    return _lint(
        "---\n".join(
            emit(one).replace("train-", f"train-{n}-")
            for n, made in enumerate(results)
            for one in made
        )
    )


NODES = (1, 10, 100, 1_000, 10_000)
MANY = (10, 100, 1_000, 10_000)
CURVES: dict[str, tuple[tuple[int, ...], Callable[[int], Callable[[], object]]]] = {
    "compile, nodes": (NODES, lambda n: _compile(spec(nodes=n))),
    "compile, env entries": (NODES, lambda n: _compile(spec(env=n))),
    "compile, roles": (
        (1, 4, 16, 64),
        lambda n: lambda: ptcompile.compile(spec(roles=n), target="jobset").yaml(),
    ),
    "compile, documents": (MANY, lambda n: _compile("---\n".join(map(spec, range(n))))),
    "lint, nodes": (
        NODES,
        lambda n: _lint(emit(ptcompile.compile(spec(nodes=n), target="job").unwrap()[-1])),
    ),
    "lint, env entries": (NODES, lambda n: _lint(documents(1, env=n)[0])),
    "lint, documents": (MANY, lambda n: _lint("---\n".join((documents(100) * 100)[:n]))),
    "lint, documents with mistakes": (
        MANY[:-1],
        lambda n: _lint("---\n".join(([*map(dirty, documents(100))] * 100)[:n])),
    ),
    "lint, Jobs beside their Services": (MANY[:-1], _beside_services),
    "simulate, nodes": (NODES, _simulated),
    "simulate, Volcano tasks that know all hosts": ((1, 4, 16, 64, 256), _tasks),
    "explain, env entries": (
        (1, 10, 100, 1_000),
        lambda n: lambda: ptcompile.explain(spec(env=n), target="job"),
    ),
}
"""By name: the sizes, and what to do for one of them."""

SQUARES = ("compile, roles", "simulate, Volcano tasks that know all hosts")
"""What makes every one know every other."""
