"""A launcher that does not read the operator's variables runs on several pods.

PTC433 launcher-alone: warning at run (apart), by ptcompile.
Needs: {MULTI_POD_KINDS} {NODE_LAUNCHERS}/python/python3

What: accelerate, axolotl, deepspeed, colossalai, llamafactory-cli or swift starts the processes of
several pods, and neither its command line nor its variables mention the other machines; deepspeed
has --num_nodes or --no_ssh, but no host file; or it has a host file, but not --no_ssh. Or a plain
Python script runs where the operator sets only PET_* variables, or a script that is called train or
the like in pods that know nothing of one another.

Why: they read their own options, files and variables (NNODES and NODE_RANK for llamafactory-cli and
swift), but no PET_* variables. Each pod then trains alone. deepspeed without a host file knows only
its own pod and rejects --num_nodes above 1; without --no_ssh, it starts the processes of all hosts
itself, over ssh, from each of the pods, and pods serve no ssh unless the image does.

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

Fix: start the script with torchrun, or give accelerate --num_machines, --machine_rank,
--main_process_ip and --main_process_port, deepspeed --no_ssh with --hostfile, --node_rank and
--master_addr, and llamafactory-cli and swift NNODES, NODE_RANK, MASTER_ADDR and MASTER_PORT.

Source: Accelerate 1.10, DeepSpeed 0.17 (launcher/runner.py), ColossalAI 0.5, LLaMA-Factory 0.9
(cli.py), ms-swift 3 (cli/main.py), Axolotl 0.12; kubeflow/trainer pull request 3930.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.kinds.pods import ExpandedRole
from ptcompile.kubernetes.commands import basename
from ptcompile.kubernetes.unstructured import kind_of, nested_maps, nested_string
from ptcompile.linter.rule import Finding, Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole, count_nodes
from ptcompile.simulator.launchers import LAUNCHERS
from ptcompile.simulator.obstacles import is_sweep
from ptcompile.simulator.pod import Pod
from ptcompile.world.templates import ManifestTemplate

_is_training = Pattern(r"(?i)(?:.*/)?(?:\w*[_-])?(?:pre|fine)?(?:train|tune)\w*\.py").fullmatch
"""Finds scripts that train, by their names; others may take shares of work by the pod's index."""


def check(subject: Subject) -> Findings:
    roles = subject.training_roles
    if not roles and subject.job is not None and not subject.job.expansion.refused:
        yield from _check_plain_scripts(subject)
    if count_nodes(roles) < 2:
        return

    for role in roles:
        launcher = LAUNCHERS.get(role.rendezvous.launcher)
        if launcher is None and not _reads_no_variable(role):
            continue
        if role.is_uncertain() or is_sweep(role.member):
            continue
        if launcher is None:
            if not subject.lacks_rendezvous:
                yield found_at(
                    role.command_path,
                    f"python reads no PET_* variables, and {count_nodes(roles)} pods get no "
                    "others: each trains alone",
                    "start the script with torchrun",
                )
            continue

        started = count_nodes(
            tuple(other for other in roles if other.rendezvous.launcher == role.rendezvous.launcher)
        )
        if launcher.over_ssh and started > 1:
            yield from _check_over_ssh(role, started)
        elif not launcher.over_ssh and ignores_other_machines(role):
            yield _alone_finding(role, count_nodes(roles))


def _check_plain_scripts(subject: Subject) -> Findings:
    """Yield a finding for the first role of an object that mentions no launcher, if its pods all
    train the same.
    """
    for role, pod, template in subject.roles:
        if template is not None and trains_alone(role, pod, template):
            yield found_at(
                (*template.main_containers[0].path, "command"),
                f"python starts one process in each of {role.count} pods, and nothing tells them "
                "of one another: each trains alone",
                "start the script with torchrun, and give it the nodes",
            )
            return


def trains_alone(role: ExpandedRole, pod: Pod, template: ManifestTemplate) -> bool:
    """Return whether several pods of a Job with GPUs run the same script, which is called train or
    the like, and the manifest tells none of them which it is.
    """
    if not template.main_containers or any(
        entry.source for entry in template.main_containers[0].env
    ):
        return False

    words = pod.launch.entry
    if (
        role.count < 2
        or pod.rendezvous.backend != "none"
        or not any("gpu" in name for name in pod.devices)
    ):
        return False  # JAX finds the hosts of a TPU slice by itself
    if kind_of(pod.job.manifest) != ("batch/v1", "Job"):
        return False  # other operators have variables that the script may read
    if (
        not words
        or not basename(words[0]).startswith("python")
        or not any(map(_is_training, words[1:3]))
    ):
        return False

    return pod.job.last_pod(role).launch.entry == words


def _check_over_ssh(role: TrainingRole, started: int) -> Findings:
    """Yield a finding for a launcher that starts other hosts' processes, or would, and runs in
    each pod.
    """
    name = role.rendezvous.launcher
    uses_ssh = "no-ssh" not in role.launch.options
    wants_nodes = role.launch.options.get("nnodes", "1") not in ("", "1", "-1")
    if ignores_other_machines(role):
        if wants_nodes:
            text = f"{name} takes the other nodes from a host file, but has none and does not start"
        elif uses_ssh:
            yield _alone_finding(role, started)
            return
        else:
            text = f"{name} --no_ssh takes the other nodes from a host file, but has none"
        help = (
            "start the script with torchrun, or give each pod --hostfile, --no_ssh, --node_rank "
            "and --master_addr"
        )
    elif not uses_ssh:
        return
    elif wants_nodes:
        text = (
            f"{name} starts all nodes from one pod, over ssh, but each of {started} pods starts it"
        )
        help = "start it in one pod, or give each its --node_rank with --no_ssh and --master_addr"
    else:
        text = (
            f"{name} without --no_ssh starts the processes of all hosts over ssh, but each of "
            f"{started} pods starts it"
        )
        help = "start the script with torchrun, or add --no_ssh with --node_rank and --master_addr"

    yield found_at(
        role.path_of("nnodes") if wants_nodes else role.command_path,
        text,
        help,
        severity="error" if wants_nodes and uses_ssh else None,
    )


def _alone_finding(role: TrainingRole, pods: int) -> Finding:
    variable = LAUNCHERS[role.rendezvous.launcher].variables.get("nnodes")
    if variable:
        help = f"set {variable}, NODE_RANK, MASTER_ADDR and MASTER_PORT"
    else:
        help = "start the script with torchrun, or pass the launcher its machines"

    return found_at(
        role.command_path,
        f"{role.rendezvous.launcher} ignores the operator's variables and is not configured for "
        f"{pods} pods: each trains alone",
        help,
    )


def _reads_no_variable(role: TrainingRole) -> bool:
    """Return whether a Python script starts without torchrun where an operator sets torchrun's
    variables alone.
    """
    is_told = "PET_NNODES" in role.pod.env and role.user_entry("PET_NNODES") is None
    is_script = any(word.endswith(".py") for word in role.launch.entry[1:3])
    return (
        role.member.is_python_script and is_script and is_told and role.rendezvous.backend == "none"
    )


def starts_other_hosts(role: TrainingRole) -> bool:
    """Return whether every pod of the role runs a launcher that starts the hosts of its host
    file over ssh.
    """
    launcher = LAUNCHERS.get(role.rendezvous.launcher)
    return (
        launcher is not None
        and launcher.over_ssh
        and "no-ssh" not in role.launch.options
        and not ignores_other_machines(role)
    )


def ignores_other_machines(role: TrainingRole) -> bool:
    """Return whether no option, variable or host file gives the launcher the other machines."""
    launcher = LAUNCHERS.get(role.rendezvous.launcher)
    if launcher is None or role.rendezvous.launcher == "composer":
        return False
    if (variable := launcher.variables.get("nnodes")) is not None:
        return (
            role.launch.env.get(variable, "1") in ("", "1") and "MIN_NNODES" not in role.launch.env
        )
    if role.rendezvous.launcher == "accelerate" and "nnodes" in role.launch.options:
        return role.launch.options["nnodes"] in ("", "1")

    is_configured = any(
        name.startswith(launcher.machine_variables) for name in role.launch.env
    ) or (launcher.over_ssh and _mounts_hosts(role))

    return not is_configured and not any(
        word.startswith(launcher.machine_options) for word in role.launch.entry
    )


def _mounts_hosts(role: TrainingRole) -> bool:
    """Return whether a volume may contain the host file that deepspeed reads by default,
    /job/hostfile.
    """
    if role.pod.main is not None:
        mounts = nested_maps(role.pod.main.spec, "volumeMounts")
    else:
        mounts = []
    return any(nested_string(mount, "mountPath").startswith("/job") for mount in mounts)
