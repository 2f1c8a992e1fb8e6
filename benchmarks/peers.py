"""Other tools at the same work, as far as they are given: paths of kubeconform and torchx."""

from __future__ import annotations

import sys
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.jobs import spec
from benchmarks.many import many_files
from benchmarks.timing import PTCOMPILE, line, processes, ratio

ROUNDS = 9
JOB = "-j 4x8 --cpu 32 --gpu 8 --memMB 262144 --image ghcr.io/acme/llama:2.1 --script train.py"


def run(kubeconform: str | None = None, torchx: str | None = None) -> None:
    """Print what we take of their time; a line for each that is not given."""
    if torchx is None:
        line("torchx (--torchx PATH)", "not given")
    else:
        _torchx(torchx)
    if kubeconform is None:
        line("kubeconform (--kubeconform PATH)", "not given")
    else:
        many_files(kubeconform)


def _torchx(path: str) -> None:
    """The dry run of `dist.ddp` on four nodes with eight GPUs each, and ours of the same job for
    the same operator.
    """
    with TemporaryDirectory() as folder:
        own = f"{folder}/spec.yaml"
        with open(own, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(spec())
        scheduler = ["-s", "kubernetes", "-cfg", "queue=default"]
        commands = {
            "ptcompile": [sys.executable, *PTCOMPILE, own, "--target", "volcano"],
            "torchx": [
                path,
                "run",
                "--workspace",
                "",
                "--dryrun",
                *scheduler,
                "dist.ddp",
                *JOB.split(),
            ],
        }
        times = processes(commands, folder, ROUNDS).wall

    line(f"torchx run --dryrun: {median(times['torchx']):.2f} s", "")
    line(
        "torchx's time, against compile of the same job",
        f"{ratio(times, 'torchx', 'ptcompile'):.1f}",
        ">= 5",
    )
