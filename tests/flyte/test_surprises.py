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


LIMIT, RESTARTS = "task_config.run_policy.backoff_limit", "task_config"
FAILURE = F.RestartPolicy.FAILURE


@pytest.mark.parametrize(
    ("config", "knobs", "paths", "why"),
    [
        (F.Elastic(nnodes="2:4"), {}, {LIMIT, RESTARTS}, "nnodes 2:4 lets pods come and go"),
        (F.Elastic(nnodes=2), {"interruptible": True}, {LIMIT, RESTARTS}, "interruptible pods are lost and restarted"),
        (F.PyTorch(worker=F.Worker(replicas=1)), {"retries": 2}, {RESTARTS}, "retries and backoff_limit count only"),
        (F.Elastic(nnodes=2, run_policy=F.RunPolicy(backoff_limit=1)), {}, {RESTARTS}, "retries and backoff_limit"),
        (
            F.PyTorch(worker=F.Worker(replicas=1, restart_policy=FAILURE)),
            {},
            {LIMIT, RESTARTS},  # the master, of which it says nothing, starts again too
            "a restart policy other than Never restarts pods",
        ),
        (
            F.PyTorch(master=F.Master(restart_policy=FAILURE), worker=F.Worker(replicas=1, restart_policy=FAILURE)),
            {"retries": 1},
            set(),
            "",
        ),
    ],
)
def test_each_policy_that_the_task_does_not_name_is_noted(
    config: Any, knobs: dict[str, Any], paths: set[str], why: str
) -> None:
    made, notes = compiled(config, **knobs)
    assert "OnFailure" in {role["restartPolicy"] for role in roles(made).values()}
    assert set(notes) == paths
    assert all(why in message for message in notes.values())


def test_what_flyte_writes_too_is_not_noted() -> None:
    for config in (F.Elastic(nnodes=2), F.PyTorch(worker=F.Worker(replicas=1)), F.Elastic()):
        assert compiled(config)[1] == {}
