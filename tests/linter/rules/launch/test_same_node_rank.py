"""The shortcut of same-node-rank: a pod's rank is read from its variable without reading its command line."""

from __future__ import annotations

import pytest

from tests.linter.manifests import rules_with_problems, task, template, volcano

SHORT = "--node-rank=$(RANK)"


@pytest.mark.parametrize(
    ("options", "is_same"),
    [
        ([SHORT, "--master-addr=$(MASTER_ADDR)"], False),
        (["--node-rank=$(VC_TASK_INDEX)", "--master-addr=$(MASTER_ADDR)"], True),
        ([SHORT, "--node-=1", "--master-addr=$(MASTER_ADDR)"], True),
        ([SHORT, "$(LAST)", "--master-addr=$(MASTER_ADDR)"], True),
        (["--master-addr=$(MASTER_ADDR)"], True),
        (["--master-addr=$(MASTER_ADDR)", "--node-=$(RANK)"], False),
    ],
)
@pytest.mark.parametrize("start", [["torchrun"], ["env", "PET_NODE_RANK=0", "torchrun"]])
def test_findings_are_those_of_the_whole_command_lines(
    start: list[str], options: list[str], is_same: bool
) -> None:
    command = [*start, "--nnodes=3", "--master-port=1", *options, "train.py"]
    pod = template(command=command, container={"env": [{"name": "LAST", "value": "--node-rank=2"}]})
    job = volcano(
        task("master", 1, pod=pod),
        task("worker", 2, pod=pod),
        plugins={"pytorch": [], "svc": [], "env": []},
    )
    assert ("same-node-rank" in rules_with_problems(job)) is is_same
