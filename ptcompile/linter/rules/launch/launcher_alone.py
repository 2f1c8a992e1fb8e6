"""A launcher that does not read the operator's variables runs on several pods.

What: accelerate launch or deepspeed starts the processes of several pods, and its command line does not mention the
other machines.

Why: they read their own options and files, but no PET_* variables. Each pod then trains alone.

Example:

      apiVersion: kubeflow.org/v1
      kind: PyTorchJob
      metadata: {name: train}
      spec:
        nprocPerNode: "1"
        runPolicy: {backoffLimit: 3, cleanPodPolicy: Running}
        elasticPolicy: {minReplicas: 2, maxReplicas: 2, rdzvId: train}
        pytorchReplicaSpecs:
          Worker:
            replicas: 2
            restartPolicy: OnFailure
            template:
              spec:
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
    -               command: [accelerate, launch, train.py]  # <--
    +               command: [torchrun, train.py]
                    resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: start the script with torchrun, or give accelerate --num_machines, --machine_rank, --main_process_ip and
--main_process_port, and deepspeed --hostfile or --no_ssh with --node_rank.

Source: Accelerate 1.10 and DeepSpeed 0.17, their command lines; kubeflow/trainer pull request 3930.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.trainers import TrainingRole, count_nodes

_SAYS = {
    "accelerate": ("--num_machines", "--num-machines", "--config_file", "--config-file", "--main_process_ip"),
    "deepspeed": ("--hostfile", "-H", "--no_ssh", "--num_nodes", "--master_addr", "--node_rank"),
}


def _check(subject: Subject) -> Iterator[Finding]:
    found = subject.training_roles
    if count_nodes(found) < 2:
        return
    for one in found:
        if _starts_all(one) and not one.is_uncertain:
            path = one.path_of("nnodes")
            yield found_at(
                path,
                f"deepspeed starts all nodes from one pod, over ssh, and each of {count_nodes(found)} pods starts it",
                "start it in one pod, or give each its --node_rank with --no_ssh and --master_addr",
                severity="error",
            )
        elif ignores_other_machines(one) and not one.is_uncertain:
            yield found_at(
                one.command_path,
                f"{one.rendezvous.launcher} reads no variables of the operator, and is told nothing "
                f"of the {count_nodes(found)} pods: each trains alone",
                "start the script with torchrun, or pass the launcher its machines",
            )


def _starts_all(one: TrainingRole) -> bool:
    """Whether every pod of a role is a deepspeed that starts several nodes by itself."""
    several = one.launch.options.get("nnodes", "1") not in ("", "1")
    return (
        one.rendezvous.launcher == "deepspeed"
        and several
        and "no-ssh" not in one.launch.options
        and one.expanded.count > 1
    )


def ignores_other_machines(one: TrainingRole) -> bool:
    """Whether accelerate or deepspeed is told nothing of other machines, by options, variables or a host file."""
    options = _SAYS.get(one.rendezvous.launcher)
    told = any(name.startswith(("ACCELERATE_", "DLTS_HOSTFILE")) for name in one.launch.env)
    return options is not None and not told and not any(word.startswith(options) for word in one.launch.entry)


RULE = Rule("launcher-alone", _check, severity="warning", stage="run", authority="ptcompile")
