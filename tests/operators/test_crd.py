"""Create-time CEL rules of the CRDs, with accepted and rejected specs for each."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kinds.model import Rejections
from ptcompile.operators import table as operators

Json = dict[str, Any]
TRAINER = "trainer.kubeflow.org/v1alpha1"
JOBSET = ("jobset.x-k8s.io/v1alpha2", "JobSet")
TRAINJOB, RUNTIME, PYTORCH = (
    (TRAINER, "TrainJob"),
    (TRAINER, "TrainingRuntime"),
    ("kubeflow.org/v1", "PyTorchJob"),
)
DEPENDS: Json = {
    "replicatedJobs": [
        {"name": "a"},
        {"name": "b", "dependsOn": [{"name": "a", "status": "Ready"}]},
    ]
}
ORDER: Json = {"startupPolicy": {"startupPolicyOrder": "InOrder"}}


def claims(**template: Any) -> Json:
    return {"volumeClaimPolicies": [{"templates": [template]}]}


def torch(*names: str) -> Json:
    return {
        "mlPolicy": {
            "torch": {"envInjection": {"targets": [{"jobName": "j", "containerNames": [*names]}]}}
        }
    }


# kind, spec, path of the rejection or None, part of the message (quoted from the CRD)
CASES: list[tuple[tuple[str, str], Json, str | None, str]] = [
    (JOBSET, {**ORDER, **DEPENDS}, "spec.replicatedJobs[1].dependsOn", "mutually exclusive"),
    (JOBSET, ORDER, "spec", "no such key: replicatedJobs"),
    (JOBSET, {**ORDER, "replicatedJobs": []}, None, ""),
    (JOBSET, DEPENDS, None, ""),
    (JOBSET, {"startupPolicy": {"startupPolicyOrder": "AnyOrder"}, **DEPENDS}, None, ""),
    (JOBSET, claims(metadata={"name": "a"}), None, ""),
    (JOBSET, claims(metadata={"namespace": ""}), None, ""),
    (
        JOBSET,
        claims(metadata={"namespace": "b"}),
        "spec.volumeClaimPolicies[0].templates[0].metadata.namespace",
        "set",
    ),
    (JOBSET, claims(), "spec.volumeClaimPolicies[0].templates[0]", "no such key: metadata"),
    (
        JOBSET,
        {"volumeClaimPolicies": [{}]},
        "spec.volumeClaimPolicies[0]",
        "no such key: templates",
    ),
    (JOBSET, {"volumeClaimPolicies": [{"templates": []}]}, None, ""),
    (
        RUNTIME,
        {"template": {"spec": {**ORDER, **DEPENDS}}},
        "spec.template.spec.replicatedJobs[1].dependsOn",
        "mutual",
    ),
    (
        RUNTIME,
        {"mlPolicy": {"torch": {}, "mpi": {}}},
        "spec.mlPolicy.mpi",
        "Only one of the policy",
    ),
    (RUNTIME, {"mlPolicy": {"torch": {}, "mpi": None}}, None, ""),
    (RUNTIME, {"mlPolicy": {"jax": {}}}, None, ""),
    (
        RUNTIME,
        {"mlPolicy": {"mpi": {"numProcPerNode": 0}}},
        "spec.mlPolicy.mpi.numProcPerNode",
        "mpiPolicy must be >=",
    ),
    (
        RUNTIME,
        {"mlPolicy": {"flux": {"numProcPerNode": 0}}},
        "spec.mlPolicy.flux.numProcPerNode",
        "fluxPolicy must be",
    ),
    (RUNTIME, {"mlPolicy": {"mpi": {"numProcPerNode": 1}}}, None, ""),
    (
        RUNTIME,
        torch("a", "node"),
        "spec.mlPolicy.torch.envInjection.targets[0].containerNames[1]",
        "main node",
    ),
    (RUNTIME, torch("a"), None, ""),
    (TRAINJOB, {"managedBy": "x"}, "spec.managedBy", "ManagedBy must be"),
    (TRAINJOB, {"managedBy": "kueue.x-k8s.io/multikueue"}, None, ""),
    (
        TRAINJOB,
        {"trainer": {"numProcPerNode": 0}},
        "spec.trainer.numProcPerNode",
        "greater than or equal to 1",
    ),
    (TRAINJOB, {"trainer": {"numProcPerNode": 1}}, None, ""),
    (
        TRAINJOB,
        {"initializer": {"model": {"storageUri": "a/b"}}},
        "spec.initializer.model.storageUri",
        "valid URI",
    ),
    (
        TRAINJOB,
        {"initializer": {"dataset": {"storageUri": "hf:/a"}}},
        "spec.initializer.dataset.storageUri",
        "valid",
    ),
    (
        TRAINJOB,
        {"initializer": {"dataset": {"storageUri": ""}, "model": {"storageUri": "s3://b"}}},
        None,
        "",
    ),
    (
        PYTORCH,
        {"pytorchReplicaSpecs": {"Worker": {"replicas": -1}}},
        "spec.pytorchReplicaSpecs.Worker.replicas",
        "neg",
    ),
    (
        PYTORCH,
        {"pytorchReplicaSpecs": {"Worker": {"replicas": 0}, "Master": {"replicas": -1}}},
        None,
        "",
    ),
]


def check_rules(kind: tuple[str, str], spec: Json, path: str | None, text: str) -> None:
    problems = list(
        operators.kind_named(kind)
        .rejections()
        .crd_rules(
            {"apiVersion": kind[0], "kind": kind[1], "metadata": {"name": "x"}, "spec": spec}
        )
    )
    assert [problem.message.partition(": ")[0] for problem in problems] == ([path] if path else [])
    for problem in problems:
        assert text in problem.message
        assert (problem.stage, problem.authority) == ("apply", "kube-apiserver")
        assert problem.help


@pytest.mark.parametrize(
    ("metadata", "path", "text"),
    [
        ({"name": "a-1"}, None, ""),
        ({"name": "1a"}, "metadata.name", "RFC 1035"),
        ({"name": "a.b"}, "metadata.name", "RFC 1035"),
        ({"name": "a" * 63}, None, ""),
        ({"name": "a" * 64}, "metadata.name", "no more than 63"),
        ({"generateName": "a-"}, None, ""),
        ({"generateName": "a.b-"}, "metadata.generateName", "RFC 1035"),
        ({}, None, ""),
    ],
)
def test_names_of_train_jobs_are_limited(metadata: Json, path: str | None, text: str) -> None:
    problems = list(operators.kind_named(TRAINJOB).rejections().crd_rules({"metadata": metadata}))
    assert [problem.message.partition(": ")[0] for problem in problems] == ([path] if path else [])
    assert all(text in problem.message for problem in problems)


_KINDS_WITH_RULES = sorted(
    key
    for key, (_, kind) in operators.KINDS.items()
    if kind.rejections().crd_rules is not Rejections().crd_rules
)


@pytest.mark.parametrize("kind", _KINDS_WITH_RULES, ids="/".join)
@pytest.mark.parametrize("junk", [None, 1, "x", [], [1], {"a": 1}])
def test_invalid_data_is_ignored(kind: tuple[str, str], junk: Any) -> None:
    keys = (
        "replicatedJobs",
        "volumeClaimPolicies",
        "mlPolicy",
        "template",
        "trainer",
        "initializer",
        "managedBy",
    )
    list(operators.kind_named(kind).rejections().crd_rules({"metadata": junk, "spec": junk}))
    if junk != "x":
        assert (
            list(
                operators.kind_named(kind)
                .rejections()
                .crd_rules({"metadata": {}, "spec": dict.fromkeys(keys, junk)})
            )
            == []
        )
