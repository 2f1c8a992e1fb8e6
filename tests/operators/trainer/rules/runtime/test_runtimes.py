"""Rules for training runtimes.

Source: docs/facts/trainer.md#runtimes, #admission, #environment, #number-of-processes, #what-is-built, #gangs.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ptcompile.operators.trainer.runtimes import BUILTIN
from tests.linter.asking import of_families
from tests.linter.manifests import TRAINER, rules_with_problems, runtime, template


def changed(**jobset: Any) -> dict[str, Any]:
    out = copy.deepcopy(runtime())
    out["spec"]["template"]["spec"].update(jobset)
    return out


@pytest.mark.parametrize("name", BUILTIN)
def test_built_in_runtimes_have_no_findings(name: str) -> None:
    manifest = {"apiVersion": TRAINER, "kind": "ClusterTrainingRuntime", **BUILTIN[name]}
    manifest["metadata"] = {"name": name, **BUILTIN[name]["metadata"]}
    assert not rules_with_problems(manifest) & {rule.name for rule in of_families("runtime")}


def test_a_missing_trainer_step_is_reported() -> None:
    assert "missing-trainer-step" not in rules_with_problems(runtime())
    assert "missing-trainer-step" in rules_with_problems(runtime(step=None))
    assert "missing-trainer-step" in rules_with_problems(runtime(step="dataset-initializer"))
    assert "missing-trainer-step" not in rules_with_problems(runtime(step=None, mlPolicy=None))


@pytest.mark.parametrize(("policy", "is_reported"), [("torch", True), ("mpi", False)])
def test_the_pods_of_torchrun_are_called_node(policy: str, is_reported: bool) -> None:
    renamed = changed()
    renamed["spec"]["template"]["spec"]["replicatedJobs"][0]["name"] = "workers"
    renamed["spec"]["mlPolicy"] = {policy: {}}
    assert ("rank-zero-not-node" in rules_with_problems(renamed)) is is_reported


def test_a_subdomain_of_the_runtime_is_not_the_name_of_the_job() -> None:
    assert "runtime-subdomain" in rules_with_problems(changed(network={"subdomain": "x"}))


@pytest.mark.parametrize(
    ("policy", "scheduler", "fires"),
    [
        ({"volcano": {}}, None, True),
        ({"volcano": {}}, "default-scheduler", True),
        ({"volcano": {}}, "volcano", False),
        ({"coscheduling": {}}, None, True),
        ({"coscheduling": {}}, "scheduler-plugins-scheduler", False),
        (None, None, False),
    ],
)
def test_a_gang_needs_its_scheduler(
    policy: dict[str, Any] | None, scheduler: str | None, fires: bool
) -> None:
    manifest = runtime(pod=template(schedulerName=scheduler), podGroupPolicy=policy)
    assert ("gang-without-scheduler" in rules_with_problems(manifest)) is fires


def test_parallelism_must_be_the_number_of_nodes() -> None:
    manifest = runtime(mlPolicy={"numNodes": 4, "torch": {}})
    job = manifest["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]
    job["parallelism"] = job["completions"] = 4
    assert "runtime-parallelism" not in rules_with_problems(manifest)
    job["completions"] = 8
    assert "runtime-parallelism" in rules_with_problems(manifest)


def test_env_of_other_containers_is_not_reserved() -> None:
    entry = [{"name": "PET_NNODES", "value": "2"}]
    assert "runtime-reserved-env" in rules_with_problems(
        runtime(pod=template(container={"env": entry}))
    )
    assert "runtime-reserved-env" not in rules_with_problems(
        runtime(pod=template(container={"env": entry, "name": "side"}))
    )
