"""Explanation pages for tests, each built once per run."""

from __future__ import annotations

import functools
from pathlib import Path

from ptcompile.explainer.page import ExplainPage, html
from tests.conftest import GOLDEN, ROOT
from tests.making import gather

EXAMPLE = ROOT / "examples" / "llm"

HOSTILE = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata:
  name: hostile
  annotations:
    "example.com/note": "</script><img src=x onerror='window.hacked=1'>"
spec:
  image: img:1  # </li><script>window.hacked=2</script>
  script: train.py
  nodes: 2
  env:
    EVIL: "</script><script>window.hacked=3</script><img src=x onerror=window.hacked=4>"
    AMPERSAND: "&lt;b&gt; ]]> --> \\u2028 \\u202e \\u0007"
    API_TOKEN: "hunter2-the-secret"
    DB_PASSWORD: |
      several-secret
      lines-of-secret
    BROKEN: "$(</svg><script>window.hacked=5</script>)"
"""

SIX = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: six, namespace: research}
spec:
  image: registry.example.com/train:1.2
  script: train.py
  args: [--epochs, "3"]
  nodes: 1
  resources: {cpu: 32, memory: 256Gi, gpu: 8}
  sharedMemory: 64Gi
  env:
    NCCL_DEBUG: INFO
    OMP_NUM_THREADS: "4"
    NOTE: |
      key: no key
      # no comment
  volumes:
    - {name: data, persistentVolumeClaim: {claimName: corpus}}
  volumeMounts:
    - {name: data, mountPath: /data}
"""
"""A spec that all six targets can express."""


@functools.cache
def page(spec: str | bytes, cluster: str | None = None, target: str | None = None) -> ExplainPage:
    return gather(
        spec, cluster=cluster, target=target, filename="spec.yaml", cluster_filename="cluster.yaml"
    )


@functools.cache
def text(spec: str | bytes, cluster: str | None = None, target: str | None = None) -> str:
    return html(page(spec, cluster, target))


def example() -> tuple[str, str]:
    """Return the spec and the profile of examples/llm."""
    return read(EXAMPLE / "spec.yaml"), read(EXAMPLE / "cluster.yaml")


def golden(name: str) -> tuple[str, str | None]:
    """Return the spec and the profile of a golden case."""
    cluster = GOLDEN / name / "cluster.yaml"
    return read(GOLDEN / name / "spec.yaml"), read(cluster) if cluster.exists() else None


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
