"""Conversion of a manifest for another operator: lossless, or with an error for every loss."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.simulator.equivalence import world_differences
from tests.importer.test_published import published
from tests.making import training_runtime

PYTORCHJOBS = [name for name, manifest in published().items() if manifest["kind"] == "PyTorchJob"]
WITH_AN_AUTOSCALER = "e272d909481c"


@pytest.mark.parametrize("target", ["trainjob", "jobset"])
@pytest.mark.parametrize("name", [name for name in PYTORCHJOBS if name != WITH_AN_AUTOSCALER])
def test_a_published_pytorchjob_runs_the_same_on_another_target(name: str, target: str) -> None:
    manifest = published()[name]
    result = ptcompile.convert(manifest, target=target)
    assert result.ok, result.diagnostics
    assert world_differences(ptcompile.simulate(manifest), ptcompile.simulate(result.yaml())) == []
    names = {diagnostic.name for diagnostic in result.diagnostics}
    assert "convert-differs" in names, "how it ends is the operator's own, and told"


def test_fields_that_the_other_operator_lacks_are_reported() -> None:
    manifest = published()[WITH_AN_AUTOSCALER]
    result = ptcompile.convert(manifest, target="jobset")
    assert result.ok, "a job without its autoscaler trains the same"
    (warning,) = [item for item in result.diagnostics if item.name == "not-carried-over"]
    assert warning.severity == "warning"
    assert "elasticPolicy.metrics" in warning.message
    assert warning.path == ("spec",)


def test_an_object_that_cannot_be_imported_cannot_be_converted() -> None:
    result = ptcompile.convert({"apiVersion": "v1", "kind": "ConfigMap"}, target="job")
    assert (result.manifests, [diagnostic.name for diagnostic in result.diagnostics]) == (
        (),
        ["nothing-to-import"],
    )


def pytorchjob(**run_policy: Any) -> dict[str, Any]:
    template = {
        "spec": {
            "containers": [{"name": "pytorch", "image": "img:1", "command": ["python", "train.py"]}]
        }
    }
    specs = {"Master": {"replicas": 1, "restartPolicy": "Never", "template": template}}
    spec = {"runPolicy": run_policy, "pytorchReplicaSpecs": specs}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "p"},
        "spec": spec,
    }


def test_lossy_drops_unsupported_fields_with_warnings() -> None:
    manifest = pytorchjob(cleanPodPolicy="All", ttlSecondsAfterFinished=60)
    strict = ptcompile.convert(manifest, target="trainjob")
    errors = [item for item in strict.diagnostics if item.severity == "error"]
    assert [(item.name, "cleanPodPolicy" in item.message) for item in errors] == [
        ("unsupported-by-target", True)
    ]
    lossy = ptcompile.convert(manifest, target="trainjob", lossy=True)
    assert lossy.manifests[-1]["kind"] == "TrainJob"
    messages = " ".join(diagnostic.message for diagnostic in lossy.diagnostics)
    assert "cleanPodPolicy" in messages
    assert "ttlSecondsAfterFinished" in messages


def test_a_round_trip_gives_the_same_world() -> None:
    manifest = pytorchjob()
    there = ptcompile.convert(manifest, target="jobset")
    back = ptcompile.convert(there.yaml(), target="pytorchjob")
    assert back.ok, back.diagnostics
    assert world_differences(ptcompile.simulate(manifest), ptcompile.simulate(back.yaml())) == []


def test_other_objects_are_kept() -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    result = ptcompile.convert(
        {"apiVersion": "v1", "kind": "List", "items": [pytorchjob(), config]}, target="job"
    )
    assert [manifest["kind"] for manifest in result.manifests] == ["ConfigMap", "Job"]


def trainjob(command: list[str], **spec: Any) -> dict[str, Any]:
    trainer = {"numNodes": 2, "image": "img:1", "command": command}
    body = {"runtimeRef": {"name": "torch-distributed"}, "trainer": trainer, **spec}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "t"},
        "spec": body,
    }


@pytest.mark.parametrize("target", ["jobset", "pytorchjob", "job"])
def test_a_known_runtime_is_included(target: str) -> None:
    manifest = trainjob(["torchrun", "train.py"])
    result = ptcompile.convert(manifest, target=target)
    assert result.ok, result.diagnostics
    assert world_differences(ptcompile.simulate(manifest), ptcompile.simulate(result.yaml())) == []


def test_a_job_is_compared_as_its_runtime_in_the_stream_runs_it() -> None:
    pod = "{restartPolicy: Never, containers: [{name: node, image: i, resources: {limits: {cpu: 1, memory: 1Gi}}}]}"
    runtime = training_runtime("r", f"{{template: {{spec: {pod}}}}}")
    reference = {"apiGroup": "trainer.kubeflow.org", "kind": "TrainingRuntime", "name": "r"}
    job = {**trainjob(["torchrun", "train.py"]), "metadata": {"name": "t"}}
    job["spec"] = {**job["spec"], "runtimeRef": reference}
    result = ptcompile.convert(f"{runtime}---\n{yaml.safe_dump(job)}", target="jobset")
    assert result.manifests, result.diagnostics
    assert not [item.message for item in result.diagnostics if "QoS" in item.message]


def test_an_unknown_runtime_is_an_error() -> None:
    result = ptcompile.convert(
        trainjob(["torchrun", "train.py"], runtimeRef={"name": "ours"}), target="jobset"
    )
    assert not result.manifests
    error = next(item for item in result.diagnostics if item.name == "not-carried-over")
    assert error.message.startswith("spec: the runtime ours is in none of the files")


PUBLISHED = """apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: pytorch-job}
spec:
  minAvailable: 1
  schedulerName: volcano
  plugins: {pytorch: ["--master=master", "--worker=worker", "--port=23456"]}
  tasks:
    - name: master
      replicas: 1
      policies: [{event: TaskCompleted, action: CompleteJob}]
      template: {spec: {restartPolicy: OnFailure, containers: [{name: master, image: "acme/sendrecv:1"}]}}
    - name: worker
      replicas: 2
      template: {spec: {restartPolicy: OnFailure, containers: [{name: worker, image: "acme/sendrecv:1"}]}}
"""


@pytest.mark.parametrize("target", ["pytorchjob", "jobset", "trainjob"])
def test_what_import_adds_for_one_operator_is_no_loss(target: str) -> None:
    """The published job has no plugin svc, and its policies are among the endings that are compared."""
    result = ptcompile.convert(PUBLISHED, target=target, lossy=True)
    assert result.ok
    assert not [item.message for item in result.diagnostics if item.name == "not-carried-over"]


@pytest.mark.parametrize("target", ["pytorchjob", "volcano"])
def test_settings_of_one_operator_are_lost_with_a_way_out(target: str) -> None:
    """Somebody with a manifest has no spec to set them in."""
    rule = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}}
    manifest = indexed_job(podFailurePolicy={"rules": [rule]})
    result = ptcompile.convert(manifest, target=target)
    (error,) = [item for item in result.diagnostics if item.name == "not-carried-over"]
    assert (error.severity, error.message) == (
        "error", f"spec: the target {target} has nothing for these settings of job: spec.podFailurePolicy.rules"
    )  # fmt: skip
    assert error.help == "use --lossy, or lossy=True, to drop them with a warning"
    dropped = ptcompile.convert(manifest, target=target, lossy=True)
    assert dropped.ok
    assert error.message in {
        item.message for item in dropped.diagnostics if item.severity == "warning"
    }


def indexed_job(**fields: Any) -> dict[str, Any]:
    container = {"name": "train", "image": "img:1", "command": ["python", "train.py"]}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    spec = {
        "completions": 1,
        "parallelism": 1,
        "completionMode": "Indexed",
        "template": template,
        **fields,
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": spec}


def restarting(name: str) -> dict[str, Any]:
    """Return a PyTorchJob of three pods with retries, which a JobSet restarts one by one."""
    manifest = pytorchjob(backoffLimit=3)
    manifest["metadata"]["name"] = name
    replicas = manifest["spec"]["pytorchReplicaSpecs"]
    replicas["Master"]["restartPolicy"] = "OnFailure"
    replicas["Worker"] = {**replicas["Master"], "replicas": 2}
    return manifest


def test_a_finding_that_the_source_does_not_have_is_reported() -> None:
    manifest = restarting("p")
    result = ptcompile.convert(manifest, target="jobset")
    known = {item.code for item in ptcompile.lint(manifest).diagnostics}
    new = {
        item.code for item in ptcompile.lint(result.yaml()).diagnostics if item.severity != "note"
    } - known
    assert new
    assert new <= {item.code for item in result.diagnostics}


def test_a_finding_of_another_job_hides_none() -> None:
    converted = ptcompile.convert(restarting("other"), target="jobset").manifests[-1]
    (code,) = {
        item.code
        for item in ptcompile.convert(restarting("p"), target="jobset").diagnostics
        if "which it converts to" in item.message
    }
    assert code in {item.code for item in ptcompile.lint([converted]).diagnostics}
    result = ptcompile.convert([converted, restarting("p")], target="jobset")
    assert code in {
        item.code for item in result.diagnostics if "in JobSet/p, which" in item.message
    }
