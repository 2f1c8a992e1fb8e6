"""All pods of a job are pinned to one node, which has too few accelerators for them.

PTC271 pods-exceed-host: warning at run (waits), by kube-apiserver.
Needs: hostname {VENDORS}

What: a nodeSelector or required affinity names one node by kubernetes.io/hostname, and the pods
together request more accelerators than the selected machine type has; if none is selected, more
than 8.

Why: the node takes as many pods as it has accelerators for. The others stay Pending, and the ranks
that run wait for them.

Example: indexed_job.yaml with

      restartPolicy: Never
    - nodeSelector: {kubernetes.io/hostname: gpu-7}  # <--
    + nodeSelector: {acme.example/pool: gpu}
      volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 16Gi}}]
      containers:
        - name: pytorch
          command: [python, share.py]
          resources: {limits: {cpu: 64, memory: 640Gi, nvidia.com/gpu: 8}}
          volumeMounts: [{name: shm, mountPath: /dev/shm}]

Fix: select the nodes by a label that enough of them have.

Source: Kubernetes 1.36, assigning pods to nodes; the vendors' tables of machine types.
"""

from __future__ import annotations

from ptcompile.hardware.nodes import HOST
from ptcompile.kubernetes.pod_spec import pinned_values
from ptcompile.linter.machines import pinned_machines
from ptcompile.linter.rule import Findings, Subject, found_at

_USUAL_DEVICES = 8
"""Number of accelerators of the largest usual machine; few have 16."""


def check(subject: Subject) -> Findings:
    totals: dict[str, int] = {}
    for template in subject.templates:
        path, hosts = next(pinned_values(template.spec, HOST), ((), []))
        if len(hosts) != 1:
            continue

        devices = sum(container.accelerators for container in template.running_containers)
        [host] = hosts
        totals[host] = totals.get(host, 0) + devices * template.replicas
        pins = pinned_machines(template)
        machines = pins.machines if pins is not None else ()
        most = max((machine.devices for machine in machines), default=_USUAL_DEVICES)
        if totals[host] > most and devices:
            if pins is not None:
                machine = f"{pins.label} has {most}"
            else:
                machine = f"most machines have {most} at most"

            yield found_at(
                (*template.spec_path, *path),
                f"the pods on {host} request {totals[host]} accelerators, but {machine}",
                "select the nodes by a label that enough of them have",
            )
            return
