"""Cluster requirements of existing manifests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ptcompile
from tests.cli.running import here
from tests.conftest import GOOD, Case
from tests.operators.mpijob.test_pods import mpijob
from tests.world.test_joined import runtime, train_job, trainer


def requirements_of(source: Any, **options: Any) -> list[str]:
    needed = ptcompile.requires(source, **options)
    assert needed.ok
    return [
        f"{requirement.kind} {requirement.name} {requirement.version}".strip()
        for requirement in needed.requirements
    ]


def test_an_mpijob_requires_nodes_for_its_workers() -> None:
    worker = {
        "resources": {"limits": {"nvidia.com/gpu": 8, "rdma/hca": 1}},
        "envFrom": [{"secretRef": {"name": "s3"}}],
    }
    manifest = mpijob(worker=worker)
    manifest["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "team"}
    assert requirements_of(manifest) == [
        "kubernetes kubernetes 1.30",
        "operator mpi-operator 0.8",
        "crd mpijobs.kubeflow.org/v2beta1",
        "operator kueue 0.19",
        "crd clusterqueues.kueue.x-k8s.io/v1beta2",
        "crd localqueues.kueue.x-k8s.io/v1beta2",
        "crd workloads.kueue.x-k8s.io/v1beta2",
        "namespace ml",
        "object LocalQueue/team",
        "object Secret/s3",
        "resource nvidia.com/gpu",
        "resource rdma/hca",
        "pods 1 with no requests",
        "pods 2 with 8 nvidia.com/gpu, 1 rdma/hca",
    ]


def test_only_the_kind_of_runtime_that_a_train_job_names_is_required() -> None:
    own = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "t"},
    }
    own["spec"] = {"runtimeRef": {"kind": "TrainingRuntime", "name": "mine"}}
    of_cluster = {**own, "spec": {"runtimeRef": {"name": "torch-distributed"}}}
    cluster_crd = "crd clustertrainingruntimes.trainer.kubeflow.org/v1alpha1"
    own_crd = "crd trainingruntimes.trainer.kubeflow.org/v1alpha1"
    assert [crd in requirements_of(own) for crd in (cluster_crd, own_crd)] == [False, True]
    assert [crd in requirements_of(of_cluster) for crd in (cluster_crd, own_crd)] == [True, False]


def test_a_train_job_needs_what_the_pods_of_its_runtime_need() -> None:
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": "corpus"}}
    mine = runtime(pod={"volumes": [claim]}, resources={"limits": {"rdma/hca": 1}})
    job = train_job(trainer=trainer(resourcesPerNode={"limits": {"nvidia.com/gpu": 8}}))
    needed = requirements_of([mine, job])
    assert {
        "object PersistentVolumeClaim/corpus",
        "resource rdma/hca",
        "resource nvidia.com/gpu",
    } <= {*needed}


def test_objects_in_the_same_stream_are_not_required() -> None:
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    pod = {"containers": [{"name": "main", "image": "i:1"}], "volumes": [claim]}
    job = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": pod}
    brought = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": {},
    }
    assert "object PersistentVolumeClaim/data" in requirements_of(job)
    assert "object PersistentVolumeClaim/data" not in requirements_of(
        {"apiVersion": "v1", "kind": "List", "items": [job, brought]}
    )


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name)
def test_manifests_and_their_spec_have_the_same_requirements(case: Case) -> None:
    """Only the spec determines the oldest Kubernetes release and the profile's schedulers."""
    result = case.compile("jobset")
    if not result.ok:
        return
    of_spec = ptcompile.requires(case.spec, target="jobset", cluster=case.cluster).requirements
    of_manifests = ptcompile.requires(result.yaml(), cluster=case.cluster).requirements
    assert _comparable(of_manifests) == _comparable(of_spec)


def _comparable(requirements: tuple[ptcompile.Requirement, ...]) -> set[str]:
    """Return the names of namespaces, resources and objects, without queues and priorities, which only a spec has."""
    kinds = {"namespace", "resource", "object"}
    return {
        requirement.name
        for requirement in requirements
        if requirement.kind in kinds
        and not any(word in requirement.name for word in ("Queue/", "Priority"))
    }


def test_the_command_takes_manifests_and_specs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = next(one for one in GOOD if one.cluster is None)
    (tmp_path / "job.yaml").write_text(case.compile("jobset").yaml(), encoding="utf-8")
    (tmp_path / "spec.yaml").write_text(case.spec, encoding="utf-8")
    ran = here(
        capsys, "requires", tmp_path / "job.yaml", tmp_path / "spec.yaml", "--target", "volcano"
    )
    assert ran.status == 0
    assert "jobset" in ran.out
    assert "volcano" in ran.out
