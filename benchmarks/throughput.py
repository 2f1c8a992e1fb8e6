"""Compiling in process: one spec from text to manifests to YAML text, again and again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import ptcompile
from benchmarks.timing import interleaved, line
from ptcompile.targets import TARGETS

BATCH = 50
ROUNDS = 11
SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {{name: train-{n}, namespace: research}}
spec:
  image: ghcr.io/acme/llama:2.{n}
  script: train.py
  args: [--epochs, "3", --lr, "1e-4"]
  nodes: {nodes}
  resources: {{cpu: 32, memory: 256Gi, gpu: 8}}
  sharedMemory: true
  env: {{NCCL_DEBUG: INFO, RUN: "{n}", TOKEN: {{secretKeyRef: {{name: hub, key: token}}}}}}
  volumes: [{{name: data, persistentVolumeClaim: {{claimName: data}}}}]
  volumeMounts: [{{name: data, mountPath: /data}}]
"""


def run() -> None:
    """Print specs a second for each target, and for the example."""
    specs: dict[str, Callable[[], object]] = {
        f"{target}, {1 if target == 'pod' else 4} nodes": partial(_batch, target, 1 if target == "pod" else 4)
        for target in TARGETS
    }
    example = Path(__file__).parents[1] / "examples" / "mnist" / "spec.yaml"
    text = example.read_text(encoding="utf-8")
    specs["examples/mnist/spec.yaml"] = lambda: [ptcompile.compile(text).yaml() for _ in range(BATCH)]
    for name, seconds in interleaved(specs, ROUNDS).items():
        line(name, f"{BATCH / median(seconds):.0f} specs/s", ">= 500")


def _batch(target: str, nodes: int) -> None:
    for n in range(BATCH):
        result = ptcompile.compile(SPEC.format(n=n, nodes=nodes), target=target)
        result.unwrap()
        result.yaml()
