"""A pod that trains is killed without warning.

PTC828 no-grace-period: warning at style (risks), by kubelet.
Needs: terminationGracePeriodSeconds/preStop {VENDORS}

What: in a pod with accelerators, terminationGracePeriodSeconds is 0, or no longer than a preStop
hook sleeps; or on spot machines it is longer than the machine lives after its notice.

Why: on preemption, on a drain of the node or on deletion, the processes get no SIGTERM, or only 2
seconds before SIGKILL, since a hook's time counts; or the machine is gone before the pod's time is
up. They cannot write a last checkpoint, and all work since the previous one is lost. GKE gives pods
of spot machines 15 seconds, from 1.35 up to 120 by its node system configuration, Azure about 30,
AWS and OCI 120.

Example: pod.yaml with

      spec:
    -   terminationGracePeriodSeconds: 0  # <--
    +   terminationGracePeriodSeconds: 120
        containers:
          - name: pytorch
            resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: allow the time that a checkpoint takes; the default is 30 seconds.

Source: Kubernetes 1.36, termination of pods, and pkg/kubelet/kuberuntime/kuberuntime_container.go
(killContainer); GKE, Spot VMs (2026); AKS, node auto-drain (2026); Amazon EC2, Spot interruption
notices (2026).
"""

from __future__ import annotations

from ptcompile._internal.spelling import is_short_number
from ptcompile.kubernetes.pod_spec import grace_seconds
from ptcompile.kubernetes.unstructured import (
    nested_int,
    nested_map,
    nested_strings,
)
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.spot import notice_of, spot_label
from ptcompile.world.templates import ManifestContainer


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        if not template.accelerators:
            continue

        path = (*template.spec_path, "terminationGracePeriodSeconds")
        seconds = grace_seconds(template.spec)
        if seconds == 0:
            yield found_at(
                path,
                "with 0 seconds the processes are killed before they can write a checkpoint",
                "allow the time that a checkpoint takes, or remove it for the default of 30 "
                "seconds",
            )
            continue

        notice = notice_of(spot_label(template))
        if notice is not None and seconds > notice.most:
            yield found_at(
                path,
                f"a spot machine is gone {notice.usual} seconds after its notice: the pod does "
                f"not get {seconds}",
                f"write checkpoints as the training goes on, and plan with {notice.usual} seconds",
            )

        for container in template.containers:
            hook = _hook_seconds(container)
            if hook >= seconds:
                yield found_at(
                    (*container.path, "lifecycle", "preStop"),
                    f"the hook takes {hook} of the {seconds} seconds of grace: the processes get "
                    "SIGTERM only 2 seconds before SIGKILL",
                    f"raise terminationGracePeriodSeconds above {hook}, or shorten the hook",
                )


def _hook_seconds(container: ManifestContainer) -> int:
    """Return how long a container's preStop hook sleeps, or 0 if that is not certain."""
    hook = nested_map(container.spec, "lifecycle", "preStop")
    words = [word for text in nested_strings(hook, "exec", "command") for word in text.split()]
    after_sleep = words[words.index("sleep") + 1 :] if "sleep" in words else []
    written = after_sleep[0].rstrip("s;") if after_sleep else ""
    if is_short_number(written, below=9):
        return int(written)
    return nested_int(hook, "sleep", "seconds")
