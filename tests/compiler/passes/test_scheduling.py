"""The pass `scheduling`: the labels that Kueue and KAI read, and the scheduler's name if no operator sets it."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.compiler.passes.scheduling import scheduling
from ptcompile.ir.job import Job, TopologyConstraint
from ptcompile.ir.pods import PodTemplate
from tests import making

LEVELS = {"topology": {"levels": {"rack": {"nodeLabel": "example.com/rack", "tier": 1}}}}
NEAR = {"queue": "q", "topology": TopologyConstraint("rack", required=True)}


def run(job: Job, profile: dict[str, Any], target: str = "job") -> PodTemplate:
    where = making.context(making.profile(profile), target)
    after = scheduling(job, where)
    assert scheduling(after, where) == after
    return after.roles[0].template


@pytest.mark.parametrize(
    ("profile", "target", "replicas", "name"),
    [
        ({}, "job", 2, None),
        ({"gangScheduler": "none"}, "job", 2, None),
        ({"gangScheduler": "volcano"}, "job", 2, "volcano"),
        ({"gangScheduler": "volcano"}, "job", 1, None),  # a single pod needs no gang
        ({"gangScheduler": "volcano"}, "volcano", 2, None),  # set in the Volcano Job
        # set by the operator (docs/facts/training-operator.md#gangs)
        ({"gangScheduler": "volcano"}, "pytorchjob", 2, None),
        (
            {"gangScheduler": "scheduler-plugins"},
            "job",
            2,
            None,
        ),  # scheduler-plugins has no fixed scheduler name
        ({"gangScheduler": "kai"}, "pytorchjob", 2, "kai-scheduler"),
        ({"queueSystem": "volcano", "defaults": {"queue": "q"}}, "pod", 1, "volcano"),
    ],
)
def test_pods_have_the_scheduler_s_name(
    profile: dict[str, Any], target: str, replicas: int, name: str | None
) -> None:
    assert run(making.job(replicas=replicas), profile, target).extra.get("schedulerName") == name


def test_the_user_s_scheduler_labels_and_annotations_are_unchanged() -> None:
    own = making.template(
        labels={"kai.scheduler/queue": "mine"},
        annotations={"kueue.x-k8s.io/podset-required-topology": "mine"},
        extra={"schedulerName": "mine"},
    )
    job = making.job(own, replicas=2, **NEAR)
    assert run(job, {"queueSystem": "kai", **LEVELS}) == own
    assert run(job, LEVELS)._replace(extra={}) == own._replace(extra={})


@pytest.mark.parametrize(
    ("profile", "there"),
    [
        (LEVELS, True),
        ({"queueSystem": "volcano", **LEVELS}, False),
        ({"queueSystem": "kai", **LEVELS}, False),
    ],
)
def test_only_a_queue_of_kueue_gets_the_topology_annotation(
    profile: dict[str, Any], *, there: bool
) -> None:
    wanted = {"kueue.x-k8s.io/podset-required-topology": "example.com/rack"} if there else {}
    assert run(making.job(replicas=2, **NEAR), profile).annotations == wanted
