"""The quotas of a job's queue next to what it takes of them."""

from __future__ import annotations

from typing import Any

import ptcompile

Json = dict[str, Any]
API = "kueue.x-k8s.io/v1beta2"


def kueue(kind: str, name: str, spec: Json) -> Json:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": spec}


def queues(name: str, cpu: int, **limits: int) -> list[Json]:
    """Return a ClusterQueue of the cohort with two flavors of the same quota, and its LocalQueue."""
    quota = {"name": "cpu", "nominalQuota": cpu, **limits}
    flavors = [{"name": flavor, "resources": [quota]} for flavor in ("old", "new")]
    group = {"coveredResources": ["cpu"], "flavors": flavors}
    spec = {"namespaceSelector": {}, "cohortName": "everyone", "resourceGroups": [group]}
    local: Json = kueue("LocalQueue", name, {"clusterQueue": name})
    local["metadata"]["namespace"] = "default"
    return [kueue("ClusterQueue", name, spec), local]


def job(name: str, cpu: str, queue: str = "mine", pods: int = 2) -> Json:
    container = {"name": "c", "image": "i:1", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": "default",
            "labels": {"kueue.x-k8s.io/queue-name": queue},
        },
        "spec": {
            "suspend": True,
            "parallelism": pods,
            "completions": pods,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }


def quotas(*objects: Json) -> dict[str, list[list[str]]]:
    """Return flavor, nominal, borrowable, in use and requested of each job's quotas."""
    keys = ("flavor", "nominal", "borrowable", "inUse", "requested")
    jobs = ptcompile.admit(list(objects)).to_dict()["jobs"]
    return {
        name: [[quota[key] for key in keys] for quota in job.get("quotas", ())]
        for name, job in jobs.items()
    }


def test_an_admitted_job_has_the_flavor_that_it_got() -> None:
    stream = [*queues("mine", 4), *queues("other", 8)]
    assert quotas(*stream, job("train", "1500m")) == {"train": [["old", "4", "8", "0", "3"]]}


def test_a_limit_bounds_what_is_lent() -> None:
    stream = [*queues("mine", 4, borrowingLimit=1), *queues("other", 8)]
    assert quotas(*stream, job("train", "1"))["train"] == [["old", "4", "1", "0", "2"]]
    stream = [*queues("mine", 4), *queues("other", 8, lendingLimit=3)]
    assert quotas(*stream, job("train", "1"))["train"] == [["old", "4", "3", "0", "2"]]


def test_a_job_that_is_not_admitted_has_every_flavor() -> None:
    assert quotas(*queues("mine", 4), job("train", "3"))["train"] == [
        ["old", "4", "0", "0", "6"],
        ["new", "4", "0", "0", "6"],
    ]


def test_what_others_of_the_cohort_have_taken_is_in_use() -> None:
    stream = [*queues("mine", 4), *queues("other", 4)]
    taken = quotas(*stream, job("first", "3", "other"), job("second", "1"), job("third", "2"))
    assert taken["first"] == [["old", "4", "4", "2", "6"]]
    assert taken["second"] == [["old", "4", "4", "6", "2"]]
    assert taken["third"] == [["new", "4", "4", "0", "4"]]


def test_an_unknown_queue_has_no_quotas() -> None:
    assert quotas(*queues("mine", 4), job("train", "1", "others")) == {"train": []}
