"""What is measured: specs and manifests, made in any size."""

from __future__ import annotations

import ptcompile
from ptcompile.source.emitter import emit

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
  env: {{NCCL_DEBUG: INFO, RUN: "{n}", TOKEN: {{secretKeyRef: {{name: hub, key: token}}}}{more}}}
  volumes: [{{name: data, persistentVolumeClaim: {{claimName: data}}}}]
  volumeMounts: [{{name: data, mountPath: /data}}]
"""


def spec(n: int = 0, *, nodes: int = 4, env: int = 0, roles: int = 0) -> str:
    """A spec of about 15 lines; no two numbers give the same one."""
    text = SPEC.format(
        n=n, nodes=nodes, more="".join(f", VARIABLE_{i}: value-{i}" for i in range(env))
    )
    beside = "".join(
        f"    side-{i}: {{replicas: 1, command: [serve, --port, '80']}}\n" for i in range(roles)
    )
    return text + (f"  roles:\n{beside}" if roles else "")


def documents(count: int, *, nodes: int = 4, env: int = 0, target: str = "job") -> list[str]:
    """Indexed Jobs of about 70 lines, and of 1,400 with 660 more variables. Their Services are
    in no file (PTC486).
    """
    made = (
        ptcompile.compile(spec(n, nodes=nodes, env=env), target=target).unwrap()[-1]
        for n in range(count)
    )
    return [emit(one) for one in made]


def streams(count: int) -> list[str]:
    """Indexed Jobs with their Services: a Job alone has a finding."""
    return [ptcompile.compile(spec(n), target="job").yaml() for n in range(count)]


def dirty(text: str) -> str:
    """The same manifest with four mistakes, that different layers find."""
    return (
        text.replace("restartPolicy: Never", "restartPolicy: Sometimes")
        .replace("mountPath:", "mountpath:", 1)
        .replace("memory: 256Gi", "memory: 256 Gi", 1)
        .replace("--nnodes=4", "--nnodes=5")
    )
