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


def test_kueue_treats_each_kind_in_its_way() -> None:
    """Sources: Kueue 0.19, pkg/controller/jobs: the webhook and the reconciler of each integration."""

    def with_field(field: str) -> set[str]:
        return {kind for (_, kind), row in KINDS.items() if getattr(row, field)}

    kinds = {kind for _, kind in KINDS}
    assert with_field("grouped") == {"JobSet", "LeaderWorkerSet", "MPIJob", "RayCluster", "RayJob"}
    assert with_field("elastic") == {"Job", "RayCluster", "RayJob"}
    assert with_field("serving") == {"Deployment", "LeaderWorkerSet", "StatefulSet"}
    assert kinds - with_field("prebuilt") == {"JAXJob"}
    assert {kind for kind in kinds - with_field("rechecked") if not kind.endswith("Job")} == {
        "AppWrapper",
        "Pod",
    }
