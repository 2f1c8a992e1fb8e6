"""The pass `fabric`: adds the whole set of a fabric's fields and keeps those that the job sets."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.compiler.passes.claims import claims
from ptcompile.compiler.passes.fabric import fabric
from ptcompile.hardware.fabric_gaps import gaps
from ptcompile.hardware.fabrics import FABRICS
from ptcompile.ir.pods import PodTemplate, write
from ptcompile.spec import devices as hardware
from ptcompile.spec.cluster_profile import ClusterProfile
from tests import making
from tests.making import DEFAULT_CLUSTER

EFA = "vpc.amazonaws.com/efa"
SIZED = {"cpu": "8", "memory": "64Gi"}
EKS = making.profile({"cloud": "eks"})


def run(
    name: str | None,
    limits: dict[str, str],
    cluster: ClusterProfile = DEFAULT_CLUSTER,
    **fields: Any,
) -> PodTemplate:
    accelerator = fields.pop("accelerator", None)
    job = making.job(
        making.template(limits, limits, **fields), fabric=name, accelerator=accelerator
    )
    where = making.context(cluster)
    after = fabric(job, where)
    assert fabric(after, where) == after
    return claims(after, where).roles[0].template


def variables(template: PodTemplate) -> dict[str, Any]:
    return {variable["name"]: variable.get("value") for variable in template.main.env}


def test_without_a_fabric_nothing_changes() -> None:
    assert run(None, SIZED) == making.template(SIZED, SIZED)


@pytest.mark.parametrize("name", FABRICS)
def test_a_built_in_fabric_is_complete(name: str) -> None:
    """Each set has everything that the check for partial fabrics requires, and names its source."""
    template = run(name, {**SIZED, "nvidia.com/gpu": "8"})
    assert not list(gaps(write(template)))
    assert FABRICS[name].source
    assert variables(template).items() >= FABRICS[name].env.items()
    mounted = {mount["name"] for mount in template.main.mounts}
    daemons = template.extra.get("initContainers", [])
    mounted |= {mount["name"] for daemon in daemons for mount in daemon["volumeMounts"]}
    assert mounted == {volume["name"] for volume in template.volumes}
    assert all(daemon["restartPolicy"] == "Always" for daemon in daemons), (
        "a native sidecar, or the job never ends"
    )


def test_efa_adds_its_devices_capability_and_variable() -> None:
    """Source: docs.aws.amazon.com/eks/latest/userguide/node-efa.html (5120Mi of huge pages, the device, its
    provider).
    """
    template = run("efa", {**SIZED, "nvidia.com/gpu": "8"})
    amounts = {**SIZED, "nvidia.com/gpu": "8", EFA: "1", "hugepages-2Mi": "5120Mi"}
    assert template.main.resources.limits == template.main.resources.requests == amounts
    assert template.main.extra == {"securityContext": {"capabilities": {"add": ["IPC_LOCK"]}}}
    assert variables(template) == {"FI_PROVIDER": "efa"}


@pytest.mark.parametrize(
    ("accelerator", "gpus", "cluster", "count"),
    [
        (
            "nvidia-h100",
            "8",
            {"cloud": "eks"},
            "32",
        ),  # docs/facts/torchx.md#named-resources: p5 32, p4d 4, trn1 8
        ("nvidia-a100-40gb", "8", {"cloud": "eks"}, "4"),
        ("aws-trainium1", "16", {"cloud": "eks"}, "8"),
        ("nvidia-h100", "1", {"cloud": "eks"}, "1"),  # a fraction of a node
        ("nvidia-h100", "8", {}, "1"),  # the machine is unknown
        (None, "8", {"cloud": "eks"}, "1"),
        ("nvidia-h100", "8", {"cloud": "eks", "fabrics": {"efa": {"resources": {EFA: 16}}}}, "16"),
    ],
)
def test_as_many_devices_as_the_machine_has(
    accelerator: str | None, gpus: str, cluster: dict[str, Any], count: str
) -> None:
    profile = making.profile(cluster)
    limits = {**SIZED, hardware.gpu_resource(profile, accelerator): gpus}
    assert run("efa", limits, profile, accelerator=accelerator).main.resources.limits[EFA] == count


@pytest.mark.parametrize(
    ("accelerator", "gpus", "cloud", "count"),
    [
        ("nvidia-h100", "8", "aks", "8"),  # Azure's SR-IOV plugin: one HCA per GPU
        ("nvidia-v100", "8", "aks", "1"),
        ("nvidia-h100", "4", "aks", "1"),
        ("nvidia-h100", "8", None, "1"),  # CoreWeave: 1 gives all of the node's HCAs
    ],
)
def test_hcas_are_counted_on_aks(
    accelerator: str, gpus: str, cloud: str | None, count: str
) -> None:
    limits = {**SIZED, "nvidia.com/gpu": gpus}
    template = run("infiniband", limits, making.profile({"cloud": cloud}), accelerator=accelerator)
    assert template.main.resources.limits["rdma/ib"] == count


def test_no_two_interfaces_of_tcpx_share_a_cpu() -> None:
    """Overlapping bindings would run a sending and a receiving thread on the same CPU."""
    env = FABRICS["tcpx"].env
    for interface in range(4):
        cpus: list[int] = []
        for way in ("TX", "RX"):
            ranges = (
                env[f"NCCL_GPUDIRECTTCPX_{way}_BINDINGS"].split(";")[interface].partition(":")[2]
            )
            for first, _, last in (part.partition("-") for part in ranges.split(",")):
                cpus += range(int(first), int(last) + 1)
        assert len(cpus) == len(set(cpus))


def test_the_job_s_device_count_is_unchanged() -> None:
    template = run(
        "efa", {**SIZED, "nvidia.com/gpu": "8", EFA: "2"}, EKS, accelerator="nvidia-h100"
    )
    assert template.main.resources.limits[EFA] == "2"


@pytest.mark.parametrize(
    ("limits", "pages"), [({}, False), ({"cpu": "1"}, True), ({"memory": "1Gi"}, True)]
)
def test_huge_pages_need_cpu_or_memory(limits: dict[str, str], pages: bool) -> None:
    """Kubernetes 1.36 answers "HugePages require cpu or memory".

    Source: docs/facts/api-server.md#resources-and-quantities 55.
    """
    assert ("hugepages-2Mi" in run("efa", limits).main.resources.limits) is pages


@pytest.mark.parametrize(
    ("context", "after"),
    [
        ({}, {"capabilities": {"add": ["IPC_LOCK"]}}),
        ({"runAsUser": 1, "capabilities": {"add": ["SYS_NICE"], "drop": ["ALL"]}},
         {"runAsUser": 1, "capabilities": {"add": ["SYS_NICE", "IPC_LOCK"], "drop": ["ALL"]}}),
        ({"capabilities": {"add": ["IPC_LOCK"]}}, None),
        ({"capabilities": {"add": ["CAP_IPC_LOCK"]}}, None),
        ({"capabilities": {"add": ["ALL"]}}, None),
        ({"capabilities": {"drop": ["IPC_LOCK"]}}, None),  # dropped explicitly by the user
        ({"privileged": True}, None),
    ],
)  # fmt: skip
def test_missing_capabilities_are_added(
    context: dict[str, Any], after: dict[str, Any] | None
) -> None:
    extra = {"securityContext": context} if context else {}
    template = run("roce", SIZED, main={"extra": extra})
    assert template.main.extra["securityContext"] == (context if after is None else after)


def test_the_user_and_the_profile_override_the_fabric_s_variables() -> None:
    own = ({"name": "NCCL_SOCKET_IFNAME", "value": "net1"},)
    assert variables(run("roce", SIZED, main={"env": own})) == {"NCCL_SOCKET_IFNAME": "net1"}
    defaults = making.profile({"defaults": {"env": {"NCCL_SOCKET_IFNAME": "bond0"}}})
    assert variables(run("roce", SIZED, defaults)) == {}


def test_interface_names_are_not_set_on_the_host_network() -> None:
    assert variables(run("roce", SIZED, extra={"hostNetwork": True})) == {}


def test_a_fabric_of_the_profile_only_changes_its_fields() -> None:
    changed = making.profile(
        {"fabrics": {"roce": {"resources": {"rdma/hca_a": 2}, "annotations": {"net": "x"}}}}
    )
    template = run("roce", SIZED, changed, annotations={"mine": "1"})
    assert template.main.resources.limits == {**SIZED, "rdma/hca_a": "2"}
    assert template.annotations == {"net": "x", "mine": "1"}
    assert variables(template) == {"NCCL_SOCKET_IFNAME": "eth0"}


def test_a_daemon_comes_before_the_job_s_init_containers() -> None:
    mine = [{"name": "fetch", "image": "fetch:1"}]
    init = run("tcpxo", SIZED, extra={"initContainers": mine}).extra["initContainers"]
    assert [one["name"] for one in init] == ["tcpxo-daemon", "fetch"]


def test_every_role_gets_the_fabric() -> None:
    job = making.job(making.template(), making.template(), replicas=2, fabric="infiniband")
    after = fabric(job, making.context())
    assert [role.template.main.resources.limits for role in after.roles] == [{"rdma/ib": "1"}] * 2


@pytest.mark.parametrize(("amounts", "networks"), [({}, "net"), ({"a.b/c": 3}, "net, net, net")])
def test_the_device_network_is_repeated_per_device(amounts: dict[str, int], networks: str) -> None:
    cluster = making.profile({"fabrics": {"own": {"resources": amounts, "deviceNetwork": "net"}}})
    assert run("own", SIZED, cluster).annotations == {"k8s.v1.cni.cncf.io/networks": networks}
