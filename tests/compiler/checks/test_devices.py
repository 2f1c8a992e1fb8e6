"""Processes per accelerator, TPU slices, MIG slices, and fabrics with an unknown name or without a number of
devices.
"""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests import making
from tests.compiler.checks import findings
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
        # PyTorch 2.13, run.py: `gpu` counts CUDA devices
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
def test_processes_must_fit_the_devices(
    body: str, name: str, path: tuple[Any, ...], message: str
) -> None:
    (problem,) = compiled(smallest(body), "pod", EKS).problems
    assert (problem.name, problem.path, problem.stage) == (name, path, "run")
    assert message in problem.message


@pytest.mark.parametrize(
    ("body", "processes"),
    [
        ("accelerator: aws-trainium1\nresources: {gpu: 16}", 32),
        ("accelerator: aws-trainium2\nresources: {gpu: 16}\nelastic: {nprocPerNode: auto}", 64),
        ("accelerator: aws-trainium1\nresources: {devices: {aws.amazon.com/neuroncore: 2}}", 2),
        (
            "resources: {devices: {nvidia.com/mig-1g.5gb: 1}}\nelastic: {nprocPerNode: gpu}",
            None,
        ),  # CUDA sees a slice
        ("resources: {devices: {nvidia.com/mig-1g.5gb: 2}}\nelastic: {nprocPerNode: 1}", None),
    ],
)
def test_matching_processes_and_devices_have_no_finding(body: str, processes: int | None) -> None:
    done = compiled(smallest(body), "pod", EKS)
    assert [problem for problem in done.problems if problem.name != "idle-gpus"] == []
    command = done.manifests[0]["spec"]["containers"][0]["command"]
    assert processes is None or f"--nproc-per-node={processes}" in command


@pytest.mark.parametrize("nproc", [1, 4])
def test_one_process_may_drive_all_chips_of_a_host(nproc: int) -> None:
    """SPMD runs one process per host; otherwise torchrun runs one process per chip.

    Source: docs.pytorch.org/xla.
    """
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
        ("4x4", "'2:4'", 4, False),  # a slice only runs with all of its hosts
    ],
)
def test_the_nodes_must_fill_the_slice(topology: str, nodes: str, chips: int, fits: bool) -> None:
    """Source: cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus."""
    elastic = f"elastic: {{nnodes: {nodes}, nprocPerNode: auto}}\nrunPolicy: {{backoffLimit: 9}}"
    body = f"accelerator: google-tpu-v5e/{topology}\nresources: {{gpu: {chips}}}\n{elastic}"
    problems = compiled(smallest(body), "job", GKE).problems
    assert [problem.name for problem in problems] == ([] if fits else ["idle-gpus"])


def test_an_unknown_accelerator_is_the_only_finding() -> None:
    body = "accelerator: aws-trainium\nresources: {gpu: 16}\nelastic: {nprocPerNode: 32}"
    (problem,) = compiled(smallest(body), "pod", EKS).problems
    assert problem.help == "did you mean aws-trainium1 or aws-trainium2 or aws-trainium3?"


def test_several_mig_slices_on_gke_are_a_warning() -> None:
    """GKE exposes a MIG slice as nvidia.com/gpu and identifies it by a node label.

    Source: cloud.google.com/kubernetes-engine/docs/how-to/gpus-multi.
    """
    body = "accelerator: nvidia-a100-40gb/1g.5gb\nresources: {gpu: %d}"
    assert compiled(smallest(body % 1), "pod", GKE).problems == ()
    (problem,) = compiled(smallest(body % 2), "pod", GKE).problems
    assert (problem.name, problem.severity) == ("several-mig-slices", "warning")
    whole = compiled(smallest("accelerator: nvidia-a100-40gb\nresources: {gpu: 2}"), "pod", GKE)
    assert whole.problems == ()


KNOWN = "use one of efa, gib, infiniband, nvlink-domain, own, rdma-vf, roce, tcpx, tcpxo"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("env: {FI_PROVIDER: efa}", "spec.env.FI_PROVIDER"),
        ("resources: {devices: {rdma/ib: 1}}", "spec.resources.devices[rdma/ib]"),
        ("podTemplate: {spec: {containers: [{name: pytorch, env: [{name: FI_PROVIDER, value: efa}]}]}}",
         "spec.podTemplate.spec.containers[0].env[0].value"),
        ("master: {}\nworker: {replicas: 2, env: {FI_PROVIDER: efa}}", "spec.worker.env.FI_PROVIDER"),
        ("fabric: efa\nenv: {FI_PROVIDER: tcp}\nresources: {gpu: 8, devices: {vpc.amazonaws.com/efa: 1}}",
         "spec.env.FI_PROVIDER"),
        ("fabric: roce\nsecurityContext: {capabilities: {drop: [IPC_LOCK]}}", "spec.fabric"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("target", ["volcano", "pytorchjob"])
def test_a_partial_fabric_is_a_warning_at_its_spec_field(body: str, path: str, target: str) -> None:
    (problem,) = making.compiled(making.smallest(body), target).problems
    assert (problem.name, problem.severity, problem.stage) == ("partial-fabric", "warning", "run")
    assert problem.message.startswith(f"{path}: ")
    assert problem.help


@pytest.mark.parametrize(
    ("body", "profile", "message"),
    [
        ("fabric: infinband", {}, "did you mean infiniband?"),
        ("fabric: myrinet", {"fabrics": {"own": {}}}, KNOWN),
    ],
)
def test_an_unknown_fabric_is_an_error(body: str, profile: dict[str, Any], message: str) -> None:
    (problem,) = making.compiled(making.smallest(body), "job", making.profile(profile)).problems
    assert (problem.name, problem.path, problem.help) == (
        "spec-invalid-value",
        ("spec", "fabric"),
        message,
    )


@pytest.mark.parametrize(
    ("body", "profile", "is_reported"),
    [
        ("resources: {cpu: 1, gpu: 8}", "cloud: eks", True),
        ("resources: {cpu: 1, gpu: 1}\naccelerator: nvidia-h100", "cloud: eks", True),
        ("resources: {cpu: 1, gpu: 8}\naccelerator: nvidia-h100", "cloud: eks", False),
        ("resources: {cpu: 1, gpu: 8, devices: {vpc.amazonaws.com/efa: 1}}", "cloud: eks", False),
        (
            "resources: {cpu: 1, gpu: 8}",
            "fabrics: {efa: {resources: {vpc.amazonaws.com/efa: 1}}}",
            False,
        ),
    ],
)
def test_an_unknown_number_of_devices_is_a_warning(
    body: str, profile: str, is_reported: bool
) -> None:
    cluster = making.profile(yaml.safe_load(profile))
    problems = making.compiled(making.smallest(f"fabric: efa\n{body}"), "job", cluster).problems
    names = [problem.name for problem in problems if problem.severity != "note"]
    assert names == (["partial-fabric"] if is_reported else [])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "resources: {gpu: 8}\naccelerator: nvidia-h200",
            "16 vpc.amazonaws.com/efa per node, but p5e.48xlarge has 32",
        ),
        (
            "resources: {gpu: 16}\naccelerator: aws-trainium1",
            "trn1n.32xlarge has 16",
        ),
        (
            "resources: {gpu: 8, devices: {vpc.amazonaws.com/efa: 32}}\naccelerator: nvidia-h200",
            None,
        ),
        ("resources: {gpu: 8}\naccelerator: nvidia-b200", None),
    ],
)
def test_machines_with_different_device_counts_are_a_warning(
    body: str, message: str | None
) -> None:
    problems = making.compiled(
        making.smallest(f"fabric: efa\n{body}"), "job", making.profile({"cloud": "eks"})
    ).problems
    assert [problem.name for problem in problems] == (["partial-fabric"] if message else [])
    assert all(message and message in problem.message for problem in problems)


@pytest.mark.parametrize(("cloud", "is_reported"), [("aks", True), (None, False)])
def test_infiniband_devices_are_only_counted_on_aks(cloud: str | None, is_reported: bool) -> None:
    body = "fabric: infiniband\naccelerator: nvidia-h100\nresources: {gpu: 4}"
    problems = making.compiled(
        making.smallest(body), "job", making.profile({"cloud": cloud})
    ).problems
    names = [problem.name for problem in problems if problem.severity != "note"]
    assert names == (["partial-fabric"] if is_reported else [])


GB200 = "accelerator: nvidia-gb200\nfabric: nvlink-domain\nresources: {cpu: 8, memory: 64Gi, gpu: %s}\nnodes: %s"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (GB200 % (4, 18), None),
        (GB200 % (4, 19), "spec.fabric: 19 nodes, but an NVLink domain has at most 18"),
        (GB200 % (2, 4), "spec.resources: 2 of a machine's 4 GPUs, but a node has one channel"),
        (
            GB200.replace("nvidia-gb200", "nvidia-h100") % (8, 2),
            "spec.fabric: NVLink of nvidia-h100 does not reach beyond the node",
        ),
        (
            "fabric: nvlink-domain\nresources: {cpu: 8, gpu: 4}",
            "spec.fabric: an NVLink domain needs an accelerator",
        ),
    ],
)
def test_an_nvlink_domain_needs_whole_nodes_of_one_rack(body: str, message: str | None) -> None:
    reported = making.compiled(
        making.smallest(body), "jobset", making.profile({"cloud": "gke"})
    ).problems
    problems = [finding for finding in reported if finding.name == "partial-fabric"]
    assert [problem.severity for problem in problems] == ["warning"] * bool(message)
    assert message is None or problems[0].message.startswith(message)


@pytest.mark.parametrize("case", findings.cases("devices"))
def test_findings_are_as_recorded(case: str) -> None:
    assert findings.again(case) == case.strip()
