"""What the fabric settings of a pod lack.

One question over a pod template as plain data, of whatever origin. Each gap is what makes NCCL fall back to TCP, pick
a wrong interface or give up, long after everything was accepted. A container that is privileged or has resource claims
may have devices that are not visible here, so no device is missed there. Sources: NCCL 2.27 environment variables,
aws-ofi-nccl 1.15, libfabric 2.1, Kubernetes RDMA shared device plugin 1.5, GKE's GPUDirect guide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.pod_spec import pinned_values
from ptcompile.kubernetes.resources import is_accelerator
from ptcompile.kubernetes.unstructured import as_mapping, as_mappings, as_string, nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json


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
        if as_string(entry.get("name")).startswith(_SAID):
            return True
    return any(name == EFA or str(name).startswith(VERBS) for name in resources)


Path = tuple[str | int, ...]

_IB_ENV = ("NCCL_IB_HCA", "NCCL_IB_GID_INDEX")
_TYPE = "node.kubernetes.io/instance-type"


class FabricGap(NamedTuple):
    """One thing that does not fit: where in the pod template, what, and the way out."""

    path: Path
    message: str
    help: str


class _Container(NamedTuple):
    path: Path
    env: Mapping[str, str]
    """Variables with a value of their own."""
    where: Mapping[str, int]
    devices: Mapping[str, str]
    """The half of the resources that names each device."""
    hidden: bool
    """Whether it may have devices that its resources do not name."""
    locks: bool
    """Whether it may lock memory."""
    host: bool
    """Whether it sees the node's network."""
    networks: bool
    """Whether annotations attach other networks to the pod."""

    def env_path(self, name: str) -> Path:
        """Where a variable's value stands."""
        return (*self.path, "env", self.where[name], "value")


def gaps(template: Json) -> Iterator[FabricGap]:
    """What does not fit in a pod template, or in a Pod; paths begin at its `metadata` or `spec`."""
    spec = nested_map(template, "spec")
    annotations = nested_map(template, "metadata", "annotations")
    networks = any(key.endswith(("cni.cncf.io/networks", "networking.gke.io/interfaces")) for key in annotations)
    for index, one in enumerate(as_mappings(spec.get("containers"))):
        requests, limits = nested_map(one, "resources", "requests"), nested_map(one, "resources", "limits")
        if not concerns(as_mappings(one.get("env")), (*requests, *limits)):
            continue
        container = _read(one, ("spec", "containers", index), bool(spec.get("hostNetwork")), networks)
        yield from _efa(container)
        yield from _verbs(container)
        yield from _turned_off(container)
        yield from _interface(container)
        yield from _direct(container, template)
        yield from _multi_node_nvlink(container)
        yield from _part_of_the_network(container, one, spec)
        yield from _tuner(container, spec)


def _read(container: Json, path: Path, host: bool, networks: bool) -> _Container:
    env, where = {}, {}
    for index, entry in enumerate(as_mappings(container.get("env"))):
        name = as_string(entry.get("name"))
        where[name] = index
        if "valueFrom" not in entry:
            env[name] = as_string(entry.get("value"))
    resources, security = nested_map(container, "resources"), nested_map(container, "securityContext")
    devices = {str(name): half for half in ("requests", "limits") for name in as_mapping(resources.get(half))}
    added = nested_map(security, "capabilities").get("add")
    names = {str(one).removeprefix("CAP_") for one in added} if isinstance(added, list | tuple) else set()
    privileged = security.get("privileged") is True
    hidden = privileged or bool(as_mappings(resources.get("claims")))
    locks = privileged or bool(names & {"IPC_LOCK", "ALL"})
    return _Container(path, env, where, devices, hidden, locks, host, networks)


def _efa(one: _Container) -> Iterator[FabricGap]:
    """EFA's variables without its device, and its huge pages."""
    wanted = next((n for n in one.env if n.startswith("FI_EFA_") or (n == "FI_PROVIDER" and one.env[n] == "efa")), None)
    if wanted and EFA not in one.devices and not one.hidden:
        message = f"{wanted} is for EFA, and the container requests no {EFA}: NCCL falls back to TCP or stops"
        yield FabricGap(one.env_path(wanted), message, f"request {EFA}, or remove {wanted}")
    if EFA in one.devices and one.env.get(FORK_SAFE) == "1":
        message = f"{FORK_SAFE} is 1, which AWS advises against with EFA"
        yield FabricGap(one.env_path(FORK_SAFE), message, f"remove {FORK_SAFE}")
    pages = "FI_EFA_USE_HUGE_PAGE"
    if one.env.get(pages) == "1" and not any(name.startswith("hugepages-") for name in one.devices):
        message = f"{pages} is on, and the container requests no huge pages: libfabric runs without them"
        yield FabricGap(one.env_path(pages), message, f"request hugepages-2Mi, or remove {pages}")


def _verbs(one: _Container) -> Iterator[FabricGap]:
    """RDMA devices without locked memory, and RDMA's variables without a device."""
    device = next((name for name in one.devices if name.startswith(VERBS)), None)
    if device and not one.locks:
        message = f"{device} registers memory, which needs IPC_LOCK: without it RDMA fails at the memlock limit"
        at_device = (*one.path, "resources", one.devices[device], device)
        yield FabricGap(at_device, message, "add IPC_LOCK to securityContext.capabilities.add")
    wanted = next((name for name in _IB_ENV if name in one.env), None)
    others = any("/" in name and not is_accelerator(name) for name in one.devices)  # by any name that a site chose
    if wanted and not (others or one.hidden or one.networks):
        message = f"{wanted} is for RDMA devices, and the container requests none: NCCL falls back to TCP"
        yield FabricGap(one.env_path(wanted), message, f"request the device, such as rdma/ib, or remove {wanted}")


def _turned_off(one: _Container) -> Iterator[FabricGap]:
    """Variables that turn off what the container asks for, or each other."""
    verbs = next((name for name in one.devices if name.startswith(VERBS)), None)
    net, provider = one.env.get("NCCL_NET", ""), one.env.get("FI_PROVIDER", "")
    efa = EFA if EFA in one.devices else None
    if verbs and one.env.get("NCCL_IB_DISABLE") == "1":
        yield _against(one, "NCCL_IB_DISABLE", f"turns off {verbs}, which the container requests")
    if net.lower() == "socket" and (verbs or efa):
        yield _against(one, "NCCL_NET", f"is Socket, and leaves {verbs or efa} idle, which the container requests")
    if net == "IB" and efa and not verbs:
        yield _against(one, "NCCL_NET", f"is IB, and {efa} is reached through the plugin AWS Libfabric")
    if net == "IB" and one.env.get("NCCL_IB_DISABLE") == "1":
        yield _against(one, "NCCL_NET", "is IB, and NCCL_IB_DISABLE turns that off: NCCL stops")
    if efa and provider not in {"", "efa"}:
        yield _against(one, "FI_PROVIDER", f"is {provider}, and leaves {efa} idle, which the container requests")


def _against(one: _Container, name: str, message: str) -> FabricGap:
    return FabricGap(one.env_path(name), f"{name} {message}", f"remove {name}")


def _interface(one: _Container) -> Iterator[FabricGap]:
    """NCCL_SOCKET_IFNAME is one list: `^` excludes all of it, `=` makes the names exact, once, in front."""
    value = one.env.get(INTERFACE)
    if not value:
        return
    names = value.removeprefix("^").removeprefix("=").split(",")
    if wrong := next((name for name in names if name[:1] in {"^", "=", "!"} or name != name.strip()), None):
        message = f"{INTERFACE} has {wrong!r} in its list: NCCL reads it as a name that no interface has"
        yield FabricGap(one.env_path(INTERFACE), message, "write ^ or = once, before the whole list, without spaces")
    elif not value.startswith("^") and "lo" in names:
        message = f"{INTERFACE} names lo, on which no other node can be reached"
        yield FabricGap(one.env_path(INTERFACE), message, "remove lo, or write ^lo to exclude it")
    elif value.startswith("^") and one.host and not any(name.startswith("docker") for name in names):
        message = f"{INTERFACE} excludes {', '.join(names)} and so no longer docker, which NCCL excludes by default"
        yield FabricGap(one.env_path(INTERFACE), message, "write ^lo,docker, or name the interface")
    elif value.startswith("^") and not (one.host or one.networks) and _excludes_eth0(value, names):
        message = f"{INTERFACE} excludes eth0, the only interface of a pod without other networks"
        yield FabricGap(one.env_path(INTERFACE), message, f"remove {INTERFACE}")


def _excludes_eth0(value: str, names: list[str]) -> bool:
    return "eth0" in names if value.startswith("^=") else any(name and "eth0".startswith(name) for name in names)


def _direct(one: _Container, template: Json) -> Iterator[FabricGap]:
    """GPUDirect-TCPX and -TCPXO: the variables need the networks and the daemon that receives for the GPUs."""
    wanted = next((name for name in one.env if name.startswith(("NCCL_GPUDIRECTTCPX_", "NCCL_FASTRAK_"))), None)
    if wanted is None:
        return
    if "networking.gke.io/interfaces" not in nested_map(template, "metadata", "annotations") and not one.host:
        message = f"{wanted} names interfaces, and no annotation networking.gke.io/interfaces attaches any"
        yield FabricGap(one.env_path(wanted), message, "add the annotation with the node pool's networks")
    pod = nested_map(template, "spec")
    images = [as_string(c.get("image")) for key in ("containers", "initContainers") for c in as_mappings(pod.get(key))]
    if not any("tcpgpudmarxd" in image for image in images):
        message = f"{wanted} needs the daemon tcpgpudmarxd in the pod, and no container runs its image"
        yield FabricGap(one.env_path(wanted), message, "add it as an init container with restartPolicy: Always")


def _multi_node_nvlink(one: _Container) -> Iterator[FabricGap]:
    """NVLink between nodes goes by an IMEX channel, which a claim or the container runtime brings."""
    if one.env.get(MNNVL) == "1" and not one.hidden and "NVIDIA_IMEX_CHANNELS" not in one.env:
        message = f"{MNNVL} is 1, but the container claims no channel of a ComputeDomain: NCCL fails"
        yield FabricGap(one.env_path(MNNVL), message, f"claim a channel by resources.claims, or remove {MNNVL}")


_OF_CLOUD = {"eks": ("efa", EFA), "aks": ("infiniband", "rdma/ib")}
"""By cloud, the fabric of which each machine has a number of devices, and their resource."""


def _part_of_the_network(one: _Container, container: Json, spec: Json) -> Iterator[FabricGap]:
    """All accelerators of a machine that the pod selects, with some of its network devices."""
    from ptcompile.hardware.machines import by_name

    for _, values in pinned_values(spec, _TYPE):
        known = [by_name().get(value) for value in values]
        machine, _, cloud = known[0] if len(known) == 1 and known[0] is not None else (None, "", "")
        fabric, resource = _OF_CLOUD.get(cloud, ("", ""))
        half = one.devices.get(resource)
        if machine is None or half is None:
            continue
        amounts = nested_map(container, "resources", half)
        asked, there = as_string(amounts.get(resource)) or str(amounts.get(resource)), machine.fabrics.get(fabric, 0)
        devices = [str(amounts[name]) for name in amounts if is_accelerator(str(name))]
        if devices == [str(machine.devices)] and asked.isdigit() and int(asked) < there:
            message = f"{asked} of the {there} {resource} of {machine.name}, with all of its accelerators"
            path = (*one.path, "resources", half, resource)
            yield FabricGap(path, f"{message}: collectives run at part of its bandwidth", f"request {there}")


_TUNERS = {"tuner_config_a3u.txtpb": "nvidia-h200-141gb", "tuner_config_a4.txtpb": "nvidia-b200"}
"""gIB's configurations of NCCL's tuner, and the machines' accelerator that each is for."""


def _tuner(one: _Container, spec: Json) -> Iterator[FabricGap]:
    """A tuner configuration of another machine than the pod selects."""
    wanted = _TUNERS.get(one.env.get(TUNER, "").rpartition("/")[2])
    for _, values in pinned_values(spec, "cloud.google.com/gke-accelerator") if wanted is not None else ():
        if wanted not in values:
            message = f"{TUNER} is for {wanted}, but the pod selects {', '.join(values)}"
            yield FabricGap(one.env_path(TUNER), message, "use the configuration of that machine")
