"""A script starts the training in the background and then ends.

PTC812 background-training: error at run (fails), by kubelet.
Needs: {SHELLS} &

What: a shell script runs the training with `&`, and ends without a `wait`; nothing after it takes
time.

Why: the container ends when its first process does. The shell has nothing left to do and exits with
0: the training is killed within its first second, and the job counts as a success.

Example: pod.yaml with

      command: [bash, -c]
      args:
    -   - python train.py &  # <--
    +   - exec python train.py

Fix: remove the &, or end the script with wait.

Source: POSIX 2024, asynchronous lists; Kubernetes 1.36, a container lives as long as its first
process.
"""

from __future__ import annotations

from ptcompile.linter.containers import training_command
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.shell.script import SHELL_COMMANDS, Script

_QUICK = SHELL_COMMANDS - {"read", "sleep", "source", ".", "eval"}
"""Commands that take no time."""


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        script = container.script if container.is_main else None
        if script is not None and _leaves_training(script):
            yield found_at(
                container.script_path,
                "the shell starts the training in the background and exits, and the container "
                "stops with it",
                "remove the &, or end the script with wait",
            )


def _leaves_training(script: Script) -> bool:
    """Return whether the script certainly ends at once after it started the training in the
    background.
    """
    training = training_command(script)
    if training is None or training.is_waited or not training.in_background:
        return False
    after = script.commands[script.commands.index(training) + 1 :]
    is_quick = all(command.in_background or command.words[0] in _QUICK for command in after)
    return is_quick and not (training.doubt or script.endless or script.unread)
