"""Rounds of the scheduler: limits on what they cost."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.linter import run
from ptcompile.operators.kueue.scheduler import state
from tests.api.test_admit import GROUP, cluster, job, workload

Json = dict[str, Any]


def test_jobs_and_workloads_that_cost_too_much_are_a_finding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert ptcompile.admit(job(), state=cluster()).ok
    monkeypatch.setattr(state, "_STEPS", 10)
    admission = ptcompile.admit(job(), state=cluster())
    assert not admission.ok
    assert admission.jobs == ()
    assert [diagnostic.name for diagnostic in admission.diagnostics] == ["too-large"]
    wide = job(pods=9)
    assert not any(one.name == "never-fits-queue" for one in run(wide, stream=[wide, *cluster()]))


def test_a_job_that_did_not_fit_before_is_tried_again_once_something_is_released() -> None:
    """A workload of the dump waits for 3; the victim of an urgent job of 1 leaves enough for it."""
    objects = cluster(
        workload("low", 4, owner="low"),
        workload("next", 3, admitted=False, owner="next", priority=5),
    )
    objects[-1]["status"] = {"conditions": [{"type": "QuotaReserved", "status": "False"}]}
    objects[3]["spec"]["preemption"] = {"withinClusterQueue": "LowerPriority"}
    objects.append(
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "WorkloadPriorityClass",
            "metadata": {"name": "high"},
        }
    )
    objects[-1]["value"] = 10
    urgent = job(pods=1)
    urgent["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = "high"
    (first, last) = ptcompile.admit([urgent, job("last", 1)], state=objects).jobs
    assert (first.outcome, [victim.name for victim in first.victims]) == ("admitted", ["low"])
    assert last.outcome == "waits", "next has the rest"


def test_a_deep_tree_of_cohorts_does_not_exceed_the_recursion_limit() -> None:
    objects = cluster()
    objects[3]["spec"]["cohortName"] = "c0"
    for i in range(3000):
        cohort = {
            "kind": "Cohort",
            "metadata": {"name": f"c{i}"},
            "spec": {"parentName": f"c{i + 1}"},
        }
        objects.append({"apiVersion": GROUP, **cohort})
    (answer,) = ptcompile.admit(job(), state=objects).jobs
    assert answer.outcome == "never"
