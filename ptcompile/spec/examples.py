"""An example for every field of a TrainingJob: editors show them, and `ptcompile explain spec.FIELD` compiles them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_POD_FIELDS: Final[dict[str, Any]] = {
    "image": "ghcr.io/acme/train:1.0",
    "command": ["python", "train.py"],
    "args": ["--lr", "1e-4"],
    "workingDir": "/workspace",
    "ports": [{"containerPort": 8080}],
    "imagePullPolicy": "IfNotPresent",
    "resources": {"cpu": 32, "memory": "256Gi", "gpu": 8},
    "env": {"NCCL_DEBUG": "INFO", "HF_TOKEN": {"secretKeyRef": {"name": "huggingface", "key": "token"}}},
    "envFrom": [{"configMapRef": {"name": "training"}}],
    "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "datasets"}}],
    "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    "restartPolicy": "OnFailure",
    "serviceAccountName": "training",
    "imagePullSecrets": [{"name": "registry"}],
    "nodeSelector": {"topology.kubernetes.io/zone": "us-east1-b"},
    "tolerations": [{"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}],
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "pool", "operator": "In", "values": ["a", "b"]}]}]
            }
        }
    },
    "priorityClassName": "high",
    "securityContext": {"runAsUser": 1000},
    "podSecurityContext": {"fsGroup": 1000},
    "schedulerName": "bin-packing",
    "hostNetwork": True,
    "terminationGracePeriodSeconds": 300,
    "podLabels": {"team": "nlp"},
    "podAnnotations": {"prometheus.io/scrape": "true"},
    "podTemplate": {"spec": {"runtimeClassName": "nvidia"}},
}
EXAMPLES: Final[dict[str, dict[str, Any]]] = {
    "Metadata": {
        "name": "llama-sft",
        "generateName": "llama-sft-",
        "namespace": "research",
        "labels": {"team": "nlp"},
        "annotations": {"owner": "nlp@acme.example"},
    },
    "ResourceList": {
        "cpu": 32,
        "memory": "256Gi",
        "gpu": 8,
        "ephemeralStorage": "100Gi",
        "devices": {"rdma/hca": 8},
    },
    "Resources": {"requests": {"cpu": 16}, "limits": {"cpu": None}},
    "RoleSpec": {"replicas": 3},
    "SideRole": {"replicas": 2},
    "Elastic": {
        "defaults": "torchrun",
        "nnodes": "2:4",
        "nprocPerNode": 2,
        "startMethod": "forkserver",
        "monitorInterval": 1,
        "maxRestarts": 3,
        "rdzvBackend": "c10d",
        "rdzvId": "llama-sft",
        "rdzvEndpoint": "etcd.storage:2379",
        "rdzvConfigs": {"join_timeout": 1800},
    },
    "RunPolicy": {
        "cleanPodPolicy": "All",
        "ttlSecondsAfterFinished": 86400,
        "activeDeadlineSeconds": 172800,
        "backoffLimit": 3,
        "suspend": True,
        "onPodFailure": "RestartJob",
        "onDisruption": "Ignore",
        "successPolicy": "AllNodes",
        "restartInPlace": {"exitCodes": [137], "action": "RestartAllContainers"},
    },
    "RestartInPlace": {"exitCodes": [137], "action": "RestartAllContainers"},
    "Names": {
        "container": "trainer",
        "node": "trainer",
        "master": "leader",
        "worker": "follower",
        "masterContainer": "leader",
        "workerContainer": "follower",
        "task": "trainer",
        "service": "train-hosts",
    },
    "RuntimeRef": {"name": "torch-distributed", "kind": "TrainingRuntime"},
    "Topology": {"required": "rack", "preferred": "rack"},
    "JobSpec": {
        "target": "job",
        "minAvailable": 1,
        "script": "train.py",
        "module": "acme.train",
        "nodes": 4,
        "elastic": {"nnodes": "2:4", "maxRestarts": 3},
        "master": {"resources": {"memory": "768Gi"}},
        "worker": {"replicas": 3},
        "accelerator": "nvidia-h100",
        "fabric": "efa",
        "spot": True,
        "podSecurity": "restricted",
        "sharedMemory": "64Gi",
        "runPolicy": {"backoffLimit": 3, "ttlSecondsAfterFinished": 86400},
        "queue": "research",
        "priority": "high",
        "topology": {"required": "rack"},
        "masterPort": 29500,
        "names": {"container": "trainer"},
        "runtimeRef": {"name": "torch-distributed"},
        "manifest": {"job": {"spec": {"podReplacementPolicy": "Failed"}}},
        "roles": {"loader": {"command": ["python", "load.py"], "replicas": 2}},
    },
}
"""By model, an example for each field, under its YAML name. Fields of Kubernetes' pods are the same in each model."""


def example(model: str, field: str) -> Any:
    """Return the example of a field, or None if it has none: the older spelling of a name, and constants."""
    inherited = {"Resources": "ResourceList"}
    for name in (model, inherited.get(model, "")):
        if field in EXAMPLES.get(name, {}):
            return EXAMPLES[name][field]
    return _POD_FIELDS.get(field) if model in {"JobSpec", "RoleSpec", "SideRole"} else None
