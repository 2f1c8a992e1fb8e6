"""Queues and gangs: kept in the other operator's fields, or reported."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.converter.queueing import profile_for
from tests.converter.jobs import pytorchjob, stream, training_runtime, trainjob, volcano_job

KUEUE = {"kueue.x-k8s.io/queue-name": "research"}


def messages(result: Any, severity: str) -> str:
    return "\n".join(item.message for item in result.diagnostics if item.severity == severity)


def test_kueue_does_not_admit_volcano_jobs() -> None:
    strict = ptcompile.convert(pytorchjob(labels=KUEUE), target="volcano")
    assert not strict.manifests
    assert "Kueue admits no jobs of Volcano: the queue research" in messages(strict, "error")
    lossy = ptcompile.convert(pytorchjob(labels=KUEUE), target="volcano", lossy=True)
    assert "Kueue admits no jobs of Volcano: the queue research" in messages(lossy, "warning")
    (job,) = lossy.manifests
    assert "research" not in str(job), (
        "a queue of Kueue is none of Volcano, and the label would mean nothing"
    )


@pytest.mark.parametrize("target", ["trainjob", "jobset", "job"])
def test_kueue_admits_the_others(target: str) -> None:
    result = ptcompile.convert(pytorchjob(labels=KUEUE), target=target)
    assert result.ok, result.diagnostics
    assert result.manifests[-1]["metadata"]["labels"] == KUEUE


@pytest.mark.parametrize(
    ("target", "where"),
    [
        ("pytorchjob", {"schedulingPolicy": {"minAvailable": 3, "queue": "nlp"}}),
        ("jobset", {"minMember": 3, "queue": "nlp"}),
        ("job", {"minMember": 3, "queue": "nlp"}),
        (
            "trainjob",
            {
                "podGroupPolicy": {"volcano": {}},
                "annotations": {"scheduling.volcano.sh/queue-name": "nlp"},
            },
        ),
    ],
)
def test_a_gang_and_its_queue_are_kept(target: str, where: dict[str, Any]) -> None:
    result = ptcompile.convert(volcano_job(), target=target)
    assert result.ok, result.diagnostics
    text = str(result.manifests)
    assert all(f"{key!r}: {value!r}" in text for key, value in where.items())
    by_setting = "the gang depends on the operator of the target" in messages(result, "warning")
    assert by_setting != ("'schedulerName': 'volcano'" in text)
    assert "kueue" not in text, "a queue of Volcano is none of Kueue"


@pytest.mark.parametrize("target", ["jobset", "job", "trainjob", "volcano"])
def test_a_scheduling_policy_is_kept(target: str) -> None:
    policy = {"schedulingPolicy": {"minAvailable": 3, "queue": "nlp", "priorityClass": "high"}}
    result = ptcompile.convert(
        pytorchjob({"schedulerName": "volcano"}, policy=policy), target=target
    )
    assert result.ok, result.diagnostics
    assert "nlp" in str(result.manifests)
    assert "'priorityClassName': 'high'" in str(result.manifests)


def test_a_smaller_gang_is_kept_or_a_loss() -> None:
    kept = ptcompile.convert(volcano_job(minAvailable=2), target="jobset")
    assert kept.ok, kept.diagnostics
    assert "minMember: 2" in kept.yaml()
    strict, lossy = (
        ptcompile.convert(volcano_job(minAvailable=2), target="trainjob", lossy=lossy)
        for lossy in (False, True)
    )
    assert "Trainer's PodGroup waits for all 3 nodes, not for 2" in messages(strict, "error")
    assert "the gang changes: minAvailable (minMember) 2 becomes 3" in messages(lossy, "warning")


@pytest.mark.parametrize(
    ("target", "field"),
    [("pytorchjob", "minAvailable"), ("jobset", "minMember"), ("job", "minMember")],
)
def test_the_gang_of_a_runtime_is_kept(target: str, field: str) -> None:
    runtime = training_runtime(podGroupPolicy={"volcano": {}})
    runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"][
        "spec"
    ]["schedulerName"] = "volcano"
    job = trainjob({"kind": "TrainingRuntime", "name": "ours"}, image="img:1")
    result = ptcompile.convert(stream(runtime, job), target=target)
    assert result.ok, result.diagnostics
    assert field in str(result.manifests)


def test_a_profile_without_the_scheduler_loses_the_gang() -> None:
    cluster = {
        "apiVersion": "ptcompile/v1",
        "kind": "ClusterProfile",
        "metadata": {"name": "c"},
        "spec": {},
    }
    strict = ptcompile.convert(volcano_job(), target="jobset", cluster=cluster)
    assert "the gang is lost (minAvailable, PodGroup)" in messages(strict, "error")
    assert "the job leaves the queue nlp of volcano" in messages(strict, "error")


def test_the_profile_of_a_job_without_queue_or_gang_adds_nothing() -> None:
    world = ptcompile.simulate(pytorchjob())
    assert profile_for(world.jobs)["spec"] == {"gpu": {"tolerations": []}}
