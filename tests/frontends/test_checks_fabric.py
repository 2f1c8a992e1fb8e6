"""The fabric of a spec: unknown names, numbers of devices that nobody says, and half a set by hand."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests import making

KNOWN = "there are efa, gib, infiniband, nvlink-domain, own, rdma-vf, roce, tcpx, tcpxo"


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
def test_it_is_a_warning_at_its_line_of_the_spec(body: str, path: str, target: str) -> None:
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
def test_a_name_that_nobody_knows(body: str, profile: dict[str, Any], message: str) -> None:
    (problem,) = making.compiled(making.smallest(body), "job", making.profile(profile)).problems
    assert (problem.name, problem.path, problem.help) == ("spec-invalid-value", ("spec", "fabric"), message)


@pytest.mark.parametrize(
    ("body", "profile", "said"),
    [
        ("resources: {cpu: 1, gpu: 8}", "cloud: eks", True),
        ("resources: {cpu: 1, gpu: 1}\naccelerator: nvidia-h100", "cloud: eks", True),
        ("resources: {cpu: 1, gpu: 8}\naccelerator: nvidia-h100", "cloud: eks", False),
        ("resources: {cpu: 1, gpu: 8, devices: {vpc.amazonaws.com/efa: 1}}", "cloud: eks", False),
        ("resources: {cpu: 1, gpu: 8}", "fabrics: {efa: {resources: {vpc.amazonaws.com/efa: 1}}}", False),
    ],
)
def test_a_number_of_devices_that_nobody_said(body: str, profile: str, said: bool) -> None:
    cluster = making.profile(yaml.safe_load(profile))
    problems = making.compiled(making.smallest(f"fabric: efa\n{body}"), "job", cluster).problems
    told = [one.name for one in problems if one.severity != "note"]
    assert told == (["partial-fabric"] if said else [])


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("resources: {gpu: 8}\naccelerator: nvidia-h200", "16 vpc.amazonaws.com/efa a node, and p5e.48xlarge has 32"),
        (
            "resources: {gpu: 16}\naccelerator: aws-trainium1",
            "trn1n.32xlarge has 16",
        ),
        ("resources: {gpu: 8, devices: {vpc.amazonaws.com/efa: 32}}\naccelerator: nvidia-h200", None),
        ("resources: {gpu: 8}\naccelerator: nvidia-b200", None),
    ],
)
def test_machines_with_different_numbers(body: str, told: str | None) -> None:
    problems = making.compiled(
        making.smallest(f"fabric: efa\n{body}"), "job", making.profile({"cloud": "eks"})
    ).problems
    assert [one.name for one in problems] == (["partial-fabric"] if told else [])
    assert all(told and told in one.message for one in problems)


@pytest.mark.parametrize(("cloud", "said"), [("aks", True), (None, False)])
def test_infiniband_is_counted_on_aks_alone(cloud: str | None, said: bool) -> None:
    body = "fabric: infiniband\naccelerator: nvidia-h100\nresources: {gpu: 4}"
    problems = making.compiled(making.smallest(body), "job", making.profile({"cloud": cloud})).problems
    told = [one.name for one in problems if one.severity != "note"]
    assert told == (["partial-fabric"] if said else [])


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
        ("fabric: nvlink-domain\nresources: {cpu: 8, gpu: 4}", "spec.fabric: an NVLink domain needs an accelerator"),
    ],
)
def test_an_nvlink_domain_is_of_whole_nodes_of_one_rack(body: str, message: str | None) -> None:
    found = making.compiled(making.smallest(body), "jobset", making.profile({"cloud": "gke"})).problems
    told = [one for one in found if one.name == "partial-fabric"]
    assert [one.severity for one in told] == ["warning"] * bool(message)
    assert message is None or told[0].message.startswith(message)
