"""Command lines of a rehearsal: what starts the stand-in as each launcher starts the pod's own script.

The first word is the program's name. accelerate decides by the GPUs that it finds, and deepspeed reads a host file of
the image: both are told what they would have found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ptcompile.linting.torchrun import SWITCHES
from ptcompile.rehearsal.errors import RehearsalError
from ptcompile.simulation.launchers import DIALECTS, started
from ptcompile.simulation.pod import Pod
from ptcompile.torchrun import option_name

SCRIPT = "stand_in.py"
"""The file in a pod's folder that trains, ours or the user's."""
HOSTFILE = "hostfile"
"""The file in a pod's folder that names all pods and their processes, for deepspeed."""
MODULES: Final[Mapping[str, str]] = {
    "torchrun": "torch.distributed.run",
    "accelerate": "accelerate.commands.launch",
    "deepspeed": "deepspeed.launcher.runner",
}
"""The launchers that can be played, and the module that each is."""
_COUNTS = frozenset({"nproc-per-node", "num-processes", "hostfile", "include", "config-file", "no-ssh"})
"""What is rewritten for the processes and files of the rehearsal."""


def line(pod: Pod, processes: int, pods: int) -> tuple[str, ...]:
    """The command line of a pod with so many processes, one of so many pods.

    Raises:
        RehearsalError: its launcher cannot be played.
    """
    launch = pod.launch
    by_image = launch.launcher == "image" and any(name.startswith("PET_") for name in pod.env)
    if launch.launcher == "torchrun" or by_image:
        return ("torchrun", *_torchrun(launch.words, processes), SCRIPT, *_arguments(pod))
    if launch.launcher in ("command", "image"):
        return ("python", SCRIPT)
    if launch.launcher == "accelerate" and started(launch.entry):
        return ("accelerate", *_accelerate(pod, processes, pods), SCRIPT)
    if launch.launcher == "deepspeed" and started(launch.entry):
        return ("deepspeed", *_deepspeed(pod, processes, pods), SCRIPT)
    raise RehearsalError(f"{launch.launcher} starts the processes, which has no stand-in: use --own-command")


def _torchrun(words: tuple[str, ...], processes: int) -> Iterator[str]:
    """torchrun's options as given, but for the processes and what a module or a program would need."""
    i = 0
    while i < len(words) and words[i].startswith("-") and words[i] not in ("-", "--"):
        name = option_name(words[i])
        alone = "=" in words[i] or name in (*SWITCHES, "use-env", "help")
        given = words[i : i + 1 if alone else i + 2]
        if name == "nproc-per-node":
            yield f"--nproc-per-node={processes}"
        elif name not in ("module", "no-python", "run-path"):
            yield from given
        i += len(given)


def _arguments(pod: Pod) -> tuple[str, ...]:
    """The script's own arguments."""
    return tuple(pod.launch.entry[1:]) if pod.launch.launcher == "torchrun" else tuple(pod.args or ())


def _accelerate(pod: Pod, processes: int, pods: int) -> Iterator[str]:
    options = pod.launch.options
    if "config-file" in options and "nnodes" not in options and pods > 1:
        raise RehearsalError("accelerate reads its machines from a config file, which is not there: use --own-command")
    nodes = int(options.get("nnodes", "1")) if options.get("nnodes", "1").isdigit() else 1
    if processes * nodes > 1:
        yield "--multi_gpu"  # what it takes for itself where it finds GPUs
    yield f"--num_processes={processes * nodes}"
    yield from _told("accelerate", options)


def _deepspeed(pod: Pod, processes: int, pods: int) -> Iterator[str]:
    options = pod.launch.options
    if pods == 1:
        yield f"--num_gpus={processes}"
        return
    if "no-ssh" not in options:
        raise RehearsalError("deepspeed reaches the other pods by ssh, which nothing here answers: give it --no_ssh")
    yield from (f"--hostfile={HOSTFILE}", "--no_ssh")
    yield from _told("deepspeed", options)


def _told(name: str, options: Mapping[str, str]) -> Iterator[str]:
    names = DIALECTS[name].names
    for option, value in options.items():
        if option not in _COUNTS:
            yield f"--{names[option].replace('-', '_')}={value}"


def stand_ins(pod: Pod, pods: int) -> Iterator[str]:
    """What its launcher would have found in the cluster, one sentence each."""
    launch = pod.launch
    if launch.launcher == "accelerate":
        if "config-file" in launch.options:
            yield "accelerate's config file is not there"
        yield "accelerate is told --multi_gpu, and only how the pods meet"
    if launch.launcher == "deepspeed" and pods > 1:
        yield "a host file with all pods replaces deepspeed's"
