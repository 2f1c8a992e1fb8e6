"""The GPUs are the runtime's, but Trainer counts processes by the TrainJob's CPUs.

PTC144 uncounted-gpus: warning at run (wastes), by trainer.
Needs: resourcesPerNode

What: trainer.resourcesPerNode names no GPU, the runtime's container has some, and neither
numProcPerNode nor torchrun's own option says how many processes there are.

Why: Trainer 2.3 merges the resources and still counts processes by what the TrainJob wrote alone:
one for each CPU, 1 without any. Before 2.3 resourcesPerNode replaced the runtime's, and the GPUs
were gone.

Example: runtime.yaml with

      restartPolicy: Never
      volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 16Gi}}]
      containers:
        - name: node
          resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 8}}
          volumeMounts: [{name: dshm, mountPath: /dev/shm}]
      ---
      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: TrainJob
      metadata: {name: train}
      spec:
        runtimeRef: {name: acme-torch}
        trainer:
          numNodes: 1
    +     numProcPerNode: 8
          resourcesPerNode:  # <--
            requests: {cpu: 8, memory: 64Gi}
            limits: {cpu: 8, memory: 64Gi}

Fix: also write the GPUs into resourcesPerNode, or set numProcPerNode.

Source: Trainer 2.3, torch plugin; trainer#3974, #3602.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.rules.reading import runtime_of


def check(subject: Subject) -> Findings:
    runtime, assumed = runtime_of(subject)
    trainer = nested_map(subject.spec, "trainer")
    resources = trainer.get("resourcesPerNode")
    if assumed or runtimes.policy_of(runtime) != "torch":
        return
    if not isinstance(resources, Mapping) or runtimes.gpu_count(resources):
        return
    if trainer.get("numProcPerNode") is not None:
        return
    if any("nproc-per-node" in role.launch.options for role in subject.training_roles):
        return

    nodes = runtimes.trainer_nodes(runtime)
    runtime_gpus = [runtimes.gpu_count(nested_map(node, "resources")) for node in nodes]
    if any(runtime_gpus):
        path = ("spec", "trainer", "resourcesPerNode")
        count = runtimes.nproc_per_node(subject.manifest, runtime, subject.versions.trainer)
        merged = subject.versions.trainer >= (2, 3)
        if merged:
            effect = f"has {max(runtime_gpus)} GPUs, and {count} processes by the CPUs written here"
        else:
            effect = "loses its GPUs"
        yield found_at(path, f"each node {effect}", "write the GPUs here as well", on_key=True)
