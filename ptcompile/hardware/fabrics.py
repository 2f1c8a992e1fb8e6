"""Fabrics as complete sets of settings, and NCCL tuning for them.

Data with sources, from public documentation as of 2026. Huge pages are requested only along with cpu or memory, as
Kubernetes requires.

Settings that the libraries choose are omitted: NCCL 2.21 and newer choose the HCAs and the GID of RoCE v2, and
aws-ofi-nccl enables RDMA on devices that support it and tunes NCCL on every EFA machine (src/platform-aws.cpp,
2026-08-21). So are settings that name a file of the image, such as NCCL_TOPO_FILE of Azure's ND machines.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.hardware.accelerators import ALIASES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = Mapping[str, Any]


_EMPTY: Json = {}


class FabricNeeds(NamedTuple):
    """The settings that a pod needs to use a fabric."""

    source: str
    resources: Mapping[str, str] = _EMPTY
    counted: str | None = None
    """The resource whose count comes from the machine type; its count in `resources` is only the minimum."""
    counted_on: tuple[str, ...] | None = None
    """Clouds to which `counted` applies, or None for all."""
    only_on: str = ""
    """The only cloud with the fabric's devices or node software, or "" if several clouds have them."""
    capabilities: tuple[str, ...] = ()
    env: Mapping[str, str] = _EMPTY
    annotations: Mapping[str, str] = _EMPTY
    pod_template: Json = _EMPTY
    claims: Mapping[str, tuple[str, int]] = _EMPTY
    """Devices that a pod claims (DRA): DeviceClass and count, keyed by claim name."""
    compute_domain: bool = False
    """Whether a job has a ComputeDomain and each pod claims one of its channels."""
    companions: Mapping[str, str] = _EMPTY
    """Additional fabric for nodes that this one does not connect, keyed by cloud."""
    by_accelerator: Mapping[str, FabricNeeds] = _EMPTY
    """Replacements for the machines of some accelerators, keyed by accelerator."""
    device_network: str = ""
    """The network that Multus' annotation repeats for each counted device."""
    node_has: Mapping[str, int] = _EMPTY
    """MiB of a resource that every node has; a pod gets at most its share, in proportion to its accelerators."""

    def with_companion(self, extra: FabricNeeds) -> FabricNeeds:
        """Return this fabric combined with another; values of this one take precedence."""
        return self._replace(
            resources={**extra.resources, **self.resources},
            counted=self.counted or extra.counted,
            counted_on=self.counted_on or extra.counted_on,
            capabilities=tuple(dict.fromkeys((*self.capabilities, *extra.capabilities))),
            env={**extra.env, **self.env},
            annotations={**extra.annotations, **self.annotations},
            pod_template=self.pod_template or extra.pod_template,
            claims={**extra.claims, **self.claims},
            device_network=self.device_network or extra.device_network,
            node_has={**extra.node_has, **self.node_has},
        )


ON_ETH0 = {"NCCL_SOCKET_IFNAME": "eth0"}
"""Makes processes use the pod's primary interface even if a second one is attached."""


_GPU_DEVICES = (*(f"/dev/nvidia{n}" for n in range(8)), "/dev/nvidiactl", "/dev/nvidia-uvm")
_LIBRARIES = "/usr/local/nvidia/lib64"
_RXDM = "/fts/entrypoint_rxdm_container.sh"
_CHUNKS = {
    "NCCL_P2P_NET_CHUNKSIZE": "524288",
    "NCCL_P2P_PCI_CHUNKSIZE": "524288",
    "NCCL_P2P_NVL_CHUNKSIZE": "1048576",
}


def _network_annotations(count: int) -> str:
    """Return the annotation of GKE's multi-networking: eth0, and one interface per network vpc1, vpc2, ..."""
    names = ["default", *(f"vpc{n}" for n in range(1, count + 1))]
    pairs = (f'{{"interfaceName":"eth{n}","network":"{name}"}}' for n, name in enumerate(names))
    return f"[{','.join(pairs)}]"


def _host(name: str, path: str) -> Json:
    return {"name": name, "hostPath": {"path": path}}


def _mount(name: str, path: str) -> Json:
    return {"name": name, "mountPath": path}


def _daemon(name: str, image: str, command: list[str], capabilities: list[str], mounts: list[Json]) -> Json:
    """Return the container that receives for the GPUs: a native sidecar, so the job ends when training does."""
    return {
        "name": name,
        "image": image,
        "restartPolicy": "Always",
        "command": command,
        "env": [{"name": "LD_LIBRARY_PATH", "value": _LIBRARIES}],
        "securityContext": {"capabilities": {"add": capabilities}},
        "volumeMounts": [
            _mount("gpu-libraries", _LIBRARIES),
            _mount("host-sys", "/hostsysfs"),
            _mount("host-proc-sys", "/hostprocsysfs"),
            *mounts,
        ],
    }


def _gke_pod_template(daemon: Json, mounts: list[Json], volumes: list[Json]) -> Json:
    host = [
        _host("gpu-libraries", "/home/kubernetes/bin/nvidia/lib64"),
        _host("host-sys", "/sys"),
        _host("host-proc-sys", "/proc/sys"),
    ]
    main = {"name": "pytorch", "volumeMounts": [_mount("gpu-libraries", _LIBRARIES), *mounts]}
    return {"spec": {"initContainers": [daemon], "containers": [main], "volumes": [*host, *volumes]}}


def _devices(*paths: str) -> str:
    return "".join(f"- path: {path}\n" for path in paths)


_RDMA = "GoogleCloudPlatform/container-engine-accelerators gpudirect-rdma (2026-06-11)"


def _rdma_annotations(count: int) -> Json:
    """Return the annotations of GKE's RDMA networks, which begin at eth2 because eth1 is for a second gVNIC."""
    pairs = [("eth0", "default"), *((f"eth{n + 2}", f"rdma-{n}") for n in range(count))]
    interfaces = ",".join(f'{{"interfaceName":"{nic}","network":"{network}"}}' for nic, network in pairs)
    return {"networking.gke.io/default-interface": "eth0", "networking.gke.io/interfaces": f"[{interfaces}]"}


_GIB_ENV = {
    **ON_ETH0,
    "NCCL_NET": "gIB",
    "NCCL_CROSS_NIC": "0",
    "NCCL_NET_GDR_LEVEL": "PIX",
    "NCCL_P2P_NET_CHUNKSIZE": "131072",
    "NCCL_NVLS_CHUNKSIZE": "524288",
    "NCCL_IB_ADAPTIVE_ROUTING": "1",
    "NCCL_IB_QPS_PER_CONNECTION": "4",
    "NCCL_IB_TC": "52",
    "NCCL_IB_FIFO_TC": "84",
}
"""The variables that gIB's scripts/set_nccl_env.sh exports, for commands that run without a shell."""

_GIB = FabricNeeds(
    source=f"{_RDMA}; https://docs.cloud.google.com/ai-hypercomputer/docs/create/gke-ai-hypercompute-custom (2026-04)",
    only_on="gke",
    env={"LD_LIBRARY_PATH": f"{_LIBRARIES}:/usr/local/gib/lib64", **_GIB_ENV},
    annotations=_rdma_annotations(8),
    pod_template={
        "spec": {
            "containers": [
                {
                    "name": "pytorch",
                    "volumeMounts": [_mount("gpu-libraries", "/usr/local/nvidia"), _mount("gib", "/usr/local/gib")],
                }
            ],
            "volumes": [
                _host("gpu-libraries", "/home/kubernetes/bin/nvidia"),
                _host("gib", "/home/kubernetes/bin/gib"),
            ],
        }
    },
)
"""For A3 Ultra and A4; the networks rdma-0 to rdma-7 are those of Google's guide."""

GKE: dict[str, FabricNeeds] = {
    "tcpx": FabricNeeds(
        source="https://cloud.google.com/kubernetes-engine/docs/how-to/gpu-bandwidth-gpudirect-tcpx (A3 High), "
        "GoogleCloudPlatform/container-engine-accelerators gpudirect-tcpx/nccl-config.yaml (2026-06-02)",
        only_on="gke",
        capabilities=("IPC_LOCK",),
        env={
            **ON_ETH0,
            "LD_LIBRARY_PATH": _LIBRARIES,
            "NCCL_CROSS_NIC": "0",
            "NCCL_ALGO": "Ring,Tree",
            "NCCL_PROTO": "Simple",
            "NCCL_NSOCKS_PERTHREAD": "4",
            "NCCL_SOCKET_NTHREADS": "1",
            "NCCL_BUFFSIZE": "4194304",
            "NCCL_DYNAMIC_CHUNK_SIZE": "524288",
            **_CHUNKS,
            "NCCL_NET_GDR_LEVEL": "PIX",
            "NCCL_P2P_PXN_LEVEL": "0",
            "NCCL_GPUDIRECTTCPX_SOCKET_IFNAME": "eth1,eth2,eth3,eth4",
            "NCCL_GPUDIRECTTCPX_CTRL_DEV": "eth0",
            "NCCL_GPUDIRECTTCPX_TX_BINDINGS": "eth1:8-21,112-125;eth2:8-21,112-125;"
            "eth3:60-73,164-177;eth4:60-73,164-177",
            "NCCL_GPUDIRECTTCPX_RX_BINDINGS": "eth1:22-35,126-139;eth2:22-35,126-139;"
            "eth3:74-87,178-191;eth4:74-87,178-191",
            "NCCL_GPUDIRECTTCPX_PROGRAM_FLOW_STEERING_WAIT_MICROS": "500000",
            "NCCL_GPUDIRECTTCPX_FORCE_ACK": "0",
            "NCCL_GPUDIRECTTCPX_TX_COMPLETION_NANOSLEEP": "1000",
            "NCCL_GPUDIRECTTCPX_UNIX_CLIENT_PREFIX": "/run/tcpx",
        },
        annotations={
            "devices.gke.io/container.tcpx-daemon": _devices(*_GPU_DEVICES),
            "networking.gke.io/default-interface": "eth0",
            "networking.gke.io/interfaces": _network_annotations(4),
        },
        pod_template=_gke_pod_template(
            _daemon(
                "tcpx-daemon",
                "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpx/tcpgpudmarxd-dev:v2.0.12",
                [
                    "/tcpgpudmarxd/build/app/tcpgpudmarxd", "--gpu_nic_preset", "a3vm", "--gpu_shmem_type", "fd",
                    "--uds_path", "/run/tcpx", "--setup_param", "--verbose 128 2 0",
                ],
                ["NET_ADMIN"],
                [_mount("tcpx-socket", "/run/tcpx")],
            ),
            [_mount("tcpx-socket", "/run/tcpx")],
            [{"name": "tcpx-socket", "emptyDir": {}}],
        ),
    ),
    "tcpxo": FabricNeeds(
        source="https://cloud.google.com/kubernetes-engine/docs/how-to/gpu-bandwidth-gpudirect-tcpx (A3 Mega), "
        "GoogleCloudPlatform/container-engine-accelerators gpudirect-tcpxo release of 2025-11-19",
        only_on="gke",
        env={
            **ON_ETH0,
            "LD_LIBRARY_PATH": _LIBRARIES,
            "NCCL_FASTRAK_CTRL_DEV": "eth0",
            "NCCL_FASTRAK_IFNAME": ",".join(f"eth{n}" for n in range(1, 9)),
            "NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY": "/dev/aperture_devices",
            "NCCL_CROSS_NIC": "0",
            "NCCL_PROTO": "Simple,LL128",
            "NCCL_MIN_NCHANNELS": "4",
            "NCCL_TUNER_PLUGIN": "libnccl-tuner.so",
            "NCCL_TUNER_CONFIG_PATH": f"{_LIBRARIES}/a3plus_tuner_config.textproto",
            "NCCL_SHIMNET_GUEST_CONFIG_CHECKER_CONFIG_FILE": f"{_LIBRARIES}/a3plus_guest_config.textproto",
            "NCCL_NVLSTREE_MAX_CHUNKSIZE": "131072",
            **_CHUNKS,
            "NCCL_FASTRAK_NUM_FLOWS": "2",
            "NCCL_FASTRAK_USE_SNAP": "1",
            "NCCL_FASTRAK_PLUGIN_ACCEPT_TIMEOUT_MS": "600000",
            "NCCL_FASTRAK_ENABLE_CONTROL_CHANNEL": "0",
            "NCCL_BUFFSIZE": "8388608",
            "NCCL_NET_GDR_LEVEL": "PIX",
            "NCCL_FASTRAK_ENABLE_HOTPATH_LOGGING": "0",
            "NCCL_FASTRAK_USE_LLCM": "1",
            "NCCL_NVLS_ENABLE": "1",
            "CUDA_VISIBLE_DEVICES": "0,1,2,3,4,5,6,7",
        },
        annotations={
            "devices.gke.io/container.tcpxo-daemon": _devices(*_GPU_DEVICES, "/dev/dmabuf_import_helper"),
            "networking.gke.io/default-interface": "eth0",
            "networking.gke.io/interfaces": _network_annotations(8),
        },
        pod_template=_gke_pod_template(
            _daemon(
                "tcpxo-daemon",
                "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpxo/tcpgpudmarxd-dev:v1.0.20",
                [
                    "/bin/sh", "-c",
                    f"chmod 755 {_RXDM} && exec {_RXDM} --num_hops=2",
                ],
                ["NET_ADMIN", "NET_BIND_SERVICE"],
                [],
            ),
            [_mount("aperture-devices", "/dev/aperture_devices")],
            [_host("aperture-devices", "/dev/aperture_devices")],
        ),
    ),
    "gib": _GIB._replace(
        by_accelerator={
            "nvidia-gb200": _GIB._replace(annotations=_rdma_annotations(4)),
            "nvidia-gb300": FabricNeeds(
                source=f"{_RDMA}; AI-Hypercomputer/gpu-recipes training/a4x-max (2026-08-12)",
                only_on="gke",
                capabilities=("IPC_LOCK",),
                env=_GIB_ENV,
                claims={"rdma": ("mrdma.google.com", 8)},
            ),
        }
    ),
}  # fmt: skip
"""Keyed by fabric name. The networks vpc1, vpc2, ... of tcpx and tcpxo are those of Google's manifests; profiles
override them.
"""


class Tuning(NamedTuple):
    """One recommended set of variables."""

    fabric: str
    cloud: str
    accelerators: tuple[str, ...]
    """Names of accelerator rows, or () for all."""
    env: Mapping[str, str]
    source: str


_OKE = "oracle-quickstart/oci-hpc-oke docs/recommended-nccl-rccl-parameters-by-shape.md (2026-08-20)"
_GIB_RECIPES = "AI-Hypercomputer/gpu-recipes (2026-08-12): NCCL_TUNER_CONFIG_PATH"
_OKE_HOPPER = {"NCCL_CUMEM_ENABLE": "0", "NCCL_IGNORE_CPU_AFFINITY": "1"}

TUNINGS: tuple[Tuning, ...] = (
    Tuning("gib", "gke", ("nvidia-h200",),
           {"NCCL_TUNER_CONFIG_PATH": "/usr/local/gib/configs/tuner_config_a3u.txtpb"}, _GIB_RECIPES),
    Tuning("gib", "gke", ("nvidia-b200",),
           {"NCCL_TUNER_CONFIG_PATH": "/usr/local/gib/configs/tuner_config_a4.txtpb"}, _GIB_RECIPES),
    Tuning(
        "infiniband", "aks", ("nvidia-h100", "nvidia-h200"),
        {
            "NCCL_IB_PCI_RELAXED_ORDERING": "1", "NCCL_IB_QPS_PER_CONNECTION": "4", "NCCL_IGNORE_CPU_AFFINITY": "1",
            "NCCL_P2P_NET_CHUNKSIZE": "524288", "NCCL_PXN_DISABLE": "1", "NCCL_MIN_NCHANNELS": "32",
            "UCX_TLS": "rc", "UCX_NET_DEVICES": "mlx5_0:1",
        },
        "Azure/ai-infrastructure-on-azure, NCCL chart values.yaml (2026-04-22)",
    ),
    Tuning(
        "infiniband", "aks", ("nvidia-gb300",),
        {
            "NCCL_DMABUF_ENABLE": "1", "NCCL_NET_GDR_C2C": "1", "NCCL_NET_GDR_LEVEL": "PHB", "NCCL_IB_SL": "1",
        },
        "Azure/ai-infrastructure-on-azure, values-gb300*.yaml (2026-04-22)",
    ),
    Tuning(
        "rdma-vf", "oke", (),
        {
            "NCCL_IB_GID_INDEX": "3", "NCCL_IB_TC": "41", "NCCL_IB_SL": "0", "NCCL_IB_TIMEOUT": "22",
            "NCCL_IB_SPLIT_DATA_ON_QPS": "0", "NCCL_IB_HCA": "mlx5",
        },
        _OKE,
    ),
    Tuning("rdma-vf", "oke", ("nvidia-a100-40gb", "nvidia-a100-80gb"), {"NCCL_IB_QPS_PER_CONNECTION": "4"}, _OKE),
    Tuning("rdma-vf", "oke", ("nvidia-h100", "nvidia-h200", "nvidia-b200", "nvidia-b300"), _OKE_HOPPER, _OKE),
    Tuning(
        "rdma-vf", "oke", ("amd-mi300x",),
        {
            "NCCL_CUMEM_ENABLE": "0", "NCCL_PXN_DISABLE": "0", "NCCL_NET_PLUGIN": "none",
            "NCCL_IB_QPS_PER_CONNECTION": "1",
        },
        _OKE,
    ),
    Tuning(
        "nvlink-domain", "oke", ("nvidia-gb200", "nvidia-gb300"), {"NCCL_CUMEM_ENABLE": "1"}, _OKE,
    ),
)  # fmt: skip


def recommended_env(fabric: str, cloud: str | None, accelerator: str) -> dict[str, str]:
    """Return the recommended variables for a fabric on an accelerator's machines in a cloud; later rows win."""
    env: dict[str, str] = {}
    for tuning in TUNINGS:
        if (
            tuning.fabric == fabric
            and tuning.cloud == cloud
            and (not tuning.accelerators or accelerator in tuning.accelerators)
        ):
            env |= tuning.env
    return env


FABRICS: dict[str, FabricNeeds] = {
    "efa": FabricNeeds(
        source="https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html (2026)",
        resources={"vpc.amazonaws.com/efa": "1", "hugepages-2Mi": "5120Mi"},
        counted="vpc.amazonaws.com/efa",
        only_on="eks",
        capabilities=("IPC_LOCK",),
        env={"FI_PROVIDER": "efa"},
        node_has={"hugepages-2Mi": 10256},  # 5128 pages of 2 MiB, as in the guide's launch template
    ),
    "infiniband": FabricNeeds(
        source="coreweave/nccl-tests mpi-operator (2026-05-27): one rdma/ib is all HCAs of the node; "
        "Azure/ai-infrastructure-on-azure infrastructure_references/aks (2026-04-22): one is one HCA, by SR-IOV",
        resources={"rdma/ib": "1"},
        counted="rdma/ib",
        counted_on=("aks",),
        capabilities=("IPC_LOCK",),
        env=ON_ETH0,
    ),
    "roce": FabricNeeds(
        source="https://docs.nvidia.com/networking: NVIDIA Network Operator 25.7, RDMA shared device plugin",
        resources={"rdma/rdma_shared_device_a": "1"},
        capabilities=("IPC_LOCK",),
        env=ON_ETH0,
    ),
    "rdma-vf": FabricNeeds(
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
    "nvlink-domain": FabricNeeds(
        source="kubernetes-sigs/dra-driver-nvidia-gpu api/nvidia.com/resource/v1beta1 (2026-08-07); variables: "
        "awslabs/awsome-distributed-training nccl-tests-gb200.yaml (2026-06-01), oracle-quickstart/oci-hpc-oke "
        "docs/recommended-nccl-rccl-parameters-by-shape.md (2026-08-20)",
        env={"NCCL_MNNVL_ENABLE": "1", "NCCL_NVLS_ENABLE": "1"},
        compute_domain=True,
        companions={"eks": "efa", "aks": "infiniband", "gke": "gib"},
    ),
    **GKE,
}  # fmt: skip
"""Keyed by fabric name."""


def fabric_in(name: str, cloud: str | None, accelerator: str | None) -> FabricNeeds | None:
    """Return the needs of a fabric on an accelerator's machines in a cloud, or None for an unknown name."""
    needs, row_name = FABRICS.get(name), _row_name(accelerator)
    if needs is None:
        return None
    needs = needs.by_accelerator.get(row_name, needs)
    needs = needs._replace(env={**needs.env, **recommended_env(name, cloud, row_name)})
    companion = needs.companions.get(cloud or "")
    extra = fabric_in(companion, cloud, accelerator) if companion is not None else None
    return needs.with_companion(extra) if extra is not None else needs


def _row_name(accelerator: str | None) -> str:
    """Return the row name of an accelerator or of a slice."""
    base = (accelerator or "").partition("/")[0]
    return ALIASES.get(base, base)
