"""The networks between nodes that ptcompile knows by name, each as the whole set that makes it work.

Data with sources, of public documentation as of 2026. Huge pages are asked for only where cpu or memory is, as
Kubernetes wants them. What is left to the libraries is not here: NCCL 2.21 and newer choose the HCAs and the GID of
RoCE v2, and aws-ofi-nccl turns on RDMA where the device has it.
"""

from __future__ import annotations

from ptcompile.catalogue.fabric import ON_ETH0, Fabric
from ptcompile.catalogue.fabrics_gke import GKE
from ptcompile.catalogue.nccl import tuned
from ptcompile.catalogue.rows import ALIASES

FABRICS: dict[str, Fabric] = {
    "efa": Fabric(
        source="https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html (2026)",
        resources={"vpc.amazonaws.com/efa": "1", "hugepages-2Mi": "5120Mi"},
        counted="vpc.amazonaws.com/efa",
        capabilities=("IPC_LOCK",),
        env={"FI_PROVIDER": "efa"},
        node_has={"hugepages-2Mi": 10256},  # 5128 pages of 2 MiB: the guide's launch template
    ),
    "infiniband": Fabric(
        source="coreweave/nccl-tests mpi-operator (2026-05-27): one rdma/ib is all HCAs of the node; "
        "Azure/ai-infrastructure-on-azure infrastructure_references/aks (2026-04-22): one is one HCA, by SR-IOV",
        resources={"rdma/ib": "1"},
        counted="rdma/ib",
        counted_on=("aks",),
        capabilities=("IPC_LOCK",),
        env=ON_ETH0,
    ),
    "roce": Fabric(
        source="https://docs.nvidia.com/networking: NVIDIA Network Operator 25.7, RDMA shared device plugin",
        resources={"rdma/rdma_shared_device_a": "1"},
        capabilities=("IPC_LOCK",),
        env=ON_ETH0,
    ),
    "rdma-vf": Fabric(
        source="oracle-quickstart/oci-hpc-oke docs/using-rdma-network-interfaces-in-manifests.md (2026-08-20)",
        resources={"nvidia.com/rdma-vf": "1"},
        counted="nvidia.com/rdma-vf",
        capabilities=("IPC_LOCK",),
        device_network="default/rdma-vf",
        env=ON_ETH0,
        pod_template={
            "spec": {
                "containers": [
                    {"name": "pytorch", "volumeMounts": [{"name": "infiniband", "mountPath": "/dev/infiniband"}]}
                ],
                "volumes": [{"name": "infiniband", "hostPath": {"path": "/dev/infiniband"}}],
            }
        },
    ),
    "nvlink-domain": Fabric(
        source="kubernetes-sigs/dra-driver-nvidia-gpu api/nvidia.com/resource/v1beta1 (2026-08-07); variables: "
        "awslabs/awsome-distributed-training nccl-tests-gb200.yaml (2026-06-01), oracle-quickstart/oci-hpc-oke "
        "docs/recommended-nccl-rccl-parameters-by-shape.md (2026-08-20)",
        env={"NCCL_MNNVL_ENABLE": "1", "NCCL_NVLS_ENABLE": "1"},
        compute_domain=True,
        beyond={"eks": "efa", "aks": "infiniband", "gke": "gib"},
    ),
    **GKE,
}  # fmt: skip
"""By name."""


def fabric_in(name: str, cloud: str | None, accelerator: str | None) -> Fabric | None:
    """What a name means on the machines of an accelerator in a cloud; None for an unknown name."""
    found, card = FABRICS.get(name), _card(accelerator)
    if found is None:
        return None
    found = found.of.get(card, found)
    found = found._replace(env={**found.env, **tuned(name, cloud, card)})
    beyond = found.beyond.get(cloud or "")
    other = fabric_in(beyond, cloud, accelerator) if beyond is not None else None
    return found.with_beyond(other) if other is not None else found


def _card(accelerator: str | None) -> str:
    """The row's own name of an accelerator or a slice of it."""
    base = (accelerator or "").partition("/")[0]
    return ALIASES.get(base, base)
