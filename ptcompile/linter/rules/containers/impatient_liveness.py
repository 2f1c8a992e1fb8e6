"""A liveness probe kills the training while it starts.

PTC824 impatient-liveness: warning at run (fails), by kubelet.
Needs: livenessProbe

What: a container with accelerators, or one that torchrun or another launcher starts, has a liveness
probe that gives up within five minutes, and no startup probe.

Why: loading weights, building NCCL's communicators and compiling take minutes, during which nothing
answers. The kubelet kills the container, the rank is gone, and the others fail with it.

Example: pod.yaml with

      resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
    + startupProbe:
    +   tcpSocket: {port: 8080}
    +   periodSeconds: 10
    +   failureThreshold: 180
      livenessProbe:  # <--
        tcpSocket: {port: 8080}
        periodSeconds: 10

Fix: add a startupProbe that waits for half an hour, or remove the probe: torchrun watches its
processes itself.

Source: Kubernetes 1.36, probes: 3 failures at intervals of 10 s by default.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_int, nested_map
from ptcompile.linter.containers import starts_training
from ptcompile.linter.rule import Findings, Subject, found_at

_MIN_PATIENCE_SECONDS = 300


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        probe = nested_map(container.spec, "livenessProbe")
        if not container.is_main or not probe or nested_map(container.spec, "startupProbe"):
            continue

        period = nested_int(probe, "periodSeconds", default=10) or 10
        failures = nested_int(probe, "failureThreshold", default=3) or 3
        seconds = nested_int(probe, "initialDelaySeconds") + period * failures
        if seconds < _MIN_PATIENCE_SECONDS and (
            container.accelerators or starts_training(container)
        ):
            yield found_at(
                (*container.path, "livenessProbe"),
                f"the kubelet kills the container if nothing answers in the first {seconds} "
                "seconds",
                "add a startupProbe that waits longer, or remove the probe",
                on_key=True,
            )
