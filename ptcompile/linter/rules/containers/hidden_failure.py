"""A failed training is reported as a success.

PTC811 hidden-failure: warning at run (risks), by kubelet.
Needs: {SHELLS}

What: a shell script ends with 0 although its training has failed: a pipe without pipefail follows
it, or `|| true`, or other commands without `set -e`. A script that keeps the exit code, as in
`rc=$?; ...; exit $rc`, is right.

Why: a container's exit code is that of the last command. `torchrun ... | tee log` ends with tee's
0, `torchrun ...; echo done` with echo's: the job is complete, no retry happens, and nothing shows
it.

Example: pod.yaml with

      command:
        - bash
    +   - -o
    +   - pipefail
        - -c
        - python train.py 2>&1 | tee /logs/train.log  # <--

Fix: start the script with set -e -o pipefail.

Source: POSIX 2024, exit status of pipelines and lists; Kubernetes 1.36, a container succeeds with
exit code 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.kubernetes.commands import basename
from ptcompile.linter.containers import training_command
from ptcompile.linter.rule import Findings, Subject, found_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.shell.script import Script, ShellCommand


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        script = container.script if container.is_main else None
        training = training_command(script)
        if (
            script is None
            or training is None
            or training.fails_script
            or not _is_known(script, training)
        ):
            continue

        last = script.commands[-1]
        status = f"ends with the exit code of {basename(last.words[0])}"
        if last is training:
            status = "does not end with its exit code"
        yield found_at(
            container.script_path,
            f"the script {status}: a failed training counts as a success",
            "start the script with set -e -o pipefail",
        )


def _is_known(script: Script, training: ShellCommand) -> bool:
    """Return whether the script ends after the training, and with a status that is known."""
    repeats = training.in_background or training.in_loop or script.commands[-1].is_endless
    catches = any(_may_end_script(command.words) for command in script.commands)
    return not (repeats or catches or script.endless or script.may_fail or script.unread)


def _may_end_script(words: Sequence[str]) -> bool:
    """Return whether a command is `trap` for the end of the script or an error, and may set the
    exit code.
    """
    program, *arguments = words
    if program != "trap" or {"EXIT", "0", "ERR"}.isdisjoint(arguments):
        return False
    action, *_ = arguments
    return "exit" in action or " " not in action
