"""What a job of Slurm gets on each of its nodes.

Source: sbatch.1 and runs of Slurm 22.05; docs/facts/slurm.md#from-the-allocation-to-one-node.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import ceil

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.importer.slurm.amounts import Gres
from ptcompile.importer.slurm.directives import Options, rows_of

_is_mig = re.compile(r"(?:\w+_)?(?P<profile>\d+g\.\d+gb)(?:\+me)?").fullmatch
"""A MIG profile, as sites name it by convention."""
_ON_FIRST = "without --nodes Slurm chooses the number of nodes: the spec has one"
_UNEVEN_TASKS = (
    "with several nodes Slurm may fill the first one before the others: the spec has the same "
    "number on each"
)
_UNEVEN_GPUS = "the nodes may have different numbers: the spec has the largest on each"


class Allocation(NamedTuple):
    """The nodes of a job, and what each of them has."""

    nodes: int
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
    doubts: Mapping[str, str]
    """Options that do not say exactly what each node gets, each with a sentence."""


def allocate(options: Options) -> Allocation:
    """Return what the options ask for."""
    amount = options.amount
    doubts: dict[str, str] = {}
    nodes, tasks = _shape(options, doubts)
    resources = _resources(options, nodes, tasks, doubts)

    gpus_and_slices = [(each, _is_mig(each.type)) for each in resources if each.name == "gpu"]
    devices = {
        f"nvidia.com/mig-{match['profile']}": each.amount
        for each, match in gpus_and_slices
        if match
    }
    whole = [each for each, match in gpus_and_slices if match is None]
    gpu = max(whole, key=lambda resource: resource.amount, default=None)
    gpus = gpu.amount if gpu is not None else 0

    tasks = (amount("ntasks-per-gpu") or 0) * gpus or tasks
    cpus = (amount("cpus-per-task") or 0) * tasks or (amount("cpus-per-gpu") or 0) * gpus or None
    memory = amount("mem")
    if memory is None:
        per_gpu = (amount("mem-per-gpu") or 0) * gpus
        memory = (amount("mem-per-cpu") or 0) * (cpus or tasks) or per_gpu or None

    return Allocation(
        nodes=nodes,
        tasks=tasks,
        gpus=None if gpu is None else gpus,
        gpu_type="" if gpu is None else gpu.type,
        devices=devices,
        other=tuple([resource for resource in resources if resource.name != "gpu"]),
        cpus=cpus,
        memory=memory,
        doubts=doubts,
    )


def _shape(options: Options, doubts: dict[str, str]) -> tuple[int, int]:
    """Return the number of nodes, and of tasks on each."""
    amount = options.amount
    nodes, tasks, per_node = amount("nodes"), amount("ntasks"), amount("ntasks-per-node")
    gpus, per_task = amount("gpus"), amount("gpus-per-task")
    if gpus and per_task and not (tasks or per_node):
        tasks = gpus.amount // max(per_task.amount, 1)

    if tasks and not per_node and not nodes and tasks > 1:
        doubts["ntasks"] = _ON_FIRST
    elif tasks and not per_node and nodes and tasks > nodes > 1:
        doubts["ntasks"] = _UNEVEN_TASKS

    nodes = nodes or (ceil(tasks / per_node) if tasks and per_node else 1)
    even = ceil(tasks / nodes) if tasks else per_node or 1

    return nodes, min(per_node or even, even)


def _resources(options: Options, nodes: int, tasks: int, doubts: dict[str, str]) -> list[Gres]:
    """Return the generic resources of a node, GPUs among them."""
    amount = options.amount
    per_task = [each for each in amount("tres-per-task") or () if each.name == "gpu"]
    resources = [*(amount("gres") or ()), *(amount("tres-per-node") or ())]
    if gpus := amount("gpus-per-node"):
        resources.append(gpus)
    elif gpus := amount("gpus-per-task"):
        per_task.append(gpus)
    elif gpus := amount("gpus"):
        resources.append(gpus._replace(amount=ceil(gpus.amount / nodes)))
        if gpus.amount % nodes:
            doubts["gpus"] = _UNEVEN_GPUS

    return [*resources, *[each._replace(amount=each.amount * tasks) for each in per_task]]


def variables_of(allocation: Allocation, options: Options, name: str) -> dict[str, str]:
    """Return the SLURM_ variables of the batch script whose values are known before it runs.

    Source: sbatch.1, OUTPUT ENVIRONMENT VARIABLES: some are set only if their option is.
    """
    nodes = allocation.nodes
    amounts = {
        "SLURM_NNODES": nodes,
        "SLURM_JOB_NUM_NODES": nodes,
        "SLURM_GPUS_ON_NODE": allocation.gpus,
        "SLURM_CPUS_ON_NODE": allocation.cpus,
    }
    if {"ntasks", "ntasks-per-node", "ntasks-per-gpu"} & options.keys():
        amounts |= dict.fromkeys(("SLURM_NTASKS", "SLURM_NPROCS"), allocation.tasks * nodes)

    known = {variable: str(amount) for variable, amount in amounts.items() if amount is not None}
    given = {
        variable: options[option].value
        for option, variable in rows_of("given").items()
        if option in options
    }

    return {**rows_of("always"), "SLURM_JOB_NAME": name, **given, **known}
