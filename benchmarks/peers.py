"""Other tools at the same work, as far as they are given: paths of kubeconform and of torchx, and of
a Python with the Kubeflow SDK or with flytekit and its plugin.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.jobs import spec
from benchmarks.many import many_files
from benchmarks.timing import PTCOMPILE, line, processes, ratio

ROUNDS = 9
_JOB = "-j 4x8 --cpu 32 --gpu 8 --memMB 262144 --image ghcr.io/acme/llama:2.1 --script train.py"
TORCHX = f"run --workspace= --dryrun -s kubernetes -cfg queue=default dist.ddp {_JOB}".split()
KUBEFLOW = """
import json
from kubeflow.trainer import CustomTrainerContainer
from kubeflow.trainer.backends.kubernetes.utils import get_trainer_cr_from_custom_trainer
from kubeflow_trainer_api import models
trainer = CustomTrainerContainer(
    "ghcr.io/acme/llama:2.1",
    num_nodes=4,
    resources_per_node={"cpu": 32, "memory": "256Gi", "gpu": 8},
)
job = models.TrainerV1alpha1TrainJob(
    apiVersion="trainer.kubeflow.org/v1alpha1",
    kind="TrainJob",
    metadata=models.IoK8sApimachineryPkgApisMetaV1ObjectMeta(name="train-1"),
    spec=models.TrainerV1alpha1TrainJobSpec(
        runtimeRef=models.TrainerV1alpha1RuntimeRef(name="torch-distributed"),
        trainer=get_trainer_cr_from_custom_trainer(None, trainer),
    ),
)
print(json.dumps(job.to_dict()))
"""
FLYTEKIT = """
import json
from flytekit import Resources, task
from flytekit.configuration import ImageConfig, SerializationSettings
from flytekitplugins.kfpytorch import PyTorch, Worker
@task(
    task_config=PyTorch(worker=Worker(replicas=3)),
    container_image="ghcr.io/acme/llama:2.1",
    requests=Resources(cpu="32", mem="256Gi", gpu="8"),
)
def train() -> None: ...
print(json.dumps(train.get_custom(SerializationSettings(ImageConfig()))))
"""


def run(
    kubeconform: str | None = None,
    torchx: str | None = None,
    kubeflow: str | None = None,
    flytekit: str | None = None,
) -> None:
    """Print what we take of their time; a line for each that is not given."""
    _compare("torchx", torchx, TORCHX, target="volcano")
    _compare("kubeflow", kubeflow, ["-c", KUBEFLOW], target="trainjob")
    _compare("flytekit", flytekit, ["-c", FLYTEKIT], target="pytorchjob")
    if kubeconform is None:
        line("kubeconform (--kubeconform PATH)", "not given")
    else:
        many_files(kubeconform)


def _compare(name: str, program: str | None, words: list[str], target: str) -> None:
    """Compare what a tool takes for a job of four nodes with eight GPUs each with our compilation of
    the job for the same operator.
    """
    if program is None:
        line(f"{name} (--{name} PATH)", "not given")
        return

    with TemporaryDirectory() as folder:
        path = Path(folder) / "spec.yaml"
        path.write_text(spec(), encoding="utf-8")
        commands = {
            "ptcompile": [sys.executable, *PTCOMPILE, str(path), "--target", target],
            name: [program, *words],
        }
        times = processes(commands, folder, ROUNDS).wall

    line(f"{name}: {median(times[name]):.2f} s", "")
    line(
        f"{name}'s time, against compile of the same job for {target}",
        f"{ratio(times, name, 'ptcompile'):.1f}",
        ">= 5",
    )
