"""The way of a Slurm user, from the batch script to a rehearsal with a kill: docs/guide/slurm.md.

Without torch for this interpreter, the rehearsal itself is left out, and the steps before it run.
"""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import ptcompile

SCRIPT = """\
#!/bin/bash
#SBATCH --job-name=mnist
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=2
#SBATCH --mem=2G
#SBATCH --time=1:00:00
#SBATCH --requeue
head_node=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
srun torchrun --nnodes=$SLURM_NNODES --nproc_per_node=1 --rdzv_backend=c10d --rdzv_endpoint=$head_node:29500 train.py $1
"""
TRAIN = """\
import os, sys, time
import torch.distributed as dist
dist.init_process_group("gloo")
path = f"{sys.argv[1]}/step-{dist.get_rank()}"
start = int(open(path).read()) if os.path.exists(path) else 0
for step in range(start, 20):
    dist.barrier()
    open(path, "w").write(str(step + 1))
    time.sleep(0.5)
print("starts at step", start)
"""


def imported(folder: Path) -> ptcompile.Result:
    """Return the manifests of the script's spec, with the image and the retries that a reader adds."""
    result = ptcompile.import_manifests(SCRIPT, filename="train.sbatch", values={"1": str(folder)})
    assert result.ok, result.diagnostics
    (document,) = result.specs
    spec = document["spec"]
    assert (spec["script"], spec["args"], spec["nodes"]) == ("train.py", [str(folder)], 2)
    assert spec["runPolicy"] == {"activeDeadlineSeconds": 3600, "onDisruption": "Ignore"}
    policy = {**spec["runPolicy"], "backoffLimit": 3}
    return ptcompile.compile({**document, "spec": {**spec, "image": "a/b:1", "runPolicy": policy}}, target="jobset")


def test_the_manifests_of_a_batch_script_meet(tmp_path: Path) -> None:
    result = imported(tmp_path)
    assert result.ok, result.diagnostics
    world = ptcompile.simulate(list(result.manifests))
    assert [pod.resources["limits"] for pod in world.pods] == [{"cpu": "2", "memory": "2Gi"}] * 2


@pytest.mark.skipif(find_spec("torch") is None or shutil.which("unshare") is None, reason="torch and namespaces")
def test_a_killed_pod_resumes_from_its_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    manifests = tmp_path / "jobset.yaml"
    manifests.write_text(imported(tmp_path).yaml(), encoding="utf-8")

    from ptcompile.cli import main

    script = str(tmp_path / "train.py")
    assert (
        main(["rehearse", str(manifests), "--kill", "1@4s,back=2s", "--script", script, "--python", sys.executable])
        == 0
    )
    assert {(tmp_path / f"step-{rank}").read_text(encoding="utf-8") for rank in (0, 1)} == {"20"}
