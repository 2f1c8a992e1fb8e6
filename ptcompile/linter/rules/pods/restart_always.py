"""A pod that trains restarts after it ends.

PTC710 restart-always: warning at run (endless), by kubelet.
Needs: {RESTARTING_KINDS} {TRAINING_LAUNCHERS}

What: a Pod whose command is torchrun or another launcher of training has restartPolicy Always,
which is also the default; or a Deployment, StatefulSet or LeaderWorkerSet, whose pods have no other
policy, starts such a command, and its script or an argument says that it trains.

Why: the kubelet restarts the container after success and after failure. The training starts over
when it is done, and the accelerators are never released.

Example: pod.yaml with

    - restartPolicy: Always  # <--
    + restartPolicy: Never
      containers:
        - name: pytorch
          command: [torchrun, --nproc-per-node, "1", train.py]
          resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: set restartPolicy to Never, or to OnFailure if the training resumes from its checkpoint. Use a
Job or a JobSet instead of a Deployment, a StatefulSet or a LeaderWorkerSet.

Source: Kubernetes 1.36, restartPolicy of a Pod; kubernetes-sigs/lws issue 570.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.diagnostics import Path
from ptcompile.linter.containers import endless_command, starts_training
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at

_trains = Pattern(r"(?i)train|tun(?:e|ing)\b|sft\b|epoch|dpo\b").search
_serves = Pattern(r"(?i)serv|infer|generat|chat|vllm|sglang").search


def check(subject: Subject) -> Findings:
    policy = subject.spec.get("restartPolicy")
    is_restarted = subject.record.restarts_finished or subject.kind == ("v1", "Pod")
    if not is_restarted or policy not in (None, "", "Always"):
        return

    trainers = [
        container
        for container in subject.containers
        if starts_training(container) and not endless_command(container)
    ]
    if trainers and subject.kind != ("v1", "Pod"):
        texts = [subject.name, *(word for container in trainers for word in container.tokens)]
        if any(map(_trains, texts)) and not any(map(_serves, texts)):
            yield found_at(
                ("kind",),
                f"a {subject.kind.name} starts its pods again when they end: the training never "
                "completes",
                "train in a Job",
            )
    elif trainers:
        path: Path = ("spec", "restartPolicy")
        finding_path = path if policy else ("spec",)
        policy_text = "Always" if policy else "restartPolicy defaults to Always, which"
        yield found_at(
            finding_path,
            f"{policy_text} starts the training again after it ends",
            "set restartPolicy to Never or OnFailure",
            fix_setting("set restartPolicy to Never", path, "Never"),
            on_key=True,
        )
