"""Training runtimes: those of the stream, those that Trainer installs, and those that a platform
applies.

A TrainJob contains little: the runtime that it names decides the rest. This module has the runtimes
that Trainer 2.3 installs and those of its examples folder, which people apply unchanged; a file of
the same stream takes precedence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from ptcompile._internal.namedtuple import Any
from ptcompile.kinds.model import Base
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.index import objects
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    namespace_of,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_value,
    with_leaves,
)
from ptcompile.kubernetes.versions import Version, Versions

GROUP = "trainer.kubeflow.org"
RESERVED_ENV = (
    "PET_NNODES",
    "PET_NPROC_PER_NODE",
    "PET_NODE_RANK",
    "PET_MASTER_ADDR",
    "PET_MASTER_PORT",
)
"""Variables that the torch policy sets."""
ANCESTOR = f"{GROUP}/trainjob-ancestor-step"
"""The label for the step of a TrainJob that a replicatedJob runs."""

_IMAGES = "ghcr.io/kubeflow/trainer/"
TORCH_IMAGE = "pytorch/pytorch:2.13.0-cuda13.0-cudnn9-runtime"
_DATA = "hf://tatsu-lab/alpaca"


_EMPTY: Json = MappingProxyType({})


def _replicated_job(
    name: str,
    image: str,
    *,
    step: str | None = None,
    after: tuple[tuple[str, str], ...] = (),
    pod: Json = _EMPTY,
    **more: Any,
) -> Json:
    """Return a replicatedJob with one container.

    `step` is its ancestor label, `after` its dependencies with their status.
    """
    container = {"name": "node" if step in (None, "trainer") else name, "image": image, **more}
    template: JsonDict = {"spec": {"template": {"spec": {**pod, "containers": [container]}}}}
    if step:
        template = {"metadata": {"labels": {ANCESTOR: step}}, **template}
    replicated: JsonDict = {"name": name, "template": template}
    if after:
        return {**replicated, "dependsOn": [{"name": n, "status": s} for n, s in after]}
    return replicated


def _runtime(
    framework: str, policy: Json, jobs: list[Json], spec: Json = _EMPTY, **more: Any
) -> Json:
    return {
        "metadata": {"labels": {f"{GROUP}/framework": framework}},
        "spec": {
            "mlPolicy": {"numNodes": 1, **policy},
            **more,
            "template": {"spec": {**spec, "replicatedJobs": jobs}},
        },
    }


def _nodes_only(framework: str, image: str, policy: Json, **more: Any) -> Json:
    """Return a runtime whose only replicatedJob is `node`, which trains."""
    return _runtime(framework, policy, [_replicated_job("node", image, step="trainer")], **more)


def _mpi_runtime(framework: str) -> Json:
    image = f"{_IMAGES}{framework}-runtime"
    user: Json = {"securityContext": {"runAsUser": 1000}}
    pod: Json = {"securityContext": {"fsGroup": 1000}}
    policy = {
        "numProcPerNode": 1,
        "mpiImplementation": "OpenMPI",
        "sshAuthMountPath": "/home/mpiuser/.ssh",
        "runLauncherAsNode": True,
    }
    node = _replicated_job(
        "node",
        image,
        pod=pod,
        **user,
        command=["/usr/sbin/sshd"],
        args=["-De", "-f", "/home/mpiuser/.sshd_config"],
        readinessProbe={
            "tcpSocket": {"port": 2222},
            "initialDelaySeconds": 5,
        },
    )
    launcher = _replicated_job(
        "launcher", image, step="trainer", after=(("node", "Ready"),), pod=pod, **user
    )
    success = {"operator": "All", "targetReplicatedJobs": ["launcher"]}
    spec = {
        "network": {"publishNotReadyAddresses": True},
        "successPolicy": success,
    }

    return _runtime(framework, {"mpi": policy}, [node, launcher], spec)


def _cache_runtime() -> Json:
    field = {"apiVersion": "v1", "fieldPath": "metadata.labels['jobset.sigs.k8s.io/jobset-name']"}
    name = {"name": "TRAIN_JOB_NAME", "valueFrom": {"fieldRef": field}}
    env = [{"name": "CACHE_IMAGE", "value": f"{_IMAGES}data-cache:latest"}, name]
    account = {"serviceAccountName": "kubeflow-trainer-cache-initializer"}
    step = "dataset-initializer"
    initializer = {
        **_replicated_job(step, _IMAGES + step, step=step, pod=account, env=env),
        "replicas": 1,
    }
    node = _replicated_job(
        "node", TORCH_IMAGE, step="trainer", after=((step, "Complete"),), env=[name]
    )

    return _runtime("torch", {"torch": {}}, [initializer, node])


def _torchtune_runtime(model: str, recipe: str, *tokenizer: str) -> Json:
    """Return a TorchTune runtime: two initializers fill a volume that the trainer reads."""
    mounts = [{"name": "initializer", "mountPath": "/workspace"}]
    steps = (("dataset-initializer", _DATA), ("model-initializer", f"hf://{model}-Instruct"))
    jobs = []
    for step, uri in steps:
        env = [{"name": "STORAGE_URI", "value": uri}]
        jobs.append(_replicated_job(step, _IMAGES + step, step=step, env=env, volumeMounts=mounts))

    command = [
        "tune",
        "run",
        "--rdzv_endpoint=localhost:29500",
        "full_finetune_distributed",
        "--config",
        f"{recipe}_full",
        "dataset=torchtune.datasets.instruct_dataset",
        "dataset.source=parquet",
        "dataset.data_dir=/workspace/dataset/data",
        "output_dir=/workspace/output",
        *tokenizer,
        "checkpointer.checkpoint_dir=/workspace/model",
    ]
    trainer = _replicated_job(
        "node",
        f"{_IMAGES}torchtune-trainer",
        step="trainer",
        after=tuple((step, "Complete") for step, _ in steps),
        command=command,
        resources={"limits": {"nvidia.com/gpu": 2}},
        volumeMounts=mounts,
    )
    claim = {
        "metadata": {"name": "initializer"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "20Gi"}},
        },
    }

    return _runtime(
        "torchtune",
        {"torch": {}},
        [*jobs, trainer],
        {"volumeClaimPolicies": [{"templates": [claim]}]},
    )


def _runtime_with_initializer() -> Json:
    step = "dataset-initializer"
    node = _replicated_job("node", TORCH_IMAGE, step="trainer", after=((step, "Complete"),))
    return _runtime(
        "torch",
        {"torch": {}},
        [{**_replicated_job(step, _IMAGES + step, step=step), "replicas": 1}, node],
    )


_LLAMA = "tokenizer.path=/workspace/model/original/tokenizer.model"
_QWEN = (
    "tokenizer.path=/workspace/model/vocab.json",
    "tokenizer.merges_file=/workspace/model/merges.txt",
)

BUILTIN: Mapping[str, Json] = {
    "torch-distributed": _nodes_only("torch", TORCH_IMAGE, {"torch": {}}),
    "torch-distributed-with-cache": _cache_runtime(),
    "deepspeed-distributed": _mpi_runtime("deepspeed"),
    "mlx-distributed": _mpi_runtime("mlx"),
    "jax-distributed": _nodes_only("jax", "nvcr.io/nvidia/jax:25.10-py3", {"jax": {}}),
    "xgboost-distributed": _nodes_only("xgboost", f"{_IMAGES}xgboost-runtime", {"xgboost": {}}),
    "torchtune-llama3.2-1b": _torchtune_runtime("meta-llama/Llama-3.2-1B", "llama3_2/1B", _LLAMA),
    "torchtune-llama3.2-3b": _torchtune_runtime("meta-llama/Llama-3.2-3B", "llama3_2/3B", _LLAMA),
    "torchtune-qwen2.5-1.5b": _torchtune_runtime("Qwen/Qwen2.5-1.5B", "qwen2_5/1.5B", *_QWEN),
}
"""ClusterTrainingRuntimes that Trainer 2.3 installs."""

_FLUX_VIEW = "ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy"
_FLUX = {"initContainers": [{"name": "flux-bootstrap", "image": _FLUX_VIEW}]}

EXAMPLES: Mapping[tuple[str, str], Json] = {
    ("ClusterTrainingRuntime", "flux-runtime"): _runtime(
        "flux",
        {"flux": {}},
        [_replicated_job("node", "placeholder-image", step="trainer", pod=_FLUX)],
    ),
    ("ClusterTrainingRuntime", "flux-distributed"): _nodes_only(
        "flux", "ubuntu:jammy", {"flux": {}}
    ),
    ("ClusterTrainingRuntime", "torch-distributed-volcano"): _nodes_only(
        "torch", TORCH_IMAGE, {"torch": {}}, podGroupPolicy={"volcano": {}}
    ),
    ("TrainingRuntime", "torch-with-dataset-init"): _runtime_with_initializer(),
}
"""Runtimes that the examples and proposals of Trainer 2.3 apply, keyed by kind and name."""


API_VERSION = f"{GROUP}/v1alpha1"
CLUSTER_KIND = "ClusterTrainingRuntime"
KINDS = (CLUSTER_KIND, "TrainingRuntime")
POLICIES = ("torch", "mpi", "jax", "xgboost", "flux")


_OLDER_IMAGES = (
    ((2, 2), "pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime"),
    ((2, 3), "pytorch/pytorch:2.10.0-cuda12.8-cudnn9-runtime"),
)
"""Images of the torch runtimes before a release of Trainer."""


def referenced_kind(reference: Json) -> str:
    """Return the kind of runtime that a `runtimeRef` names, by default the cluster's."""
    return nested_string(reference, "kind") or CLUSTER_KIND


def find_runtime(manifest: Json, related: Iterable[Json], version: Version = (2, 3)) -> Base:
    """Return the runtime that a TrainJob names: from the stream, else built in, else from the
    examples.

    An unknown one is assumed to be a copy of `torch-distributed`. `version` is Trainer's: older
    releases install older images.
    """
    ref = nested_map(manifest, "spec", "runtimeRef")
    kind = referenced_kind(ref)
    name = nested_string(ref, "name")
    if kind == CLUSTER_KIND:
        candidates = objects(related)
    else:
        candidates = objects(related).in_namespace(namespace_of(manifest))

    for runtime in candidates.by_name((API_VERSION, kind), name):
        return Base(runtime, assumed=False)
    installed = BUILTIN.get(name) if kind == CLUSTER_KIND else None
    installed = installed or EXAMPLES.get((kind, name))

    return Base(
        _as_of_release(installed or BUILTIN["torch-distributed"], version),
        assumed=installed is None,
    )


def _as_of_release(runtime: Json, version: Version) -> Json:
    """Return a runtime as a Trainer release installs it."""
    image = next((image for release, image in _OLDER_IMAGES if version < release), None)
    if image is None:
        return runtime
    changed: Json = with_leaves(runtime, lambda leaf: image if leaf == TORCH_IMAGE else leaf)
    return changed


def policy_of(runtime: Json) -> str | None:
    """Return `torch`, `mpi`, `jax`, `xgboost` or `flux`; `plain` for a policy without a source,
    None without a policy.
    """
    policy = nested_value(runtime, "spec", "mlPolicy")
    if not isinstance(policy, Mapping):
        return None
    return next((name for name in POLICIES if isinstance(policy.get(name), Mapping)), "plain")


def replicated_jobs(runtime: Json) -> list[Json]:
    """Return the replicatedJobs of a runtime's template."""
    return nested_maps(runtime, "spec", "template", "spec", "replicatedJobs")


def find_job(runtime: Json, name: str) -> Json | None:
    """Return the replicatedJob with this name, or None."""
    return next((job for job in replicated_jobs(runtime) if job.get("name") == name), None)


def step_label(replicated: Json) -> str:
    """Return a replicatedJob's label for the step of a TrainJob that it runs, or an empty
    string.
    """
    return nested_string_map(replicated, "template", "metadata", "labels").get(ANCESTOR, "")


def containers(replicated: Json) -> list[Json]:
    """Return the main containers of a replicatedJob's pods."""
    return nested_maps(replicated, "template", "spec", "template", "spec", "containers")


def find_container(replicated: Json, name: str) -> Json | None:
    """Return the main container with this name, or None."""
    return next((c for c in containers(replicated) if c.get("name") == name), None)


def trainer_nodes(runtime: Json) -> Iterator[Json]:
    """Yield the container `node` of each replicatedJob with the trainer's label, if it has one."""
    for replicated in replicated_jobs(runtime):
        node = find_container(replicated, "node") if step_label(replicated) == "trainer" else None
        if node is not None:
            yield node


def node_resources(manifest: Json, runtime: Json) -> Json:
    """Return `trainer.resourcesPerNode` if set, else the resources of the runtime's trainer
    container `node`.

    The two are not merged: Trainer 2.3 counts processes from the raw ones.
    """
    resources = nested_value(manifest, "spec", "trainer", "resourcesPerNode")
    if isinstance(resources, Mapping):
        return resources
    return nested_map(next(trainer_nodes(runtime), None), "resources")


def gpu_count(resources: Json) -> int:
    """Return the amount of the first resource whose name contains `gpu`, preferring requests to
    limits.
    """
    for kind in ("requests", "limits"):
        for name, amount in nested_map(resources, kind).items():
            parsed = quantity.parse(amount) if "gpu" in str(name).lower() else None
            if parsed is not None:
                return parsed.value
    return 0


def nproc_per_node(manifest: Json, runtime: Json, version: Version = (2, 3)) -> str:
    """Return PET_NPROC_PER_NODE: as written, `auto` with GPUs, else the CPUs rounded up, at least 1
    (Trainer 2.3).

    Before 2.2 the runtime's torch policy could also set it.
    """
    processes = nested_value(manifest, "spec", "trainer", "numProcPerNode")
    if processes is None and version < (2, 2):
        processes = nested_value(runtime, "spec", "mlPolicy", "torch", "numProcPerNode")
    if processes is not None and not isinstance(processes, Mapping | list):
        return str(processes)

    resources = node_resources(manifest, runtime)
    if gpu_count(resources) > 0:
        return "auto"

    for kind in ("requests", "limits"):
        cpu = quantity.parse(nested_value(resources, kind, "cpu"))
        if cpu:
            return str(max(1, cpu.value))

    return "1"


def node_count(manifest: Json, runtime: Json) -> int:
    """Return the number of nodes: the TrainJob's, else the runtime's raised to 1, else 1."""
    num_nodes = nested_value(manifest, "spec", "trainer", "numNodes")
    if type(num_nodes) is int:
        return max(0, num_nodes)
    runtime_nodes = nested_value(runtime, "spec", "mlPolicy", "numNodes")
    if type(runtime_nodes) is int:
        return max(1, runtime_nodes)
    return 1


def tune_model(runtime_name: str) -> str:
    """Return the TorchTune model of a runtime's name (`torchtune-llama3.2-1b` -> `llama3_2/1B`), or
    an empty string.

    The name must have three parts between hyphens; the first one does not matter (Trainer 2.3).
    """
    parts = runtime_name.split("-")
    if len(parts) != 3:
        return ""

    _, model, size = parts
    return f"{model.replace('.', '_')}/{size.upper()}"


def platform_objects(manifests: Sequence[JsonDict], versions: Versions) -> Iterator[JsonDict]:
    """Yield the runtimes that the TrainJobs in `manifests` name; Trainer installs its built-in
    ones separately.
    """
    for job in (manifest for manifest in manifests if manifest["kind"] == "TrainJob"):
        runtime = find_runtime(job, manifests, versions.trainer).source
        ref = job["spec"]["runtimeRef"]
        metadata = {"name": ref["name"], **runtime["metadata"]}
        yield {
            "apiVersion": API_VERSION,
            "kind": referenced_kind(ref),
            **runtime,
            "metadata": metadata,
        }
