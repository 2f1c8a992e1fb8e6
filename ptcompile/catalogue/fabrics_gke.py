"""The networks between GPU nodes of GKE: GPUDirect-TCPX, -TCPXO and RDMA (gIB), each as the whole set that it takes."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.catalogue.fabric import ON_ETH0, Fabric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = Mapping[str, Any]

_GPU_DEVICES = (*(f"/dev/nvidia{n}" for n in range(8)), "/dev/nvidiactl", "/dev/nvidia-uvm")
_LIBRARIES = "/usr/local/nvidia/lib64"
_RXDM = "/fts/entrypoint_rxdm_container.sh"
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


_RDMA = "GoogleCloudPlatform/container-engine-accelerators gpudirect-rdma (2026-06-11)"


def _rdma(count: int) -> Json:
    """The annotations of GKE's RDMA networks, which begin at eth2: eth1 is for a second gVNIC."""
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
"""What scripts/set_nccl_env.sh of gIB exports, for a command that no shell starts."""

_GIB = Fabric(
    source=f"{_RDMA}; https://docs.cloud.google.com/ai-hypercomputer/docs/create/gke-ai-hypercompute-custom (2026-04)",
    env={"LD_LIBRARY_PATH": f"{_LIBRARIES}:/usr/local/gib/lib64", **_GIB_ENV},
    annotations=_rdma(8),
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
"""Of A3 Ultra and A4; the networks rdma-0 to rdma-7 are those of Google's guide."""

GKE: dict[str, Fabric] = {
    "tcpx": Fabric(
        source="https://cloud.google.com/kubernetes-engine/docs/how-to/gpu-bandwidth-gpudirect-tcpx (A3 High), "
        "GoogleCloudPlatform/container-engine-accelerators gpudirect-tcpx/nccl-config.yaml (2026-06-02)",
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
    "gib": _GIB._replace(
        of={
            "nvidia-gb200": _GIB._replace(annotations=_rdma(4)),
            "nvidia-gb300": Fabric(
                source=f"{_RDMA}; AI-Hypercomputer/gpu-recipes training/a4x-max (2026-08-12)",
                capabilities=("IPC_LOCK",),
                env=_GIB_ENV,
                claims={"rdma": ("mrdma.google.com", 8)},
            ),
        }
    ),
}  # fmt: skip
"""By name. The networks vpc1, vpc2, ... of tcpx and tcpxo are those of Google's manifests: a profile says its own."""
