"""The table of kinds, and when an object of one waits."""

from __future__ import annotations

import pytest

from ptcompile.operators.kueue import Kueue
from ptcompile.operators.kueue.webhooks.kinds import KINDS, is_ready, is_suspended
from tests.operators.kueue.webhooks.making import (
    JOBS,
    POD,
    QUEUE,
    Json,
    K,
    labelled,
    rejected_update,
    serving,
)


def test_the_operator_lists_the_same_kinds() -> None:
    assert Kueue.foreign is not None
    assert KINDS.keys() == Kueue.foreign.kinds


@pytest.mark.parametrize(
    ("changes", "waits"),
    [
        ({}, False),
        ({"spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}}, True),
        ({"spec": {"schedulingGates": [{"name": "acme.io/gate"}, None]}}, False),
        ({"status": {"phase": "Succeeded"}}, True),
        ({"status": {"phase": "Running"}}, False),
    ],
)
def test_only_gated_pods_are_suspended(changes: Json, waits: bool) -> None:
    assert is_suspended({**POD, **changes}, KINDS["v1", "Pod"]) is waits


def test_each_kind_is_suspended_by_its_field() -> None:
    kind = KINDS["kubeflow.org/v1", "TFJob"]
    assert is_suspended({"spec": {"runPolicy": {"suspend": True}}}, kind)
    assert not is_suspended({"spec": {"runPolicy": {"suspend": "true"}, "suspend": True}}, kind)


def test_updates_of_some_kinds_repeat_the_checks_of_the_labels() -> None:
    wrong = {**QUEUE, f"{K}queue-name": "A"}
    again = {
        kind["kind"]: bool(
            rejected_update(labelled(kind, wrong), labelled(kind, {**wrong, "a": "b"}))
        )
        for kind in JOBS
    }
    assert not again["PyTorchJob"]
    assert not again["AppWrapper"]
    assert again["Job"]
    assert again["JobSet"]
    assert again["MPIJob"]


def test_only_counted_replicas_are_ready() -> None:
    assert is_ready(serving("StatefulSet", ready=1))
    assert not is_ready(serving("StatefulSet"))
    assert not is_ready({"status": {"readyReplicas": "1"}})


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("grouped", {"JobSet", "LeaderWorkerSet", "MPIJob", "RayCluster", "RayJob"}),
        ("elastic", {"Job", "RayCluster", "RayJob"}),
        ("serving", {"Deployment", "LeaderWorkerSet", "StatefulSet"}),
    ],
)
def test_only_some_kinds_have_a_property(field: str, expected: set[str]) -> None:
    """Sources: Kueue 0.19, pkg/controller/jobs: the webhook and the reconciler of each integration."""
    assert {kind for (_, kind), row in KINDS.items() if getattr(row, field)} == expected


def test_only_jax_jobs_adopt_no_workload() -> None:
    """Source: Kueue 0.19, pkg/controller/jobs/kubeflow."""
    assert {kind for (_, kind), row in KINDS.items() if not row.prebuilt} == {"JAXJob"}


def test_updates_of_most_kinds_repeat_the_checks_of_the_labels() -> None:
    """Sources: Kueue 0.19, pkg/controller/jobs: ValidateUpdate of each kind."""
    kinds = {kind for (_, kind), row in KINDS.items() if not row.rechecked}
    assert {kind for kind in kinds if not kind.endswith("Job")} == {"AppWrapper", "Pod"}
