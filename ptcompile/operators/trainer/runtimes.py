"""The runtimes of Kubeflow Trainer, as data, and how a TrainJob finds its own.

A TrainJob says little: the runtime that it names decides the rest. The ones that Trainer 2.3 installs are here, and
those of its examples folder, which people apply as they stand; a file of the same stream comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.index import objects
from ptcompile.kubernetes.untyped import at, items, mapping, namespace, string_map, text
from ptcompile.kubernetes.versions import Version, Versions
from ptcompile.operators.common.base import Base
from ptcompile.operators.trainer.builtin_runtimes import ANCESTOR, BUILTIN, EXAMPLES, GROUP, TORCH_IMAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.untyped import Json

API_VERSION = f"{GROUP}/v1alpha1"
KINDS = ("ClusterTrainingRuntime", "TrainingRuntime")
POLICIES = ("torch", "mpi", "jax", "xgboost", "flux")

__all__ = [
    "API_VERSION", "BUILTIN", "EXAMPLES", "GROUP", "KINDS", "POLICIES", "ancestor", "base", "container", "containers",
    "find", "gpus", "node_resources", "nodes", "policy_of", "processes", "replicated_jobs", "tune_model",
]  # fmt: skip


_OLDER = (
    ((2, 2), "pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime"),
    ((2, 3), "pytorch/pytorch:2.10.0-cuda12.8-cudnn9-runtime"),
)
"""The image of the torch runtimes before a release of Trainer."""


def base(manifest: Json, others: Iterable[Json], versions: Versions) -> Base:
    """The runtime of a TrainJob in a cluster of these releases."""
    return find(manifest, others, versions.trainer)


def find(manifest: Json, others: Iterable[Json] = (), version: Version = (2, 3)) -> Base:
    """The runtime that a TrainJob names: from the same stream, else built in, else of the examples.

    An unknown one is taken for a copy of `torch-distributed`. `version` is Trainer's: older ones install older images.
    """
    ref = at(manifest, "spec", "runtimeRef")
    kind, name = text(ref.get("kind")) or KINDS[0], text(ref.get("name"))
    beside = objects(others) if kind == KINDS[0] else objects(others).within(namespace(manifest))
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
    policy = at(runtime, "spec").get("mlPolicy")
    if not isinstance(policy, Mapping):
        return None
    return next((name for name in POLICIES if isinstance(policy.get(name), Mapping)), "plain")


def replicated_jobs(runtime: Json) -> list[Json]:
    """The replicatedJobs of a runtime's template."""
    return items(at(runtime, "spec", "template", "spec").get("replicatedJobs"))


def ancestor(replicated: Json) -> str:
    """The value of the label that says which step of a TrainJob a replicatedJob runs, or an empty string."""
    return string_map(at(replicated, "template", "metadata").get("labels")).get(ANCESTOR, "")


def containers(replicated: Json) -> list[Json]:
    """The main containers of a replicatedJob's pods."""
    return items(at(replicated, "template", "spec", "template", "spec").get("containers"))


def container(replicated: Json, name: str) -> Json | None:
    """The main container of this name, or None."""
    return next((c for c in containers(replicated) if c.get("name") == name), None)


def node_resources(manifest: Json, runtime: Json) -> Json:
    """`trainer.resourcesPerNode` where it is set, else the resources of the runtime's trainer container `node`.

    The two are not merged here: Trainer 2.3 looks at the raw ones to count processes.
    """
    given = at(manifest, "spec", "trainer").get("resourcesPerNode")
    if isinstance(given, Mapping):
        return given
    for replicated in replicated_jobs(runtime):
        node = container(replicated, "node") if ancestor(replicated) == "trainer" else None
        if node is not None:
            return at(node, "resources")
    return {}


def gpus(resources: Json) -> int:
    """The amount of the first resource whose name contains `gpu`; requests come before limits."""
    for kind in ("requests", "limits"):
        for name, amount in mapping(resources.get(kind)).items():
            parsed = quantity.parse(amount) if "gpu" in str(name).lower() else None
            if parsed is not None:
                return parsed.value
    return 0


def processes(manifest: Json, runtime: Json, version: Version = (2, 3)) -> str:
    """PET_NPROC_PER_NODE: as written, `auto` with GPUs, else the CPUs rounded up, at least 1 (Trainer 2.3).

    Before 2.2 the runtime's torch policy could say it too.
    """
    given = at(manifest, "spec", "trainer").get("numProcPerNode")
    if given is None and version < (2, 2):
        given = at(runtime, "spec", "mlPolicy", "torch").get("numProcPerNode")
    if given is not None and not isinstance(given, Mapping | list):
        return str(given)
    resources = node_resources(manifest, runtime)
    if gpus(resources) > 0:
        return "auto"
    for kind in ("requests", "limits"):
        cpu = quantity.parse(mapping(resources.get(kind)).get("cpu"))
        if cpu:
            return str(max(1, cpu.value))
    return "1"


def nodes(manifest: Json, runtime: Json) -> int:
    """How many nodes: the TrainJob's, else the runtime's lifted to 1, else 1."""
    given = at(manifest, "spec", "trainer").get("numNodes")
    if isinstance(given, int) and not isinstance(given, bool):
        return max(0, given)
    written = at(runtime, "spec", "mlPolicy").get("numNodes")
    return max(1, written) if isinstance(written, int) and not isinstance(written, bool) else 1


def tune_model(runtime_name: str) -> str:
    """The TorchTune model that a runtime's name stands for (`torchtune-llama3.2-1b` -> `llama3_2/1B`), or nothing.

    The name has to have three parts between dashes; the first one does not matter (Trainer 2.3).
    """
    parts = runtime_name.split("-")
    return f"{parts[1].replace('.', '_')}/{parts[2].upper()}" if len(parts) == 3 else ""
