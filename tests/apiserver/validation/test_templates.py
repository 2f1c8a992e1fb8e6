"""Pod templates in operators' kinds: problems of the objects that the operators create."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver.validation.templates import template_problems
from ptcompile.kubernetes.requests import ApiServer

INV, R, NS, NF = "invalid-value", "required-value", "unsupported-value", "not-found-value"
RJ = "spec.replicatedJobs[0].template.spec"
PATCH = "spec.runtimePatches.0.trainingRuntimeSpec.template.spec.replicatedJobs.0.template.spec.template.spec"
SHOWN = "spec.runtimePatches[0].trainingRuntimeSpec.template.spec.replicatedJobs[0].template.spec.template.spec"
CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}

ROWS: list[tuple[str, str, dict[str, Any], list[str]]] = [
    (kind, kind, {}, []) for kind in ("pytorch", "volcano", "jobset", "runtime", "trainjob")
] + [
    (
        "rule 17 holds for pods",
        "pytorch",
        {"T.spec.containers.0.image": "i "},
        [f"spec.pytorchReplicaSpecs.Master.template.spec.containers[0].image {INV}"],
    ),
    (
        "docs/facts/training-operator.md#pods-and-services: the template's restartPolicy is overwritten",
        "pytorch",
        {"T.spec.restartPolicy": "x"},
        [],
    ),
    (
        "docs/facts/training-operator.md#fields: nothing checks the replica's",
        "pytorch",
        {"spec.pytorchReplicaSpecs.Master.restartPolicy": "onfailure"},
        [f"spec.pytorchReplicaSpecs.Master.restartPolicy {NS}"],
    ),
    (
        "docs/facts/training-operator.md#pods-and-services: ExitCode becomes Never",
        "pytorch",
        {"spec.pytorchReplicaSpecs.Master.restartPolicy": "ExitCode"},
        [],
    ),
    (
        "labels of the pods",
        "volcano",
        {"T.metadata": {"labels": {"a": "-"}}},
        [f"spec.tasks[0].template.metadata.labels {INV}"],
    ),
    (
        "rule 150",
        "volcano",
        {"T.spec.restartPolicy": "never"},
        [f"spec.tasks[0].template.spec.restartPolicy {NS}"],
    ),
    (
        "a claim of the controller",
        "volcano",
        {"spec.volumes": [{"mountPath": "/d", "volumeClaim": {}}]},
        [
            f"spec.volumes[0].volumeClaim.accessModes {R}",
            f"spec.volumes[0].volumeClaim.resources[storage] {R}",
        ],
    ),
    (
        "operators/README: parallelism alone",
        "jobset",
        {"spec.replicatedJobs.0.template.spec.parallelism": 2},
        [f"{RJ}.completions {R}"],
    ),
    (
        "operators/README: Always",
        "jobset",
        {"T.spec.restartPolicy": "Always"},
        [f"{RJ}.template.spec.restartPolicy {R}"],
    ),
    (
        "operators/README: completionMode",
        "jobset",
        {"spec.replicatedJobs.0.template.spec.completionMode": "x"},
        [f"{RJ}.completionMode {NS}"],
    ),
    (
        "operators/README: backoffLimit",
        "jobset",
        {"spec.replicatedJobs.0.template.spec.backoffLimit": -1},
        [f"{RJ}.backoffLimit {INV}"],
    ),
    (
        "operators/README: selector",
        "jobset",
        {"spec.replicatedJobs.0.template.spec.selector": {"matchLabels": {"a": "b"}}},
        [f"{RJ}.selector {INV}"],
    ),
    (
        "operators/README: image",
        "jobset",
        {"T.spec.containers.0.image": ...},
        [f"{RJ}.template.spec.containers[0].image {R}"],
    ),
    (
        "docs/facts/jobset.md#fields: restartPolicy and completionMode are set",
        "jobset",
        {"spec.replicatedJobs.0.template.spec.completions": 2, "T.spec.restartPolicy": ...},
        [],
    ),
    (
        "docs/facts/jobset.md#fields: volumes of volumeClaimPolicies",
        "jobset",
        {
            "spec.volumeClaimPolicies": [{"templates": [CLAIM]}],
            "T.spec.containers.0.volumeMounts": [{"name": "data", "mountPath": "/d"}],
        },
        [],
    ),
    (
        "rule 92",
        "jobset",
        {"T.spec.containers.0.volumeMounts": [{"name": "data", "mountPath": "/d"}]},
        [f"{RJ}.template.spec.containers[0].volumeMounts[0].name {NF}"],
    ),
    (
        "docs/facts/trainer.md#what-is-built: completions are Trainer's",
        "runtime",
        {"spec.template.spec.replicatedJobs.0.template.spec.parallelism": 2},
        [],
    ),
    (
        "without mlPolicy they are not",
        "runtime",
        {"spec.mlPolicy": ..., "spec.template.spec.replicatedJobs.0.template.spec.parallelism": 2},
        [f"spec.template.spec.replicatedJobs[0].template.spec.completions {R}"],
    ),
    (
        "trainer.env",
        "trainjob",
        {"spec.trainer.env": [{"name": "A=B"}]},
        [f"spec.trainer.env[0].name {INV}"],
    ),
    (
        "resourcesPerNode",
        "trainjob",
        {"spec.trainer.resourcesPerNode": {"limits": {"gpu": 1}}},
        [f"spec.trainer.resourcesPerNode.limits[gpu] {INV}"],
    ),
    (
        "resourcesPerNode is merged over the runtime's",
        "trainjob",
        {"spec.trainer.resourcesPerNode": {"requests": {"nvidia.com/gpu": 1}}},
        [],
    ),
    (
        "patches: nothing is called missing",
        "trainjob",
        {PATCH: {"containers": [{"name": "node"}]}},
        [],
    ),
    (
        "patches",
        "trainjob",
        {PATCH: {"tolerations": [{}], "nodeSelector": {"a b": "c"}}},
        [
            f"{SHOWN}.nodeSelector {INV}",
            f"{SHOWN}.tolerations[0].operator {INV}",
        ],
    ),
]


NAMES = {
    "serviceAccountName": "A",
    "volumes": [{"name": "A"}],
    "containers": [{"name": "A", "env": [{"name": "A=B"}]}],
}
ROWS += [
    (
        "patches, names",
        "trainjob",
        {PATCH: NAMES},
        [
            f"{SHOWN}.serviceAccountName {INV}",
            f"{SHOWN}.volumes[0].name {INV}",
            f"{SHOWN}.containers[0].name {INV}",
            f"{SHOWN}.containers[0].env[0].name {INV}",
        ],
    ),
]


@pytest.mark.parametrize(("why", "base", "changes", "expected"), ROWS)
def test_mistakes_in_a_template_are_found_when_pods_are_created(
    why: str, base: str, changes: dict[str, Any], expected: list[str], verdict: Any
) -> None:
    assert verdict(base, changes, stage="pod") == expected, why
    assert verdict(base, changes, stage="apply") == []


def test_child_problems_are_outside_the_template() -> None:
    pod = {"containers": [{"name": "main", "image": "i"}], "restartPolicy": "Always"}
    jobs = [{"name": "r", "template": {"spec": {"template": {"spec": pod}}}}]
    manifest = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "spec": {"replicatedJobs": jobs},
    }
    (problem,) = template_problems(manifest, ApiServer())
    assert problem.path == ("spec", "replicatedJobs", 0, "template", "spec")
    assert problem.message.startswith(
        "spec.replicatedJobs[0].template.spec.template.spec.restartPolicy: Required value"
    )


def test_other_kinds_have_no_templates() -> None:
    assert (
        list(template_problems({"apiVersion": "v1", "kind": "Pod", "spec": {}}, ApiServer())) == []
    )


@pytest.mark.parametrize(
    ("spec", "field", "authority"),
    [
        ({"priorityClassName": "A"}, "priorityClassName", "ptcompile"),
        ({"restartPolicy": "ExitCode"}, "restartPolicy", "ptcompile"),
        ({"restartPolicy": "never"}, "restartPolicy", "kube-apiserver"),
        ({"serviceAccountName": "A"}, "serviceAccountName", "kube-apiserver"),
    ],
)
def test_each_problem_of_a_template_has_its_authority(
    spec: dict[str, Any], field: str, authority: str
) -> None:
    pod = {"containers": [{"name": "main", "image": "i"}], **spec}
    tasks = [{"name": "t", "replicas": 1, "template": {"spec": pod}}]
    manifest = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "spec": {"tasks": tasks}}
    assert [
        (problem.path[-1], problem.authority)
        for problem in template_problems(manifest, ApiServer())
    ] == [(field, authority)]
