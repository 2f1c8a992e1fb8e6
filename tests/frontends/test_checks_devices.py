"""Accelerators of a spec against its processes, where a device takes other than one or CUDA does not see it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.making import compiled, profile, smallest

EKS = profile({"cloud": "eks"})
GKE = profile({"cloud": "gke"})
NPROC = ("spec", "elastic", "nprocPerNode")


@pytest.mark.parametrize(
    ("body", "name", "path", "message"),
    [
        # AWS Neuron: 16 devices of 2 cores
        ("accelerator: aws-trainium1\nresources: {gpu: 16}\nelastic: {nprocPerNode: 40}", "more-processes-than-gpus",
         NPROC, "40 processes on a node whose 16 devices take 32"),
        ("accelerator: aws-trainium1\nresources: {gpu: 16}\nelastic: {nprocPerNode: 16}", "idle-gpus",
         NPROC, "16 processes on a node whose 16 devices take 32"),
        # PyTorch 2.13 run.py: `gpu` asks CUDA
        ("resources: {devices: {habana.ai/gaudi: 8}}\nelastic: {nprocPerNode: gpu}", "more-processes-than-gpus",
         NPROC, "habana.ai/gaudi is not one"),
        ("accelerator: aws-trainium1\nresources: {gpu: 16}\nelastic: {nprocPerNode: gpu}", "more-processes-than-gpus",
         NPROC, "aws.amazon.com/neuron is not one"),
        # NVIDIA MIG user guide: a process sees one slice
        ("resources: {devices: {nvidia.com/mig-1g.5gb: 2}}", "several-mig-slices", ("spec", "resources"),
         "2 MIG slices in a pod"),
        ("accelerator: nvidia-a100-40gb/1g.5gb\nresources: {gpu: 3}\nelastic: {nprocPerNode: 3}",
         "several-mig-slices", ("spec", "resources"), "3 MIG slices"),
    ],
)  # fmt: skip
def test_processes_and_devices(body: str, name: str, path: tuple[Any, ...], message: str) -> None:
    (problem,) = compiled(smallest(body), "pod", EKS).problems
    assert (problem.name, problem.path, problem.stage) == (name, path, "run")
    assert message in problem.message


@pytest.mark.parametrize(
    ("body", "processes"),
    [
        ("accelerator: aws-trainium1\nresources: {gpu: 16}", 32),
        ("accelerator: aws-trainium2\nresources: {gpu: 16}\nelastic: {nprocPerNode: auto}", 64),
        ("accelerator: aws-trainium1\nresources: {devices: {aws.amazon.com/neuroncore: 2}}", 2),
        ("resources: {devices: {nvidia.com/mig-1g.5gb: 1}}\nelastic: {nprocPerNode: gpu}", None),  # CUDA sees a slice
        ("resources: {devices: {nvidia.com/mig-1g.5gb: 2}}\nelastic: {nprocPerNode: 1}", None),
    ],
)
def test_what_fits_is_silent(body: str, processes: int | None) -> None:
    done = compiled(smallest(body), "pod", EKS)
    assert [one for one in done.problems if one.name != "idle-gpus"] == []
    command = done.manifests[0]["spec"]["containers"][0]["command"]
    assert processes is None or f"--nproc-per-node={processes}" in command


@pytest.mark.parametrize("nproc", [1, 4])
def test_one_process_may_drive_all_chips_of_a_host(nproc: int) -> None:
    """docs.pytorch.org/xla: SPMD is one process a host, torchrun otherwise a process a chip."""
    body = f"accelerator: google-tpu-v5e/2x2\nresources: {{gpu: 4}}\nelastic: {{nprocPerNode: {nproc}}}"
    assert compiled(smallest(body), "pod", GKE).problems == ()
    (idle,) = compiled(smallest(body.replace(f": {nproc}}}", ": 2}")), "pod", GKE).problems
    assert idle.name == "idle-gpus"


@pytest.mark.parametrize(
    ("topology", "nodes", "chips", "fits"),
    [
        ("2x4", "1", 8, True),
        ("2x4", "2", 4, True),
        ("4x4", "4", 4, True),
        ("4x4", "8", 4, True),  # two slices
        ("4x4", "3", 4, False),
        ("2x4", "1", 4, False),
        ("4x4", "'2:4'", 4, False),  # a slice runs when all of its hosts do
    ],
)
def test_the_nodes_of_a_slice(topology: str, nodes: str, chips: int, fits: bool) -> None:
    """cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus."""
    elastic = f"elastic: {{nnodes: {nodes}, nprocPerNode: auto}}"
    body = f"accelerator: google-tpu-v5e/{topology}\nresources: {{gpu: {chips}}}\n{elastic}"
    problems = compiled(smallest(body), "job", GKE).problems
    assert [one.name for one in problems] == ([] if fits else ["idle-gpus"])


def test_an_unknown_accelerator_is_the_only_finding() -> None:
    body = "accelerator: aws-trainium\nresources: {gpu: 16}\nelastic: {nprocPerNode: 32}"
    (problem,) = compiled(smallest(body), "pod", EKS).problems
    assert problem.help == "did you mean aws-trainium1 or aws-trainium2 or aws-trainium3?"


def test_slices_of_gke_have_the_whole_one_s_resource() -> None:
    """cloud.google.com/kubernetes-engine/docs/how-to/gpus-multi: nvidia.com/gpu, told by the label of the slice."""
    body = "accelerator: nvidia-a100-40gb/1g.5gb\nresources: {gpu: %d}"
    assert compiled(smallest(body % 1), "pod", GKE).problems == ()
    (problem,) = compiled(smallest(body % 2), "pod", GKE).problems
    assert (problem.name, problem.severity) == ("several-mig-slices", "warning")
    whole = compiled(smallest("accelerator: nvidia-a100-40gb\nresources: {gpu: 2}"), "pod", GKE)
    assert whole.problems == ()
