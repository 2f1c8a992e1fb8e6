"""Compiling in process: one spec from text to manifests to YAML text, again and again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median

import ptcompile
from benchmarks.jobs import spec
from benchmarks.timing import ROOT, interleaved, line
from ptcompile.operators.targets import TARGETS

BATCH = 50
ROUNDS = 11


def run() -> None:
    """Print specs a second for each target, and for the example."""
    specs: dict[str, Callable[[], object]] = {
        f"{target}, {1 if target == 'pod' else 4} nodes": partial(_batch, target, 1 if target == "pod" else 4)
        for target in TARGETS
    }
    text = (ROOT / "examples" / "mnist" / "spec.yaml").read_text(encoding="utf-8")
    specs["examples/mnist/spec.yaml"] = lambda: [ptcompile.compile(text).yaml() for _ in range(BATCH)]
    for name, seconds in interleaved(specs, ROUNDS).items():
        line(f"{name}, best round", f"{BATCH / min(seconds):.0f} specs/s")
        line(f"{name}, median", f"{BATCH / median(seconds):.0f} specs/s", ">= 2500")


def _batch(target: str, nodes: int) -> None:
    for n in range(BATCH):
        result = ptcompile.compile(spec(n, nodes=nodes), target=target)
        result.unwrap()
        result.yaml()
