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
def test_tune_model(name: str, model: str) -> None:
    assert runtimes.tune_model(name) == model


def test_gpus_by_substring() -> None:
    """Trainer counts any resource with `gpu` in its name, requests first, and ignores other accelerators.

    Source: docs/facts/trainer.md#number-of-processes.
    """
    assert runtimes.gpu_count({"limits": {"gpu.intel.com/i915": 1}}) == 1
    assert runtimes.gpu_count({"limits": {"nvidia.com/gpu": 8}, "requests": {"amd.com/gpu": "2"}}) == 2
    assert runtimes.gpu_count({"limits": {"google.com/tpu": 4, "nvidia.com/mig-1g.5gb": 1}}) == 0
