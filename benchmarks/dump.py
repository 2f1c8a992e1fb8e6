"""A dump of 10,000 nodes in 20 shapes and 1,000 jobs: processor time and memory of `platform`,
`lint` and `admit`.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from subprocess import DEVNULL, Popen
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.timing import PTCOMPILE, line

NODES, SHAPES, JOBS = 10_000, 20, 1000
MACHINES = ("m5.4xlarge", "p5.48xlarge", "p4d.24xlarge", "g5.12xlarge")
CPUS = ("15890m", "191450m", "95690m", "47810m")
MEMORY = ("57691456Ki", "2061000Mi", "1100Gi", "180Gi")
GPUS = (0, 8, 8, 4)
GPU = "nvidia.com/gpu"
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {{name: train-{n}, namespace: ml}}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      tolerations: [{{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}}]
      containers:
        - name: pytorch
          image: ghcr.io/acme/train:1.{n}
          command: [python, train.py, --seed={n}]
          resources: {{limits: {{cpu: {cpu}, memory: {memory}Gi, nvidia.com/gpu: {gpus}}}}}
"""


def node(n: int) -> dict[str, Any]:
    """Return a node as kubectl prints it, with the conditions and images that make a dump large."""
    shape = n % SHAPES
    machine = shape % len(MACHINES)
    name = f"ip-10-0-{n // 250}-{n % 250}"
    allocatable = {
        "cpu": CPUS[machine],
        "memory": MEMORY[machine],
        "pods": "110",
        GPU: str(GPUS[machine]),
    }
    labels = {
        "kubernetes.io/hostname": name,
        "node.kubernetes.io/instance-type": MACHINES[machine],
        "topology.kubernetes.io/zone": f"us-east-1{'abcde'[shape // len(MACHINES)]}",
        "eks.amazonaws.com/nodegroup": f"ng-{shape}",
    }
    conditions = [
        {
            "type": kind,
            "status": "False",
            "message": "the kubelet has enough of it",
            "reason": "KubeletHasEnough",
        }
        for kind in ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    ]
    images = [
        {"names": [f"registry.k8s.io/image-{k}@sha256:{'ab' * 32}"], "sizeBytes": k}
        for k in range(8)
    ]

    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": f"00000000-{n:012}", "labels": labels},
        "spec": {"taints": [{"key": GPU, "effect": "NoSchedule"}] if GPUS[machine] else []},
        "status": {
            "allocatable": allocatable,
            "capacity": allocatable,
            "conditions": conditions,
            "images": images,
            "nodeInfo": {"kubeletVersion": "v1.34.2-eks-113cf36", "operatingSystem": "linux"},
        },
    }


def run() -> None:
    """Print what each command takes."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        dump = json.dumps(
            {"apiVersion": "v1", "kind": "List", "items": [node(n) for n in range(NODES)]}
        )
        (folder / "dump.json").write_text(dump, encoding="utf-8")
        jobs = [
            JOB.format(n=n, cpu=1 + n % 64, memory=1 + n % 100, gpus=1 + n % 9) for n in range(JOBS)
        ]
        (folder / "jobs.yaml").write_text("---\n".join(jobs), encoding="utf-8")
        profile = _run(folder, "platform", "--from-dump", "dump.json")
        _run(folder, "lint", "jobs.yaml", "--cluster", profile)
        _run(folder, "admit", "jobs.yaml", "--state", "dump.json")


def _run(folder: Path, *words: str) -> str:
    """Run a command, print its processor time and its peak, and return the name of the file with
    its output.
    """
    with (folder / f"{words[0]}.yaml").open("wb") as file:
        process = Popen(
            [sys.executable, *PTCOMPILE, *words], cwd=folder, stdout=file, stderr=DEVNULL
        )
        _, _, usage = _wait(process)

    seconds = usage.ru_utime + usage.ru_stime
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    line(
        f"{words[0]}: peak {peak / 1e6:.0f} MB (goal 400), seconds of processor time",
        f"{seconds:.1f}",
        "10",
    )

    return Path(file.name).name


def _wait(process: Popen[bytes]) -> tuple[int, int, resource.struct_rusage]:
    import os

    pid, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return pid, status, usage
