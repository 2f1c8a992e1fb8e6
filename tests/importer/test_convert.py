"""Conversion of a manifest for another operator: lossless, or with an error for every loss."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.simulator.equivalence import world_differences
from tests.importer.test_published import published

PYTORCHJOBS = [name for name, one in published().items() if one["kind"] == "PyTorchJob"]
WITH_AN_AUTOSCALER = "e272d909481c"


@pytest.mark.parametrize("target", ["trainjob", "jobset"])
@pytest.mark.parametrize("name", [name for name in PYTORCHJOBS if name != WITH_AN_AUTOSCALER])
def test_a_published_pytorchjob_runs_the_same_on_another_target(name: str, target: str) -> None:
    manifest = published()[name]
    result = ptcompile.convert(manifest, target=target)
    assert result.ok, result.diagnostics
    assert world_differences(ptcompile.simulate(manifest), ptcompile.simulate(result.yaml())) == []
    told = {one.name for one in result.diagnostics}
    assert "convert-differs" in told, "how it ends is the operator's own, and told"


def test_fields_that_the_other_operator_lacks_are_reported() -> None:
    manifest = published()[WITH_AN_AUTOSCALER]
    result = ptcompile.convert(manifest, target="jobset")
    assert not result.manifests
    (error,) = [one for one in result.diagnostics if one.severity == "error"]
    assert (error.name, "elasticPolicy.metrics" in error.message, error.path) == ("not-carried-over", True, ("spec",))
    lossy = ptcompile.convert(manifest, target="jobset", lossy=True)
    assert lossy.manifests
    assert "not-carried-over" in {one.name for one in lossy.diagnostics if one.severity == "warning"}


def test_an_object_that_cannot_be_imported_cannot_be_converted() -> None:
    result = ptcompile.convert({"apiVersion": "v1", "kind": "ConfigMap"}, target="job")
    assert (result.manifests, [one.name for one in result.diagnostics]) == ((), ["nothing-to-import"])


def pytorchjob(**run_policy: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "pytorch", "image": "img:1", "command": ["python", "train.py"]}]}}
    specs = {"Master": {"replicas": 1, "restartPolicy": "Never", "template": template}}
    spec = {"runPolicy": run_policy, "pytorchReplicaSpecs": specs}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "p"}, "spec": spec}


def test_lossy_drops_unsupported_fields_with_warnings() -> None:
    manifest = pytorchjob(cleanPodPolicy="All", ttlSecondsAfterFinished=60)
    strict = ptcompile.convert(manifest, target="trainjob")
    assert {one.name for one in strict.diagnostics if one.severity == "error"} == {"unsupported-by-target"}
    lossy = ptcompile.convert(manifest, target="trainjob", lossy=True)
    assert lossy.manifests[-1]["kind"] == "TrainJob"
    said = " ".join(one.message for one in lossy.diagnostics)
    assert "cleanPodPolicy" in said
    assert "ttlSecondsAfterFinished" in said


def test_a_round_trip_gives_the_same_world() -> None:
    manifest = pytorchjob()
    there = ptcompile.convert(manifest, target="jobset")
    back = ptcompile.convert(there.yaml(), target="pytorchjob")
    assert back.ok, back.diagnostics
    assert world_differences(ptcompile.simulate(manifest), ptcompile.simulate(back.yaml())) == []


def test_other_objects_are_kept() -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    result = ptcompile.convert({"apiVersion": "v1", "kind": "List", "items": [pytorchjob(), config]}, target="job")
    assert [one["kind"] for one in result.manifests] == ["ConfigMap", "Job"]


def trainjob(command: list[str], **spec: Any) -> dict[str, Any]:
    trainer = {"numNodes": 2, "image": "img:1", "command": command}
    body = {"runtimeRef": {"name": "torch-distributed"}, "trainer": trainer, **spec}
    return {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "t"}, "spec": body}


@pytest.mark.parametrize("target", ["jobset", "pytorchjob", "job"])
def test_a_known_runtime_is_included(target: str) -> None:
    manifest = trainjob(["torchrun", "train.py"])
    result = ptcompile.convert(manifest, target=target)
    assert result.ok, result.diagnostics
    assert world_differences(ptcompile.simulate(manifest), ptcompile.simulate(result.yaml())) == []


def test_an_unknown_runtime_is_an_error() -> None:
    result = ptcompile.convert(trainjob(["torchrun", "train.py"], runtimeRef={"name": "ours"}), target="jobset")
    assert [one.name for one in result.diagnostics if one.severity == "error"] == ["unsupported-by-target"]
