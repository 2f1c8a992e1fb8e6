"""How the pods of this job start and meet is not checked.

PTC483 launch-not-understood: note at run (unchecked), by ptcompile.
Needs: {VENDORS}

What: several pods with accelerators are started by an unknown program, by the image itself, by a
script with a condition or a file that only the running pod knows, or with variables from objects
that are not in the stream. The note names the line of the script that decides.

Why: a note, once per job: nodes, ranks and addresses of such a job are not checked, so having no
findings does not mean that they are right.

Example: jobset.yaml with

      - name: pytorch
    -   command: [/opt/start.sh]  # <--
    +   command:
    +     - torchrun
    +     - --nnodes=2
    +     - --rdzv-backend=c10d
    +     - --rdzv-endpoint=train-node-0-0.train:29400
    +     - train.py

Fix: if the job is right, ignore the note. To have it checked, start the script with torchrun, which
starts scripts for accelerate, DeepSpeed and Lightning too, or pass accelerate or deepspeed --no_ssh
the nodes as options.

Source: ptcompile, the launchers of its simulation.
"""

from __future__ import annotations

from ptcompile.diagnostics import Path
from ptcompile.kinds.pods import ExpandedRole
from ptcompile.kubernetes.commands import basename
from ptcompile.linter.containers import idle_command
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.rules.launch.launcher_alone import (
    ignores_other_machines,
    starts_other_hosts,
    trains_alone,
)
from ptcompile.linter.training_roles import TrainingRole
from ptcompile.simulator.launchers import LAUNCHERS
from ptcompile.simulator.pod import Pod
from ptcompile.world.templates import ManifestTemplate

_HELP = {
    "accelerate": "start the script with torchrun, which accelerate supports, or pass --num_machines and "
    "its ranks",
    "deepspeed": "start the script with torchrun, which DeepSpeed supports, or pass --num_nodes and "
    "--node_rank too",
    "image": "write the command that the image runs",
    "ray": "compare the number of workers in the script with the GPUs of the pods",
    "torchrun": "write what decides the launch into the files, or ignore this note",
}
_OTHER_HELP = "start torchrun in the command itself, or ignore this note"
"""How to have the launch checked, by launcher and for others."""


def check(subject: Subject) -> Findings:
    if not any(container.accelerators for container in subject.containers):
        return

    job = subject.job
    if job is None or job.expansion.refused:
        return
    if subject.rendezvous_groups and len(subject.training_roles) == len(job.roles):
        return  # every role is understood

    with_devices = [role for role in subject.roles if sum(role.pod.devices.values())]
    if sum(role.expanded.count for role in with_devices) < 2:
        return

    training_roles = {id(training.pod): training for training in subject.training_roles}
    for role, pod, template in with_devices:
        if template is not None and trains_alone(role, pod, template):
            return  # reported by launcher-alone
        why = _why_unknown(subject, role, pod, training_roles.get(id(pod)))
        path = _command_path(template)
        if why and path is not None:
            text = f"{why}: how the pods meet is not checked"
            yield found_at(path, text, _HELP.get(pod.launch.launcher, _OTHER_HELP))
            return


def _why_unknown(
    subject: Subject, role: ExpandedRole, pod: Pod, training: TrainingRole | None
) -> str | None:
    """Return why it is unknown how a pod starts its processes, or None."""
    launch = pod.launch
    if training is not None and training.misplaced_options:
        return None  # reported by misread-launch-word
    if training is not None and (training.member.is_modeled or training.member.is_env_script):
        doubt = training.member.doubt_about()
        if doubt is not None:
            return doubt.sentence(training.launcher_name)
        return "envFrom may change how it starts" if training.is_uncertain() else None
    if launch.launcher == "image":
        return "the container has no command, and the image's entry point is unknown"
    if launch.launcher in LAUNCHERS:
        if training is None or ignores_other_machines(training) or starts_other_hosts(training):
            return None
        return f"{launch.launcher} takes its nodes from a file or from its defaults"
    if launch.launcher == "mpirun":
        return "mpirun is not analyzed"
    if launch.launcher == "ray":
        return "Ray connects the pods and places the processes"

    by_operator = training is not None and subject.record.rendezvous.all_pods
    if (
        launch.launcher != "command"
        or by_operator
        or pod.rendezvous.backend == "env"
        or not launch.entry
    ):
        return None

    return _why_command_unknown(role, pod, launch.entry)


def _why_command_unknown(role: ExpandedRole, pod: Pod, entry: tuple[str, ...]) -> str | None:
    name = basename(entry[0])
    if not name.startswith("python"):
        idle = name in ("sleep", "tail", "nvidia-smi", "echo", "true")
        return None if idle else f"{name} is not a known launcher"
    last = pod.job.last_pod(role).launch.entry
    if last != entry:
        return None
    return "nothing in the file tells the pods about each other"


def _command_path(template: ManifestTemplate | None) -> Path | None:
    """Return the path of the training container's command, or None if the command only sleeps."""
    main = next(iter(template.main_containers), None) if template is not None else None
    if main is None or idle_command(main):
        return None
    return next(((*main.path, key) for key in ("command", "args") if main.spec.get(key)), main.path)
