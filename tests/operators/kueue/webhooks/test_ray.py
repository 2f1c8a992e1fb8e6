"""RayClusters and RayJobs that Kueue's webhooks reject."""

from __future__ import annotations

import pytest

import ptcompile
from ptcompile.fixer import fix_in_rounds
from ptcompile.source.emitter import emit
from tests.operators.kueue.webhooks.making import (
    Json,
    K,
    labelled,
    queued,
    ray_cluster,
    ray_job,
    reasons,
    rejected,
)

JOBS: list[tuple[str, Json, str | None]] = [
    ("deletes its cluster", ray_job(ray_cluster({})), None),
    (
        "keeps its cluster",
        ray_job(ray_cluster({}), shutdownAfterJobFinishes=False),
        "shutdownAfterJobFinishes",
    ),
    ("uses another cluster", ray_job(None, clusterSelector={"a": "b"}), None),
    ("names two clusters", ray_job(ray_cluster({}), clusterSelector={"a": "b"}), "clusterSelector"),
    ("an empty selector is none", ray_job(ray_cluster({}), clusterSelector={}), None),
    ("names no cluster", ray_job(None), "rayClusterSpec"),
    ("scales", ray_job(ray_cluster({}, enableInTreeAutoscaling=True)), "enableInTreeAutoscaling"),
    ("a group named as the head", ray_job(ray_cluster({}, {"groupName": "head"})), "groupName"),
]


@pytest.mark.parametrize(
    ("manifest", "key"), [case[1:] for case in JOBS], ids=[case[0] for case in JOBS]
)
def test_mistakes_in_ray_jobs_are_rejected_only_in_a_queue(manifest: Json, key: str | None) -> None:
    assert [path[-1] for _, path in rejected(manifest)] == ([] if key is None else [key])
    assert rejected(labelled(manifest)) == [], "without a queue"


def test_a_ray_job_that_uses_another_cluster_is_not_checked_further() -> None:
    manifest = ray_job(None, clusterSelector={"a": "b"})
    labels = {f"{K}queue-name": "q", f"{K}max-exec-time-seconds": "1h"}
    assert rejected(labelled(manifest, labels)) == []
    assert rejected(labelled(ray_job(ray_cluster({})), labels))


def test_elastic_clusters_may_scale() -> None:
    manifest = queued("ray.io/v1", "RayCluster", ray_cluster({}, enableInTreeAutoscaling=True))
    assert [path[-1] for _, path in rejected(manifest)] == ["enableInTreeAutoscaling"]
    assert rejected(labelled(manifest, {f"{K}queue-name": "q"}, {f"{K}elastic-job": "true"})) == []


@pytest.mark.parametrize(("release", "most"), [((0, 17), 8), ((0, 18), 10), ((0, 19), 18)])
def test_the_number_of_groups_is_limited(release: tuple[int, int], most: int) -> None:
    groups = [{"groupName": f"g{i}"} for i in range(most)]
    too_many = queued("ray.io/v1", "RayCluster", ray_cluster(*groups))
    assert reasons(too_many, release) == [f"Too many: {most + 1}: must have at most {most} items"]
    assert reasons(queued("ray.io/v1", "RayCluster", ray_cluster(*groups[1:])), release) == []


def test_the_fix_deletes_the_cluster_afterwards() -> None:
    kept = ray_job(ray_cluster({}), shutdownAfterJobFinishes=False)
    text = emit(kept)
    fixed = fix_in_rounds(
        text.encode(), lambda content: ptcompile.lint(content).diagnostics, unsafe=True
    )
    assert b"shutdownAfterJobFinishes: true" in fixed.content
