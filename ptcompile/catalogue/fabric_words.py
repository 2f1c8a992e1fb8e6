"""The words of a container that are about a fabric: without one of them nothing of it can be missing."""

from __future__ import annotations

from collections.abc import Iterable

from ptcompile.kubernetes.untyped import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json

EFA = "vpc.amazonaws.com/efa"
VERBS = ("rdma/", "nvidia.com/hostdev", "mellanox.com/", "nvidia.com/rdma")
"""What names of resources begin with that stand for InfiniBand and RoCE devices, by their device plugins."""

INTERFACE = "NCCL_SOCKET_IFNAME"
MNNVL = "NCCL_MNNVL_ENABLE"
TUNER = "NCCL_TUNER_CONFIG_PATH"
FORK_SAFE = "RDMAV_FORK_SAFE"

_SAID = ("FI_EFA_", "FI_PROVIDER", "NCCL_IB_", "NCCL_NET", INTERFACE, "NCCL_GPUDIRECTTCPX_", "NCCL_FASTRAK_", MNNVL,
         TUNER, FORK_SAFE)  # fmt: skip
"""What the names of all variables begin with that are asked for here."""


def concerns(env: Iterable[Json], resources: Iterable[str]) -> bool:
    """Whether a container has a variable or an RDMA device without which nothing here can be wrong."""
    for entry in env:
        if text(entry.get("name")).startswith(_SAID):
            return True
    return any(name == EFA or str(name).startswith(VERBS) for name in resources)
