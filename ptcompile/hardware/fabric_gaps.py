"""Find gaps in the fabric settings of a pod template.

The check takes plain data, so it applies to any manifest. Each gap makes NCCL fall back to TCP,
choose the wrong interface or give up, long after the job was admitted. A privileged container, or
one with resource claims, may have devices that are not visible here, so no device is reported as
missing there. Sources: NCCL 2.27 environment variables, aws-ofi-nccl 1.15, libfabric 2.1,
Kubernetes RDMA shared device plugin 1.5, GKE's GPUDirect guide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import is_short_number
from ptcompile.kubernetes.commands import basename
from ptcompile.kubernetes.pod_spec import pinned_values
from ptcompile.kubernetes.resources import is_accelerator
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_map,
    nested_maps,
    nested_string,
    nested_strings,
)

EFA = "vpc.amazonaws.com/efa"
VERBS = ("rdma/", "nvidia.com/hostdev", "mellanox.com/", "nvidia.com/rdma")
"""Prefixes of the resource names that device plugins give InfiniBand and RoCE devices."""

INTERFACE = "NCCL_SOCKET_IFNAME"
MNNVL = "NCCL_MNNVL_ENABLE"
TUNER = "NCCL_TUNER_CONFIG_PATH"
FORK_SAFE = "RDMAV_FORK_SAFE"

_CHECKED_PREFIXES = ("FI_EFA_", "FI_PROVIDER", "NCCL_IB_", "NCCL_NET", INTERFACE,
                     "NCCL_GPUDIRECTTCPX_", "NCCL_FASTRAK_", MNNVL,
                     TUNER, FORK_SAFE)  # fmt: skip
"""Prefixes of all variables that this module checks."""


def concerns(env: Iterable[Json], resources: Iterable[str]) -> bool:
    """Return whether a container has a variable or RDMA device that this module checks."""
    for entry in env:
        if nested_string(entry, "name").startswith(_CHECKED_PREFIXES):
            return True
    return any(name == EFA or str(name).startswith(VERBS) for name in resources)


Path = tuple[str | int, ...]

_IB_ENV = ("NCCL_IB_HCA", "NCCL_IB_GID_INDEX")
_INSTANCE_TYPE = "node.kubernetes.io/instance-type"


class FabricGap(NamedTuple):
    """One gap: its path in the pod template, the message, and the help."""

    path: Path
    message: str
    help: str


class _Container(NamedTuple):
    path: Path
    env: Mapping[str, str]
    """Variables with a literal value."""
    where: Mapping[str, int]
    devices: Mapping[str, str]
    """Half of the resources (`requests` or `limits`) that lists each device."""
    hidden: bool
    """Whether the container may have devices that its resources do not list."""
    locks: bool
    """Whether the container may lock memory."""
    host: bool
    """Whether the container uses the node's network."""
    networks: bool
    """Whether annotations attach other networks to the pod."""

    def gap(self, name: str, message: str, help: str) -> FabricGap:
        """Return the gap of a variable."""
        return FabricGap((*self.path, "env", self.where[name], "value"), message, help)


def gaps(template: Json) -> Iterator[FabricGap]:
    """Yield the gaps of a pod template or a Pod; paths begin at its `metadata` or `spec`."""
    spec = nested_map(template, "spec")
    annotations = nested_map(template, "metadata", "annotations")
    networks = any(
        key.endswith(("cni.cncf.io/networks", "networking.gke.io/interfaces"))
        for key in annotations
    )
    for index, manifest in enumerate(nested_maps(spec, "containers")):
        requests = nested_map(manifest, "resources", "requests")
        limits = nested_map(manifest, "resources", "limits")
        if not concerns(nested_maps(manifest, "env"), (*requests, *limits)):
            continue

        container = _read_container(
            manifest, ("spec", "containers", index), bool(spec.get("hostNetwork")), networks
        )
        yield from _efa_gaps(container)
        yield from _rdma_gaps(container)
        yield from _disabled_devices(container)
        yield from _interface_gaps(container)
        yield from _gpudirect_gaps(container, template)
        yield from _nvlink_gaps(container)
        yield from _unused_bandwidth(container, manifest, spec)
        yield from _tuner_gaps(container, spec)


def _read_container(container: Json, path: Path, host: bool, networks: bool) -> _Container:
    env = {}
    where = {}
    for index, entry in enumerate(nested_maps(container, "env")):
        name = nested_string(entry, "name")
        where[name] = index
        if "valueFrom" not in entry:
            env[name] = nested_string(entry, "value")

    resources = nested_map(container, "resources")
    security = nested_map(container, "securityContext")
    devices = {
        str(name): half for half in ("requests", "limits") for name in nested_map(resources, half)
    }
    added = nested_strings(security, "capabilities", "add")
    names = {capability.removeprefix("CAP_") for capability in added}

    privileged = security.get("privileged") is True
    hidden = privileged or bool(nested_maps(resources, "claims"))
    locks = privileged or bool(names & {"IPC_LOCK", "ALL"})

    return _Container(path, env, where, devices, hidden, locks, host, networks)


def _efa_gaps(container: _Container) -> Iterator[FabricGap]:
    """Yield gaps of EFA's variables without its device, and of its huge pages."""
    variable = next(
        (
            name
            for name, value in container.env.items()
            if name.startswith("FI_EFA_") or (name, value) == ("FI_PROVIDER", "efa")
        ),
        None,
    )
    if variable and EFA not in container.devices and not container.hidden:
        message = (
            f"{variable} is for EFA, but the container requests no {EFA}: NCCL falls back to TCP "
            "or stops"
        )
        yield container.gap(variable, message, f"request {EFA}, or remove {variable}")

    if EFA in container.devices and container.env.get(FORK_SAFE) == "1":
        message = f"{FORK_SAFE} is 1, which AWS advises against with EFA"
        yield container.gap(FORK_SAFE, message, f"remove {FORK_SAFE}")

    pages = "FI_EFA_USE_HUGE_PAGE"
    if container.env.get(pages) == "1" and not any(
        name.startswith("hugepages-") for name in container.devices
    ):
        message = (
            f"{pages} is on, but the container requests no huge pages: libfabric runs without them"
        )
        yield container.gap(pages, message, f"request hugepages-2Mi, or remove {pages}")


def _rdma_gaps(container: _Container) -> Iterator[FabricGap]:
    """Yield gaps of RDMA devices without locked memory, and of RDMA's variables without a
    device.
    """
    device = next((name for name in container.devices if name.startswith(VERBS)), None)
    if device and not container.locks:
        message = (
            f"{device} registers memory, which needs IPC_LOCK: without it RDMA fails at the "
            "memlock limit"
        )
        at_device = (*container.path, "resources", container.devices[device], device)
        yield FabricGap(at_device, message, "add IPC_LOCK to securityContext.capabilities.add")

    variable = next((name for name in _IB_ENV if name in container.env), None)
    # device plugins may use site-specific names
    has_other_devices = any("/" in name and not is_accelerator(name) for name in container.devices)
    if variable and not (has_other_devices or container.hidden or container.networks):
        message = (
            f"{variable} is for RDMA devices, but the container requests none: NCCL falls back to "
            "TCP"
        )
        yield container.gap(
            variable,
            message,
            f"request the device, such as rdma/ib, or remove {variable}",
        )


def _disabled_devices(container: _Container) -> Iterator[FabricGap]:
    """Yield gaps of variables that disable what the container requests, or each other."""
    verbs = next((name for name in container.devices if name.startswith(VERBS)), None)
    net = container.env.get("NCCL_NET", "")
    provider = container.env.get("FI_PROVIDER", "")
    efa = EFA if EFA in container.devices else None

    if verbs and container.env.get("NCCL_IB_DISABLE") == "1":
        yield _conflict(
            container, "NCCL_IB_DISABLE", f"turns off {verbs}, which the container requests"
        )
    if net.lower() == "socket" and (verbs or efa):
        yield _conflict(
            container,
            "NCCL_NET",
            f"is Socket, but the container requests {verbs or efa}, which then stays idle",
        )
    if net == "IB" and efa and not verbs:
        yield _conflict(
            container, "NCCL_NET", f"is IB, but {efa} is reached through the plugin AWS Libfabric"
        )
    if net == "IB" and container.env.get("NCCL_IB_DISABLE") == "1":
        yield _conflict(
            container, "NCCL_NET", "is IB, but NCCL_IB_DISABLE turns that off: NCCL stops"
        )
    if efa and provider not in {"", "efa"}:
        yield _conflict(
            container,
            "FI_PROVIDER",
            f"is {provider}, but the container requests {efa}, which then stays idle",
        )


def _conflict(container: _Container, name: str, message: str) -> FabricGap:
    return container.gap(name, f"{name} {message}", f"remove {name}")


def _interface_gaps(container: _Container) -> Iterator[FabricGap]:
    """Yield gaps of NCCL_SOCKET_IFNAME, one list: a leading `^` excludes all of it, and `=`
    makes the names exact.
    """
    value = container.env.get(INTERFACE)
    if not value:
        return

    is_exclusion = value.startswith("^")
    names = value.removeprefix("^").removeprefix("=").split(",")
    excludes_docker = any(name.startswith("docker") for name in names)
    has_other_interfaces = container.host or container.networks
    if wrong := next(
        (name for name in names if name[:1] in {"^", "=", "!"} or name != name.strip()), None
    ):
        message = (
            f"{INTERFACE} has {wrong!r} in its list: NCCL reads it as a name that no interface has"
        )
        yield container.gap(
            INTERFACE,
            message,
            "write ^ or = once, before the whole list, without spaces",
        )
    elif not is_exclusion and "lo" in names:
        message = f"{INTERFACE} names lo, on which no other node can be reached"
        yield container.gap(INTERFACE, message, "remove lo, or write ^lo to exclude it")
    elif is_exclusion and container.host and not excludes_docker:
        message = (
            f"{INTERFACE} excludes only {', '.join(names)}: NCCL no longer excludes docker, as it "
            "does by default"
        )
        yield container.gap(INTERFACE, message, "write ^lo,docker, or name the interface")
    elif is_exclusion and not has_other_interfaces and _excludes_eth0(value, names):
        message = f"{INTERFACE} excludes eth0, the only interface of a pod without other networks"
        yield container.gap(INTERFACE, message, f"remove {INTERFACE}")


def _excludes_eth0(value: str, names: list[str]) -> bool:
    if value.startswith("^="):
        return "eth0" in names
    return any(name and "eth0".startswith(name) for name in names)


_GPUDIRECT = ("NCCL_GPUDIRECTTCPX_", "NCCL_FASTRAK_")
"""Beginnings of the variables of GPUDirect-TCPX and -TCPXO."""


def _gpudirect_gaps(container: _Container, template: Json) -> Iterator[FabricGap]:
    """Yield gaps of GPUDirect-TCPX and -TCPXO, which need the networks and the daemon that
    receives for the GPUs.
    """
    variable = next((name for name in container.env if name.startswith(_GPUDIRECT)), None)
    if variable is None:
        return

    has_networks = "networking.gke.io/interfaces" in nested_map(template, "metadata", "annotations")
    if not has_networks and not container.host:
        message = (
            f"{variable} names interfaces, but no annotation networking.gke.io/interfaces "
            "attaches any"
        )
        yield container.gap(
            variable,
            message,
            "add the annotation with the node pool's networks",
        )

    pod = nested_map(template, "spec")
    images = [
        nested_string(c, "image")
        for key in ("containers", "initContainers")
        for c in nested_maps(pod, key)
    ]
    if not any("tcpgpudmarxd" in image for image in images):
        message = (
            f"{variable} needs the daemon tcpgpudmarxd in the pod, but no container runs its image"
        )
        yield container.gap(
            variable,
            message,
            "add it as an init container with restartPolicy: Always",
        )


def _nvlink_gaps(container: _Container) -> Iterator[FabricGap]:
    """Yield a gap if NVLink between nodes lacks an IMEX channel, which a claim or the container
    runtime provides.
    """
    if (
        container.env.get(MNNVL) == "1"
        and not container.hidden
        and "NVIDIA_IMEX_CHANNELS" not in container.env
    ):
        message = (
            f"{MNNVL} is 1, but the container claims no channel of a ComputeDomain: NCCL fails"
        )
        yield container.gap(
            MNNVL,
            message,
            f"claim a channel with resources.claims, or remove {MNNVL}",
        )


_COUNTED_FABRICS = {"eks": ("efa", EFA), "aks": ("infiniband", "rdma/ib")}
"""Fabric with counted devices on each machine, and its resource, keyed by cloud."""


def _unused_bandwidth(checked: _Container, container: Json, spec: Json) -> Iterator[FabricGap]:
    """Yield a gap if the pod uses all accelerators of a machine, but only some of its network
    devices.
    """
    from ptcompile.hardware.machines import machines_by_name

    for _, values in pinned_values(spec, _INSTANCE_TYPE):
        known = machines_by_name().get(values[0]) if len(values) == 1 else None
        if known is None:
            continue
        fabric, resource = _COUNTED_FABRICS.get(known.cloud, ("", ""))
        resources_half = checked.devices.get(resource)
        if resources_half is None:
            continue

        machine = known.machine
        amounts = nested_map(container, "resources", resources_half)
        requested = nested_string(amounts, resource) or str(amounts.get(resource))
        available = machine.fabrics.get(fabric, 0)
        devices = [str(amounts[name]) for name in amounts if is_accelerator(str(name))]
        if (
            devices == [str(machine.devices)]
            and is_short_number(requested)
            and int(requested) < available
        ):
            message = (
                f"{requested} of the {available} {resource} of {machine.name}, with all of its "
                "accelerators"
            )
            path = (*checked.path, "resources", resources_half, resource)
            yield FabricGap(
                path, f"{message}: collectives run at part of its bandwidth", f"request {available}"
            )


_TUNERS = {"tuner_config_a3u.txtpb": "nvidia-h200-141gb", "tuner_config_a4.txtpb": "nvidia-b200"}
"""gIB's configuration files for NCCL's tuner, with the accelerator that each is for."""


def _tuner_gaps(container: _Container, spec: Json) -> Iterator[FabricGap]:
    """Yield a gap if the tuner configuration is for another machine than the pod selects."""
    accelerator = _TUNERS.get(basename(container.env.get(TUNER, "")))
    if accelerator is None:
        return

    for _, values in pinned_values(spec, "cloud.google.com/gke-accelerator"):
        if accelerator not in values:
            message = f"{TUNER} is for {accelerator}, but the pod selects {', '.join(values)}"
            yield container.gap(TUNER, message, "use the configuration of that machine")
