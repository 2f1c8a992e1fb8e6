"""The world of a HyperPodPyTorchJob: names and variables of its pods, and the rules that see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.operators.hyperpod.pods import check_children
from ptcompile.operators.kueue.webhooks.pod_sets import pod_sets_of
from ptcompile.operators.table import expand, templates_of

JOB = """\
apiVersion: sagemaker.amazonaws.com/v1
kind: HyperPodPyTorchJob
metadata: {name: llama, namespace: ml, labels: {kueue.x-k8s.io/queue-name: gpus}}
spec:
  nprocPerNode: "8"
  runPolicy:
    jobMaxRetryCount: 10
    restartPolicy: {numRestartBeforeFullJobRestart: 3, evalPeriodSeconds: 21600, maxFullJobRestarts: 1}
    cleanPodPolicy: All
    logMonitoringConfiguration: [{name: JobStart, logPattern: '.*Loss:.*', expectedStartCutOffInSeconds: 240}]
  replicaSpecs:
    - name: pods
      replicas: 2
      template:
        metadata: {labels: {app: train}}
        spec:
          volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]
          containers:
            - name: pytorch
              image: ghcr.io/acme/train:1.0
              command: [hyperpodrun, --tee=3, --nproc_per_node=8, --nnodes=2, /fsdp/train.py]
              ports: [{containerPort: 8080}]
              resources:
                requests: {cpu: 8, memory: 512Gi, nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 32}
                limits: {memory: 512Gi, nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 32}
              volumeMounts: [{name: shm, mountPath: /dev/shm}]
"""
"""As aws-samples/awsome-distributed-training, llama3_1_8b-fsdp-hpto.yaml."""


def job(*command: str, **replica: Any) -> dict[str, Any]:
    manifest: dict[str, Any] = yaml.safe_load(JOB)
    (spec,) = manifest["spec"]["replicaSpecs"]
    spec.update(replica)
    if command:
        container(manifest)["command"] = list(command)
    return manifest


def container(manifest: dict[str, Any]) -> dict[str, Any]:
    (only,) = manifest["spec"]["replicaSpecs"][0]["template"]["spec"]["containers"]
    assert isinstance(only, dict)
    return only


def codes(manifest: dict[str, Any]) -> list[str]:
    return sorted({d.code for d in ptcompile.lint([manifest]).diagnostics if d.severity != "note"})


def test_pods_have_names_label_and_variables_of_the_operator() -> None:
    first, second = ptcompile.simulate(JOB).pods
    assert [first.name, second.name] == ["llama-pods-0", "llama-pods-1"]
    assert [first.env[name] for name in ("NNODES", "NPROC_PER_NODE")] == ["2", "8"]
    assert expand(job()).pods[0].labels == {"app": "train", "HPJob": "llama"}
    assert expand(job()).services == ()


def test_number_of_nodes_is_the_operators_and_that_of_processes_the_containers() -> None:
    manifest = job()
    container(manifest)["env"] = [
        {"name": "NNODES", "value": "7"},
        {"name": "NPROC_PER_NODE", "value": "4"},
    ]
    pod = ptcompile.simulate([manifest]).pods[0]
    assert [pod.env[name] for name in ("NNODES", "NPROC_PER_NODE")] == ["2", "4"]


def test_operator_tells_hyperpodrun_how_to_meet() -> None:
    command = (
        "hyperpodrun",
        "--nnodes=4",
        "--nproc-per-node=8",
        "--rdzv-backend=c10d",
        "--rdzv-endpoint=a:1",
        "t.py",
    )
    rendezvous = ptcompile.simulate([job(*command)]).to_dict()["jobs"][0]["rendezvous"]
    assert (rendezvous["backend"], rendezvous["endpoint"], rendezvous["nodes"]) == (
        "hyperpod",
        None,
        [2, 2],
    )
    assert (rendezvous["processes"], rendezvous["nodeRank"]) == ([16, 16], "assigned at rendezvous")


_IN_SHELL = "exec hyperpodrun --server-port=${AGENT_PORT} --nnodes=${NNODES} --nproc-per-node=${NPROC_PER_NODE} t.py"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ((), []),
        (("bash", "-c", _IN_SHELL), []),
        (
            (
                "hyperpodrun",
                "--nnodes=2:2",
                "--nproc-per-node=8",
                "--shutdown-signal",
                "SIGTERM",
                "t.py",
            ),
            [],
        ),
        (("hyperpodrun", "--nnodes=2", "--nproc-per-node=16", "t.py"), ["PTC103"]),
        (("hyperpodrun", "--nnodes=2", "t.py"), ["PTC104"]),
        (("torchrun", "--nproc-per-node=8", "t.py"), ["PTC408"]),
    ],
)
def test_launch_rules_see_the_pods(command: tuple[str, ...], expected: list[str]) -> None:
    assert codes(job(*command)) == expected


def test_other_spelling_of_the_kind_and_unknown_fields_are_read() -> None:
    manifest = job("hyperpodrun", "--nproc-per-node=16", "t.py")
    manifest["spec"]["runPolicy"]["fieldOfAnotherRelease"] = 1
    assert codes(manifest) == codes({**manifest, "kind": "HyperPodPytorchJob"}) == ["PTC103"]


def test_rules_of_pods_see_the_template() -> None:
    manifest = job()
    del (
        manifest["spec"]["replicaSpecs"][0]["template"]["spec"]["volumes"],
        container(manifest)["volumeMounts"],
    )
    assert codes(manifest) == ["PTC302"]


def test_metadata_that_the_aws_client_writes_twice_has_no_finding() -> None:
    """hyperpod-pytorch-job-template 1.5, v1_1/model.py: the same metadata for the job and its template."""
    manifest = job()
    labels = {"kueue.x-k8s.io/queue-name": "gpus", "kueue.x-k8s.io/priority-class": "high"}
    annotations = {
        "kueue.x-k8s.io/podset-preferred-topology": "topology.k8s.aws/network-node-layer-1"
    }
    metadata = {"name": "llama", "namespace": "ml", "labels": labels, "annotations": annotations}
    manifest["metadata"] = metadata
    manifest["spec"]["replicaSpecs"][0]["template"]["metadata"] = metadata
    assert codes(manifest) == []


def test_kueue_reserves_for_spares_too() -> None:
    manifest = job(spares=1)
    assert [(item.name, item.pods) for item in pod_sets_of(manifest)] == [("pods", 3)]
    expansion = expand(manifest)
    assert (len(expansion.pods), expansion.notes) == (
        2,
        ("Kueue reserves resources for pods in addition, as spares: 1",),
    )


@pytest.mark.parametrize("replicas", [None, 0, -1])
def test_job_without_replicas_has_no_pods(replicas: int | None) -> None:
    assert len(expand(job(replicas=replicas)).pods) == 0


def test_the_sentences_say_what_a_failure_causes() -> None:
    manifest = job()
    texts = ptcompile.simulate([manifest]).to_dict()["jobs"][0]["onFailure"]
    assert [text.partition(":")[0] for text in texts] == [
        "a process that fails or hangs",
        "jobMaxRetryCount 10",
        "numRestartBeforeFullJobRestart 3",
        "maxFullJobRestarts 1",
    ]
    del manifest["spec"]["runPolicy"]
    assert len(ptcompile.simulate([manifest]).to_dict()["jobs"][0]["onFailure"]) == 1


def test_requirements_name_the_operator() -> None:
    needed = [(item.kind, item.name) for item in ptcompile.requires(JOB).requirements]
    assert ("crd", "hyperpodpytorchjobs.sagemaker.amazonaws.com/v1") in needed
    assert ("operator", "amazon-sagemaker-hyperpod-training-operator") in needed


def _unknown_policy(manifest: dict[str, Any]) -> None:
    manifest["spec"]["replicaSpecs"][0]["template"]["spec"]["restartPolicy"] = "Sometimes"


def _missing_volume(manifest: dict[str, Any]) -> None:
    container(manifest)["volumeMounts"][0]["name"] = "other"


@pytest.mark.parametrize(
    ("break_pod", "end"),
    [(_unknown_policy, "restartPolicy"), (_missing_volume, "name"), (None, "")],
)
def test_pods_are_checked_as_the_api_server_does(
    break_pod: Callable[[dict[str, Any]], None] | None, end: str
) -> None:
    manifest = job()
    if break_pod is not None:
        break_pod(manifest)
    problems = FieldErrors()
    check_children(manifest, ApiServer(), problems)
    assert [problem.path[-1] for problem in problems] == ([end] if end else [])


def test_templates_are_those_of_the_replica_specs() -> None:
    manifest = job()
    (template,) = templates_of(manifest)
    assert (template.path, template.role, template.replicas) == (
        ("spec", "replicaSpecs", 0, "template"),
        "pods",
        2,
    )
