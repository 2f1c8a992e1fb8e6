"""Digits that `int` rejects, or takes for other numbers than a launcher does, wherever a launcher takes a number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

import ptcompile
from tests.linter.rules.launch.making import job, pytorchjob, role

Json = dict[str, Any]
DIGITS = {"a superscript": "²", "an Arabic digit": "٣", "too many": "1" * 5000}
OPTIONS = (
    "--nnodes={}",
    "--nproc_per_node={}",
    "--node_rank={}",
    "--master_port={}",
    "--max_restarts={}",
    "--monitor_interval={}",
    "--rdzv_conf=timeout={}",
    "--rdzv_endpoint=train-0.train:{}",
)
VARIABLES = (
    "MASTER_PORT",
    "NODE_RANK",
    "PET_MASTER_PORT",
    "PET_NNODES",
    "PET_NODE_RANK",
    "PET_NPROC_PER_NODE",
    "RANK",
    "WORLD_SIZE",
)
LAUNCHERS = (
    "accelerate launch --num_processes {0} --machine_rank {0} --main_process_port {0} train.py",
    "deepspeed --num_gpus {0} --master_port {0} train.py",
    "mpirun -np {0} python train.py",
    "python -m torch.distributed.launch --nproc_per_node {0} train.py",
    "ray start --head --port {0} --num-gpus {0}",
)
VERBS: dict[str, Callable[[Json], object]] = {
    "lint": ptcompile.lint,
    "simulate": ptcompile.simulate,
    "import": ptcompile.import_manifests,
    "convert": partial(ptcompile.convert, target="jobset"),
    "diff": lambda manifest: ptcompile.diff(manifest, manifest),
}


def _manifests(digits: str) -> Iterator[Json]:
    """Yield jobs that have the digits in one place each."""
    for option in OPTIONS:
        command = ("torchrun", "--nnodes=2", option.format(digits), "train.py")
        yield job(*command)
        yield pytorchjob(master=command, worker=command)
    for name in VARIABLES:
        env = [{"name": name, "value": digits}]
        yield job("torchrun", "--nnodes=2", "train.py", env=env)
        yield pytorchjob(master=("torchrun", "train.py"), container={"env": env})
    for line in LAUNCHERS:
        yield job(*line.format(digits).split())

    yield pytorchjob(master=("torchrun", "train.py"), nprocPerNode=digits)
    yield _volcano_job(f"--port={digits}")


def _volcano_job(flag: str) -> Json:
    template = role("torchrun", "train.py")["template"]["spec"]["template"]
    tasks = [{"name": name, "replicas": 1, "template": template} for name in ("master", "worker")]
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "train"},
        "spec": {"minAvailable": 2, "plugins": {"pytorch": [flag]}, "tasks": tasks},
    }


@pytest.mark.parametrize("digits", DIGITS.values(), ids=DIGITS)
@pytest.mark.parametrize("verb", VERBS)
def test_no_digits_end_a_verb_with_an_exception(verb: str, digits: str) -> None:
    for manifest in _manifests(digits):
        VERBS[verb](manifest)
