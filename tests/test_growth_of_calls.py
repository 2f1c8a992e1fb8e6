"""Nothing is quadratic: calls are counted, not seconds, so that a loaded machine says the same as a quiet one."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

import ptcompile
from ptcompile.emit import emit

SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {{name: train}}
spec:
  image: ghcr.io/acme/train:1.0
  script: train.py
  nodes: {nodes}
  resources: {{cpu: 4, memory: 16Gi, gpu: 1}}
  env: {{{env}}}
"""


def spec(*, nodes: int = 2, env: int = 1) -> str:
    return SPEC.format(nodes=nodes, env=", ".join(f"VARIABLE_{i}: value-{i}" for i in range(env)))


def manifest(*, nodes: int = 2, env: int = 1) -> str:
    return emit(ptcompile.compile(spec(nodes=nodes, env=env), target="job").unwrap()[1])


def stream(count: int) -> str:
    return "---\n".join(manifest().replace("name: train\n", f"name: train-{i}\n") for i in range(count))


def linted(text: str) -> Callable[[], object]:
    return lambda: ptcompile.lint(text)


def simulated(nodes: int) -> Callable[[], object]:
    text = manifest(nodes=nodes)
    return lambda: [pod.env for pod in ptcompile.simulate(text).pods]


LINEAR: dict[str, tuple[int, Callable[[int], Callable[[], object]]]] = {
    "compile, env entries": (200, lambda n: lambda: ptcompile.compile(spec(env=n), target="job").yaml()),
    "compile, documents": (8, lambda n: lambda: ptcompile.compile("---\n".join([spec()] * n)).yaml()),
    "lint, env entries": (200, lambda n: linted(manifest(env=n))),
    "lint, documents": (8, lambda n: linted(stream(n))),
    "simulate, nodes": (50, simulated),
}
"""By name: a size, and what to do for one of them. Roles are not here: every role is told the hosts of every other."""

CONSTANT: dict[str, Callable[[int], Callable[[], object]]] = {
    "compile, nodes": lambda n: lambda: ptcompile.compile(spec(nodes=n), target="job").yaml(),
    "lint, nodes": lambda n: linted(manifest(nodes=n)),
}


@pytest.mark.parametrize("name", LINEAR)
def test_work_grows_no_faster_than_its_input(name: str) -> None:
    """From 2n to 4n inputs at most 2.2 times the calls that come from n to 2n: a square would take 4 times."""
    size, make = LINEAR[name]
    once, twice, more = (calls(make(n)) for n in (size, 2 * size, 4 * size))
    assert twice > once
    assert more - twice <= 2.2 * (twice - once)


@pytest.mark.parametrize("name", CONSTANT)
def test_nodes_cost_nothing_where_nobody_asks_for_pods(name: str) -> None:
    few, many = (calls(CONSTANT[name](nodes)) for nodes in (10, 10_000))
    assert many <= 1.05 * few


def calls(work: Callable[[], object]) -> int:
    """How many functions are called, Python's and C's, after a first run that fills what is kept."""
    work()
    count = 0

    def counting(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counting)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
