"""Training runtimes: those of the stream, those that Trainer installs, and those a platform applies.

A TrainJob says little: the runtime that it names decides the rest. The ones that Trainer 2.3 installs are here, and
those of its examples folder, which people apply as they stand; a file of the same stream comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.index import objects
from ptcompile.kubernetes.unstructured import as_mapping, as_mappings, as_string, namespace_of, nested_map, string_map
from ptcompile.kubernetes.versions import Version, Versions
from ptcompile.registry.model import Base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json

    JsonDict = dict[str, Any]


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


API_VERSION = f"{GROUP}/v1alpha1"
KINDS = ("ClusterTrainingRuntime", "TrainingRuntime")
POLICIES = ("torch", "mpi", "jax", "xgboost", "flux")


_OLDER = (
    ((2, 2), "pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime"),
    ((2, 3), "pytorch/pytorch:2.10.0-cuda12.8-cudnn9-runtime"),
)
"""The image of the torch runtimes before a release of Trainer."""


def base(manifest: Json, others: Iterable[Json], versions: Versions) -> Base:
    """The runtime of a TrainJob in a cluster of these releases."""
    return find_runtime(manifest, others, versions.trainer)


def find_runtime(manifest: Json, others: Iterable[Json] = (), version: Version = (2, 3)) -> Base:
    """The runtime that a TrainJob names: from the same stream, else built in, else of the examples.

    An unknown one is taken for a copy of `torch-distributed`. `version` is Trainer's: older ones install older images.
    """
    ref = nested_map(manifest, "spec", "runtimeRef")
    kind, name = as_string(ref.get("kind")) or KINDS[0], as_string(ref.get("name"))
    beside = objects(others) if kind == KINDS[0] else objects(others).within(namespace_of(manifest))
    for other in beside.named((API_VERSION, kind), name):
        return Base(other, assumed=False)
    known = BUILTIN.get(name) if kind == KINDS[0] else None
    known = known or EXAMPLES.get((kind, name))
    return Base(_aged(known or BUILTIN["torch-distributed"], version), assumed=known is None)


def _aged(runtime: Json, version: Version) -> Json:
    """A runtime as an older release installs it."""
    image = next((image for before, image in _OLDER if version < before), None)
    return runtime if image is None else _with_image(runtime, image)


def _with_image(value: Any, image: str) -> Any:
    if isinstance(value, Mapping):
        return {k: image if v == TORCH_IMAGE else _with_image(v, image) for k, v in value.items()}
    return [_with_image(v, image) for v in value] if isinstance(value, list) else value


def policy_of(runtime: Json) -> str | None:
    """`torch`, `mpi`, `jax`, `xgboost` or `flux`; `plain` for a policy without source, None without a policy."""
    policy = nested_map(runtime, "spec").get("mlPolicy")
    if not isinstance(policy, Mapping):
        return None
    return next((name for name in POLICIES if isinstance(policy.get(name), Mapping)), "plain")


def replicated_jobs(runtime: Json) -> list[Json]:
    """The replicatedJobs of a runtime's template."""
    return as_mappings(nested_map(runtime, "spec", "template", "spec").get("replicatedJobs"))


def step_label(replicated: Json) -> str:
    """The value of the label that says which step of a TrainJob a replicatedJob runs, or an empty string."""
    return string_map(nested_map(replicated, "template", "metadata").get("labels")).get(ANCESTOR, "")


def containers(replicated: Json) -> list[Json]:
    """The main containers of a replicatedJob's pods."""
    return as_mappings(nested_map(replicated, "template", "spec", "template", "spec").get("containers"))


def find_container(replicated: Json, name: str) -> Json | None:
    """The main container of this name, or None."""
    return next((c for c in containers(replicated) if c.get("name") == name), None)


def node_resources(manifest: Json, runtime: Json) -> Json:
    """`trainer.resourcesPerNode` where it is set, else the resources of the runtime's trainer container `node`.

    The two are not merged here: Trainer 2.3 looks at the raw ones to count processes.
    """
    given = nested_map(manifest, "spec", "trainer").get("resourcesPerNode")
    if isinstance(given, Mapping):
        return given
    for replicated in replicated_jobs(runtime):
        node = find_container(replicated, "node") if step_label(replicated) == "trainer" else None
        if node is not None:
            return nested_map(node, "resources")
    return {}


def gpus(resources: Json) -> int:
    """The amount of the first resource whose name contains `gpu`; requests come before limits."""
    for kind in ("requests", "limits"):
        for name, amount in as_mapping(resources.get(kind)).items():
            parsed = quantity.parse(amount) if "gpu" in str(name).lower() else None
            if parsed is not None:
                return parsed.value
    return 0


def nproc_per_node(manifest: Json, runtime: Json, version: Version = (2, 3)) -> str:
    """PET_NPROC_PER_NODE: as written, `auto` with GPUs, else the CPUs rounded up, at least 1 (Trainer 2.3).

    Before 2.2 the runtime's torch policy could say it too.
    """
    given = nested_map(manifest, "spec", "trainer").get("numProcPerNode")
    if given is None and version < (2, 2):
        given = nested_map(runtime, "spec", "mlPolicy", "torch").get("numProcPerNode")
    if given is not None and not isinstance(given, Mapping | list):
        return str(given)
    resources = node_resources(manifest, runtime)
    if gpus(resources) > 0:
        return "auto"
    for kind in ("requests", "limits"):
        cpu = quantity.parse(as_mapping(resources.get(kind)).get("cpu"))
        if cpu:
            return str(max(1, cpu.value))
    return "1"


def node_count(manifest: Json, runtime: Json) -> int:
    """How many nodes: the TrainJob's, else the runtime's lifted to 1, else 1."""
    given = nested_map(manifest, "spec", "trainer").get("numNodes")
    if isinstance(given, int) and not isinstance(given, bool):
        return max(0, given)
    written = nested_map(runtime, "spec", "mlPolicy").get("numNodes")
    return max(1, written) if isinstance(written, int) and not isinstance(written, bool) else 1


def tune_model(runtime_name: str) -> str:
    """The TorchTune model that a runtime's name stands for (`torchtune-llama3.2-1b` -> `llama3_2/1B`), or nothing.

    The name has to have three parts between dashes; the first one does not matter (Trainer 2.3).
    """
    parts = runtime_name.split("-")
    return f"{parts[1].replace('.', '_')}/{parts[2].upper()}" if len(parts) == 3 else ""


def platform_objects(made: Sequence[JsonDict], versions: Versions) -> Iterator[JsonDict]:
    """The runtimes that the TrainJobs among some manifests name; Trainer installs its own in a step of its own."""
    for job in (one for one in made if one["kind"] == "TrainJob"):
        runtime = find_runtime(job, made, versions.trainer).source
        ref = job["spec"]["runtimeRef"]
        metadata = {"name": ref["name"], **runtime["metadata"]}
        kind = ref.get("kind", KINDS[0])
        yield {"apiVersion": API_VERSION, "kind": kind, **runtime, "metadata": metadata}
