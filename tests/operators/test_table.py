"""The table of changes between releases: complete, with sources, and queried by name."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kinds.model import Kind
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.table import (
    FEATURES,
    GROUP_MARKS,
    KINDS,
    expand,
    has_feature,
    kind_named,
    kinds_with,
    status_of,
)


@pytest.mark.parametrize("name", FEATURES)
def test_a_row_names_an_operator_and_its_source(name: str) -> None:
    change = FEATURES[name]
    assert change.operator in Versions._fields
    assert change.what
    assert change.source
    assert change.until is None or change.since <= change.until


@pytest.mark.parametrize(
    ("trainer", "words"),
    [
        ((1, 9), []),
        ((2, 0), ["pod-spec-overrides", "nproc-words"]),
        ((2, 1), ["pod-template-overrides", "nproc-words", "trainer-volcano"]),
        ((2, 2), ["runtime-patches", "trainjob-deadline", "trainer-volcano"]),
        (
            (2, 3),
            [
                "runtime-patches",
                "trainjob-deadline",
                "trainer-volcano",
                "resources-merged",
                "trainjob-managed-by",
                "trainjob-scheduling-group",
            ],
        ),
    ],
)
def test_each_release_of_trainer_has_its_features(
    trainer: tuple[int, int], words: list[str]
) -> None:
    """Source: docs/facts/trainer.md#what-releases-changed."""
    rows = [
        name
        for name, change in FEATURES.items()
        if change.operator == "trainer" and name != "trainjob"
    ]
    assert sorted(name for name in rows if has_feature(name, Versions(trainer=trainer))) == sorted(
        words
    )


def test_newest_release_has_all_fields_that_were_not_removed() -> None:
    assert [name for name in FEATURES if not has_feature(name, Versions())] == [
        name for name, change in FEATURES.items() if change.until is not None
    ]


def test_pods_name_their_pod_group_by_an_annotation_or_a_label() -> None:
    """Sources: docs/facts/volcano.md; scheduler-plugins 0.31, pkg/coscheduling."""
    marks = {key[0]: (mark.scheduler, mark.pod_path[1]) for key, mark in GROUP_MARKS.items()}
    assert marks["scheduling.volcano.sh/v1beta1"] == ("volcano", "annotations")
    assert marks["scheduling.x-k8s.io/v1alpha1"] == ("coscheduling", "labels")


def test_a_release_has_a_feature_from_its_first_to_its_last_release() -> None:
    def given(operator: str, release: tuple[int, int]) -> Versions:
        changed: dict[str, Any] = {operator: release}
        return Versions()._replace(**changed)

    for name, change in FEATURES.items():
        number = change.since[0] * 100 + change.since[1]
        before = (number - 1) // 100, (number - 1) % 100
        assert has_feature(name, given(change.operator, change.since))
        assert not has_feature(name, given(change.operator, before))
        if change.until is not None:
            after = change.until[0], change.until[1] + 1
            assert has_feature(name, given(change.operator, change.until))
            assert not has_feature(name, given(change.operator, after))


def test_an_unknown_kind_creates_nothing() -> None:
    assert kind_named(("v1", "ConfigMap2")) is kind_named(("", ""))
    assert kind_named(("batch/v1", "Job")) is KINDS["batch/v1", "Job"][1]
    assert expand({"apiVersion": "v1", "kind": "ConfigMap2"}).roles == ()
    assert expand({}).roles == expand({"kind": 5}).roles == ()


def test_pods_of_a_manifest_are_built_once() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "c"}]},
    }
    (role,) = expand(pod).roles
    assert (role.count, role.pod(0).name) == (1, "a")
    assert role.pod(0) is role.pod(0)


def test_only_some_kinds_create_pods() -> None:
    kinds = {kind for _, kind in kinds_with(Kind.pods)}
    assert {"Pod", "Job", "PyTorchJob", "JobSet", "TrainJob"} <= kinds
    assert "Workload" not in kinds


def test_only_jobs_have_a_status() -> None:
    live = {"apiVersion": "batch/v1", "kind": "Job", "status": {"succeeded": 1}}
    assert status_of(live) is not None
    with pytest.raises(
        ValueError, match=r"not a job, but v1/Service; a job is one of .*batch/v1/Job.*"
    ):
        status_of({"apiVersion": "v1", "kind": "Service"})
