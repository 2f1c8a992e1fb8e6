"""What simulate and status say of jobs, and what a cluster did with them, in both directions.

The runs are those of tests/recorded/cluster: Kubernetes 1.35.6 with JobSet 0.12.0, Trainer 2.2.1, training-operator
1.9.0, Volcano 1.15.0 and Kueue 0.17.8.
"""

from __future__ import annotations

from collections import Counter

import pytest

import ptcompile
from tests.cluster.runs import CHILDREN, Run, compare, is_undecided, recorded_runs, states

RUNS = recorded_runs("cluster/runs")

_MISSING_CONFIG_MAP = "its ConfigMap was not recorded with the manifests"
_EXITS_0 = "the process exits 0 on SIGTERM: the eviction is a success"
KNOWN = {
    "cfg-jobset": ("env", _MISSING_CONFIG_MAP),
    "cfg-pytorchjob": ("env", _MISSING_CONFIG_MAP),
    "cfg-volcano": ("env", _MISSING_CONFIG_MAP),
    "jev-m0": ("ends", _EXITS_0),
    "yev-m0": ("ends", _EXITS_0),
}
"""The runs with a difference that is left, what differs, and why."""


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.id)
def test_a_run_is_as_simulated(run: Run) -> None:
    what, _ = KNOWN.get(run.id, ("", ""))
    assert [str(item) for item in compare(run) if not item.agrees and item.what != what] == []


def test_each_known_difference_is_left() -> None:
    left = {run.id for run in RUNS if any(not item.agrees for item in compare(run))}
    assert left == KNOWN.keys()


def test_every_kind_of_comparison_is_made() -> None:
    counts = Counter(item.what for run in RUNS for item in compare(run))
    assert set(counts) == {
        "pods",
        "labels",
        "env",
        "argv",
        "gates",
        "ends",
        "conditions",
        "statuses",
    }
    assert len(RUNS) == 117
    assert sum(counts.values()) > 7000


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.id)
def test_no_status_goes_back_from_running_to_created(run: Run) -> None:
    """Only an object whose counts and conditions all say nothing is `created` again for a moment."""
    for moments in run.objects.values():
        decided = states([moment for moment in moments if not is_undecided(moment.live)])
        after = decided[decided.index("running") :] if "running" in decided else []
        assert "created" not in after


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.id)
def test_no_status_changes_after_the_end(run: Run) -> None:
    for moments in run.objects.values():
        ends = [state for state in states(moments) if state in ("succeeded", "failed")]
        assert ends == states(moments)[-1:] or ends == []


def test_a_moment_that_proves_nothing_is_never_the_end() -> None:
    """A follower that keeps the state before such a moment misses no state (docs/guide/status.md)."""
    undecided = [
        (index + 1 < len(moments), ptcompile.status(moment.live).state)
        for run in RUNS
        for moments in run.objects.values()
        for index, moment in enumerate(moments)
        if is_undecided(moment.live) and moment.live["kind"] in CHILDREN
    ]
    assert {state for _, state in undecided} <= {"created", "queued", "restarting", "running"}
    assert len([has_next for has_next, _ in undecided if not has_next]) <= 2


def test_an_image_that_cannot_be_pulled_is_told_by_the_pod() -> None:
    """No other object shows it: a Job, JobSet or TrainJob tells that its pods are not ready."""
    run = next(run for run in RUNS if run.id == "noimg-jobset")
    pods = {ptcompile.status(pod.live()).reason for pod in run.pods}
    assert "ErrImageNeverPull" in pods
    last = [moments[-1].live for moments in run.objects.values()]
    assert {(live["kind"], ptcompile.status(live).message) for live in last} == {
        ("Job", "not all pods are ready: they may wait for a node or an image"),
        ("JobSet", "not all pods are ready: they may wait for a node or an image"),
    }
