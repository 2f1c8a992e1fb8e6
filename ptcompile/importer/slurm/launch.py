"""The launch of a step as fields of a spec: script or module and torchrun's settings, or a
command.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.importer.slurm.allocation import Allocation
from ptcompile.importer.slurm.findings import ScriptFindings, shortened
from ptcompile.importer.slurm.program import ScriptStep
from ptcompile.kubernetes.commands import PROCESS_WORDS, SHELLS, basename, unwrap
from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.simulator import launchers
from ptcompile.simulator.launchers.arguments import read_arguments
from ptcompile.simulator.launchers.command import entry_arguments
from ptcompile.simulator.launchers.torchrun import conf_of, option_variable

_VARIABLE_OPTIONS = (
    "tee",
    "redirects",
    "log-dir",
    "role",
    "local-ranks-filter",
    "signals-to-handle",
)
"""torchrun's options that no field of `elastic` has: torchrun reads them from the environment
too.
"""
_ELASTIC_OPTIONS = {"max-restarts": "maxRestarts", "monitor-interval": "monitorInterval"}
_FIRST_MACHINE = frozenset({"machine-rank", "main-process-ip"})
_MACHINES = _FIRST_MACHINE | {"main-process-port", "num-machines", "num-processes"}


class StepLaunch:
    """The launch of one step, as far as it is read."""

    def __init__(self, step: ScriptStep, allocation: Allocation, findings: ScriptFindings) -> None:
        self.step = step
        self.allocation = allocation
        self.findings = findings
        self.options = step.invocation.options
        self.fields: JsonDict = {}
        """script, module, command, args, elastic."""
        self.elastic: JsonDict = {}
        self.env: dict[str, str] = {}
        self.nodes = allocation.nodes
        """0 if elastic.nnodes has the number."""

    def decide(self, text: str, help: str) -> None:
        """Warn about what the reader has to decide."""
        self.findings.decide(self.step.place, text, help)

    def set_entry(self, entry: Sequence[str], *, is_module: bool) -> None:
        """Set the script or the module, and its arguments."""
        if not entry:
            self.findings.refuse(
                self.step.place, "the launcher starts no program", "import a script that trains"
            )
            return
        program, *args = entry
        self.fields |= {"module" if is_module else "script": program, "args": args}

    def set_processes(self, count: str | int | None) -> None:
        """Set the number of processes of a node, unless it is one for each GPU."""
        number = atoi(str(count))
        if number is not None and number != max(self.allocation.gpus or 0, 1):
            self.elastic["nprocPerNode"] = number
        elif count in PROCESS_WORDS:
            self.elastic["nprocPerNode"] = count
        elif number is None and count is not None:
            text = f"the script does not say the number of processes: {count}"
            self.decide(text, "set elastic.nprocPerNode; without it there is one for each GPU")

    def set_nodes(self, written: str) -> None:
        """Take the launcher's number of nodes, which decides who trains."""
        nodes = atoi(written) or 0
        if nodes < 1 or nodes == self.nodes:
            return
        text = f"the job has {self.nodes} nodes, but {self.step.program} expects {nodes}"
        self.decide(text, f"the spec has {nodes}, as the launcher: set nodes to change it")
        self.nodes = nodes


def read_launch(step: ScriptStep, allocation: Allocation, findings: ScriptFindings) -> StepLaunch:
    """Return what a step becomes, and report what is uncertain."""
    launch = StepLaunch(step, allocation, findings)
    launcher = step.invocation.launcher
    _READERS.get(launcher, _read_program)(launch)
    if launch.nodes > 1 and not step.is_parallel and launcher != "deepspeed":
        text = (
            f"without srun only the first of {launch.nodes} nodes runs {step.program}; as a job "
            "every node runs it"
        )
        launch.decide(text, "set nodes: 1 if one node is meant")

    # arguments of sbatch are reported elsewhere
    for name in launch.fields.keys() & {"command", "args"}:
        launch.fields[name] = [word for word in launch.fields[name] if word not in ("$@", "$*")]
    launch.fields["elastic"] = launch.elastic

    return launch


def _read_torchrun(launch: StepLaunch) -> None:
    options = launch.options
    _read_meeting(launch, options.get("nnodes", ""))
    processes = options.get("nproc-per-node")
    if processes is None:
        launch.elastic["nprocPerNode"] = 1
        text = "torchrun without --nproc_per_node starts one process on each node"
        launch.decide(
            text, "the spec says elastic.nprocPerNode: 1; remove it for one process on each GPU"
        )

    launch.set_processes(processes)

    numbers = {field: atoi(options.get(option, "")) for option, field in _ELASTIC_OPTIONS.items()}
    conf = conf_of(options.get("rdzv-conf", ""))
    known = {key: value for key, value in conf.items() if key != "is_host" and "$" not in value}
    launch.elastic |= {
        field: number for field, number in {**numbers, "rdzvConfigs": known}.items() if number
    }
    launch.env |= {
        option_variable(name): options[name] for name in _VARIABLE_OPTIONS if options.get(name)
    }
    _read_started(launch)


def _read_meeting(launch: StepLaunch, nnodes: str) -> None:
    """Read how many agents of torchrun meet."""
    low, colon, high = nnodes.partition(":")
    if colon and low != high:
        launch.elastic["nnodes"] = nnodes
        launch.nodes = 0
    elif low and "standalone" not in launch.options:
        launch.set_nodes(low)
    elif launch.nodes > 1:
        text = f"torchrun without --nnodes: each of {launch.nodes} nodes trains alone in Slurm"
        launch.decide(text, "as a job they train together: set nodes: 1 if one is meant")


def _read_started(launch: StepLaunch) -> None:
    """Read what torchrun starts."""
    argv = launch.step.argv
    invocation = launch.step.invocation
    processes = launch.elastic.get("nprocPerNode", launch.allocation.gpus or 1)
    if invocation.program == "tune run":
        # any option of torchrun makes tune start torchrun; the other options become variables
        launch.fields["command"] = [
            "tune",
            "run",
            f"--nproc_per_node={processes}",
            *invocation.entry,
        ]
    elif "no-python" in launch.options:
        launch.fields["command"] = ["torchrun", "--no-python", *invocation.entry]
    else:
        launch.set_entry(invocation.entry, is_module="module" in launch.options)
        if "-u" in argv[: -len(invocation.arguments)]:
            launch.env["PYTHONUNBUFFERED"] = "1"
        processes = None

    if processes:
        launch.elastic["nprocPerNode"] = processes

    if invocation.program == "torch.distributed.launch" and "use-env" not in launch.options:
        text = "torch.distributed.launch passes --local-rank to the script, torchrun does not"
        launch.decide(text, "let the script read LOCAL_RANK from its environment")


def _read_accelerate(launch: StepLaunch) -> None:
    """Read a launch by accelerate. It takes the other machines only from its own options, so
    torchrun's variables do not help.
    """
    options = launch.options
    invocation = launch.step.invocation
    given, entry = read_arguments(
        launchers.option_table(launchers.LAUNCHERS["accelerate"]), invocation.arguments
    )
    launch.set_nodes(options.get("nnodes", ""))
    dropped = _MACHINES if launch.nodes > 1 or "nnodes" in options else _FIRST_MACHINE
    kept = [option for option in given if option.name not in dropped]

    machines: list[str] = []
    if launch.nodes > 1:
        total = atoi(options.get("num-processes", "")) or launch.nodes * (
            launch.allocation.gpus or 1
        )
        machines = [
            f"--num_machines={launch.nodes}", f"--num_processes={total}", "--machine_rank=$(RANK)",
            "--main_process_ip=$(MASTER_ADDR)", "--main_process_port=$(MASTER_PORT)",
        ]  # fmt: skip
    if "config-file" in options:
        text = f"accelerate reads {options['config-file']}, which the image must have"
        launch.decide(text, "put the file into the image, or mount it from a ConfigMap")

    head = invocation.entry[: len(invocation.entry) - len(invocation.arguments)]
    words = [word for option in kept for word in (option.written, option.value) if word is not None]
    launch.fields["command"] = [*head, *machines, *words, *entry]


def _read_one_for_each(launch: StepLaunch) -> None:
    """deepspeed, composer and colossalai start one process for each GPU, which torchrun does
    too.
    """
    invocation = launch.step.invocation
    name = invocation.launcher
    launch.set_nodes(launch.options.get("nnodes", ""))
    launch.set_processes(launch.options.get("nproc-per-node"))
    over_ssh = launchers.LAUNCHERS[name].over_ssh
    what = " (ssh) and its hostfile" if over_ssh else ""
    how = " over ssh, with the hosts of its hostfile" if over_ssh else ""
    why = (
        f"{name} starts the processes of all nodes{how}; as a job each pod starts torchrun, which "
        "sets LOCAL_RANK"
    )
    launch.findings.leave(launch.step.place, f"the {name} launcher{what}", why)
    _, entry = launchers.parse_options(name, invocation.arguments)
    launch.set_entry(entry, is_module=launchers.module_of(invocation.entry) is not None)


def _read_own_command(launch: StepLaunch) -> None:
    """Keep a program that starts torchrun itself, with the variables by which it finds the other
    nodes.
    """
    name = launch.step.invocation.launcher
    launch.fields["command"] = [*launch.step.invocation.entry]
    launcher = launchers.LAUNCHERS.get(name)
    if launch.nodes == 1:
        return

    if launcher is not None and "nnodes" in launcher.variables:
        launch.env |= {"NNODES": str(launch.nodes), "NODE_RANK": "$(RANK)"}
        if launch.allocation.gpus:
            launch.env["NPROC_PER_NODE"] = str(launch.allocation.gpus)
        if name == "llamafactory-cli":
            launch.env["FORCE_TORCHRUN"] = "1"
    else:
        text = f"how {name} finds the other nodes is not in the script"
        launch.decide(text, "give it the nodes as docs/guide/launchers.md shows")


def _read_program(launch: StepLaunch) -> None:
    """Read a program that srun or the script itself starts, such as Python."""
    step = launch.step
    if start := unwrap(step.argv).start:
        launch.findings.leave(
            step.place, shortened(step.argv[:start]), "the image has the environment"
        )

    entry = step.invocation.entry
    words = entry[unwrap(entry).start :]
    program = basename(next(iter(words), ""))
    if program.endswith(".py"):  # uv run train.py
        program = "python"
        words = (program, *words)
    if not program.startswith("python"):
        _read_unknown_program(launch, words)
        return

    arguments = entry_arguments(step.invocation._replace(entry=words))
    options = words[1 : len(words) - len(arguments)]
    tasks = launch.allocation.tasks
    if "-u" in options:
        launch.env["PYTHONUNBUFFERED"] = "1"
    if launch.nodes == 1 and not (step.is_parallel and tasks > 1):
        kept = [option for option in options if option != "-u"]
        launch.fields["command"] = [program, *kept, *arguments]
        return

    is_module = arguments[:1] == ("-m",)
    launch.set_entry(arguments[is_module:], is_module=is_module)
    launch.set_processes(tasks if step.is_parallel else launch.allocation.gpus)
    text = (
        "torchrun starts the processes instead of srun: a script that reads SLURM_PROCID or "
        "SLURM_LOCALID fails"
    )
    help = (
        "let the script read RANK, LOCAL_RANK and WORLD_SIZE; Lightning, accelerate and DeepSpeed "
        "do by themselves"
    )
    launch.findings.note(step.place, text, help)
    if tasks > 1 or {"gpus-per-task", "ntasks-per-gpu"} & step.options.keys():
        text = "a process sees all GPUs of its node, not only its own as with --gpus-per-task"
        launch.findings.note(step.place, text, "use the GPU with the number LOCAL_RANK")


def _read_unknown_program(launch: StepLaunch, words: Sequence[str]) -> None:
    launch.fields["command"] = [*words]
    program = launch.step.program
    if program in SHELLS or "/" in "".join(words[:1]) or program.endswith(".sh"):
        text = f"what {shortened(words)} starts is not in this script"
        launch.decide(text, "import the script with the launch, or put its command here")
    tasks = launch.allocation.tasks
    if launch.step.is_parallel and tasks > 1:
        text = f"srun starts {tasks} processes of {program} on each node, a pod starts one"
        launch.decide(text, "set script for a Python program: torchrun starts one on each GPU")


_READERS = {
    "torchrun": _read_torchrun,
    "accelerate": _read_accelerate,
    **dict.fromkeys(("deepspeed", "composer", "colossalai"), _read_one_for_each),
    **dict.fromkeys(("llamafactory-cli", "swift", "axolotl", "tune"), _read_own_command),
}
"""Readers of launchers; what starts no processes is a program."""
