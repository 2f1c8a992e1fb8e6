"""Short constructors of manifests and worlds."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from ptcompile.api.simulate import simulate as simulate_text
from ptcompile.graph import GRAPHS
from ptcompile.simulator.as_text import env_file, overview, pod_text
from ptcompile.simulator.world import World

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = sorted(
    path
    for path in (ROOT / "golden").glob("*/spec.yaml")
    if not path.parent.name.startswith("bad-")
)
SCHEMA = json.loads((ROOT / "schemas" / "world.schema.json").read_text(encoding="utf-8"))

CONTAINER: dict[str, Any] = {
    "name": "pytorch",
    "image": "ghcr.io/acme/llama:2.1",
    "command": ["torchrun", "train.py"],
    "env": [{"name": "NCCL_DEBUG", "value": "INFO"}],
    "resources": {"limits": {"nvidia.com/gpu": 8, "cpu": "32", "memory": "256Gi"}},
}


def pytorchjob(
    workers: int = 3, *, container: dict[str, Any] | None = None, **spec: Any
) -> dict[str, Any]:
    template = {"spec": {"containers": [{**CONTAINER, **(container or {})}]}}
    replicas = {
        "Master": {"replicas": 1, "template": template},
        "Worker": {"replicas": workers, "template": copy.deepcopy(template)},
    }
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "llama", "namespace": "research"},
        "spec": {"nprocPerNode": "8", "pytorchReplicaSpecs": replicas, **spec},
    }


def pod_of(container: dict[str, Any], **spec: Any) -> dict[str, Any]:
    body = {"containers": [{"name": "main", "image": "i", **container}], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "alone"}, "spec": body}


def jobset(command: list[str], **spec: Any) -> dict[str, Any]:
    pod = {"containers": [{"name": "main", "image": "i", "command": command}]}
    job = {"parallelism": 2, "completions": 2, "backoffLimit": 0, "template": {"spec": pod}}
    replicated = {"name": "workers", "replicas": 2, "template": {"spec": job}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "js"},
        "spec": {"replicatedJobs": [replicated], **spec},
    }


def volcano(workers: int = 2, *, min_available: int | None = None, **spec: Any) -> dict[str, Any]:
    line = "torchrun --nnodes=$WORLD_SIZE --nproc-per-node=2 --node-rank=${RANK} --master-addr=$MASTER_ADDR train.py"
    resources = {"limits": {"nvidia.com/gpu": 2}, "requests": {"cpu": 4}}
    container = {"name": "c", "image": "i", "command": ["sh", "-ec", line], "resources": resources}
    template = {"spec": {"restartPolicy": "OnFailure", "containers": [container]}}
    tasks = [
        {"name": name, "replicas": n, "template": template}
        for name, n in (("master", 1), ("worker", workers))
    ]
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "vj"},
        "spec": {
            "minAvailable": min_available if min_available is not None else workers + 1,
            "plugins": {"pytorch": [], "svc": []},
            "tasks": tasks,
            **spec,
        },
    }


def only(world: World) -> Any:
    assert len(world.jobs) == 1
    return world.jobs[0]


EVIL = "e\x1b[31m\u202evil<script>\"'&"

SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: train}
spec: {image: i, script: t.py, nodes: 2}
"""


def golden(path: Path) -> World:
    cluster = path.parent / "cluster.yaml"
    return simulate_text(
        path.read_bytes(), cluster=cluster.read_bytes() if cluster.exists() else None
    )


def everything(world: World) -> None:
    json.dumps(world.to_dict())
    overview(world)
    for pod in list(world.pods.folded())[:2]:
        pod_text(pod)
        env_file(pod)
    for draw in GRAPHS.values():
        draw(world)
