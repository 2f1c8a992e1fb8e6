"""One process starts in a pod with several GPUs.

PTC145 one-process-for-gpus: warning at run (wastes), by torchrun.
Needs: python/python3 {MULTI_POD_KINDS} {VENDORS}

What: a plain `python` script starts in each pod of a job whose operator or variables count pods as
processes (WORLD_SIZE), a pod has several GPUs, and no argument mentions devices.

Why: RANK and WORLD_SIZE count pods there, so the script trains with one process per pod, on its
first GPU. The others are paid for and idle, unless the script starts more processes itself.

Example:

      apiVersion: kubeflow.org/v1
      kind: PyTorchJob
      metadata: {name: train}
      spec:
        runPolicy: {backoffLimit: 3, cleanPodPolicy: Running}
        pytorchReplicaSpecs:
          Master:
            replicas: 1
            restartPolicy: OnFailure
            template:
              spec:
                volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 16Gi}}]
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
    -               command: [python, train.py]  # <--
    +               command: [torchrun, train.py]
                    resources: {limits: {cpu: 64, memory: 512Gi, nvidia.com/gpu: 8}}
                    volumeMounts: [{name: dshm, mountPath: /dev/shm}]
          Worker:
            replicas: 1
            restartPolicy: OnFailure
            template:
              spec:
                volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 16Gi}}]
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
    -               command: [python, train.py, --multiprocessing-distributed]
    +               command: [torchrun, train.py]
                    resources: {limits: {cpu: 64, memory: 512Gi, nvidia.com/gpu: 8}}
                    volumeMounts: [{name: dshm, mountPath: /dev/shm}]

Fix: start the script with torchrun, or request one GPU per pod and more pods.

Source: training-operator 1.9, pkg/controller.v1/pytorch/envvar.go; PyTorch 2.13, torch.distributed,
env://.
"""

from __future__ import annotations

from ptcompile.linter.devices import count_one_process_devices
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole, count_nodes

_DEVICE_WORDS = (
    "device",
    "gpu",
    "nproc",
    "world",
    "multiprocessing",
    "local_rank",
    "local-rank",
    "num_proc",
    "parallel",
)
"""Parts of arguments by which a script starts its own processes, or uses several GPUs from one."""


def check(subject: Subject) -> Findings:
    roles = subject.training_roles
    if count_nodes(roles) < 2:
        return

    for role in roles:
        gpus = count_one_process_devices(role.pod)
        if gpus > 1 and role.member.is_env_script and _is_plain(role) and not role.is_uncertain():
            yield found_at(
                role.command_path,
                f"python starts one process in a pod with {gpus} GPUs: the others idle unless the "
                "script uses them",
                "start the script with torchrun",
            )


def _is_plain(role: TrainingRole) -> bool:
    """Return whether the command is one script file and no argument mentions devices."""
    words = role.launch.entry
    is_script = any(word.endswith(".py") for word in words[1:3])
    return is_script and not any(
        part in word.lower() for word in words[1:] for part in _DEVICE_WORDS
    )
