"""The pass `processes`: auto becomes a number if the node would miscount its devices, and stays auto otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.compiler.passes.processes import processes
from ptcompile.ir.job import Job
from ptcompile.spec.cluster_profile import ClusterProfile
from tests import making
from tests.making import DEFAULT_CLUSTER

AUTO = making.LAUNCH._replace(nproc_per_node="auto")
TWICE = making.profile(
    {"accelerators": {"mps": {"nodeLabels": {"mps": "yes"}, "processesPerDevice": 2}}}
)


def run(job: Job, cluster: ClusterProfile = DEFAULT_CLUSTER) -> Any:
    where = making.context(cluster)
    after = processes(job, where)
    assert processes(after, where) == after
    assert after._replace(launch=job.launch) == job, "nothing else changes"
    return after.launch and after.launch.nproc_per_node


@pytest.mark.parametrize(
    ("limits", "accelerator", "number"),
    [
        # docs/facts/trainer.md#number-of-processes: devices that Trainer does not recognize as GPUs
        ({"habana.ai/gaudi": "8"}, None, 8),
        ({"google.com/tpu": "4"}, "google-tpu-v5e/2x2", 4),
        ({"nvidia.com/mig-1g.5gb": "1"}, "nvidia-a100-40gb/1g.5gb", 1),
        ({"huawei.com/Ascend910": "8"}, None, 8),
        # AWS Neuron: one process per core; 2 cores per Trainium, 4 logical cores per Trainium2
        ({"aws.amazon.com/neuron": "16"}, "aws-trainium1", 32),
        ({"aws.amazon.com/neuron": "16"}, "aws-trainium2", 64),
        ({"aws.amazon.com/neuroncore": "8"}, "aws-trainium1", 8),
        ({"aws.amazon.com/neuron": "16"}, None, 16),
        # torchrun counts CUDA, ROCm and XPU devices itself
        ({"nvidia.com/gpu": "8"}, None, "auto"),
        ({"nvidia.com/gpu": "8"}, "nvidia-h100", "auto"),
        ({"amd.com/gpu": "8"}, "amd-mi300x", "auto"),
        ({"gpu.intel.com/i915": "2"}, None, "auto"),
        ({"nvidia.com/gpu": "1", "habana.ai/gaudi": "1"}, None, "auto"),
        ({}, None, "auto"),
        ({"rdma/hca": "1", "cpu": "8"}, None, "auto"),
    ],
)
def test_auto_is_the_number_of_devices(
    limits: dict[str, str], accelerator: str | None, number: int | str
) -> None:
    assert (
        run(making.job(making.template(limits=limits), launch=AUTO, accelerator=accelerator))
        == number
    )


def test_the_profile_s_processes_per_gpu_replace_auto() -> None:
    job = making.job(
        making.template(limits={"nvidia.com/gpu": "4"}), launch=AUTO, accelerator="mps"
    )
    assert run(job, TWICE) == 8


@pytest.mark.parametrize("word", ["gpu", "cpu", 3])
def test_explicit_values_are_unchanged(word: int | str) -> None:
    launch = making.LAUNCH._replace(nproc_per_node=word)
    assert run(making.job(making.template(limits={"habana.ai/gaudi": "8"}), launch=launch)) == word


def test_roles_that_differ_keep_auto() -> None:
    one, eight = (making.template(limits={"habana.ai/gaudi": n}) for n in ("1", "8"))
    assert run(making.job(one, eight, replicas=2, launch=AUTO)) == "auto"
    assert run(making.job(eight, eight, replicas=2, launch=AUTO)) == 8


def test_a_plain_command_has_no_launch() -> None:
    assert run(making.job(making.template(limits={"habana.ai/gaudi": "8"}), launch=None)) is None
