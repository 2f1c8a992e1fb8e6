"""The networks between nodes that ptcompile knows by name, each as the whole set that makes it work.

Data with sources, of public documentation as of 2026. Huge pages are asked for only where cpu or memory is, as
Kubernetes wants them. What is left to the libraries is not here: NCCL 2.21 and newer choose the HCAs and the GID of
RoCE v2, and aws-ofi-nccl turns on RDMA where the device has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

Json = Mapping[str, Any]

_NOTHING: Json = {}


class Fabric(NamedTuple):
    """What a pod needs to reach others over a fabric."""

    source: str
    resources: Mapping[str, str] = _NOTHING
    counted: str | None = None
    """The resource whose amount is the machine's, so that the one in `resources` is only the least."""
    counted_on: tuple[str, ...] | None = None
    """The clouds where that is so; None for everywhere."""
    capabilities: tuple[str, ...] = ()
    env: Mapping[str, str] = _NOTHING
    annotations: Mapping[str, str] = _NOTHING
    pod_template: Json = _NOTHING


_GPU_DEVICES = (*(f"/dev/nvidia{n}" for n in range(8)), "/dev/nvidiactl", "/dev/nvidia-uvm")
_LIBRARIES = "/usr/local/nvidia/lib64"
_RXDM = "/fts/entrypoint_rxdm_container.sh"
_ON_ETH0 = {"NCCL_SOCKET_IFNAME": "eth0"}
"""Processes find each other on the pod's own interface, also where a second one is attached."""

_CHUNKS = {
    "NCCL_P2P_NET_CHUNKSIZE": "524288",
    "NCCL_P2P_PCI_CHUNKSIZE": "524288",
    "NCCL_P2P_NVL_CHUNKSIZE": "1048576",
}


def _networks(count: int) -> str:
    """The annotation of GKE's multi-networking: eth0 and one interface a network vpc1, vpc2, ..."""
    names = ["default", *(f"vpc{n}" for n in range(1, count + 1))]
    pairs = (f'{{"interfaceName":"eth{n}","network":"{name}"}}' for n, name in enumerate(names))
    return f"[{','.join(pairs)}]"


def _host(name: str, path: str) -> Json:
    return {"name": name, "hostPath": {"path": path}}


def _mount(name: str, path: str) -> Json:
    return {"name": name, "mountPath": path}


def _daemon(name: str, image: str, command: list[str], capabilities: list[str], mounts: list[Json]) -> Json:
    """The process that receives for the GPUs: a native sidecar, so that the job ends when training does."""
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


def _gke(daemon: Json, mounts: list[Json], volumes: list[Json]) -> Json:
    host = [
        _host("gpu-libraries", "/home/kubernetes/bin/nvidia/lib64"),
        _host("host-sys", "/sys"),
        _host("host-proc-sys", "/proc/sys"),
    ]
    main = {"name": "pytorch", "volumeMounts": [_mount("gpu-libraries", _LIBRARIES), *mounts]}
    return {"spec": {"initContainers": [daemon], "containers": [main], "volumes": [*host, *volumes]}}


def _devices(*paths: str) -> str:
    return "".join(f"- path: {path}\n" for path in paths)


FABRICS: dict[str, Fabric] = {
    "efa": Fabric(
        source="https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html (2026)",
        resources={"vpc.amazonaws.com/efa": "1", "hugepages-2Mi": "5120Mi"},
        counted="vpc.amazonaws.com/efa",
        capabilities=("IPC_LOCK",),
        env={"FI_PROVIDER": "efa"},
    ),
    "infiniband": Fabric(
        source="coreweave/nccl-tests mpi-operator (2026-05-27): one rdma/ib is all HCAs of the node; "
        "Azure/ai-infrastructure-on-azure infrastructure_references/aks (2026-04-22): one is one HCA, by SR-IOV",
        resources={"rdma/ib": "1"},
        counted="rdma/ib",
        counted_on=("aks",),
        capabilities=("IPC_LOCK",),
        env=_ON_ETH0,
    ),
    "roce": Fabric(
        source="https://docs.nvidia.com/networking: NVIDIA Network Operator 25.7, RDMA shared device plugin",
        resources={"rdma/rdma_shared_device_a": "1"},
        capabilities=("IPC_LOCK",),
        env=_ON_ETH0,
    ),
    "tcpx": Fabric(
        source="https://cloud.google.com/kubernetes-engine/docs/how-to/gpu-bandwidth-gpudirect-tcpx (A3 High), "
        "GoogleCloudPlatform/container-engine-accelerators gpudirect-tcpx/nccl-config.yaml (2026-06-02)",
        capabilities=("IPC_LOCK",),
        env={
            **_ON_ETH0,
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
            "networking.gke.io/interfaces": _networks(4),
        },
        pod_template=_gke(
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
    "tcpxo": Fabric(
        source="https://cloud.google.com/kubernetes-engine/docs/how-to/gpu-bandwidth-gpudirect-tcpx (A3 Mega), "
        "GoogleCloudPlatform/container-engine-accelerators gpudirect-tcpxo release of 2025-11-19",
        env={
            **_ON_ETH0,
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
            "networking.gke.io/interfaces": _networks(8),
        },
        pod_template=_gke(
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
}  # fmt: skip
"""By name. The networks vpc1, vpc2, ... of tcpx and tcpxo are those of Google's manifests: a profile says its own."""
