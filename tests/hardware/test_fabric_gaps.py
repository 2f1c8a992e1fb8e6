"""Partial fabrics in a pod, in specs and manifests: each gap is reported once, at the value that needs the rest."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from ptcompile.hardware.fabric_gaps import EFA, gaps

RDMA = {"limits": {"rdma/ib": 1}}
LOCK = {"capabilities": {"add": ["IPC_LOCK"]}}


def pod(
    env: dict[str, str] | None = None, *, spec: Any = None, notes: Any = None, **container: Any
) -> dict[str, Any]:
    entries = [{"name": name, "value": value} for name, value in (env or {}).items()]
    main = {"name": "main", "env": entries, **container}
    return {
        "metadata": {"annotations": notes or {}},
        "spec": {"containers": [main], **(spec or {})},
    }


def gap_messages(template: dict[str, Any]) -> list[tuple[Any, str]]:
    return [(gap.path[3:], gap.message) for gap in gaps(template)]


def env_at(index: int = 0) -> tuple[Any, ...]:
    return ("env", index, "value")


GAPS = [
    # NVIDIA/aicr#2275, aws/sagemaker-hyperpod-cli#306: EFA's variables without a device
    # (docs/facts/torchx.md#what-their-users-ask-for 21, 26)

    (pod({"FI_PROVIDER": "efa"}), env_at(), "requests no vpc.amazonaws.com/efa"),
    (pod({"A": "1", "FI_EFA_USE_DEVICE_RDMA": "1"}), env_at(1), "FI_EFA_USE_DEVICE_RDMA is for EFA"),
    (pod({"FI_PROVIDER": "efa", "FI_EFA_USE_HUGE_PAGE": "1"}, resources={"limits": {EFA: 4}}), env_at(1), "huge pages"),
    # meta-pytorch/torchx#804 (5): device, IPC_LOCK and network together
    (pod(resources=RDMA), ("resources", "limits", "rdma/ib"), "needs IPC_LOCK"),
    (pod(resources={"requests": {"nvidia.com/hostdev": 1}}), ("resources", "requests", "nvidia.com/hostdev"),
     "needs IPC_LOCK"),
    (pod({"NCCL_IB_HCA": "mlx5"}, resources={"limits": {"nvidia.com/gpu": 8}}), env_at(), "requests none"),
    # contradictions: NCCL user guide, environment variables
    (pod({"NCCL_IB_DISABLE": "1"}, resources=RDMA, securityContext=LOCK), env_at(), "turns off rdma/ib"),
    (pod({"NCCL_NET": "Socket"}, resources=RDMA, securityContext=LOCK), env_at(), "rdma/ib, which then stays idle"),
    (pod({"NCCL_NET": "socket"}, resources={"limits": {EFA: 1}}), env_at(), f"{EFA}, which then stays idle"),
    (pod({"NCCL_NET": "IB"}, resources={"limits": {EFA: 1}}), env_at(), "AWS Libfabric"),
    (pod({"NCCL_NET": "IB", "NCCL_IB_DISABLE": "1"}), env_at(), "NCCL stops"),
    (pod({"FI_PROVIDER": "tcp"}, resources={"limits": {EFA: 1}}), env_at(), "is tcp"),
    # marin-community/marin#6940, #7018, #7422 (53): `=` and `^` syntax
    (pod({"NCCL_SOCKET_IFNAME": "^lo,^docker"}), env_at(), "'^docker' in its list"),
    (pod({"NCCL_SOCKET_IFNAME": "=eth0,=eth1"}), env_at(), "'=eth1' in its list"),
    (pod({"NCCL_SOCKET_IFNAME": "!lo"}), env_at(), "'!lo' in its list"),
    (pod({"NCCL_SOCKET_IFNAME": "eth0, eth1"}), env_at(), "' eth1' in its list"),
    (pod({"NCCL_SOCKET_IFNAME": "lo"}), env_at(), "no other node can be reached"),
    (pod({"NCCL_SOCKET_IFNAME": "eth0,lo"}), env_at(), "names lo"),
    (pod({"NCCL_SOCKET_IFNAME": "^lo"}, spec={"hostNetwork": True}), env_at(), "no longer excludes docker"),
    (pod({"NCCL_SOCKET_IFNAME": "^eth"}), env_at(), "excludes eth0"),
    (pod({"NCCL_SOCKET_IFNAME": "^=eth0"}), env_at(), "excludes eth0"),
    # GKE, GPUDirect-TCPX
    (pod({"NCCL_FASTRAK_IFNAME": "eth1"}, notes={"networking.gke.io/interfaces": "[]"}), env_at(), "tcpgpudmarxd"),
    (pod({"NCCL_GPUDIRECTTCPX_CTRL_DEV": "eth0"}, spec={"initContainers": [{"image": "x/tcpgpudmarxd-dev:v2"}]}),
     env_at(), "no annotation networking.gke.io/interfaces"),
]  # fmt: skip


@pytest.mark.parametrize(("template", "path", "message"), GAPS)
def test_a_gap_is_reported_once(
    template: dict[str, Any], path: tuple[Any, ...], message: str
) -> None:
    (gap,) = gap_messages(template)
    assert gap[0] == path
    assert message in gap[1]


@pytest.mark.parametrize(
    "template",
    [
        pod(),
        pod({"NCCL_SOCKET_IFNAME": "^lo,docker,veth"}),
        pod({"NCCL_SOCKET_IFNAME": "^lo,docker"}, spec={"hostNetwork": True}),
        pod({"NCCL_SOCKET_IFNAME": "=eth0"}),
        pod({"NCCL_SOCKET_IFNAME": "^eth0"}, notes={"k8s.v1.cni.cncf.io/networks": "rdma-net"}),
        pod({"NCCL_SOCKET_IFNAME": "^eth1"}),
        pod({"FI_PROVIDER": "efa"}, resources={"limits": {EFA: 4}}),
        pod({"FI_PROVIDER": "efa"}, securityContext={"privileged": True}),
        pod({"FI_PROVIDER": "efa"}, resources={"claims": [{"name": "nics"}]}),  # the EFA DRA driver
        pod({"FI_PROVIDER": "tcp"}),
        pod({"NCCL_IB_HCA": "mlx5"}, resources={"limits": {"rdma/ib": 1}}, securityContext=LOCK),
        pod(
            {"NCCL_IB_HCA": "mlx5"}, resources={"limits": {"site.example/nic": 1}}
        ),  # any extended resource
        pod(
            {"NCCL_IB_HCA": "mlx5"}, notes={"networking.gke.io/interfaces": "[]"}
        ),  # GKE: RDMA through networks
        pod({"NCCL_IB_DISABLE": "1"}),  # correct on a cluster without InfiniBand
        pod(resources=RDMA, securityContext={"capabilities": {"add": ["CAP_IPC_LOCK"]}}),
        pod(resources=RDMA, securityContext={"privileged": True}),
    ],
)
def test_complete_fabrics_have_no_gap(template: dict[str, Any]) -> None:
    assert gap_messages(template) == []


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["efa", "^lo", "IB", EFA, "rdma/ib", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["metadata", "spec", "containers", "env", "name", "value", "resources", "limits", "annotations",
                 "securityContext", "capabilities", "add", "FI_PROVIDER", EFA, "hostNetwork", "image"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)  # fmt: skip


@given(ANY)
def test_any_value_is_accepted(data: Any) -> None:
    list(gaps({"spec": data}))
    list(gaps({"spec": {"containers": [data]}, "metadata": data}))


def _pinned(limits: dict[str, Any], selector: dict[str, str], **env: str) -> dict[str, Any]:
    container = {
        "name": "a",
        "resources": {"limits": limits},
        "env": [{"name": key, "value": value} for key, value in env.items()],
        "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}},
    }
    return {"spec": {"nodeSelector": selector, "containers": [container]}}


TYPE = "node.kubernetes.io/instance-type"
GKE = "cloud.google.com/gke-accelerator"
TUNER = "/usr/local/gib/configs/tuner_config_a4.txtpb"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (_pinned({"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 32}, {TYPE: "p5.48xlarge"}), None),
        (_pinned({"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 1}, {TYPE: "p5.48xlarge"}),
         "1 of the 32 vpc.amazonaws.com/efa of p5.48xlarge"),
        (_pinned({"nvidia.com/gpu": 1, "vpc.amazonaws.com/efa": 4}, {TYPE: "p5.48xlarge"}), None),
        (_pinned({"nvidia.com/gpu": 8, "rdma/ib": "1"}, {TYPE: "Standard_ND96isr_H100_v5"}), "1 of the 8 rdma/ib"),
        (_pinned({"nvidia.com/gpu": 8, "rdma/ib": 1}, {TYPE: "gd-8xh100ib-i128"}), None),  # CoreWeave: 1 gives all HCAs
        (_pinned({"vpc.amazonaws.com/efa": 1}, {}, RDMAV_FORK_SAFE="1"), "RDMAV_FORK_SAFE"),
        (_pinned({"nvidia.com/gpu": 8}, {GKE: "nvidia-b200"}, NCCL_TUNER_CONFIG_PATH=TUNER), None),
        (_pinned({"nvidia.com/gpu": 8}, {GKE: "nvidia-h200-141gb"}, NCCL_TUNER_CONFIG_PATH=TUNER),
         "NCCL_TUNER_CONFIG_PATH is for nvidia-b200, but the pod selects nvidia-h200-141gb"),
        (_pinned({"nvidia.com/gpu": 4}, {}, NCCL_MNNVL_ENABLE="1"), "NCCL_MNNVL_ENABLE is 1"),
        (_pinned({"nvidia.com/gpu": 4}, {}, NCCL_MNNVL_ENABLE="1", NVIDIA_IMEX_CHANNELS="0"), None),
        (_pinned({"nvidia.com/gpu": 4}, {}, NCCL_MNNVL_ENABLE="2"), None),
    ],
)  # fmt: skip
def test_device_counts_are_those_of_the_selected_machine(
    template: dict[str, Any], message: str | None
) -> None:
    messages = [gap.message for gap in gaps(template)]
    assert len(messages) == bool(message)
    assert message is None or messages[0].startswith(message)


@pytest.mark.parametrize("amount", ["\u00b2", "9" * 5000], ids=["a superscript", "5000 digits"])
def test_digits_that_are_no_number_are_no_gap(amount: str) -> None:
    machine = {"nodeSelector": {"node.kubernetes.io/instance-type": "p5.48xlarge"}}
    limits = {"nvidia.com/gpu": 8, EFA: amount}
    assert gap_messages(pod(spec=machine, resources={"limits": limits})) == []
