"""A shell keeps SIGTERM from the training.

PTC743 sigterm-lost: warning at run (risks), by kubelet.
Needs: terminationGracePeriodSeconds/spot/preemptible/scalesetpriority/capacityType/capacity

What: the pods run on spot machines, or ask for more than 30 seconds of grace, and the first process
of the training container is a shell that stays: sh, for any script, or bash, unless the training is
the last command of bash -c. No exec, no trap, and nothing such as tini before the shell.

Why: the first process of a container gets the SIGTERM. A shell does not pass it on and, as process
1, does not end by it. torchrun and the training learn nothing until all are killed at the end of
the grace period, without a checkpoint.

Example: pod.yaml with

      spec:
        terminationGracePeriodSeconds: 120
        containers:
          - name: pytorch
            command: [sh, -c]
            args:
    -         - cd /app && torchrun --nproc-per-node=1 train.py  # <--
    +         - cd /app && exec torchrun --nproc-per-node=1 train.py
            resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: start the training with exec.

Source: dash 0.5.12 and bash 5.2 as process 1, measured; Kubernetes 1.36, termination of pods;
petuum/adaptdl issue 105.
"""

from __future__ import annotations

from ptcompile.kubernetes.commands import basename
from ptcompile.kubernetes.pod_spec import GRACE_SECONDS, grace_seconds
from ptcompile.kubernetes.unstructured import nested_value
from ptcompile.linter.containers import training_command
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.spot import spot_label
from ptcompile.world.templates import ManifestContainer

_DASHES = ("sh", "dash")
"""The shells that always stay; bash replaces itself by the last command of a list."""


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        seconds = grace_seconds(template.spec)
        is_shared = template.spec.get("shareProcessNamespace") is True
        if is_shared or not (seconds > GRACE_SECONDS or spot_label(template)):
            continue

        for container in template.main_containers:
            shell = basename(container.tokens[0]) if container.tokens else ""
            if _keeps_signals(container):
                yield found_at(
                    container.script_path,
                    "the shell stays the first process and does not pass SIGTERM on: the training "
                    "is killed without notice at the end of the grace period",
                    "start the training with exec",
                    severity=None if shell in _DASHES else "note",
                )


def _keeps_signals(container: ManifestContainer) -> bool:
    """Return whether a shell certainly stays the container's first process and ignores SIGTERM."""
    script = container.script
    training = training_command(script)
    if script is None or training is None or training.file or container.start_index:
        return False
    if script.call.text[: training.start].split()[-1:] == ["exec"]:
        return False

    traps = any(command.words[0] == "trap" for command in script.commands)
    if traps or script.unread or nested_value(container.spec, "lifecycle", "preStop"):
        return False

    is_small = any(name in container.image for name in ("alpine", "busybox"))
    is_dash = basename(container.tokens[0]) in _DASHES and not is_small

    return is_dash or bool(script.call.file) or training is not script.commands[-1]
