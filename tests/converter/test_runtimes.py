"""What a job without its runtime depends on."""

from __future__ import annotations

import pytest

import ptcompile
from ptcompile.converter.runtimes import runtime_problems
from ptcompile.kubernetes.versions import Versions
from tests.converter.jobs import stream, training_runtime, trainjob


@pytest.mark.parametrize("target", ["pytorchjob", "jobset", "job", "volcano"])
def test_the_image_of_a_release_s_runtime_is_reported(target: str) -> None:
    result = ptcompile.convert(trainjob({"name": "torch-distributed"}), target=target)
    assert result.ok, result.diagnostics
    (warning,) = [
        item
        for item in result.diagnostics
        if "torch-distributed is in none of the files" in item.message
    ]
    (image,) = {line.split()[-1] for line in result.yaml().splitlines() if "image:" in line}
    assert image in warning.message, "the image that the pods get is the copy's"


def test_an_unknown_runtime_is_an_error_and_with_lossy_a_warning() -> None:
    job = trainjob({"name": "custom"}, image="img:1")
    strict, lossy = (
        ptcompile.convert(job, target="jobset", lossy=lossy) for lossy in (False, True)
    )
    text = "the runtime custom is in none of the files, so the image and the rest of its pods are unknown"
    assert [item.severity for item in strict.diagnostics if text in item.message] == ["error"]
    assert [item.severity for item in lossy.diagnostics if text in item.message] == ["warning"]
    assert lossy.manifests


def test_a_runtime_of_the_stream_goes_into_the_job() -> None:
    job = trainjob({"kind": "TrainingRuntime", "name": "ours"})
    result = ptcompile.convert(stream(training_runtime(), job), target="jobset")
    assert result.ok, result.diagnostics
    assert [item["kind"] for item in result.manifests] == ["JobSet"], (
        "no TrainJob is left that uses the runtime"
    )
    assert "runtime:1" in result.yaml()
    assert "trainer.kubeflow.org" not in result.yaml()
    assert [
        item.message
        for item in result.diagnostics
        if "the runtime ours is left out" in item.message
    ]


def test_a_trainjob_that_stays_one_keeps_its_runtime() -> None:
    job = trainjob({"kind": "TrainingRuntime", "name": "ours"}, image="img:1")
    result = ptcompile.convert(stream(training_runtime(), job), target="trainjob")
    assert [item["kind"] for item in result.manifests] == ["TrainingRuntime", "TrainJob"]


@pytest.mark.parametrize(
    ("change", "obstacle"),
    [
        ("step", "it has the replicatedJobs dataset-initializer besides node"),
        ("name", "it has no node"),
        ("policy", "it does not start torchrun's nodes (mlPolicy.torch)"),
    ],
)
def test_a_runtime_that_is_more_than_nodes_is_a_loss(change: str, obstacle: str) -> None:
    runtime = training_runtime()
    jobs = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    if change == "step":
        jobs.insert(0, {**jobs[0], "name": "dataset-initializer"})
    elif change == "name":
        jobs[0]["name"] = "worker"
    else:
        runtime["spec"]["mlPolicy"] = {"mpi": {}}
    job = trainjob({"kind": "TrainingRuntime", "name": "ours"}, image="img:1")
    (problem,) = runtime_problems(job, [runtime], Versions(), is_inlined=False)
    assert problem.severity == "error"
    assert (
        problem.message
        == f"spec: the pods of the runtime ours cannot be written into a job: {obstacle}"
    )


def test_a_step_before_the_training_is_not_dropped_silently() -> None:
    runtime = training_runtime()
    jobs = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    jobs.insert(0, {**jobs[0], "name": "dataset-initializer"})
    jobs[1]["dependsOn"] = [{"name": "dataset-initializer", "status": "Complete"}]
    job = trainjob({"kind": "TrainingRuntime", "name": "ours"}, image="img:1")
    result = ptcompile.convert(stream(runtime, job), target="jobset")
    assert not result.ok
    assert "dataset-initializer" in str(
        [item.message for item in result.diagnostics if item.severity == "error"]
    )
