"""Volcano admits a job without counting its GPUs.

PTC140 gpu-missing-in-min-resources: warning at run (waits), by volcano.
Needs: {VENDORS}

What: a container has accelerators under limits, and not under requests.

Why: Volcano sums up what a gang needs from the template before Kubernetes fills in requests. GPUs
that only limits name are missing there: the queue admits a job that cannot run, and the job holds
its place.

Example: volcano_job.yaml with

      resources:
    -   requests: {cpu: 4, memory: 16Gi}
    -   limits:
    -     cpu: 4
    -     memory: 16Gi
    -     nvidia.com/gpu: 1  # <--
    +   requests: {cpu: 4, memory: 16Gi, nvidia.com/gpu: 1}
    +   limits: {cpu: 4, memory: 16Gi, nvidia.com/gpu: 1}

Fix: also write the GPUs under requests.

Source: Volcano 1.16, PodGroup minResources; volcano#2573, #2564.
"""

from __future__ import annotations

from ptcompile.kubernetes.resources import is_accelerator
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        requests = container.requests
        for name, amount in container.limits.items():
            if container.is_init or not is_accelerator(str(name)) or requests.get(name) is not None:
                continue

            path = (*container.path, "resources", "limits", name)
            request_path = (*container.path, "resources", "requests", name)
            yield found_at(
                path,
                f"{amount} not under requests, but only those count when Volcano decides whether "
                "the gang fits",
                f"write {name} under requests as well",
                fix_setting(f"request {name}", request_path, amount, safe=True),
            )
