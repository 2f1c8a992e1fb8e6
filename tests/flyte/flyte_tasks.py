"""Tasks made by flytekit's own decorator, for tests that run them. Importing this needs flytekit and its plugin."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flytekit import dynamic, task, workflow
from flytekitplugins.kfpytorch import Elastic, PyTorch, Worker

from ptcompile.flyte import Types, inputs, outputs, pytorch_task

IMAGE = "acme/train:1"


@dataclass
class Optim:
    lr: float
    betas: list[float] = field(default_factory=list)


def meet(**said: Any) -> None:
    """Join the other ranks and write down what this rank received."""
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo")
    ranks = torch.ones(1)
    dist.all_reduce(ranks)
    seen = {
        "rank": dist.get_rank(),
        "world": dist.get_world_size(),
        "counted": int(ranks.item()),
        **said,
    }
    with (Path(os.environ["SEEN"]) / f"{dist.get_rank()}.jsonl").open("a") as file:
        file.write(json.dumps(seen) + "\n")
    dist.destroy_process_group()


@task(task_config=Elastic(nnodes=2, nproc_per_node=2), container_image=IMAGE)
def train(epochs: int, optim: Optim, tags: list[str], fast: bool = False) -> None:
    meet(epochs=epochs, optim=[optim.lr, optim.betas], tags=tags, fast=fast)


@task(task_config=Elastic(nnodes=1, nproc_per_node=2), container_image=IMAGE)
def alone(epochs: int = 3) -> None:
    meet(epochs=epochs)


@task(task_config=PyTorch(worker=Worker(replicas=1)), container_image=IMAGE)
def plain(name: str) -> None:
    meet(name=name)


@task(task_config=Elastic(nnodes=2, nproc_per_node=1), container_image=IMAGE)
def fails(why: str) -> None:
    raise RuntimeError(why)


@inputs(int_list=[Types.Integer])
@outputs(result=Types.Integer)
@pytorch_task(workers_count=2, image=IMAGE)
def legacy(wf_params, int_list, result):  # type: ignore[no-untyped-def]
    wf_params.logging.info("summing")
    result.set(sum(int_list))
    meet(int_list=int_list, result=result.value)


@dynamic(container_image=IMAGE)
def plans(n: int) -> None:
    alone(epochs=n)


@workflow
def pipeline(epochs: int = 4) -> None:
    alone(epochs=epochs)


if __name__ == "__main__":
    raise SystemExit(
        "a module of tasks is imported; run, it would start a workflow in every process"
    )
