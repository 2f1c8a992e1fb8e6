"""What torchrun makes of a pod: options before PET_* variables before defaults (PyTorch 2.13), or what a script without
torchrun finds in its environment."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.goflags import atoi
from ptcompile.simulator import launchers
from ptcompile.simulator.launchers.command import Invocation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

AT_RENDEZVOUS: Final = "assigned at rendezvous"
NO_RANK: Final = "not set"
ALONE: Final = "localhost:0"
"""The endpoint of torchrun --standalone."""
DEFAULTS: dict[str, str] = {
    "nnodes": "1:1",
    "nproc-per-node": "1",
    "rdzv-backend": "static",
    "rdzv-endpoint": "",
    "rdzv-id": "none",
    "rdzv-conf": "",
    "max-restarts": "0",
    "monitor-interval": "0.1",
    "start-method": "spawn",
    "node-rank": "0",
    "master-addr": "127.0.0.1",
    "master-port": "29500",
}
_VARIABLES = {name: "PET_" + name.upper().replace("-", "_") for name in DEFAULTS}
_DEVICES = frozenset({"auto", "gpu"})
_DEAF: dict[str, str] = {
    "accelerate": "accelerate launch does not read PET_* variables",
    "deepspeed": "deepspeed does not read PET_* variables",
    "composer": "composer does not read PET_* variables",
    "mpirun": "mpirun starts the processes: RANK and WORLD_SIZE come from MPI",
    "tune": "tune run starts torchrun inside",
}


class Rendezvous(NamedTuple):
    """How the processes of one pod find the others."""

    launcher: str
    backend: str
    """`static`, `c10d`, `etcd-v2` ..., `env` for a script without torchrun, `none` for a process alone."""
    endpoint: str
    """`host:port`, or an empty string where there is none."""
    nodes: tuple[int, int] | None
    """The least and the most nodes; None where torchrun would refuse what is written."""
    node_rank: str
    """The node's rank, or that it is assigned at the rendezvous."""
    processes: int | None
    """Processes of this node; None where the machine decides."""
    processes_text: str
    max_restarts: str
    options: Mapping[str, str]
    """All that torchrun would hold, by the dashed names of its options."""
    notes: tuple[str, ...] = ()

    @property
    def host(self) -> str:
        """The endpoint without its port."""
        host = self.endpoint.rpartition(":")[0] if ":" in self.endpoint else self.endpoint
        return host.removeprefix("[").removesuffix("]")

    @property
    def nodes_text(self) -> str:
        """`4`, `2 to 4`, or what is written where that is neither."""
        if self.nodes is None:
            return self.options.get("nnodes", "")
        low, high = self.nodes
        return str(low) if low == high else f"{low} to {high}"

    @property
    def world(self) -> tuple[int, int] | None:
        """The least and the most processes in all, where every node is as this one; None where it is not known."""
        if self.nodes is None or self.processes is None:
            return None
        return self.nodes[0] * self.processes, self.nodes[1] * self.processes

    @property
    def world_text(self) -> str:
        """The world size as a number, a range, or a product with what the machine decides."""
        if self.world is not None:
            low, high = self.world
            return str(low) if low == high else f"{low} to {high}"
        return f"{self.nodes_text or '?'} x {self.processes_text}"

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "launcher": self.launcher,
            "backend": self.backend,
            "endpoint": self.endpoint or None,
            "nodes": None if self.nodes is None else list(self.nodes),
            "nodeRank": self.node_rank,
            "processesPerNode": self.processes_text,
            "worldSize": self.world_text,
            "maxRestarts": self.max_restarts,
            "options": dict(self.options),
            "notes": list(self.notes),
        }


def rendezvous(launch: Invocation, env: Mapping[str, str], devices: int) -> Rendezvous:
    """What a launch makes of its environment, in a container that sees this many accelerators."""
    by_torchrun = launch.launcher in ("torchrun", "tune")
    if by_torchrun or (launch.launcher == "image" and any(name.startswith("PET_") for name in env)):
        return _torchrun(launch, env, devices)
    if launch.launcher in launchers.DIALECTS:
        return _other(launch, env, devices)
    return _environment(launch, env)


def _torchrun(launch: Invocation, env: Mapping[str, str], devices: int) -> Rendezvous:
    options = {name: launch.options.get(name, env.get(_VARIABLES[name], value)) for name, value in DEFAULTS.items()}
    notes = [_DEAF[launch.launcher]] if launch.launcher in _DEAF else []
    if launch.launcher == "image":
        notes.append("the image's own command is unknown: this holds if it starts torchrun")
    standalone = launch.options.get("standalone", env.get("PET_STANDALONE", "0"))
    if standalone == "" or (standalone != "0" and atoi(standalone) is None):
        notes.append(f"torchrun does not start: PET_STANDALONE is {standalone!r}, and it must be a whole number")
    elif standalone != "0":
        options |= {"rdzv-backend": "c10d", "rdzv-endpoint": ALONE, "rdzv-id": "random"}
    backend, endpoint = options["rdzv-backend"], options["rdzv-endpoint"]
    static = backend == "static"
    if static and not endpoint:
        endpoint = f"{options['master-addr']}:{options['master-port']}"
    nodes = _nodes(options["nnodes"])
    if nodes is None:
        notes.append(f"torchrun does not start: nnodes {options['nnodes']!r} is neither a number above 0 nor MIN:MAX")
    processes, shown, problem = _processes(options["nproc-per-node"], devices)
    return Rendezvous(
        launcher=launch.launcher,
        backend=backend,
        endpoint=endpoint,
        nodes=nodes,
        node_rank=options["node-rank"] if static else AT_RENDEZVOUS,
        processes=processes,
        processes_text=shown,
        max_restarts=options["max-restarts"],
        options=options,
        notes=(*notes, *problem),
    )


def _other(launch: Invocation, env: Mapping[str, str], devices: int) -> Rendezvous:
    """accelerate, deepspeed and composer: they start processes as torchrun does, and call its options otherwise.

    What a config file, a host file or the image says stays open: such a launch meets whatever the environment names.
    """
    seen = _environment(launch, env)
    found = launchers.resolve_options(launch.launcher, launch.options, env)
    nodes = _nodes(found.get("nnodes", ""))
    if nodes is None or nodes == (1, 1):
        return seen
    backend = found.get("rdzv-backend", "static")
    host, port = found.get("master-addr", ""), found.get("master-port", "29500")
    processes, shown, _ = _processes(found.get("nproc-per-node", "auto" if devices else ""), devices)
    return seen._replace(
        backend=backend,
        endpoint=f"{host}:{port}" if host else "",
        nodes=nodes,
        node_rank=found.get("node-rank", "0") if backend == "static" else AT_RENDEZVOUS,
        processes=processes,
        processes_text=shown or seen.processes_text,
        max_restarts=found.get("max-restarts", "0"),
        options={"nnodes": seen.options["nnodes"], **found},
    )


def given_rank(launch: Invocation) -> str:
    """The node rank that a static rendezvous of torchrun takes: its option, else its variable, else its default."""
    name = "node-rank"
    return launch.options.get(name, launch.env.get(_VARIABLES[name], DEFAULTS[name]))


def _nodes(text: str) -> tuple[int, int] | None:
    low_text, colon, high_text = text.partition(":")
    low = atoi(low_text)
    high = atoi(high_text) if colon else low
    return (low, high) if low is not None and high is not None and 0 < low <= high else None


def _processes(text: str, devices: int) -> tuple[int | None, str, list[str]]:
    """Processes a node, as a number where one is known, and in words."""
    number = atoi(text)
    if number is not None:
        return number, text, [] if number > 0 else [f"torchrun starts nothing: nproc-per-node is {text}"]
    if text in _DEVICES and devices:
        return devices, f"{devices} ({text}: one for each device)", []
    if text == "cpu" or (text == "auto" and not devices):
        shown = f"number of the host's cores ({text})"
        return None, shown, [f"nproc-per-node {text} counts the host's cores, not the container's CPU limit"]
    if text in ("gpu", "xpu"):
        return None, f"number of devices ({text})", ["torchrun does not start without a device to count"]
    return None, text, [f"torchrun does not start: nproc-per-node {text!r} is not known"]


def _environment(launch: Invocation, env: Mapping[str, str]) -> Rendezvous:
    """A process without torchrun: `init_process_group` reads MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK."""
    address, port = env.get("MASTER_ADDR", ""), env.get("MASTER_PORT", "")
    size = atoi(env.get("WORLD_SIZE", ""))
    alone = not address and size is None
    nodes = (1, 1) if alone else (size, size) if size is not None and size > 0 else None
    notes = [_DEAF[launch.launcher]] if launch.launcher in _DEAF else []
    if launch.launcher == "image":
        notes.append("the image's own command is unknown: this holds if it starts one process")
    if launch.launcher == "command" and alone and "PET_NNODES" in env:
        notes.append("nothing reads the PET_* variables: the command does not start torchrun")
    return Rendezvous(
        launcher=launch.launcher,
        backend="none" if alone else "env",
        endpoint="" if not address else f"{address}:{port}" if port else address,
        nodes=nodes,
        node_rank=env.get("RANK", "0" if alone else NO_RANK),
        processes=None if launch.launcher in _DEAF else 1,
        processes_text=f"decided by {launch.launcher}" if launch.launcher in _DEAF else "1",
        max_restarts="0",
        options={"nnodes": env.get("WORLD_SIZE", "1")},
        notes=tuple(notes),
    )
