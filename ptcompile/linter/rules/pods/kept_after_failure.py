"""Pods of a job that has ended keep their accelerators.

PTC745 kept-after-failure: note at run (wastes), by ptcompile.
Needs: pytorchReplicaSpecs/mpiReplicaSpecs

What: cleanPodPolicy is not set, so it is None, in a PyTorchJob of several pods with restartPolicy
Never, or in an MPIJob, and the pods request accelerators.

Why: when one pod of such a PyTorchJob fails, the job is Failed, and the operator leaves the others
as they are: they wait in a collective until a timeout, or forever. The workers of an MPIJob run
sshd, which does not end with the launcher. The scheduler counts their accelerators as used.

Example:

      apiVersion: kubeflow.org/v1
      kind: PyTorchJob
      metadata: {name: train}
      spec:
        nprocPerNode: "1"
    +   runPolicy: {cleanPodPolicy: Running}
        pytorchReplicaSpecs:
          Master:
            replicas: 1
            restartPolicy: Never  # <--
            template:
              spec:
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    command: [torchrun, train.py]
                    resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
                    volumeMounts: [{name: shm, mountPath: /dev/shm}]
                volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 16Gi}}]
          Worker:
            replicas: 1
            restartPolicy: Never
            template:
              spec:
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    command: [torchrun, train.py]
                    resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
                    volumeMounts: [{name: shm, mountPath: /dev/shm}]
                volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 16Gi}}]

Fix: set runPolicy.cleanPodPolicy to Running.

Source: training-operator 1.9, pkg/controller.v1/common/job.go (DeletePodsAndServices); MPI Operator
0.8, cleanPodPolicy; kubeflow/trainer issue 1579.
"""

from __future__ import annotations

from ptcompile._internal.spelling import pluralize
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import as_mapping, nested_map, nested_value
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at


def check(subject: Subject) -> Findings:
    field = next((key for key in map(str, subject.spec) if key.endswith("ReplicaSpecs")), "")
    written: Path = ("spec", "runPolicy", "cleanPodPolicy")
    if not field or nested_value(subject.spec, "runPolicy", "cleanPodPolicy") is not None:
        return

    mains = [
        (template, main) for template in subject.templates for main in template.main_containers
    ]
    counts = [(template.replicas, main.accelerators) for template, main in mains]
    devices = sum(pods * accelerators for pods, accelerators in counts)
    roles = nested_map(subject.spec, field)
    never = next(
        (role for role, spec in roles.items() if as_mapping(spec).get("restartPolicy") == "Never"),
        None,
    )
    is_settled = "Launcher" in roles or never is not None
    if sum(pods for pods, _ in counts) < 2 or not devices or not is_settled:
        return

    yield found_at(
        ("spec", field, never, "restartPolicy") if never else ("spec", field),
        "when the job has failed, its other pods go on (cleanPodPolicy defaults to None): they "
        f"keep up to {pluralize(devices, 'accelerator')}",
        "set runPolicy.cleanPodPolicy to Running",
        fix_setting("set cleanPodPolicy to Running", written, "Running"),
        on_key=never is None,
    )
