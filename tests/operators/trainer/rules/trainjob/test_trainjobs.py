"""TrainJobs and their runtimes.

Source: docs/facts/trainer.md#runtimes, #admission, #environment, #what-is-built.
"""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kubernetes.versions import Versions
from tests.linter.manifests import paths, rules_with_problems, runtime, template, trainjob

GPUS = template(container={"resources": {"limits": {"nvidia.com/gpu": 8}}})


@pytest.mark.parametrize(
    ("name", "fires"),
    [
        ("torch-distributd", True),
        ("torch-distributedd", True),
        ("torch-distrubuted", True),
        ("torch_distributed", True),
        ("Torch-Distributed", True),
        ("torch-distributed", False),
        ("torch-distributed-2", False),  # a copy with a number is not a misspelling
        ("torchtune-llama3.2-3b", False),
        ("torchtune-llama3.2-8b", False),
        ("pytorch-distributed-gpu", False),  # docs/operator-guides/runtime-patches.md of Trainer
        ("pytorch-kai-runtime", False),
        ("", False),
    ],
)
def test_misspelled_runtimes_are_reported(name: str, fires: bool) -> None:
    assert ("misspelt-runtime" in rules_with_problems(trainjob({}, runtime=name))) is fires


def test_existing_runtime_is_not_a_misspelling() -> None:
    assert "misspelt-runtime" not in rules_with_problems(
        trainjob({}, runtime="torch-distributd"), others=[runtime(name="torch-distributd")]
    )
    own = trainjob({}, runtimeRef={"kind": "TrainingRuntime", "name": "torch-distributd"})
    assert "misspelt-runtime" not in rules_with_problems(own)


@pytest.mark.parametrize(
    ("job", "ref", "existing", "fires"),
    [
        ("dev-train", "acme", "dev-acme", True),
        ("train-v2", "acme", "acme-v2", True),
        ("dev-train-v2", "acme", "dev-acme-v2", True),
        ("train", "acme", "dev-acme", False),
        ("dev-train", "acme", "acme", False),
        ("dev-train", "acme", "devacme", False),
        (
            "dev-train",
            "torch-distributed",
            "dev-torch-distributed",
            False,
        ),  # Trainer installs the one that it names
        ("dev-train", "other", "dev-acme", False),
        ("dev-train", "", "dev-acme", False),
    ],
)
def test_renamed_runtimes_are_reported(job: str, ref: str, existing: str, fires: bool) -> None:
    manifest = trainjob({}, runtime=ref) | {"metadata": {"name": job}}
    assert (
        "renamed-runtime" in rules_with_problems(manifest, others=[runtime(name=existing)])
    ) is fires


def test_a_renamed_runtime_counts_only_in_its_namespace() -> None:
    ref = {"kind": "TrainingRuntime", "name": "acme"}
    manifest = trainjob({}, runtimeRef=ref) | {"metadata": {"name": "dev-train", "namespace": "a"}}
    for namespace, fires in (("a", True), ("b", False)):
        existing = runtime() | {
            "kind": "TrainingRuntime",
            "metadata": {"name": "dev-acme", "namespace": namespace},
        }
        assert ("renamed-runtime" in rules_with_problems(manifest, others=[existing])) is fires


def test_trainjobs_without_a_trainer_are_reported() -> None:
    assert "trainjob-without-trainer" in rules_with_problems(trainjob(None))
    assert "trainjob-without-trainer" not in rules_with_problems(trainjob({}))
    assert "trainjob-without-trainer" not in rules_with_problems(
        trainjob(None, runtime="nobody-knows")
    )
    assert "trainjob-without-trainer" not in rules_with_problems(
        trainjob(None, runtime="jax-distributed")
    )


@pytest.mark.parametrize(
    ("trainer", "fires"),
    [
        ({"resourcesPerNode": {"limits": {"memory": "64Gi"}}}, True),
        ({"resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}}}, False),
        ({"resourcesPerNode": {"limits": {"memory": "64Gi"}}, "numProcPerNode": 8}, False),
        (
            {
                "resourcesPerNode": {"limits": {"memory": "64Gi"}},
                "command": ["torchrun", "--nproc_per_node=8", "t.py"],
            },
            False,
        ),
        ({}, False),
    ],
)
def test_uncounted_gpus_are_reported(trainer: dict[str, Any], fires: bool) -> None:
    job = trainjob(trainer, runtime="acme")
    others = [runtime(pod=GPUS)]
    assert ("uncounted-gpus" in rules_with_problems(job, others=others)) is fires
    assert (
        "uncounted-gpus"
        in rules_with_problems(job, others=others, versions=Versions(trainer=(2, 2)))
    ) is fires
    assert "uncounted-gpus" not in rules_with_problems(job, others=[runtime()])


def test_a_runtime_after_its_trainjob_is_reported() -> None:
    job, own = trainjob({}, runtime="acme"), runtime()
    assert paths(job, "runtime-after-trainjob", others=[job, own]) == [
        ("spec", "runtimeRef", "name")
    ]
    assert paths(job, "runtime-after-trainjob", others=[own, job]) == []
    assert paths(trainjob({}), "runtime-after-trainjob", others=[own]) == []


def test_runtimes_of_another_kind_are_reported() -> None:
    own = {**runtime(), "kind": "TrainingRuntime"}
    by_default = trainjob({}, runtime="acme")
    right = trainjob({}, runtimeRef={"kind": "TrainingRuntime", "name": "acme"})
    assert "runtime-of-other-kind" in rules_with_problems(by_default, others=[own])
    assert "runtime-of-other-kind" not in rules_with_problems(right, others=[own])
    elsewhere = {**own, "metadata": {"name": "acme", "namespace": "research"}}
    assert "runtime-of-other-kind" in rules_with_problems(right, others=[elsewhere])
    assert "runtime-of-other-kind" not in rules_with_problems(by_default)


def test_fields_need_a_place_in_the_runtime() -> None:
    full = trainjob({"image": "a:1", "numNodes": 2}, runtime="acme")
    assert not rules_with_problems(full, others=[runtime()]) & {
        "unused-trainer",
        "ignored-trainer-fields",
    }
    assert "unused-trainer" in rules_with_problems(full, others=[runtime(step=None)])
    assert paths(full, "ignored-trainer-fields", others=[runtime(mlPolicy=None)]) == [
        ("spec", "trainer", "numNodes")
    ]
    assert "ignored-trainer-fields" not in rules_with_problems(full, others=[runtime(mlPolicy={})])
    assert not rules_with_problems(
        trainjob({"image": "a:1", "numNodes": 2}, runtime="nobody-knows")
    ) & {"unused-trainer"}
