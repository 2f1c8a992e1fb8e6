"""The accelerators are requested by a container that does not train.

PTC112 accelerators-in-sidecar: warning at run (differs), by kubelet.
Needs: {VENDORS}

What: the operator names the container that trains (`pytorch`, `node`), it requests no accelerator,
and another container of the same pod does.

Why: devices belong to the container that requests them. The training process sees none and falls
back to the CPU or stops.

Example:

      apiVersion: kubeflow.org/v1
      kind: PyTorchJob
      metadata: {name: train}
      spec:
        runPolicy: {backoffLimit: 3, cleanPodPolicy: Running}
        pytorchReplicaSpecs:
          Master:
            replicas: 1
            restartPolicy: Never
            template:
              spec:
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    command: [python, train.py]
    -               resources: {limits: {cpu: 8, memory: 64Gi}}
    +               resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
                  - name: metrics
                    image: ghcr.io/acme/metrics:1.0
                    command: [python, export_once.py]
    -               resources:
    -                 limits: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}  # <--
    +               resources: {limits: {cpu: 1, memory: 1Gi}}

Fix: move the accelerators to the container that trains.

Source: Kubernetes 1.36, device plugins allocate to containers; training-operator 1.9 (container
pytorch) and Trainer 2.3 (container node).
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        main = next(
            (
                container
                for container in template.main_containers
                if container.name == template.main_name
            ),
            None,
        )
        if main is None or main.accelerators:
            continue

        sidecar = next(
            (container for container in template.running_containers if container.accelerators), None
        )
        if sidecar is not None:
            yield found_at(
                (*sidecar.path, "resources", "limits"),
                f"this container gets the accelerators, but {main.name}, which trains, gets none",
                f"move them to the container {main.name}",
            )
