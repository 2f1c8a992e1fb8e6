"""What a job of Slurm gets on each of its nodes.

Source: sbatch.1 and runs of Slurm 22.05; docs/facts/slurm.md#from-the-allocation-to-one-node.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.importer.slurm.amounts import CountRange, Gres, count_of, gpus_of, gres_of, mebibytes_of, nodes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from ptcompile.importer.slurm.directives import SlurmOption

    ValueT = TypeVar("ValueT")

_is_mig = re.compile(r"(?:\w+_)?(\d+g\.\d+gb)(?:\+me)?").fullmatch
"""A MIG profile, as sites name it by convention."""


class Allocation(NamedTuple):
    """The nodes of a job, and what one of them has."""

    nodes: CountRange
    tasks: int
    """Number of tasks on each node."""
    gpus: int | None
    """Number of whole GPUs on each node, or None if no option says."""
    gpu_type: str
    devices: Mapping[str, int]
    """Parts of GPUs (MIG), by the names of Kubernetes."""
    other: tuple[Gres, ...]
    """Resources that are neither."""
    cpus: int | None
    memory: int | None
    """In MiB; 0 is all memory of the node."""
    doubts: tuple[tuple[str, str], ...] = ()
    """Options that do not say exactly what each node gets, each with a sentence."""


class _Reader:
    """Reads the values of options."""

    def __init__(self, options: Mapping[str, SlurmOption]) -> None:
        self.options = options
        self.doubts: list[tuple[str, str]] = []

    def value(self, name: str, read: Callable[[str], ValueT | None]) -> ValueT | None:
        """Return the value of an option, or None if it is not given or rejected."""
        option = self.options.get(name)
        return None if option is None else read(option.value)

    def count(self, *names: str) -> int | None:
        """Return the number of the first of these options that is given."""
        return next((number for name in names if (number := self.value(name, count_of))), None)


def allocate(options: Mapping[str, SlurmOption]) -> Allocation:
    """Return what the options ask for."""
    reader = _Reader(options)
    nodes, tasks = _shape(reader)
    gpu, devices, other = _gpus(reader, nodes.most, tasks)
    gpus = None if gpu is None else gpu.amount

    per_gpu = reader.count("ntasks-per-gpu")
    if per_gpu is not None and gpus:
        tasks = per_gpu * gpus
    per_task = reader.count("cpus-per-task")
    cpus_per_gpu = reader.count("cpus-per-gpu")
    cpus = None
    if per_task is not None:
        cpus = per_task * tasks
    elif cpus_per_gpu is not None and gpus:
        cpus = cpus_per_gpu * gpus

    return Allocation(
        nodes=nodes,
        tasks=tasks,
        gpus=gpus,
        gpu_type="" if gpu is None else gpu.type,
        devices=devices,
        other=other,
        cpus=cpus,
        memory=_memory(reader, cpus or tasks, gpus),
        doubts=tuple(reader.doubts),
    )


def _shape(reader: _Reader) -> tuple[CountRange, int]:
    """Return the number of nodes, and of tasks on each."""
    nodes = reader.value("nodes", nodes_of)
    tasks = reader.count("ntasks")
    per_node = reader.count("ntasks-per-node", "tasks-per-node")
    gpus_per_task = reader.value("gpus-per-task", gpus_of)
    gpus = reader.value("gpus", gpus_of)
    if tasks is None and per_node is None and gpus_per_task is not None and gpus is not None:
        tasks = gpus.amount // max(gpus_per_task.amount, 1)

    if nodes is None and tasks is not None and per_node is not None:
        count = -(-tasks // per_node)
        return CountRange(count, count), min(per_node, tasks)
    if nodes is None:
        if tasks is not None and tasks > 1:
            reader.doubts.append(("ntasks", "without --nodes Slurm chooses the number of nodes: the spec has one"))
        return CountRange(1, 1), per_node or tasks or 1
    if tasks is None:
        return nodes, per_node or 1
    if per_node is None and tasks > nodes.most > 1:
        text = "with several nodes Slurm may fill the first one before the others: the spec has the same number on each"
        reader.doubts.append(("ntasks", text))
    even = -(-tasks // nodes.most)
    return nodes, even if per_node is None else min(per_node, even)


def _gpus(reader: _Reader, nodes: int, tasks: int) -> tuple[Gres | None, dict[str, int], tuple[Gres, ...]]:
    """Return the whole GPUs of a node, parts of GPUs, and other resources."""
    listed = [*(reader.value("gres", gres_of) or ()), *(reader.value("tres-per-node", gres_of) or ())]
    per_task = [resource for resource in reader.value("tres-per-task", gres_of) or () if resource.name == "gpu"]
    listed += [resource._replace(amount=resource.amount * tasks) for resource in per_task]
    if (each := reader.value("gpus-per-node", gpus_of)) is not None:
        listed.append(each)
    elif (each := reader.value("gpus-per-task", gpus_of)) is not None:
        listed.append(each._replace(amount=each.amount * tasks))
    elif (total := reader.value("gpus", gpus_of)) is not None:
        if total.amount % nodes:
            reader.doubts.append(("gpus", "the nodes may have different numbers: the spec has the largest on each"))
        listed.append(total._replace(amount=-(-total.amount // nodes)))

    devices: dict[str, int] = {}
    gpu: Gres | None = None
    for resource in listed:
        match = _is_mig(resource.type) if resource.name == "gpu" else None
        if match is not None:
            name = f"nvidia.com/mig-{match[1]}"
            devices[name] = devices.get(name, 0) + resource.amount
        elif resource.name == "gpu":
            gpu = resource if gpu is None else gpu._replace(amount=max(gpu.amount, resource.amount))
    return gpu, devices, tuple([resource for resource in listed if resource.name != "gpu"])


def _memory(reader: _Reader, cpus: int, gpus: int | None) -> int | None:
    """Return the memory of a node in MiB, or None if no option says."""
    whole = reader.value("mem", mebibytes_of)
    per_cpu = reader.value("mem-per-cpu", mebibytes_of)
    per_gpu = reader.value("mem-per-gpu", mebibytes_of)
    if whole is not None:
        return whole
    if per_cpu is not None:
        return per_cpu * cpus
    return None if per_gpu is None or not gpus else per_gpu * gpus


def variables_of(allocation: Allocation, options: Mapping[str, SlurmOption], name: str) -> dict[str, str]:
    """Return the SLURM_ variables of the batch script whose values are known before it runs.

    Source: sbatch.1, OUTPUT ENVIRONMENT VARIABLES: some are set only if their option is.
    """
    nodes = str(allocation.nodes.most)
    variables = {
        "SLURM_NNODES": nodes,
        "SLURM_JOB_NUM_NODES": nodes,
        "SLURM_JOB_NAME": name,
        "SLURM_PROCID": "0",
        "SLURM_LOCALID": "0",
        "SLURM_NODEID": "0",
        "SLURM_RESTART_COUNT": "0",
    }
    if {"ntasks", "ntasks-per-node", "tasks-per-node", "ntasks-per-gpu"} & options.keys():
        total = str(allocation.tasks * allocation.nodes.most)
        variables |= {"SLURM_NTASKS": total, "SLURM_NPROCS": total}
        on_each = f"{allocation.tasks}(x{nodes})" if allocation.nodes.most > 1 else str(allocation.tasks)
        variables["SLURM_TASKS_PER_NODE"] = on_each
    for option, variable in load_table("importer/slurm/slurm.json")["given"].items():
        if option in options:
            variables[variable] = options[option].value
    if allocation.gpus is not None:
        variables["SLURM_GPUS_ON_NODE"] = str(allocation.gpus)
    if allocation.cpus is not None:
        variables["SLURM_CPUS_ON_NODE"] = str(allocation.cpus)
    if allocation.memory:
        variables["SLURM_MEM_PER_NODE"] = str(allocation.memory)
    return variables
