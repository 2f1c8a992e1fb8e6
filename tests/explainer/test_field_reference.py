"""Field reference, as printed by `ptcompile explain spec.elastic`."""

from __future__ import annotations

import pytest

from ptcompile._internal.schema_files import load_table
from ptcompile.explainer.field_reference import UnknownFieldError, find_field, is_address
from ptcompile.operators.targets import TARGETS
from ptcompile.spec.training_job import json_schema

FIELDS = [
    # address, kind, type, the beginning of the description
    (
        "spec.elastic.maxRestarts",
        "ptcompile/v1 TrainingJob",
        "integer",
        "How often torchrun restarts",
    ),
    ("trainingjob.spec.nodes", "ptcompile/v1 TrainingJob", "integer", "Number of identical nodes"),
    (
        "ClusterProfile.spec.cloud",
        "ptcompile/v1 ClusterProfile",
        '"gke" or "eks" or "aks" or "oke"',
        "Cloud",
    ),
    (
        "PyTorchJob.spec.runPolicy.backoffLimit",
        "kubeflow.org/v1 PyTorchJob",
        "integer",
        "Optional number of retries",
    ),
    (
        "JobSet.spec.replicatedJobs.replicas",
        "jobset.x-k8s.io/v1alpha2 JobSet",
        "integer",
        "replicas is the number of",
    ),
    ("pod.spec.containers.image", "v1 Pod", "string", "Container image name."),
    (
        "batch/v1/Job.spec.backoffLimit",
        "batch/v1 Job",
        "integer",
        "Specifies the number of retries",
    ),
    ("Deployment.spec.replicas", "apps/v1 Deployment", "integer", "Number of desired pods."),
    (
        "spec.volumes.emptyDir",
        "ptcompile/v1 TrainingJob",
        "mapping",
        "emptyDir represents a temporary directory",
    ),
]


@pytest.mark.parametrize(("address", "kind", "type_name", "description"), FIELDS)
def test_a_field_is_found_by_its_address(
    address: str, kind: str, type_name: str, description: str
) -> None:
    field = find_field(address)
    assert (field.kind, field.type) == (kind, type_name)
    assert field.description.startswith(description)
    assert field.text().startswith(f"{kind}: {field.path}\n  {type_name}")


UNKNOWN = [
    ("spec.elastc", "TrainingJob.spec has no field 'elastc'; did you mean spec.elastic?"),
    ("spec.gpus", "TrainingJob.spec has no field 'gpus'; did you mean spec.resources.gpu?"),
    (
        "JobSet.spec.sucessPolicy",
        "JobSet.spec has no field 'sucessPolicy'; did you mean spec.successPolicy?",
    ),
    ("Podd.spec", "no kind 'Podd'; did you mean Pod?"),
    (
        "apps/v1/Job.spec",
        "no kind 'Job' in apps/v1; it is in batch/v1 and batch.volcano.sh/v1alpha1",
    ),
    (
        "Topology.zzz",
        "Topology has no field 'zzz'; its fields are apiVersion, kind, metadata, spec",
    ),
]


@pytest.mark.parametrize(("address", "message"), UNKNOWN)
def test_an_unknown_field_gets_a_suggestion(address: str, message: str) -> None:
    with pytest.raises(UnknownFieldError) as caught:
        find_field(address)
    assert str(caught.value) == message


def test_an_example_has_its_effect_on_each_target() -> None:
    effects = {effect.target: effect for effect in find_field("spec.elastic.maxRestarts").effects}
    assert list(effects) == list(TARGETS)
    for effect in effects.values():
        assert any(change.endswith("--max-restarts=3") for change in effect.changes), effect
    errors = {effect.target: effect.error for effect in find_field("spec.master").effects}
    assert errors["job"].startswith("spec.worker: a batch/v1 Job has one pod template")
    assert not errors["pytorchjob"]


def _addresses() -> list[str]:
    definitions = json_schema()["$defs"]
    models = {
        "metadata": "Metadata",
        "spec": "JobSpec",
        "spec.elastic": "Elastic",
        "spec.runPolicy": "RunPolicy",
    }
    models |= {"spec.resources": "Resources", "spec.names": "Names", "spec.topology": "Topology"}
    return [
        f"{path}.{name}"
        for path, model in models.items()
        for name in definitions[model]["properties"]
    ]


OLDER = {"spec.volcano"}
"""Deprecated spellings, which have no example."""


@pytest.mark.parametrize("address", _addresses())
def test_every_example_compiles_and_changes_something(address: str) -> None:
    field = find_field(address)
    if address in OLDER:
        assert field.example is None
        return
    assert field.example is not None
    if address == "spec.target":
        assert not field.effects
        return
    assert any(effect.changes for effect in field.effects), field.effects


def test_every_example_belongs_to_a_field() -> None:
    definitions, examples = json_schema()["$defs"], load_table("spec/examples.json")["models"]
    assert {
        model: set(fields) - set(definitions[model]["properties"])
        for model, fields in examples.items()
    } == {model: set() for model in examples}


@pytest.mark.parametrize(
    "word", ["spec", "spec.x", "metadata.name", "podd.spec", "pod.spec", "batch/v1/Job", "a.b"]
)
def test_is_address(word: str) -> None:
    assert is_address(word) == (word not in {"podd.spec", "a.b"})


def test_lines_fit_the_requested_width() -> None:
    text = find_field("PyTorchJob.spec.elasticPolicy").text(60)
    assert max(map(len, text.splitlines())) <= 60
    assert "rdzvBackend" in text
