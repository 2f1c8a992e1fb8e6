"""A Pod that trains restarts after it ends.

What: a Pod whose command is torchrun or another launcher of training has restartPolicy Always, which is also the
default.

Why: the kubelet restarts the container after success and after failure. The training starts over when it is done, and
the accelerators are never released.

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
    -   restartPolicy: Always  # <--
    +   restartPolicy: Never
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [torchrun, --nproc-per-node, "1", train.py]
            resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: set restartPolicy to Never, or to OnFailure if the training resumes from its checkpoint.

Source: Kubernetes 1.36, restartPolicy of a Pod.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.linter.containers import starts_training
from ptcompile.linter.rule import Finding, Rule, Subject, found_at


def _check(subject: Subject) -> Iterator[Finding]:
    policy = subject.spec.get("restartPolicy")
    if subject.kind != ("v1", "Pod") or policy not in (None, "", "Always"):
        return
    if any(starts_training(container) for template in subject.templates for container in template.main_containers):
        path: Path = ("spec", "restartPolicy")
        finding_path = path if policy else ("spec",)
        policy_text = "Always" if policy else "restartPolicy defaults to Always, which"
        yield found_at(
            finding_path,
            f"{policy_text} starts the training again after it ends",
            "set restartPolicy to Never or OnFailure",
            Fix("set restartPolicy to Never", (Edit("set", path, "Never"),), safe=False),
            on_key=True,
        )


RULE = Rule("restart-always", _check, severity="warning", stage="run", authority="kubelet")
