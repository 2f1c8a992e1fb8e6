"""A script starts the training in the background and then ends.

What: the last command of a shell script runs the training with `&`, without a `wait`.

Why: the container ends when its first process does. The shell has nothing left to do and exits with 0: the training is
killed within its first second, and the job counts as a success.

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [bash, -c]
            args:
    -         - python train.py &  # <--
    +         - exec python train.py
            resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: remove the &, or end the script with wait.

Source: POSIX 2024, asynchronous lists; Kubernetes 1.36, a container lives as long as its first process.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.linter.containers import shell_script, training_step
from ptcompile.linter.rule import Finding, Rule, Subject, found_at


def _check(subject: Subject) -> Iterator[Finding]:
    for container in subject.containers:
        script = shell_script(container) if container.is_main else None
        reading = training_step(script) if script is not None else None
        if script is not None and reading is not None and reading.separator == "&" and not reading.after:
            yield found_at(
                script.word.path,
                "the shell starts the training in the background and exits, and the container stops with it",
                "remove the &, or end the script with wait",
            )


RULE = Rule("background-training", _check, severity="error", stage="run", authority="kubelet")
