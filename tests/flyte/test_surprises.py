"""What a range, spot nodes, retries and a restart policy bring beside what the task says."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile import flyte
from tests.flyte.making import OURS as F
from tests.flyte.making import roles

SPOT = {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile", "spec": {"spot": {"nodeLabels": {"spot": "true"}}}}


def compiled(config: Any, **knobs: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """The PyTorchJob, and the notes by their path."""
    task = flyte.task(compiled, task_config=config, container_image="acme/t:1", script="t.py", **knobs)
    result = task.compile("job", cluster=SPOT)
    notes = [one for one in result.diagnostics if one.name == "unlike-flyte"]
    assert {one.severity for one in notes} <= {"note"}
    return dict(result.unwrap()[0]), {".".join(map(str, one.path)): one.message for one in notes}


@pytest.mark.parametrize(
    ("config", "knobs", "why"),
    [
        (F.Elastic(nnodes="2:4"), {}, "nnodes 2:4 lets pods come and go"),
        (F.Elastic(nnodes=2), {"interruptible": True}, "interruptible pods are lost and start again"),
        (F.PyTorch(worker=F.Worker(replicas=1)), {"retries": 2}, "retries and backoff_limit count only"),
        (F.Elastic(nnodes=2, run_policy=F.RunPolicy(backoff_limit=1)), {}, "retries and backoff_limit count only"),
        (F.PyTorch(worker=F.Worker(replicas=1, restart_policy=F.RestartPolicy.FAILURE)), {}, "a restart policy other"),
    ],
)
def test_each_policy_that_the_task_does_not_name_is_noted(config: Any, knobs: dict[str, Any], why: str) -> None:
    made, notes = compiled(config, **knobs)
    policy = made["spec"].get("runPolicy", {})
    named = getattr(config, "run_policy", None)
    expected = set()
    for word, key in (("clean_pod_policy", "cleanPodPolicy"), ("backoff_limit", "backoffLimit")):
        asked = getattr(named, word, None) is not None or (key == "backoffLimit" and "retries" in knobs)
        if key in policy and not asked:
            expected.add(f"task_config.run_policy.{word}")
    restarts = {name: role["restartPolicy"] for name, role in roles(made).items() if role["restartPolicy"] != "Never"}
    if set(restarts) - ({"Worker"} if getattr(getattr(config, "worker", None), "restart_policy", None) else set()):
        expected.add("task_config")
    assert set(notes) == expected
    assert expected or restarts
    assert all(why in message for message in notes.values())


def test_what_flyte_writes_too_is_not_noted() -> None:
    for config in (F.Elastic(nnodes=2), F.PyTorch(worker=F.Worker(replicas=1)), F.Elastic()):
        assert compiled(config)[1] == {}
