"""Labels, annotations and host names of the first operator in the output."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

import ptcompile
from ptcompile.converter.leftovers import names_variable, with_new_variables
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
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": metadata,
        "spec": spec,
    }


def config(text: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c"},
        "data": {"hosts": text},
    }


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
    manifest["metadata"] |= {
        "labels": {"kueue.x-k8s.io/queue-name": "q"},
        "annotations": {partial: "1"},
    }
    service = ptcompile.compile(SPEC, target="job").unwrap()[0]
    assert severities(ptcompile.convert(stream(service, manifest), target=target), partial) == {
        "error"
    }
    lossy = ptcompile.convert(stream(service, manifest), target=target, lossy=True)
    assert severities(lossy, partial) == {"warning"}
    assert partial not in lossy.yaml()
    assert "kueue.x-k8s.io/queue-name" in lossy.yaml()


def test_labels_of_one_s_own_stay() -> None:
    result = ptcompile.convert(pytorchjob(labels={"training.example.org/x": "y"}), target="jobset")
    assert result.manifests[0]["metadata"]["labels"] == {"training.example.org/x": "y"}
    lost = ptcompile.convert(
        pytorchjob(labels={"training.kubeflow.org/x": "y"}), target="jobset", lossy=True
    )
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
    assert (
        result.manifests[0]["data"]["hosts"]
        == "p-node-0-0.p slots=8\np-node-0-2.p slots=8\nx-p-worker-1"
    )
    assert "--store=p-node-0-0.p:1234" in result.yaml()
    assert severities(result, "the host p-master-0") == {"note"}


def test_hosts_in_other_objects_are_an_error() -> None:
    spec = {"type": "ExternalName", "externalName": "p-master-0"}
    alias = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": spec}
    result = ptcompile.convert(stream(alias, pytorchjob()), target="jobset")
    assert severities(result, "Service/a names the host p-master-0") == {"error"}


INDEX = "JOB_COMPLETION_INDEX"


def indexed_job(script: str, **env: str) -> Json:
    """Return an Indexed Job of two nodes with its hand-written Service."""
    container = {
        "name": "train",
        "image": "img:1",
        "command": ["sh", "-c", script],
        "env": [{"name": name, "value": value} for name, value in env.items()],
        "resources": {
            "requests": {"cpu": "1", "memory": "1Gi"},
            "limits": {"cpu": "1", "memory": "1Gi"},
        },
    }
    pod = {"subdomain": "hosts", "restartPolicy": "Never", "containers": [container]}
    spec = {
        "completionMode": "Indexed",
        "completions": 2,
        "parallelism": 2,
        "template": {"spec": pod},
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j"},
        "spec": {**spec, "backoffLimit": 0},
    }
    service = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {"job-name": "j"}}
    return stream(
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "hosts"}, "spec": service}, job
    )


def torchrun(rank: str) -> str:
    """Return a script that no field of a spec replaces."""
    options = f"--nnodes=2 --nproc-per-node=1 --node-rank={rank} --master-addr=$MASTER_ADDR --master-port=29500"
    return f"ls /data && torchrun {options} train.py"


def commands(manifests: Any) -> str:
    return str([manifest for manifest in manifests if manifest["kind"] != "Service"])


@pytest.mark.parametrize("target", ["pytorchjob", "volcano"])
@pytest.mark.parametrize("rank", [f"${INDEX}", f"${{{INDEX}}}", f"$(({INDEX} + 0))"])
def test_the_index_of_a_job_becomes_the_rank(target: str, rank: str) -> None:
    result = ptcompile.convert(indexed_job(torchrun(rank), MASTER_ADDR="j-0.hosts"), target=target)
    assert result.ok, result.diagnostics
    assert torchrun(rank.replace(INDEX, "RANK")) in commands(result.manifests)
    assert "j-0.hosts" not in commands(result.manifests), (
        "the operator sets the address of its own pod"
    )
    assert INDEX not in commands(result.manifests)
    (note,) = [item for item in result.diagnostics if INDEX in item.message]
    assert note.severity == "note"
    assert "becomes RANK" in note.message


@pytest.mark.parametrize("target", ["trainjob", "jobset"])
def test_the_index_stays_where_the_new_pods_have_it(target: str) -> None:
    result = ptcompile.convert(
        indexed_job(torchrun(f"${INDEX}"), MASTER_ADDR="j-0.hosts"), target=target
    )
    assert result.ok, result.diagnostics
    assert torchrun(f"${INDEX}") in commands(result.manifests)


def test_another_address_is_no_difference_between_operators() -> None:
    job = indexed_job(torchrun(f"${INDEX}"), MASTER_ADDR="store.example.com")
    result = ptcompile.convert(job, target="pytorchjob")
    assert not result.ok
    assert "MASTER_ADDR" in str(result.diagnostics)


def test_a_value_that_is_not_the_rank_is_not_renamed() -> None:
    """The pods of a Volcano Job have RANK too, but other values where a second role is counted."""
    result = ptcompile.convert(pytorchjob(), target="volcano")
    assert "becomes" not in str([item.message for item in result.diagnostics])


def test_only_commands_are_renamed() -> None:
    spec = {
        "env": {"X": INDEX},
        "args": [f"--rank=${INDEX}", f"MY_{INDEX}"],
        "roles": {"a": {"command": [INDEX]}},
    }
    assert names_variable(spec, INDEX)
    assert not names_variable({"env": {"X": INDEX}, "args": [f"MY_{INDEX}"]}, INDEX)
    assert with_new_variables(spec, {INDEX: "RANK"}) == {
        "env": {"X": INDEX},
        "args": ["--rank=$RANK", f"MY_{INDEX}"],
        "roles": {"a": {"command": ["RANK"]}},
    }
