"""The model-parallel sizes do not divide the number of processes.

PTC475 parallel-sizes: error at run (fails), by ptcompile.
Needs: parallel

What: the script's tensor, pipeline and context parallel sizes multiply to a number that does not
divide the world size, or its global batch size is not a multiple of the micro batch size times the
data parallel size.

Why: Megatron, NeMo and torchtitan give each model replica that many processes. Megatron-LM fails
when all pods have met: "world_size (16) is not divisible by 32".

Example: gpu_pod.yaml with

      image: ghcr.io/acme/megatron:1.0
      command:
        - torchrun
        - --nproc-per-node=8
        - pretrain_gpt.py
    -   - --tensor-model-parallel-size=3  # <--
    +   - --tensor-model-parallel-size=4
      resources: {limits: {cpu: 64, memory: 512Gi, nvidia.com/gpu: 8}}

Fix: choose sizes whose product divides the number of processes.

Source: Megatron-LM core 0.14, megatron/core/parallel_state.py (initialize_model_parallel) and
megatron/training/arguments.py; NeMo 2.5; torchtitan 0.2, torchtitan/distributed/parallel_dims.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ptcompile.kubernetes.goflags import atoi
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole, count_nodes

_SIZES = {
    "tensor_model_parallel_size": "tensor",
    "pipeline_model_parallel_size": "pipeline",
    "context_parallel_size": "context",
    "tensor_parallel_degree": "tensor",
    "pipeline_parallel_degree": "pipeline",
    "context_parallel_degree": "context",
}
"""Options of the script, without their section (`model.`, `trainer.strategy.`, `parallelism.`)."""


def check(subject: Subject) -> Findings:
    groups = subject.rendezvous_groups or tuple(
        (role,) for role in subject.training_roles if count_nodes((role,)) == 1
    )
    for roles in groups:
        first = roles[0]
        world = _world(roles)
        sizes = _options(first.launch.entry)
        product = prod(sizes.get(name, 1) for name in ("tensor", "pipeline", "context"))
        if world is None or first.is_uncertain() or product < 2:
            continue

        path = _path(first)
        if world % product:
            text = " x ".join(
                f"{name} {sizes[name]}"
                for name in ("tensor", "pipeline", "context")
                if name in sizes
            )
            yield found_at(
                path,
                f"the model-parallel sizes ({text} = {product}) do not divide the {world} "
                "processes of the job",
                "choose sizes whose product divides the number of processes",
            )
        elif _is_uneven_batch(sizes, world // product):
            yield found_at(
                path,
                f"the global batch size {sizes['global_batch_size']} is not a multiple of the "
                "micro batch size "
                f"{sizes['micro_batch_size']} times {world // product} data-parallel replicas",
                "change the batch sizes, or the number of processes",
            )


def _world(roles: Sequence[TrainingRole]) -> int | None:
    """Return the number of processes of a group, or None if it is unknown or a range."""
    first = roles[0]
    if first.rendezvous.backend == "env" or not first.member.is_modeled:
        return None
    size = first.rendezvous.world_size
    if size is None or size.least < size.most:
        return None
    return size.least


def _options(words: Sequence[str]) -> dict[str, int]:
    """Return the sizes in a script's arguments, by their short names."""
    sizes: dict[str, int] = {}
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if not equals:
            value = "".join(words[index + 1 : index + 2])
        name = name.lstrip("-+").rpartition(".")[2].replace("-", "_")
        number = atoi(value)
        if name in ("rampup_batch_size", "decrease_batch_size_if_needed"):
            sizes["ramp"] = 1
        elif (equals or word.startswith("--")) and number is not None and number > 0:
            if name in _SIZES:
                sizes[_SIZES[name]] = number
            elif name in ("global_batch_size", "micro_batch_size"):
                sizes[name] = number

    return sizes


def _is_uneven_batch(sizes: dict[str, int], replicas: int) -> bool:
    batch = sizes.get("global_batch_size")
    micro = sizes.get("micro_batch_size")
    return (
        batch is not None
        and micro is not None
        and "ramp" not in sizes
        and batch % (micro * replicas) != 0
    )


def _path(role: TrainingRole) -> tuple[str | int, ...]:
    """Return the path of the argument that sets the first size."""
    for path, token in role.container.argv:
        if any(name in token.replace("-", "_") for name in _SIZES):
            return path
    return role.command_path
