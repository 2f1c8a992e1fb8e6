"""The launch of a step as fields of a spec: script or module and torchrun's settings, or a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.importer.slurm.findings import shortened
from ptcompile.kubernetes.commands import SHELLS, basename, unwrap
from ptcompile.kubernetes.goflags import atoi
from ptcompile.simulator import launchers
from ptcompile.simulator.launchers.arguments import read_arguments
from ptcompile.simulator.launchers.command import entry_arguments
from ptcompile.simulator.launchers.torchrun import conf_of, option_variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.importer.slurm.allocation import Allocation
    from ptcompile.importer.slurm.findings import ScriptFindings
    from ptcompile.importer.slurm.program import ScriptStep

_VARIABLE_OPTIONS = ("tee", "redirects", "log-dir", "role", "local-ranks-filter", "signals-to-handle")
"""torchrun's options that no field of `elastic` has: torchrun reads them from the environment too."""
_ELASTIC_OPTIONS = {"max-restarts": "maxRestarts", "monitor-interval": "monitorInterval"}
_RENDEZVOUS_OPTIONS = frozenset({"machine-rank", "main-process-ip", "main-process-port", "num-machines",
                                 "num-processes", "node-rank", "master-addr", "master-port"})  # fmt: skip
_DROPPED_ARGUMENTS = frozenset({"$@", "$*"})


class StepLaunch(NamedTuple):
    """What a step becomes."""

    fields: Mapping[str, Any]
    """script, module, command, args, elastic."""
    env: Mapping[str, str]
    nodes: int
    """0 if elastic.nnodes has the number."""


class _Draft:
    """The launch of one step, as far as it is read."""

    def __init__(self, step: ScriptStep, allocation: Allocation, findings: ScriptFindings) -> None:
        self.step = step
        self.allocation = allocation
        self.findings = findings
        self.options = step.invocation.options
        self.place = (step.command.start, step.command.argv[-1].end)
        self.fields: dict[str, Any] = {}
        self.elastic: dict[str, Any] = {}
        self.env: dict[str, str] = {}
        self.nodes = allocation.nodes.most

    def set_entry(self, entry: Sequence[str], *, is_module: bool = False) -> None:
        """Set the script or the module, and its arguments."""
        if not entry:
            self.findings.refuse(self.place, "the launcher starts no program", "import a script that trains")
            return
        program, *args = entry
        self.fields["module" if is_module else "script"] = program
        self.set_args(args)

    def set_args(self, args: Sequence[str]) -> None:
        """Set the arguments, without those of sbatch, which are reported elsewhere."""
        kept = [argument for argument in args if argument not in _DROPPED_ARGUMENTS]
        if kept:
            self.fields["args"] = kept

    def set_processes(self, count: str | int | None) -> None:
        """Set the number of processes of a node, unless it is one for each GPU."""
        gpus = self.allocation.gpus or 0
        number = atoi(str(count)) if count is not None else None
        if number is not None and number != max(gpus, 1):
            self.elastic["nprocPerNode"] = number
        elif number is None and count in ("auto", "cpu", "gpu", "xpu"):
            self.elastic["nprocPerNode"] = count
        elif number is None and count is not None:
            text = f"the script does not say the number of processes: {count}"
            self.findings.decide(self.place, text, "set elastic.nprocPerNode; without it there is one for each GPU")

    def set_nodes(self, written: str | None) -> None:
        """Take the launcher's number of nodes, which decides who trains."""
        nodes = atoi(written or "")
        if nodes is None or nodes < 1 or nodes == self.nodes:
            return
        text = f"the job has {self.nodes} nodes, but {self.step.program} expects {nodes}"
        self.findings.decide(self.place, text, f"the spec has {nodes}, as the launcher: set nodes to change it")
        self.nodes = nodes

    def finished(self) -> StepLaunch:
        """Return the launch."""
        if self.elastic:
            self.fields["elastic"] = self.elastic
        return StepLaunch(self.fields, self.env, self.nodes)


def read_launch(step: ScriptStep, allocation: Allocation, findings: ScriptFindings) -> StepLaunch:
    """Return what a step becomes, and report what is uncertain."""
    draft = _Draft(step, allocation, findings)
    launcher = step.invocation.launcher
    if launcher == "torchrun":
        _read_torchrun(draft)
    elif launcher == "accelerate":
        _read_accelerate(draft)
    elif launcher in ("deepspeed", "composer", "colossalai"):
        _read_other_launcher(draft, launcher)
    elif launcher in ("llamafactory-cli", "swift", "axolotl", "tune"):
        _read_own_command(draft, launcher)
    else:
        _read_program(draft)
    _report_single_start(draft)
    return draft.finished()


def _report_single_start(draft: _Draft) -> None:
    """Warn about a launcher that only the first node of a job starts."""
    step = draft.step
    if step.is_parallel or draft.nodes in (0, 1) or step.invocation.launcher == "deepspeed":
        return
    text = f"without srun only the first of {draft.nodes} nodes runs {step.program}; as a job every node runs it"
    draft.findings.decide(draft.place, text, "set nodes: 1 if one node is meant")


def _read_torchrun(draft: _Draft) -> None:
    options = draft.options
    _read_torchrun_nodes(draft, options.get("nnodes", ""))
    if "nproc-per-node" not in options:
        draft.elastic["nprocPerNode"] = 1
        help = "the spec says elastic.nprocPerNode: 1; remove it for one process on each GPU"
        draft.findings.decide(draft.place, "torchrun without --nproc_per_node starts one process on each node", help)
    draft.set_processes(options.get("nproc-per-node"))
    for option, field in _ELASTIC_OPTIONS.items():
        if number := atoi(options.get(option, "")):
            draft.elastic[field] = number
    conf = conf_of(options.get("rdzv-conf", ""))
    if kept := {key: value for key, value in conf.items() if key != "is_host" and "$" not in value}:
        draft.elastic["rdzvConfigs"] = kept
    draft.env |= {option_variable(option): options[option] for option in _VARIABLE_OPTIONS if options.get(option)}
    _read_torchrun_entry(draft)


def _read_torchrun_nodes(draft: _Draft, nnodes: str) -> None:
    """Read who meets whom."""
    low, colon, high = nnodes.partition(":")
    if colon and low != high:
        draft.elastic["nnodes"] = nnodes
        draft.nodes = 0
    elif low and "standalone" not in draft.options:
        draft.set_nodes(low)
    elif draft.nodes > 1:
        text = f"torchrun without --nnodes: each of {draft.nodes} nodes trains alone in Slurm"
        draft.findings.decide(draft.place, text, "as a job they train together: set nodes: 1 if one is meant")
    backend = draft.options.get("rdzv-backend", "")
    if backend.startswith("etcd"):
        text = f"the rendezvous is at an {backend} server"
        draft.findings.decide(draft.place, text, "the nodes of a job meet at the first of them, with c10d")


def _read_torchrun_entry(draft: _Draft) -> None:
    """Read what torchrun starts."""
    invocation = draft.step.invocation
    if invocation.program == "tune run":
        # any option makes it start torchrun, which gets the others as variables
        count = draft.elastic.setdefault("nprocPerNode", draft.allocation.gpus or 1)
        draft.fields["command"] = ["tune", "run", f"--nproc_per_node={count}", *invocation.entry]
        return
    if "no-python" in draft.options:
        draft.fields["command"] = ["torchrun", "--no-python", *invocation.entry]
        draft.elastic.setdefault("nprocPerNode", draft.allocation.gpus or 1)
        return
    if invocation.program == "torch.distributed.launch" and "use-env" not in draft.options:
        text = "torch.distributed.launch passes --local-rank to the script, torchrun does not"
        draft.findings.decide(draft.place, text, "let the script read LOCAL_RANK from its environment")
    if "-u" in draft.step.argv[: len(draft.step.argv) - len(invocation.arguments)]:
        draft.env["PYTHONUNBUFFERED"] = "1"
    draft.set_entry(invocation.entry, is_module="module" in draft.options)


def _read_accelerate(draft: _Draft) -> None:
    """accelerate reads the other machines from its options alone, so that torchrun's variables do not help."""
    launcher = launchers.LAUNCHERS["accelerate"]
    argv = [*draft.step.invocation.entry]
    start = launchers.launcher_of(argv)
    if start is None:
        return
    given, entry = read_arguments(launchers.option_table(launcher), argv[start[1] :])
    options = draft.options
    draft.set_nodes(options.get("nnodes"))
    if draft.nodes == 1 and "nnodes" not in options and draft.allocation.nodes.most == 1:
        kept = [option for option in given if option.name not in ("main-process-ip", "machine-rank")]
    else:
        kept = [option for option in given if option.name not in _RENDEZVOUS_OPTIONS]
    words = [word for option in kept for word in (option.written, option.value) if word is not None]

    if draft.nodes > 1:
        total = options.get("num-processes")
        processes = atoi(total or "") or draft.nodes * (draft.allocation.gpus or 1)
        words = [
            f"--num_machines={draft.nodes}", f"--num_processes={processes}", "--machine_rank=$(RANK)",
            "--main_process_ip=$(MASTER_ADDR)", "--main_process_port=$(MASTER_PORT)", *words,
        ]  # fmt: skip
    if "config-file" in options:
        text = f"accelerate reads {options['config-file']}, which the image must have"
        draft.findings.decide(draft.place, text, "put the file into the image, or mount it from a ConfigMap")
    draft.fields["command"] = [*argv[: start[1]], *words, *[word for word in entry if word not in _DROPPED_ARGUMENTS]]


def _read_other_launcher(draft: _Draft, name: str) -> None:
    """deepspeed, composer and colossalai start one process for each GPU, which torchrun does too."""
    argv = draft.step.invocation.entry
    start = launchers.launcher_of(argv)
    if start is None:
        return
    launcher = launchers.LAUNCHERS[name]
    given, entry = read_arguments(launchers.option_table(launcher), argv[start[1] :])
    names = {option.name for option in given}
    draft.set_nodes(draft.options.get("nnodes"))
    draft.set_processes(draft.options.get("nproc-per-node"))
    how = " over ssh, with the hosts of its hostfile" if launcher.over_ssh else ""
    why = f"{name} starts the processes of all nodes{how}; as a job each pod starts torchrun, which sets LOCAL_RANK"
    draft.findings.leave(draft.place, f"the {name} launcher{' (ssh) and its hostfile' if how else ''}", why)
    draft.set_entry(entry, is_module=bool(names & {"module", "module-mode", "m"}))


def _read_own_command(draft: _Draft, name: str) -> None:
    """Keep a program that starts torchrun itself, with the variables by which it finds the other nodes."""
    draft.fields["command"] = [word for word in draft.step.invocation.entry if word not in _DROPPED_ARGUMENTS]
    launcher = launchers.LAUNCHERS.get(name)
    if draft.nodes > 1 and launcher is not None and "nnodes" in launcher.variables:
        draft.env |= {"NNODES": str(draft.nodes), "NODE_RANK": "$(RANK)"}
        draft.env |= {"NPROC_PER_NODE": str(draft.allocation.gpus)} if draft.allocation.gpus else {}
        draft.env |= {"FORCE_TORCHRUN": "1"} if name == "llamafactory-cli" else {}
    elif draft.nodes > 1:
        text = f"how {name} finds the other nodes is not in the script"
        draft.findings.decide(draft.place, text, "give it the nodes as docs/guide/launchers.md shows")


def _read_program(draft: _Draft) -> None:
    """Read a program that srun or the script itself starts, such as Python."""
    step = draft.step
    entry = step.invocation.entry
    words = entry[unwrap(entry).start :]
    if words and words[0].endswith(".py"):  # uv run train.py
        words = ("python", *words)
    if start := unwrap(step.argv).start:
        draft.findings.leave(draft.place, shortened(step.argv[:start]), "the image has the environment")
    program = basename(words[0]) if words else ""
    processes = draft.nodes * draft.allocation.tasks
    if not program.startswith("python"):
        _read_unknown_program(draft, words, processes)
        return
    options = words[1 : len(words) - len(entry_arguments(step.invocation._replace(entry=tuple(words))))]
    if "-u" in options:
        draft.env["PYTHONUNBUFFERED"] = "1"
    arguments = words[1 + len(options) :]
    is_several = step.is_parallel and processes > 1
    if not is_several and draft.nodes == 1:
        draft.fields["command"] = [
            program,
            *[word for word in words[1:] if word not in _DROPPED_ARGUMENTS and word != "-u"],
        ]
        return
    if arguments[:1] == ("-m",):
        draft.set_entry(arguments[1:], is_module=True)
    else:
        draft.set_entry(arguments)
    draft.set_processes(draft.allocation.tasks if step.is_parallel else draft.allocation.gpus)
    help = "let the script read RANK, LOCAL_RANK and WORLD_SIZE; Lightning, accelerate and DeepSpeed do by themselves"
    text = "torchrun starts the processes instead of srun: a script that reads SLURM_PROCID or SLURM_LOCALID fails"
    draft.findings.add("script-left-behind", draft.place, text, help, "note")
    if {"gpus-per-task", "ntasks-per-gpu"} & {option.name for option in step.options} or draft.allocation.tasks > 1:
        text = "a process sees all GPUs of its node, not only its own as with --gpus-per-task"
        draft.findings.add("script-left-behind", draft.place, text, "use the GPU with the number LOCAL_RANK", "note")


def _read_unknown_program(draft: _Draft, words: Sequence[str], processes: int) -> None:
    draft.fields["command"] = [word for word in words if word not in _DROPPED_ARGUMENTS]
    program = basename(words[0]) if words else ""
    if program in SHELLS or "/" in "".join(words[:1]) or program.endswith(".sh"):
        text = f"what {shortened(words)} starts is not in this script"
        draft.findings.decide(draft.place, text, "import the script with the launch, or put its command here")
    if draft.step.is_parallel and processes > draft.nodes:
        text = f"srun starts {draft.allocation.tasks} processes of {program} on each node, a pod starts one"
        draft.findings.decide(draft.place, text, "set script for a Python program: torchrun starts one on each GPU")
