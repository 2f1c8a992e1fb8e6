"""Labels of the first operator that the containers read."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from tests.converter.jobs import Json, pytorchjob, volcano_job

TYPE = "metadata.labels['training.kubeflow.org/replica-type']"
NAME = "metadata.labels['training.kubeflow.org/job-name']"


def reading(field: str, **pod: Any) -> Json:
    job = pytorchjob(pod)
    for role in ("Master", "Worker"):
        container = job["spec"]["pytorchReplicaSpecs"][role]["template"]["spec"]["containers"][0]
        container["env"] = [{"name": "READ", "valueFrom": {"fieldRef": {"fieldPath": field}}}]
    return job


@pytest.mark.parametrize("target", ["jobset", "trainjob", "job", "volcano"])
def test_a_label_that_the_new_pods_have_under_another_name_is_read_there(target: str) -> None:
    result = ptcompile.convert(reading(NAME), target=target)
    assert result.ok, result.diagnostics
    assert {pod.env["READ"] for pod in ptcompile.simulate(result.yaml()).pods} == {"p"}
    assert [
        item.severity
        for item in result.diagnostics
        if f"the field {NAME}, which READ reads, becomes" in item.message
    ] == ["note"]


def test_a_role_that_stays_a_role_is_read_there() -> None:
    result = ptcompile.convert(reading(TYPE), target="volcano")
    assert result.ok, result.diagnostics
    assert [pod.env["READ"] for pod in ptcompile.simulate(result.yaml()).pods] == [
        "master",
        "worker",
        "worker",
    ]


def test_a_constant_becomes_a_value() -> None:
    field = "metadata.labels['training.kubeflow.org/operator-name']"
    result = ptcompile.convert(reading(field), target="jobset")
    assert result.ok, result.diagnostics
    assert {pod.env["READ"] for pod in ptcompile.simulate(result.yaml()).pods} == {
        "pytorchjob-controller"
    }


def test_a_label_that_nothing_replaces_is_an_error() -> None:
    strict, lossy = (
        ptcompile.convert(reading(TYPE), target="jobset", lossy=lossy) for lossy in (False, True)
    )
    text = f"the field {TYPE}, which READ reads, is empty in the converted pods"
    assert [item.severity for item in strict.diagnostics if text in item.message] == ["error"]
    assert [item.severity for item in lossy.diagnostics if text in item.message] == ["warning"]
    assert not strict.manifests


def test_files_of_a_volume_are_read_too() -> None:
    items = [{"path": "job", "fieldRef": {"fieldPath": NAME}}]
    result = ptcompile.convert(
        pytorchjob({"volumes": [{"name": "i", "downwardAPI": {"items": items}}]}), target="job"
    )
    assert result.ok, result.diagnostics
    assert "metadata.labels['batch.kubernetes.io/job-name']" in result.yaml()


def test_a_value_that_only_the_cluster_knows_is_not_written_out() -> None:
    """Volcano names a PodGroup after the UID of its Job."""
    job = volcano_job()
    for task in job["spec"]["tasks"]:
        field = {"fieldPath": "metadata.annotations['scheduling.k8s.io/group-name']"}
        task["template"]["spec"]["containers"][0]["env"] = [
            {"name": "JOB_ID", "valueFrom": {"fieldRef": field}}
        ]
    result = ptcompile.convert(job, target="jobset")
    assert "<uid>" not in result.yaml()
    assert [
        item.severity for item in result.diagnostics if "which JOB_ID reads" in item.message
    ] == ["warning"]
