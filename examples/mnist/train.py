"""A small DDP training: runs with `python train.py`, and with torchrun on any number of nodes.

The digits are drawn here, 8x8 pixels with noise, so that nothing is downloaded and nothing is saved.
"""

from __future__ import annotations

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

CLASSES = 10
PIXELS = 8 * 8


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=64, help="of one process")
    parser.add_argument("--samples", type=int, default=8192, help="of all processes together")
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument(
        "--workers", type=int, default=0, help="DataLoader processes, which use /dev/shm"
    )
    parser.add_argument(
        "--backend", choices=("gloo", "nccl"), help="default: nccl where there is a GPU, else gloo"
    )
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def draw_digits(samples: int, seed: int) -> TensorDataset:
    """The same noisy digits in every process: each class is a fixed pattern."""
    generator = torch.Generator().manual_seed(seed)
    patterns = torch.rand(CLASSES, PIXELS, generator=generator)
    labels = torch.randint(CLASSES, (samples,), generator=generator)
    images = patterns[labels] + 0.3 * torch.randn(samples, PIXELS, generator=generator)
    return TensorDataset(images, labels)


def train(args: argparse.Namespace, device: torch.device, *, distributed: bool) -> None:
    rank = dist.get_rank() if distributed else 0
    data = draw_digits(args.samples, args.seed)
    sampler: DistributedSampler[tuple[torch.Tensor, ...]] | None = (
        DistributedSampler(data) if distributed else None
    )
    loader = DataLoader(
        data,
        batch_size=args.batch_size,
        sampler=sampler,
        shuffle=sampler is None,
        num_workers=args.workers,
    )
    torch.manual_seed(args.seed)
    model: nn.Module = nn.Sequential(nn.Linear(PIXELS, 64), nn.ReLU(), nn.Linear(64, CLASSES)).to(
        device
    )
    if distributed:
        model = DistributedDataParallel(
            model, device_ids=[device.index] if device.type == "cuda" else None
        )
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(1, args.epochs + 1):
        if sampler is not None:
            sampler.set_epoch(epoch)
        # sum of losses, correct answers, samples: added up over all processes
        total = torch.zeros(3, device=device)
        for images, labels in loader:
            images, labels = images.to(device), labels.to(device)
            answers = model(images)
            loss = nn.functional.cross_entropy(answers, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            right = (answers.argmax(1) == labels).sum()
            total += torch.stack(
                [
                    loss.detach() * len(labels),
                    right.float(),
                    torch.tensor(float(len(labels))).to(device),
                ]
            )
        if distributed:
            dist.all_reduce(total)
        if rank == 0:
            mean_loss, accuracy = (total[0] / total[2]).item(), (total[1] / total[2]).item()
            print(f"epoch {epoch}: loss {mean_loss:.4f} accuracy {accuracy:.1%}", flush=True)


def main() -> None:
    args = parse_args()
    distributed = "RANK" in os.environ and "WORLD_SIZE" in os.environ
    local_rank = int(os.environ.get("LOCAL_RANK", "0"))
    backend = args.backend or ("nccl" if torch.cuda.is_available() else "gloo")
    device = torch.device("cpu")
    if backend == "nccl":
        if not torch.cuda.is_available():
            raise SystemExit("--backend nccl needs a GPU; use --backend gloo on a CPU")
        device = torch.device("cuda", local_rank)
        torch.cuda.set_device(device)
    if distributed:
        dist.init_process_group(backend)
    rank, world = (dist.get_rank(), dist.get_world_size()) if distributed else (0, 1)
    print(
        f"rank {rank} of {world}, local rank {local_rank}, {backend if distributed else 'alone'}, {device}",
        flush=True,
    )
    try:
        train(args, device, distributed=distributed)
    finally:
        if distributed:
            dist.destroy_process_group()


if __name__ == "__main__":
    main()
