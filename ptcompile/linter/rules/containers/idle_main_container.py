"""The container that trains holds accelerators and only sleeps.

PTC116 idle-main-container: warning at run (wastes), by ptcompile.
Needs: sleep/tail/{SHELLS} {VENDORS}

What: a container requests accelerators, and its command is `sleep infinity`, `tail -f /dev/null` or
the like; or its script does so after the training, also if only a failed training leads there; or
it sleeps or ends before it.

Why: it is a leftover from debugging inside the pod. The accelerators stay allocated, and the job
never ends.

Example: pod.yaml with

    - command: [sleep, infinity]  # <--
    + command: [python, train.py]
      resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: start the training, or drop the accelerators.

Source: ptcompile's own advice.
"""

from __future__ import annotations

from ptcompile._internal.spelling import pluralize
from ptcompile.linter.containers import (
    LAUNCHERS,
    idle_command,
    starts_training_in_text,
    training_command,
)
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.world.templates import ManifestContainer, ManifestTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.shell.script import Script


def check(subject: Subject) -> Findings:
    has_launcher = subject.template_of("launcher") is not None
    for template in subject.templates:
        if has_launcher and template.role.lower() == "worker":
            continue  # such workers wait for ssh, which workers-without-sshd checks
        yield from _check_template(template)


def _check_template(template: ManifestTemplate) -> Findings:
    for container in template.containers:
        count = container.accelerators if container.is_main else 0
        if not count:
            continue

        command = idle_command(container)
        held = pluralize(count, "accelerator")
        if command:
            yield found_at(
                container.argv[0].path[:-1],
                f"{command} holds {held} and never ends",
                "start the training, or request no accelerators",
            )
        elif container.script is not None:
            yield from _check_script(container, container.script, held)


def _check_script(container: ManifestContainer, script: Script, held: str) -> Findings:
    is_idle = script.endless or any(command.is_endless for command in script.commands)
    if not is_idle and container.launch.launcher in LAUNCHERS:
        return

    training = training_command(script)
    if training is None:
        if not script.unread and starts_training_in_text(script.call.text):
            if script.endless:
                cause = f"{script.endless} never ends"
            else:
                cause = "the script ends before it"
            yield found_at(
                container.script_path,
                f"the training never starts: {cause}",
                "remove what is left before it",
            )

        return

    later = script.commands[script.commands.index(training) + 1 :]
    idle = next(
        (command for command in later if command.is_endless and not command.in_background), None
    )
    if script.endless and not training.in_loop:
        yield found_at(
            container.script_path,
            f"{script.endless} after the training never ends: the job never completes, and keeps "
            f"{held}",
            "remove it, and end the script with the exit code of the training",
        )
    elif idle is not None and idle.doubt is not None and training.words[0] in idle.doubt.text:
        yield found_at(
            container.script_path,
            f"if the training fails, {' '.join(idle.words[:2])} never ends: the job keeps {held}",
            "remove it: a failed pod has its logs, and the job can start another one",
        )
