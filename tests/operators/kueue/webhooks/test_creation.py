"""What Kueue's mutating webhooks change before the checks, and objects that controllers create."""

from __future__ import annotations

import ptcompile
from tests.operators.kueue.webhooks.making import (
    JOB,
    TRAINJOB,
    Json,
    K,
    labelled,
    ray_cluster,
    ray_job,
    rejected,
)

DEFAULT = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "LocalQueue",
    "metadata": {"name": "default", "namespace": "team"},
    "spec": {"clusterQueue": "a"},
}


def in_team(manifest: Json) -> Json:
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": "team"}}


def test_default_queue_of_a_namespace() -> None:
    """A job without a queue is checked as one in the LocalQueue `default` of its namespace."""
    kept = in_team(labelled(ray_job(ray_cluster({}), shutdownAfterJobFinishes=False)))
    assert rejected(kept) == []
    assert [path[-1] for _, path in rejected(kept, others=(DEFAULT,))] == ["shutdownAfterJobFinishes"]
    elsewhere = {**DEFAULT, "metadata": {"name": "default"}}
    assert rejected(kept, others=(elsewhere,)) == []
    other = {**DEFAULT, "metadata": {"name": "other", "namespace": "team"}}
    assert rejected(kept, others=(other,)) == []


def test_default_queue_replaces_an_empty_name() -> None:
    nameless = in_team(labelled(TRAINJOB, {f"{K}queue-name": ""}))
    assert rejected(nameless)
    assert rejected(nameless, others=(DEFAULT,)) == []


def test_default_queue_is_not_for_owned_objects() -> None:
    kept = in_team(labelled(ray_job(ray_cluster({}), shutdownAfterJobFinishes=False)))
    kept["metadata"]["ownerReferences"] = [{"kind": "RayService", "name": "a", "controller": True}]
    assert rejected(kept, others=(DEFAULT,)) == []


def test_jobs_of_a_cron_job() -> None:
    """Kueue accepts the CronJob, and rejects each Job that is made of it."""
    template = {"metadata": {"labels": {f"{K}queue-name": "Bad_Name"}}, "spec": JOB["spec"]}
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly"},
        "spec": {"schedule": "0 1 * * *", "jobTemplate": template},
    }
    [problem] = [problem for problem in ptcompile.lint(cron).diagnostics if problem.authority == "kueue"]
    assert (problem.code, problem.stage) == ("PTC229", "pod")
    assert problem.path == ("spec", "jobTemplate", "metadata", "labels", f"{K}queue-name")
