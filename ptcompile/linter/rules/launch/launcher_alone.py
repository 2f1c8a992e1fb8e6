"""A launcher that does not read the operator's variables runs on several pods.

What: accelerate launch or deepspeed starts the processes of several pods, and its command line does not mention the
other machines; or deepspeed has a host file, but not --no_ssh.

Why: they read their own options and files, but no PET_* variables. Each pod then trains alone. Without --no_ssh,
deepspeed starts the processes of all hosts itself, over ssh, from each of the pods; pods serve no ssh unless the image
does.

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
--main_process_port, and deepspeed --no_ssh with --hostfile, --node_rank and --master_addr.

Source: Accelerate 1.10 and DeepSpeed 0.17, their command lines; kubeflow/trainer pull request 3930.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.training_roles import TrainingRole, count_nodes

_MACHINE_OPTIONS = {
    "accelerate": ("--num_machines", "--num-machines", "--config_file", "--config-file", "--main_process_ip"),
    "deepspeed": ("--hostfile", "-H", "--no_ssh", "--num_nodes", "--master_addr", "--node_rank"),
}


def _check(subject: Subject) -> Iterator[Finding]:
    roles = subject.training_roles
    if count_nodes(roles) < 2:
        return
    for role in roles:
        if _starts_all_nodes(role) and not role.is_uncertain:
            path = role.path_of("nnodes")
            yield found_at(
                path,
                f"deepspeed starts all nodes from one pod, over ssh, but each of {count_nodes(roles)} pods starts it",
                "start it in one pod, or give each its --node_rank with --no_ssh and --master_addr",
                severity="error",
            )
        elif ignores_other_machines(role) and not role.is_uncertain:
            yield found_at(
                role.command_path,
                f"{role.rendezvous.launcher} ignores the operator's variables and is not configured for "
                f"{count_nodes(roles)} pods: each trains alone",
                "start the script with torchrun, or pass the launcher its machines",
            )
        elif starts_other_hosts(role) and not role.is_uncertain:
            yield found_at(
                role.command_path,
                f"deepspeed without --no_ssh starts the processes of all hosts over ssh, but each of "
                f"{count_nodes(roles)} pods starts it",
                "start the script with torchrun, or add --no_ssh with --node_rank and --master_addr",
            )


def _starts_all_nodes(role: TrainingRole) -> bool:
    """Return whether every pod of the role runs a deepspeed that starts several nodes over ssh."""
    starts_several = role.launch.options.get("nnodes", "1") not in ("", "1")
    return (
        role.rendezvous.launcher == "deepspeed"
        and starts_several
        and "no-ssh" not in role.launch.options
        and role.expanded.count > 1
    )


def starts_other_hosts(role: TrainingRole) -> bool:
    """Return whether every pod of the role runs a deepspeed that starts the hosts of its host file over ssh."""
    return (
        role.rendezvous.launcher == "deepspeed"
        and "no-ssh" not in role.launch.options
        and role.expanded.count > 1
        and not ignores_other_machines(role)
    )


def ignores_other_machines(role: TrainingRole) -> bool:
    """Return whether no option, variable or host file gives accelerate or deepspeed the other machines."""
    options = _MACHINE_OPTIONS.get(role.rendezvous.launcher)
    is_configured = any(name.startswith(("ACCELERATE_", "DLTS_HOSTFILE")) for name in role.launch.env)
    return options is not None and not is_configured and not any(word.startswith(options) for word in role.launch.entry)


RULE = Rule("launcher-alone", _check, severity="warning", stage="run", authority="ptcompile")
