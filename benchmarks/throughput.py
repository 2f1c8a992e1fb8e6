"""Compiling in process: one spec from text to manifests to YAML text, again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median

import ptcompile
from benchmarks.jobs import spec
from benchmarks.timing import ROOT, interleaved, line
from ptcompile.operators.targets import TARGETS

BATCH = 50
ROUNDS = 11


def run() -> None:
    """Print specs a second for each target and for the example, validated; for each target with
    the rules too.
    """
    text = (ROOT / "examples" / "mnist" / "spec.yaml").read_text(encoding="utf-8")
    specs: dict[str, Callable[[], object]] = {
        "examples/mnist/spec.yaml": lambda: _batch([text] * BATCH, None, False)
    }
    for target in TARGETS:
        nodes = 1 if target == "pod" else 4
        texts = [spec(n, nodes=nodes) for n in range(BATCH)]
        for lint in (False, True):
            with_rules = ", with the rules" if lint else ""
            specs[f"{target}, {nodes} nodes{with_rules}"] = partial(_batch, texts, target, lint)

    for name, seconds in interleaved(specs, ROUNDS).items():
        line(f"{name}, best round", f"{BATCH / min(seconds):.0f} specs/s")
        line(
            f"{name}, median",
            f"{BATCH / median(seconds):.0f} specs/s",
            "" if "rules" in name else ">= 2500",
        )


def _batch(texts: Sequence[str], target: str | None, lint: bool) -> None:
    for text in texts:
        result = ptcompile.compile(text, target=target, lint=lint)
        result.unwrap()
        result.yaml()
