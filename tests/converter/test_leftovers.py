"""Labels, annotations and host names of the first operator in the output."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

import ptcompile
from tests.converter.jobs import Json, pytorchjob, stream

SPEC = """
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: p}
spec: {image: "img:1", script: train.py, nodes: 2, resources: {cpu: 1, memory: 1Gi}}
"""
TOPOLOGY = "alpha.jobset.sigs.k8s.io/exclusive-topology"


def jobset(**annotations: str) -> Json:
    container = {"name": "node", "image": "img:1", "command": ["python", "train.py"]}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    job = {"spec": {"parallelism": 1, "completions": 1, "backoffLimit": 0, "template": template}}
    spec = {"replicatedJobs": [{"name": "node", "template": job}]}
    metadata = {"name": "s", "annotations": annotations}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata, "spec": spec}


def config(text: str) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"hosts": text}}


def severities(result: Any, text: str) -> set[str]:
    return {item.severity for item in result.diagnostics if text in item.message}


@pytest.mark.parametrize("target", ["pytorchjob", "job", "volcano"])
def test_exclusive_topology_is_a_loss(target: str) -> None:
    manifest = jobset(**{TOPOLOGY: "rack"})
    assert "error" in severities(ptcompile.convert(manifest, target=target), TOPOLOGY)
    lossy = ptcompile.convert(manifest, target=target, lossy=True)
    assert severities(lossy, TOPOLOGY) == {"warning"}
    assert lossy.manifests
    assert TOPOLOGY not in lossy.yaml(), "another operator does not read it"


@pytest.mark.parametrize("target", ["jobset", "trainjob", "pytorchjob"])
def test_partial_admission_is_a_loss(target: str) -> None:
    """Kueue admits only batch/v1 Jobs with fewer pods (Kueue 0.19, pkg/controller/jobs/job)."""
    partial = "kueue.x-k8s.io/job-min-parallelism"
    manifest = deepcopy(ptcompile.compile(SPEC, target="job").unwrap()[-1])
    manifest["metadata"] |= {"labels": {"kueue.x-k8s.io/queue-name": "q"}, "annotations": {partial: "1"}}
    service = ptcompile.compile(SPEC, target="job").unwrap()[0]
    assert severities(ptcompile.convert(stream(service, manifest), target=target), partial) == {"error"}
    lossy = ptcompile.convert(stream(service, manifest), target=target, lossy=True)
    assert severities(lossy, partial) == {"warning"}
    assert partial not in lossy.yaml()
    assert "kueue.x-k8s.io/queue-name" in lossy.yaml()


def test_labels_of_one_s_own_stay() -> None:
    result = ptcompile.convert(pytorchjob(labels={"training.example.org/x": "y"}), target="jobset")
    assert result.manifests[0]["metadata"]["labels"] == {"training.example.org/x": "y"}
    lost = ptcompile.convert(pytorchjob(labels={"training.kubeflow.org/x": "y"}), target="jobset", lossy=True)
    assert "training.kubeflow.org/x" not in lost.yaml()
    assert severities(lost, "training.kubeflow.org/x means something to") == {"warning"}


def test_hosts_in_commands_and_config_maps_become_those_of_the_same_rank() -> None:
    job = pytorchjob()
    for role in ("Master", "Worker"):
        container = job["spec"]["pytorchReplicaSpecs"][role]["template"]["spec"]["containers"][0]
        container["args"] = ["--store=p-master-0:1234"]
    hosts = config("p-master-0 slots=8\np-worker-1 slots=8\nx-p-worker-1")
    result = ptcompile.convert(stream(hosts, job), target="jobset")
    assert result.ok, result.diagnostics
    assert result.manifests[0]["data"]["hosts"] == "p-node-0-0.p slots=8\np-node-0-2.p slots=8\nx-p-worker-1"
    assert "--store=p-node-0-0.p:1234" in result.yaml()
    assert severities(result, "the host p-master-0") == {"note"}


def test_hosts_in_other_objects_are_an_error() -> None:
    spec = {"type": "ExternalName", "externalName": "p-master-0"}
    alias = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": spec}
    result = ptcompile.convert(stream(alias, pytorchjob()), target="jobset")
    assert severities(result, "Service/a names the host p-master-0") == {"error"}
