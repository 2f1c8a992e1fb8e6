"""A Flyte task that trains on two nodes: registered with pyflyte it is Flyte's, and without Flyte

    ptcompile flyte train.py:train --input epochs=3 --image ghcr.io/acme/digits:1 | kubectl apply -f -

runs the same function. The data are made up, so that nothing has to be downloaded.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.distributed as dist
from flytekit import Resources, task, workflow
from flytekitplugins.kfpytorch import Elastic
from torch.nn.parallel import DistributedDataParallel


@dataclass
class Optimizer:
    lr: float = 0.1
    momentum: float = 0.9


@task(
    task_config=Elastic(nnodes=2, nproc_per_node=2, max_restarts=2),
    requests=Resources(cpu="4", mem="8Gi"),
    environment={"TORCH_DISTRIBUTED_DEBUG": "INFO"},
)
def train(epochs: int, optimizer: Optimizer = Optimizer()) -> float:  # noqa: B008  as flytekit takes defaults
    """Fit a linear model to digits that are made up, and return the loss of the last epoch."""
    on_gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if on_gpu else "gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    device = (
        torch.device("cuda", rank % torch.cuda.device_count()) if on_gpu else torch.device("cpu")
    )
    images = torch.randn(512, 64, device=device)
    digits = images[:, :10].argmax(dim=1)
    model = DistributedDataParallel(torch.nn.Linear(64, 10).to(device))
    descent = torch.optim.SGD(model.parameters(), lr=optimizer.lr, momentum=optimizer.momentum)
    loss = torch.zeros(())
    for epoch in range(epochs):
        descent.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images), digits)
        loss.backward()
        descent.step()
        if rank == 0:
            print(
                f"epoch {epoch} of {epochs} on {dist.get_world_size()} ranks: loss {loss.item():.4f}",
                flush=True,
            )
    dist.destroy_process_group()
    return loss.item()


@workflow
def digits(epochs: int = 3) -> float:
    """Train with the task's own optimizer."""
    return train(epochs=epochs)
