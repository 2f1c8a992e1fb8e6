"""The rendezvous of one pod.

torchrun reads its options, then PET_* variables, then defaults (PyTorch 2.13); other scripts read
their environment.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.simulator import launchers
from ptcompile.simulator.launchers.command import Invocation
from ptcompile.simulator.launchers.ray import cluster_address
from ptcompile.simulator.launchers.torchrun import is_literal, option_variable

AT_RENDEZVOUS = "assigned at rendezvous"
NO_RANK = "not set"
STANDALONE_ENDPOINT = "localhost:0"
"""Endpoint of `torchrun --standalone`."""
KNOWN_IN_POD = "is known only in the pod"
"""End of a note about a value that no file has."""
STANDALONE = {"rdzv-backend": "c10d", "rdzv-endpoint": STANDALONE_ENDPOINT, "rdzv-id": "random"}
"""What `torchrun --standalone` assigns over the other options."""
DEFAULTS: Mapping[str, str] = launchers.TORCHRUN_TABLE["defaults"]
_OPTION_VARIABLES = {name: "PET_" + name.upper().replace("-", "_") for name in DEFAULTS}
_PER_DEVICE = frozenset({"auto", "gpu", "xpu"})
_IGNORES_PET_VARIABLES: dict[str, str] = {
    **{name: f"{name} does not read PET_* variables" for name in launchers.LAUNCHERS},
    "accelerate": "accelerate launch does not read PET_* variables",
    "mpirun": "mpirun starts the processes: RANK and WORLD_SIZE come from MPI",
    "tune": "tune run starts torchrun inside",
    "ray": "Ray connects the nodes and places the processes: RANK and WORLD_SIZE come from Ray Train",
}


class IntRange(NamedTuple):
    """A range of whole numbers, both ends included."""

    least: int
    most: int

    @property
    def text(self) -> str:
        """`4` or `2 to 4`."""
        if self.least == self.most:
            return str(self.least)
        return f"{self.least} to {self.most}"


class Rendezvous(NamedTuple):
    """The settings by which the processes of one pod find those of the others."""

    launcher: str
    backend: str
    """`static`, `c10d`, `etcd-v2` ...; `env` for a script without torchrun, `none` for a single
    process.
    """
    endpoint: str
    """`host:port`, or an empty string without a rendezvous."""
    nodes: IntRange | None
    """Number of nodes, or None if torchrun would not accept the value."""
    node_rank: str
    """The node's rank, `AT_RENDEZVOUS` or `NO_RANK`."""
    processes: int | None
    """Number of processes of this node, or None if the machine decides."""
    processes_text: str
    max_restarts: str
    options: Mapping[str, str]
    """All of torchrun's options with their effective values, by their dashed names."""
    notes: tuple[str, ...] = ()

    @property
    def host(self) -> str:
        """Endpoint without its port."""
        host = self.endpoint.removesuffix(f":{self.port}")
        return host.removeprefix("[").removesuffix("]")

    @property
    def port(self) -> str:
        """Port of the endpoint, or an empty string."""
        _, colon, port = self.endpoint.rpartition(":")
        return port if colon else ""

    @property
    def nodes_text(self) -> str:
        """`4`, `2 to 4`, or the value as written if it is not valid."""
        if self.nodes is None:
            return self.options.get("nnodes", "")
        return self.nodes.text

    @property
    def is_range(self) -> bool:
        """Whether the number of nodes is a range."""
        return self.nodes is not None and self.nodes.least < self.nodes.most

    @property
    def world_size(self) -> IntRange | None:
        """World size if all nodes are like this one, or None if it is unknown."""
        if self.nodes is None or self.processes is None:
            return None
        return IntRange(self.nodes.least * self.processes, self.nodes.most * self.processes)

    @property
    def world_size_text(self) -> str:
        """World size as a number, a range, or a product with the number that the machine
        decides.
        """
        if self.world_size is not None:
            return self.world_size.text
        return f"{self.nodes_text or '?'} x {self.processes_text}"

    def to_dict(self) -> JsonDict:
        """Return the JSON form."""
        return {
            "launcher": self.launcher,
            "backend": self.backend,
            "endpoint": self.endpoint or None,
            "nodes": None if self.nodes is None else list(self.nodes),
            "nodeRank": self.node_rank,
            "processesPerNode": self.processes_text,
            "worldSize": self.world_size_text,
            "maxRestarts": self.max_restarts,
            "options": dict(self.options),
            "notes": list(self.notes),
        }


def pod_rendezvous(launch: Invocation, env: Mapping[str, str], devices: int) -> Rendezvous:
    """Return the rendezvous of a launch in its environment, in a container with this many
    accelerators.
    """
    uses_torchrun = launch.launcher in ("torchrun", "tune")
    if uses_torchrun or (
        launch.launcher == "image" and any(name.startswith("PET_") for name in env)
    ):
        return _torchrun_rendezvous(launch, env, devices)
    if launch.launcher in launchers.LAUNCHERS:
        return _launcher_rendezvous(launch, env, devices)

    from_env = _env_rendezvous(launch, env)
    if launch.launcher != "ray":
        return from_env

    return from_env._replace(
        backend="ray",
        endpoint=cluster_address(launch.options, env),
        nodes=None,
        node_rank=AT_RENDEZVOUS,
    )


def _torchrun_rendezvous(launch: Invocation, env: Mapping[str, str], devices: int) -> Rendezvous:
    options = {
        name: launch.options.get(name, env.get(_OPTION_VARIABLES[name], value))
        for name, value in DEFAULTS.items()
    }
    notes = _launcher_notes(launch.launcher, "torchrun")
    standalone = launch.options.get("standalone", env.get("PET_STANDALONE", "0"))
    if launch.program == "tune run" and not options["rdzv-endpoint"]:
        standalone = "1"  # torchtune 0.6, _cli/run.py: --master-addr is not looked at
    if standalone == "" or (standalone != "0" and atoi(standalone) is None):
        notes.append(
            f"torchrun does not start: PET_STANDALONE must be a whole number, not {standalone!r}"
        )
    elif standalone != "0":
        options |= STANDALONE
    if launch.program.endswith("hyperpodrun"):
        # The agent (hyperpod-elastic-agent 1.1, run.py) takes no other backend, and the operator
        # tells it the rest.
        options |= {
            "rdzv-backend": "hyperpod",
            "rdzv-endpoint": "",
            "nnodes": env.get("NNODES", options["nnodes"]),
        }

    backend = options["rdzv-backend"]
    endpoint = options["rdzv-endpoint"]
    is_static = backend == "static"
    if is_static and not endpoint:
        endpoint = f"{options['master-addr']}:{options['master-port']}"
    nodes = _parse_nodes(options["nnodes"])
    if nodes is None:
        notes.append(
            _why_not("nnodes", options["nnodes"], "is neither a number above 0 nor MIN:MAX")
        )

    processes, processes_text, process_notes = _parse_processes(options["nproc-per-node"], devices)
    return Rendezvous(
        launcher=launch.launcher,
        backend=backend,
        endpoint=endpoint,
        nodes=nodes,
        node_rank=options["node-rank"] if is_static else AT_RENDEZVOUS,
        processes=processes,
        processes_text=processes_text,
        max_restarts=options["max-restarts"],
        options=options,
        notes=(*notes, *process_notes),
    )


def _launcher_rendezvous(launch: Invocation, env: Mapping[str, str], devices: int) -> Rendezvous:
    """Return the rendezvous of accelerate, deepspeed or composer, which start processes like
    torchrun.

    Values in a config file, a host file or the image are unknown: such a launch uses the rendezvous
    of its environment.
    """
    from_env = _env_rendezvous(launch, env)
    options = launchers.resolve_options(launch.launcher, launch.options, env)
    nodes = _parse_nodes(options.get("nnodes", ""))
    if nodes is None or nodes == (1, 1):
        return _single_node(launch, from_env, options, devices)

    backend = options.get("rdzv-backend", "static")
    host = options.get("master-addr", "")
    port = options.get("master-port", "29500")
    processes, processes_text, _ = _parse_processes(
        options.get("nproc-per-node", "auto" if devices else ""), devices
    )

    return from_env._replace(
        backend=backend,
        endpoint=f"{host}:{port}" if host else "",
        nodes=nodes,
        node_rank=options.get("node-rank", "0") if backend == "static" else AT_RENDEZVOUS,
        processes=processes,
        processes_text=processes_text or from_env.processes_text,
        max_restarts=options.get("max-restarts", "0"),
        options={"nnodes": from_env.options["nnodes"], **options},
    )


def _single_node(
    launch: Invocation, from_env: Rendezvous, options: Mapping[str, str], devices: int
) -> Rendezvous:
    """Return the rendezvous of a launcher that starts processes in its own pod only."""
    launcher = launchers.LAUNCHERS[launch.launcher]
    # the launcher passes no other machines on, so torchrun's defaults apply
    if launcher.variables.get("nnodes") is not None:
        from_env = from_env._replace(
            backend="none",
            endpoint="",
            nodes=IntRange(1, 1),
            node_rank="0",
            options={"nnodes": "1", **options},
        )
    if launch.launcher not in (
        "accelerate",
        "deepspeed",
        "llamafactory-cli",
        "swift",
        "colossalai",
    ):
        return from_env

    count = options.get("num-processes", "") or options.get("nproc-per-node", "")
    processes, text, _ = _parse_processes(count, devices) if count else (None, "", [])
    if processes is None:
        return from_env

    return from_env._replace(processes=processes, processes_text=text)


def variable_of(name: str, option: str) -> str:
    """Return the variable that a launcher reads an option from, or an empty string; torchrun's
    for any other name.
    """
    launcher = launchers.LAUNCHERS.get(name)
    if launcher is None:
        return option_variable(option)
    return launcher.variables.get(option, "")


def static_node_rank(launch: Invocation) -> str:
    """Return the node rank for torchrun's static rendezvous: from its option, its variable or
    its default.
    """
    name = "node-rank"
    return launch.options.get(name, launch.env.get(_OPTION_VARIABLES[name], DEFAULTS[name]))


def _parse_nodes(text: str) -> IntRange | None:
    low_text, colon, high_text = text.partition(":")
    low = atoi(low_text)
    high = atoi(high_text) if colon else low
    if low is not None and high is not None and 0 < low <= high:
        return IntRange(low, high)
    return None


def _parse_processes(text: str, devices: int) -> tuple[int | None, str, list[str]]:
    """Return the processes per node (None if unknown), their text, and notes."""
    number = atoi(text)
    if number is not None:
        return (
            number,
            text,
            [] if number > 0 else [f"torchrun starts nothing: nproc-per-node is {text}"],
        )
    if text in _PER_DEVICE and devices:
        return devices, f"{devices} ({text}: one for each device)", []
    if text == "cpu" or (text == "auto" and not devices):
        text_for_cores = f"number of the host's cores ({text})"
        return (
            None,
            text_for_cores,
            [f"nproc-per-node {text} counts the host's cores, not the container's CPU limit"],
        )
    if text in ("gpu", "xpu"):
        return (
            None,
            f"number of devices ({text})",
            ["torchrun does not start without a device to count"],
        )

    return None, text, [_why_not("nproc-per-node", text, "is not a known value")]


def _launcher_notes(launcher: str, assumed: str) -> list[str]:
    """Return the note on a launcher without PET_* variables, or on what an image is assumed to
    start.
    """
    if launcher == "image":
        return [f"the image's own command is unknown, assuming that it starts {assumed}"]
    return [_IGNORES_PET_VARIABLES[launcher]] if launcher in _IGNORES_PET_VARIABLES else []


def _why_not(option: str, value: str, reason: str) -> str:
    """Return why torchrun does not start with a value, or that no file has it."""
    if not is_literal(value):
        return f"{option} {value!r} {KNOWN_IN_POD}"
    return f"torchrun does not start: {option} {value!r} {reason}"


def _env_rendezvous(launch: Invocation, env: Mapping[str, str]) -> Rendezvous:
    """Return the rendezvous without torchrun: `init_process_group` reads MASTER_ADDR, MASTER_PORT,
    WORLD_SIZE and RANK.
    """
    address = env.get("MASTER_ADDR", "")
    port = env.get("MASTER_PORT", "")
    world_size = atoi(env.get("WORLD_SIZE", ""))
    is_alone = not address and world_size is None
    if is_alone:
        nodes = IntRange(1, 1)
    elif world_size is not None and world_size > 0:
        nodes = IntRange(world_size, world_size)
    else:
        nodes = None

    endpoint = f"{address}:{port}" if address and port else address
    notes = _launcher_notes(launch.launcher, "one process")
    decides_processes = launch.launcher in _IGNORES_PET_VARIABLES
    if launch.launcher == "command" and is_alone and "PET_NNODES" in env:
        notes.append("the command does not start torchrun: nothing reads the PET_* variables")

    return Rendezvous(
        launcher=launch.launcher,
        backend="none" if is_alone else "env",
        endpoint=endpoint,
        nodes=nodes,
        node_rank=env.get("RANK", "0" if is_alone else NO_RANK),
        processes=None if decides_processes else 1,
        processes_text=f"decided by {launch.launcher}" if decides_processes else "1",
        max_restarts="0",
        options={"nnodes": env.get("WORLD_SIZE", "1")},
        notes=tuple(notes),
    )
