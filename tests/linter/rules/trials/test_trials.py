"""Trials of Katib whose jobs are of other kinds, and trial parameters that are no parameters of the Experiment."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.linter import run

CONTAINER = {
    "name": "pytorch",
    "image": "a.example/train:1",
    "command": ["python", "t.py", "${trialParameters.rate}"],
}
POD = {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}
JOB = {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": POD}}
SCALING = {
    "runtimeRef": {"name": "torch-distributed"},
    "trainer": {"numNodes": 2, "args": ["${trialParameters.rate}"]},
}
TRAIN_JOB = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "spec": SCALING}
RAY_JOB = {
    "apiVersion": "ray.io/v1",
    "kind": "RayJob",
    "spec": {"entrypoint": "python t.py ${trialParameters.rate}"},
}


def findings(
    job: dict[str, Any],
    name: str = "pytorch",
    reference: str = "lr",
    parameters: tuple[str, ...] = ("lr",),
) -> list[tuple[str, str]]:
    template = {
        "primaryContainerName": name,
        "trialParameters": [{"name": "rate", "reference": reference}],
        "trialSpec": job,
    }
    spec = {
        "parameters": [{"name": parameter} for parameter in parameters],
        "trialTemplate": template,
    }
    experiment = {
        "apiVersion": "kubeflow.org/v1beta1",
        "kind": "Experiment",
        "metadata": {"name": "a"},
        "spec": spec,
    }
    return [(problem.name, problem.text) for problem in run(experiment)]


@pytest.mark.parametrize(
    ("job", "name"), [(JOB, "pytorch"), (TRAIN_JOB, "node"), (RAY_JOB, "ray-job-submitter")]
)
def test_containers_of_the_trial_are_accepted(job: dict[str, Any], name: str) -> None:
    assert findings(job, name) == []


@pytest.mark.parametrize(("job", "name"), [(JOB, "main"), (TRAIN_JOB, "trainer")])
def test_a_trial_must_have_its_primary_container(job: dict[str, Any], name: str) -> None:
    (finding,) = findings(job, name)
    assert finding[0] == "unknown-primary-container"


def test_a_job_of_an_unknown_kind_may_have_any_container() -> None:
    unknown = {
        "apiVersion": "example.com/v1",
        "kind": "Sweep",
        "spec": {"rate": "${trialParameters.rate}"},
    }
    assert findings(unknown, "main") == []


@pytest.mark.parametrize("reference", ["${trialSpec.Name}", "${trialSpec.Labels[a.example/b]}"])
def test_references_to_the_trial_are_accepted(reference: str) -> None:
    assert findings(JOB, reference=reference) == []


@pytest.mark.parametrize("reference", ["l", "trialSpec.Name", "${trialSpec.Owner}"])
def test_references_to_nothing_are_rejected(reference: str) -> None:
    assert findings(JOB, reference=reference) == [
        ("refused-trial", f"the Experiment has no parameter {reference}")
    ]


def test_an_architecture_search_has_no_parameters() -> None:
    assert findings(JOB, reference="architecture", parameters=()) == []


def test_the_key_of_a_label_has_a_trial_parameter() -> None:
    labeled = {**JOB, "metadata": {"labels": {"${trialParameters.size}": "a"}}}
    (finding,) = findings(labeled)
    assert finding == ("refused-trial", "${trialParameters.size} is not among the trialParameters")
