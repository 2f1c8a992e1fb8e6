"""Import of manifests in the form in which other programs write them."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.diagnostics import Diagnostic

Json = dict[str, Any]


def torchx(replicas: int) -> Json:
    """Return a Volcano Job in the form of TorchX's dry run of dist.ddp: a task for each replica."""
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "train-d8s2k3xq0z"},
        "spec": {
            "schedulerName": "volcano",
            "queue": "default",
            "maxRetry": 0,
            "plugins": {"svc": ["--publish-not-ready-addresses"], "env": []},
            "tasks": [_torchx_task(index, replicas) for index in range(replicas)],
        },
    }


def _torchx_task(index: int, replicas: int) -> Json:
    host = "VC_TRAIN_0_HOSTS" if index else "TORCHX_RANK0_HOST"
    resources = {"cpu": "95000m", "memory": "1100000M", "nvidia.com/gpu": "8"}
    launch = f"torchrun --rdzv_backend c10d --rdzv_endpoint ${{{host}:=localhost}}:29500 --nnodes {replicas}"
    container = {
        "name": f"train-{index}",
        "image": "ghcr.io/acme/train:1.0",
        "command": ["bash", "-c", f"{launch} --nproc_per_node 8 --tee 3 --role '' train.py"],
        "env": [{"name": "LOGLEVEL", "value": "WARNING"}],
        "ports": [{"containerPort": 29500, "name": "c10d"}],
        "resources": {"limits": resources, "requests": resources},
        "volumeMounts": [{"mountPath": "/cache", "name": "dshm"}],
    }
    labels = {"torchx.pytorch.org/role-name": "train", "torchx.pytorch.org/replica-id": str(index)}
    volumes = [{"name": "dshm", "emptyDir": {"medium": "Memory"}}]
    return {
        "name": f"train-{index}",
        "replicas": 1,
        "template": {
            "metadata": {"annotations": {"sidecar.istio.io/inject": "false"}, "labels": labels},
            "spec": {"containers": [container], "restartPolicy": "Never", "volumes": volumes},
        },
    }


XPK = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: llama
  labels: {kueue.x-k8s.io/queue-name: multislice-queue, xpk.google.com/workload: llama}
spec:
  ttlSecondsAfterFinished: 43200
  failurePolicy:
    rules: [{action: FailJobSet, onJobFailureReasons: [PodFailurePolicy]}]
    maxRestarts: 0
  replicatedJobs:
  - name: slice-job
    replicas: 1
    template:
      spec:
        parallelism: 2
        completions: 2
        backoffLimit: 0
        completionMode: Indexed
        podFailurePolicy:
          rules:
          - action: FailJob
            onPodConditions: []
            onExitCodes: {containerName: gpu-image, operator: NotIn, values: [42, 43]}
        template:
          metadata: {labels: {xpk.google.com/workload: llama}}
          spec:
            schedulerName: default-scheduler
            restartPolicy: Never
            priorityClassName: medium
            nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-mega-80gb}
            hostNetwork: true
            dnsPolicy: ClusterFirstWithHostNet
            terminationGracePeriodSeconds: 30
            tolerations: [{operator: Exists, key: nvidia.com/gpu}]
            volumes: [{name: shared-memory, emptyDir: {medium: Memory}}]
            containers:
            - name: gpu-image
              image: ghcr.io/acme/train:1.0
              imagePullPolicy: Always
              env:
              - name: NODE_RANK
                valueFrom: {fieldRef: {fieldPath: "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}
              command:
              - bash
              - -c
              - |
                trap _sigterm SIGTERM;
                (torchrun --nnodes=2 --nproc-per-node=8 --node-rank=$NODE_RANK
                --master-addr=llama-slice-job-0-0.llama --master-port=29500 train.py) & PID=$!;
                wait $PID;
              resources: {limits: {nvidia.com/gpu: 8}}
              volumeMounts: [{name: shared-memory, mountPath: /dev/shm}]
"""
KUBEFLOW_SDK = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: w3c8d24a5b6f}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    numNodes: 2
    command:
    - bash
    - -c
    - |2

      read -r -d '' SCRIPT << EOM

      def train(lr):
          print(lr)

      train(**{'lr': 0.1})

      EOM
      printf "%s" "$SCRIPT" > "train.py"
      torchrun "train.py"
    env: [{name: NCCL_DEBUG, value: INFO}]
    resourcesPerNode:
      limits: {cpu: "8", memory: 64Gi, nvidia.com/gpu: "4"}
      requests: {cpu: "8", memory: 64Gi, nvidia.com/gpu: "4"}
"""
KUBEFLOW_SDK_TUNING = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: w3c8d24a5b6f}
spec:
  runtimeRef: {name: torchtune-llama3.2-1b}
  initializer:
    dataset: {storageUri: "hf://tatsu-lab/alpaca/data"}
    model: {storageUri: "hf://meta-llama/Llama-3.2-1B-Instruct"}
  trainer:
    numNodes: 1
    args: [dtype=bf16, batch_size=4, epochs=1]
    resourcesPerNode: {limits: {nvidia.com/gpu: "2"}, requests: {nvidia.com/gpu: "2"}}
"""
MPI = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: train}
spec:
  slotsPerWorker: 8
  mpiReplicaSpecs:
    Launcher:
      replicas: 1
      template: {spec: {containers: [{name: launcher, image: "a/b:1", command: COMMAND}]}}
    Worker:
      replicas: 2
      template: {spec: {containers: [{name: worker, image: "a/b:1", resources: {limits: {nvidia.com/gpu: 8}}}]}}
"""


@pytest.mark.parametrize(
    "manifest",
    [XPK, KUBEFLOW_SDK, KUBEFLOW_SDK_TUNING, torchx(1)],
    ids=["xpk", "kubeflow-sdk", "kubeflow-sdk-tuning", "torchx-one-replica"],
)
def test_a_manifest_comes_in_unchanged(manifest: str | Json) -> None:
    imported = ptcompile.import_manifests(manifest)
    assert imported.ok
    assert [(spec.same_world, spec.same_manifest) for spec in imported.found] == [(True, True)]


def refusal(manifest: str | Json) -> Diagnostic:
    """Return the only error of an import."""
    imported = ptcompile.import_manifests(manifest)
    assert not imported.found
    (finding,) = imported.diagnostics
    assert (finding.name, finding.severity) == ("not-importable", "error")
    return finding


def test_torchx_replicas_are_refused_at_their_tasks() -> None:
    finding = refusal(torchx(3))
    assert finding.path == ("spec", "tasks")
    assert "3 tasks of one pod start torchrun, as TorchX writes them" in finding.message
    assert (
        finding.help
        == "merge them into one task with replicas: 3, or write a TrainingJob with nodes: 3"
    )


@pytest.mark.parametrize(
    ("command", "launcher"),
    [
        ('[mpirun, -np, "16", python, train.py]', "mpirun"),
        ("[deepspeed, --hostfile, /x, train.py]", "deepspeed"),
    ],
)
def test_a_launcher_of_all_nodes_is_refused_with_a_way(command: str, launcher: str) -> None:
    finding = refusal(MPI.replace("COMMAND", command))
    assert f"from one pod, as {launcher} does" in finding.message
    assert "write a TrainingJob with nodes: 2, where torchrun starts the script" in (
        finding.help or ""
    )
