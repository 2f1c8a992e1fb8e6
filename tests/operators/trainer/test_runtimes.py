"""Built-in runtimes of Trainer 2.3, compared with the manifests that Trainer publishes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.runtimes import BUILTIN, EXAMPLES
from tests import recorded

FOLDERS = ("manifests/", "examples/", "proposals/")


def published() -> dict[tuple[str, str], dict[str, Any]]:
    out = {}
    for row in recorded.rows("apiserver/real"):
        manifest = row["manifest"]
        folder = row["source"].removeprefix("kubeflow/trainer ")
        name = nested_map(manifest, "metadata").get("name")
        if name and manifest.get("kind") in runtimes.KINDS and folder.startswith(FOLDERS):
            out[manifest["kind"], name] = manifest
    return out


def test_runtimes_match_the_published_manifests() -> None:
    ours = {("ClusterTrainingRuntime", name): r for name, r in BUILTIN.items()} | dict(EXAMPLES)
    theirs = published()
    assert ours.keys() == theirs.keys()
    for key, runtime in theirs.items():
        assert json.loads(json.dumps(ours[key]["spec"])) == runtime["spec"], key


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("torchtune-llama3.2-1b", "llama3_2/1B"),
        ("torchtune-qwen2.5-1.5b", "qwen2_5/1.5B"),
        ("torch-distributed", ""),
        ("a-b-c-d", ""),
    ],
)
def test_a_runtime_s_name_gives_the_model(name: str, model: str) -> None:
    assert runtimes.tune_model(name) == model


def test_any_resource_with_gpu_in_its_name_counts() -> None:
    """Trainer counts any resource with `gpu` in its name, requests first, and ignores other accelerators.

    Source: docs/facts/trainer.md#number-of-processes.
    """
    assert runtimes.gpu_count({"limits": {"gpu.intel.com/i915": 1}}) == 1
    assert (
        runtimes.gpu_count({"limits": {"nvidia.com/gpu": 8}, "requests": {"amd.com/gpu": "2"}}) == 2
    )
    assert runtimes.gpu_count({"limits": {"google.com/tpu": 4, "nvidia.com/mig-1g.5gb": 1}}) == 0


def _runtime(resources: Any = None, **torch: Any) -> dict[str, Any]:
    container = {"name": "node", "image": "i", "resources": resources or {}}
    job = {
        "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }
    template = {"spec": {"replicatedJobs": [{"name": "node", "template": job}]}}
    return {"spec": {"mlPolicy": {"torch": torch}, "template": template}}


@pytest.mark.parametrize(
    ("trainer", "runtime", "version", "processes"),
    [
        ({"numProcPerNode": 4}, _runtime(numProcPerNode=2), (2, 1), "4"),
        ({}, _runtime(numProcPerNode=2), (2, 1), "2"),
        ({}, _runtime(numProcPerNode=2), (2, 2), "1"),  # since 2.2 only the TrainJob sets it
        ({"numProcPerNode": "gpu"}, _runtime(), (2, 3), "gpu"),
        ({"numProcPerNode": {}}, _runtime(), (2, 3), "1"),
        ({}, _runtime({"limits": {"nvidia.com/gpu": 8}}), (2, 3), "auto"),
        ({}, _runtime({"requests": {"cpu": "2500m"}}), (2, 3), "3"),
        ({}, _runtime({"requests": {"cpu": "100m"}}), (2, 3), "1"),
        ({}, _runtime({"requests": {"cpu": "2"}, "limits": {"cpu": "8"}}), (2, 3), "2"),
        ({}, _runtime({"limits": {"cpu": "8"}}), (2, 3), "8"),
        (
            {"resourcesPerNode": {"limits": {"cpu": 4}}},
            _runtime({"limits": {"nvidia.com/gpu": 8}}),
            (2, 3),
            "4",
        ),
        ({"resourcesPerNode": {"limits": {"amd.com/gpu": "0"}}}, _runtime(), (2, 3), "1"),
    ],
)
def test_the_job_or_its_runtime_sets_the_processes_per_node(
    trainer: Any, runtime: Any, version: tuple[int, int], processes: str
) -> None:
    """Trainer 2.3, pkg/runtime/framework/plugins/torch; the policy's field went away with 2.2."""
    assert runtimes.nproc_per_node({"spec": {"trainer": trainer}}, runtime, version) == processes


@pytest.mark.parametrize(
    ("resources", "count"),
    [
        ({"limits": {"nvidia.com/gpu": 8}}, 8),
        ({"requests": {"nvidia.com/gpu": "2"}, "limits": {"nvidia.com/gpu": 8}}, 2),
        ({"limits": {"NVIDIA.com/GPU": 1, "cpu": 4}}, 1),
        ({"limits": {"nvidia.com/gpu": "x", "amd.com/gpu": 4}}, 4),
        ({"limits": {"cpu": 4}}, 0),
        ({}, 0),
    ],
)
def test_gpus_are_counted_from_resources(resources: Any, count: int) -> None:
    assert runtimes.gpu_count(resources) == count


@pytest.mark.parametrize(
    ("ref", "name", "assumed"),
    [
        ({"name": "torch-distributed"}, "torch-distributed", False),
        (
            {"name": "torch-distributed", "kind": "ClusterTrainingRuntime"},
            "torch-distributed",
            False,
        ),
        ({"name": "mine"}, "mine", False),
        ({"name": "own", "kind": "TrainingRuntime"}, "own", False),
        ({"name": "own"}, "torch-distributed", True),  # of the other kind
        (
            {"name": "other", "kind": "TrainingRuntime"},
            "torch-distributed",
            True,
        ),  # in another namespace
        ({"name": "torch-distributed", "kind": "TrainingRuntime"}, "torch-distributed", True),
        ({"name": "unknown"}, "torch-distributed", True),
    ],
)
def test_a_trainjob_finds_the_runtime_that_it_names(
    ref: dict[str, str], name: str, assumed: bool
) -> None:
    def runtime(kind: str, name: str, **metadata: str) -> dict[str, Any]:
        return {
            "apiVersion": runtimes.API_VERSION,
            "kind": kind,
            "metadata": {"name": name, **metadata},
            **_runtime(),
        }

    stream = [runtime("ClusterTrainingRuntime", "mine"), runtime("TrainingRuntime", "own"),
              runtime("TrainingRuntime", "other", namespace="b")]  # fmt: skip
    found_runtime = runtimes.find_runtime(
        {"metadata": {"name": "a"}, "spec": {"runtimeRef": ref}}, stream
    )
    named: dict[str, Any] = {**BUILTIN, **{item["metadata"]["name"]: item for item in stream}}
    assert found_runtime.source is named[name]
    assert found_runtime.assumed is assumed
