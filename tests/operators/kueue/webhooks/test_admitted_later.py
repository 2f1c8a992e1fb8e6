"""What Kueue's mutating webhooks write into an object, so that it waits for its queue (Kueue 0.19)."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.operators.kueue.webhooks.suspension import default
from tests.operators.kueue.webhooks.making import JOB, JOBS, POD, QUEUE, SERVING, Json, labelled

GATE = {"name": "kueue.x-k8s.io/admission"}
MANAGED = "kueue.x-k8s.io/managed"


def _queued(manifest: Json) -> Json:
    return labelled(manifest, {**QUEUE})


def test_a_job_in_a_queue_is_suspended() -> None:
    assert nested_map(default(_queued(JOB), ()), "spec")["suspend"] is True
    assert "suspend" not in default(labelled(JOB), ())["spec"]
    system = _queued(JOB)
    system["metadata"]["namespace"] = "kube-system"
    assert default(system, ()) == system


@pytest.mark.parametrize("manifest", SERVING, ids=lambda manifest: manifest["kind"])
def test_objects_that_serve_are_not_suspended(manifest: Json) -> None:
    assert default(_queued(manifest), ()) == _queued(manifest)


@pytest.mark.parametrize("manifest", JOBS, ids=lambda manifest: manifest["kind"])
def test_every_other_kind_waits(manifest: Json) -> None:
    waiting = str(default(_queued(manifest), ()))
    assert "'suspend': True" in waiting or GATE["name"] in waiting


@pytest.mark.parametrize(
    ("finalizers", "gates", "expected_finalizers", "expected_gates"),
    [
        (None, None, [MANAGED], [GATE]),
        (["a"], [{"name": "b"}], ["a", MANAGED], [{"name": "b"}, GATE]),
        ([MANAGED], [GATE], [MANAGED], [GATE]),
        ([MANAGED, "a"], [GATE, {"name": "b"}], [MANAGED, "a"], [GATE, {"name": "b"}]),
    ],
)
def test_a_pod_gets_a_gate_a_label_and_a_finalizer(
    finalizers: Any, gates: Any, expected_finalizers: list[str], expected_gates: list[Json]
) -> None:
    pod = _queued(POD)
    if finalizers is not None:
        pod = {**pod, "metadata": {**pod["metadata"], "finalizers": finalizers}}
        pod = {**pod, "spec": {**pod["spec"], "schedulingGates": gates}}
    gated = default(pod, ())
    assert gated["metadata"]["finalizers"] == expected_finalizers
    assert gated["spec"]["schedulingGates"] == expected_gates
    assert gated["metadata"]["labels"] == {**QUEUE, MANAGED: "true"}
