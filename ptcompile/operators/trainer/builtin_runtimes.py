"""The runtimes that Kubeflow Trainer 2.3 installs, and those of its examples and proposals, as data."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.untyped import Json

GROUP = "trainer.kubeflow.org"
ANCESTOR = f"{GROUP}/trainjob-ancestor-step"
"""The label that says which step of a TrainJob a replicatedJob runs."""

_IMAGES = "ghcr.io/kubeflow/trainer/"
TORCH_IMAGE = "pytorch/pytorch:2.13.0-cuda13.0-cudnn9-runtime"
_DATA = "hf://tatsu-lab/alpaca"


_EMPTY: Json = MappingProxyType({})


def _job(
    name: str,
    image: str,
    *,
    step: str | None = None,
    after: tuple[tuple[str, str], ...] = (),
    pod: Json = _EMPTY,
    **more: Any,
) -> Json:
    """A replicatedJob with one container. `step` is its ancestor label, `after` its dependencies with their status."""
    container = {"name": "node" if step in (None, "trainer") else name, "image": image, **more}
    template: dict[str, Any] = {"spec": {"template": {"spec": {**pod, "containers": [container]}}}}
    if step:
        template = {"metadata": {"labels": {ANCESTOR: step}}, **template}
    out: dict[str, Any] = {"name": name, "template": template}
    return {**out, "dependsOn": [{"name": n, "status": s} for n, s in after]} if after else out


def _runtime(framework: str, policy: Json, jobs: list[Json], spec: Json = _EMPTY, **more: Any) -> Json:
    return {
        "metadata": {"labels": {f"{GROUP}/framework": framework}},
        "spec": {"mlPolicy": {"numNodes": 1, **policy}, **more, "template": {"spec": {**spec, "replicatedJobs": jobs}}},
    }


def _plain(framework: str, image: str, policy: Json, **more: Any) -> Json:
    """A runtime of nothing but nodes."""
    return _runtime(framework, policy, [_job("node", image, step="trainer")], **more)


def _mpi(framework: str) -> Json:
    image = f"{_IMAGES}{framework}-runtime"
    user: Json = {"securityContext": {"runAsUser": 1000}}
    pod: Json = {"securityContext": {"fsGroup": 1000}}
    policy = {
        "numProcPerNode": 1,
        "mpiImplementation": "OpenMPI",
        "sshAuthMountPath": "/home/mpiuser/.ssh",
        "runLauncherAsNode": True,
    }
    node = _job(
        "node",
        image,
        pod=pod,
        **user,
        command=["/usr/sbin/sshd"],
        args=["-De", "-f", "/home/mpiuser/.sshd_config"],
        readinessProbe={"tcpSocket": {"port": 2222}, "initialDelaySeconds": 5},
    )
    launcher = _job("launcher", image, step="trainer", after=(("node", "Ready"),), pod=pod, **user)
    success = {"operator": "All", "targetReplicatedJobs": ["launcher"]}
    spec = {"network": {"publishNotReadyAddresses": True}, "successPolicy": success}
    return _runtime(framework, {"mpi": policy}, [node, launcher], spec)


def _cache() -> Json:
    field = {"apiVersion": "v1", "fieldPath": "metadata.labels['jobset.sigs.k8s.io/jobset-name']"}
    name = {"name": "TRAIN_JOB_NAME", "valueFrom": {"fieldRef": field}}
    env = [{"name": "CACHE_IMAGE", "value": f"{_IMAGES}data-cache:latest"}, name]
    account = {"serviceAccountName": "kubeflow-trainer-cache-initializer"}
    step = "dataset-initializer"
    data = {**_job(step, _IMAGES + step, step=step, pod=account, env=env), "replicas": 1}
    node = _job("node", TORCH_IMAGE, step="trainer", after=((step, "Complete"),), env=[name])
    return _runtime("torch", {"torch": {}}, [data, node])


def _tune(model: str, recipe: str, *tokenizer: str) -> Json:
    """A TorchTune runtime: two initializers fill a volume that the trainer reads."""
    mounts = [{"name": "initializer", "mountPath": "/workspace"}]
    steps = (("dataset-initializer", _DATA), ("model-initializer", f"hf://{model}-Instruct"))
    jobs = [
        _job(s, _IMAGES + s, step=s, env=[{"name": "STORAGE_URI", "value": uri}], volumeMounts=mounts)
        for s, uri in steps
    ]
    command = [
        "tune", "run", "--rdzv_endpoint=localhost:29500", "full_finetune_distributed", "--config", f"{recipe}_full",
        "dataset=torchtune.datasets.instruct_dataset", "dataset.source=parquet",
        "dataset.data_dir=/workspace/dataset/data", "output_dir=/workspace/output", *tokenizer,
        "checkpointer.checkpoint_dir=/workspace/model",
    ]  # fmt: skip
    trainer = _job(
        "node",
        f"{_IMAGES}torchtune-trainer",
        step="trainer",
        after=tuple((s, "Complete") for s, _ in steps),
        command=command,
        resources={"limits": {"nvidia.com/gpu": 2}},
        volumeMounts=mounts,
    )
    claim = {
        "metadata": {"name": "initializer"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "20Gi"}}},
    }
    return _runtime("torchtune", {"torch": {}}, [*jobs, trainer], {"volumeClaimPolicies": [{"templates": [claim]}]})


def _with_initializer() -> Json:
    step = "dataset-initializer"
    node = _job("node", TORCH_IMAGE, step="trainer", after=((step, "Complete"),))
    return _runtime("torch", {"torch": {}}, [{**_job(step, _IMAGES + step, step=step), "replicas": 1}, node])


_LLAMA = "tokenizer.path=/workspace/model/original/tokenizer.model"
_QWEN = ("tokenizer.path=/workspace/model/vocab.json", "tokenizer.merges_file=/workspace/model/merges.txt")

BUILTIN: Mapping[str, Json] = {
    "torch-distributed": _plain("torch", TORCH_IMAGE, {"torch": {}}),
    "torch-distributed-with-cache": _cache(),
    "deepspeed-distributed": _mpi("deepspeed"),
    "mlx-distributed": _mpi("mlx"),
    "jax-distributed": _plain("jax", "nvcr.io/nvidia/jax:25.10-py3", {"jax": {}}),
    "xgboost-distributed": _plain("xgboost", f"{_IMAGES}xgboost-runtime", {"xgboost": {}}),
    "torchtune-llama3.2-1b": _tune("meta-llama/Llama-3.2-1B", "llama3_2/1B", _LLAMA),
    "torchtune-llama3.2-3b": _tune("meta-llama/Llama-3.2-3B", "llama3_2/3B", _LLAMA),
    "torchtune-qwen2.5-1.5b": _tune("Qwen/Qwen2.5-1.5B", "qwen2_5/1.5B", *_QWEN),
}
"""ClusterTrainingRuntimes that Trainer 2.3 installs."""

_FLUX_VIEW = "ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy"
_FLUX = {"initContainers": [{"name": "flux-bootstrap", "image": _FLUX_VIEW}]}

EXAMPLES: Mapping[tuple[str, str], Json] = {
    ("ClusterTrainingRuntime", "flux-runtime"): _runtime(
        "flux", {"flux": {}}, [_job("node", "placeholder-image", step="trainer", pod=_FLUX)]
    ),
    ("ClusterTrainingRuntime", "flux-distributed"): _plain("flux", "ubuntu:jammy", {"flux": {}}),
    ("ClusterTrainingRuntime", "torch-distributed-volcano"): _plain(
        "torch", TORCH_IMAGE, {"torch": {}}, podGroupPolicy={"volcano": {}}
    ),
    ("TrainingRuntime", "torch-with-dataset-init"): _with_initializer(),
}
"""Runtimes that the examples and proposals of Trainer 2.3 apply, by kind and name."""
