"""Calls of the tools, as the server makes them for an assistant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ptcompile.api.inputs import read_profile, releases_of
from ptcompile.api.options import LintOptions
from ptcompile.mcp.inputs import Call, CallSettings
from ptcompile.mcp.tools import TOOLS, check_arguments

SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: llama}
spec:
  image: ghcr.io/acme/llama:2.1
  script: train.py
  nodes: 2
"""
MANIFEST = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: llama}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      restartPolicy: OnFailure
      template:
        spec:
          containers:
          - name: pytorch
            image: ghcr.io/acme/llama:2.1
            command: [torchrun, train.py]
            resources: {limits: {nvidia.com/gpu: 1, cpu: 8, memory: 32Gi}}
"""
QUEUED = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train, labels: {kueue.x-k8s.io/queue-name: team}}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{name: pytorch, image: "ghcr.io/acme/llama:2.1", resources: {requests: {cpu: 2}}}]
"""
QUEUES = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: epyc}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: team, namespace: default}
spec: {clusterQueue: research}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: research}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: epyc, resources: [{name: cpu, nominalQuota: 4}]}]
"""
CLUSTER = """\
apiVersion: ptcompile/v1
kind: ClusterProfile
metadata: {name: research}
spec: {queueSystem: kueue, defaults: {queue: research}}
"""


def no_settings(_name: str, cluster: bytes | None) -> CallSettings:
    """Return the settings without a configuration, for the profile that the call names."""
    profile = read_profile(cluster)
    return CallSettings(LintOptions(profile.profile, releases_of(profile.profile)), profile)


def call(
    name: str, arguments: Mapping[str, Any], roots: Sequence[str | Path] = ()
) -> dict[str, Any]:
    """Return the result of a tool. Raises `CallError`."""
    check_arguments(TOOLS[name], arguments)
    return TOOLS[name].run(Call(arguments, [str(root) for root in roots], no_settings))
