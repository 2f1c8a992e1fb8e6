"""A failed training is reported as a success.

What: in a shell script the training is followed by a pipe without pipefail, by `|| true`, or by other commands
without `set -e`.

Why: a container's exit code is that of the last command. `torchrun ... | tee log` ends with tee's 0, `torchrun ...;
echo done` with echo's: the job is complete, no retry happens, and nothing shows it.

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command:
              - bash
    +         - -o
    +         - pipefail
              - -c
              - python train.py 2>&1 | tee /logs/train.log  # <--
            resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: start the script with set -e -o pipefail.

Source: POSIX 2024, exit status of pipelines and lists; Kubernetes 1.36, a container succeeds with exit code 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.linter.containers import TrainingStep, shell_script, training_step
from ptcompile.linter.rule import Finding, Rule, Subject, found_at

_SUCCEEDING_COMMANDS = frozenset({"true", ":", "echo", "sleep", "date"})


def _check(subject: Subject) -> Iterator[Finding]:
    for container in subject.containers:
        script = shell_script(container) if container.is_main else None
        reading = training_step(script) if script is not None else None
        reason = _reason(reading) if reading is not None else None
        if script is not None and reason is not None:
            yield found_at(
                script.word.path,
                f"{reason}: a failed training counts as a success",
                "start the script with set -e -o pipefail",
            )


def _reason(reading: TrainingStep) -> str | None:
    after = [words for words, _ in reading.after]
    last = after[-1][0] if after else ""
    if reading.separator == "|":
        return None if reading.pipefail else f"the script ends with the exit code of {after[0][0]}" if after else None
    if reading.separator == "||":
        return f"|| {after[0][0]} hides the failure" if after and after[0][0] in _SUCCEEDING_COMMANDS else None
    if reading.separator in ("&&", "&", "") or not after or reading.errexit or last == "exit":
        return None
    return f"the script ends with the exit code of {last}"


RULE = Rule("hidden-failure", _check, severity="warning", stage="run", authority="kubelet")
