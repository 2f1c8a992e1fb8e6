"""Rules that read the LocalQueues and ClusterQueues of a stream."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.diagnostics import Problem
from ptcompile.linter import run
from tests.linter.rules.launch.making import jobset, pod, role

Json = dict[str, Any]
QUEUE = "kueue.x-k8s.io/queue-name"
RULES = frozenset({"missing-queue", "never-fits-queue", "exceeds-cohort", "queue-without-requests"})
CPU: Json = {"requests": {"cpu": 8}}


def kueue(kind: str, name: str, spec: Json, **metadata: str) -> Json:
    """Return an object of Kueue."""
    api_version = "kueue.x-k8s.io/v1beta2"
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, **metadata},
        "spec": spec,
    }


def local_queue(name: str = "gpus", target: Any = "research", namespace: str = "default") -> Json:
    return kueue("LocalQueue", name, {"clusterQueue": target}, namespace=namespace)


def cluster_queue(
    name: str = "research", resource: str = "cpu", quota: int = 8, **spec: Any
) -> Json:
    flavor = {"name": "f", "resources": [{"name": resource, "nominalQuota": quota}]}
    groups = [{"coveredResources": [resource], "flavors": [flavor]}]
    return kueue("ClusterQueue", name, {"namespaceSelector": {}, "resourceGroups": groups, **spec})


def queued(name: str = "gpus", resources: Json = CPU, **metadata: str) -> Json:
    """Return a Pod in a queue."""
    manifest = pod("python", resources=resources)
    manifest["metadata"] |= {"labels": {QUEUE: name}, **metadata}
    return manifest


def findings(manifest: Json, *others: Json) -> list[Problem]:
    """Return what the rules find about an object in a stream with these others."""
    return list(run(manifest, stream=[manifest, *others], only=RULES))


def messages(manifest: Json, *others: Json) -> list[str]:
    """Return the message of each finding, without the label."""
    return [
        problem.message.removeprefix(f"metadata.labels[{QUEUE}]: ")
        for problem in findings(manifest, *others)
    ]


def test_a_queue_must_be_in_the_namespace() -> None:
    others = (local_queue("cpus"), local_queue("tpus"), local_queue("other", namespace="else"))
    (problem,) = findings(queued("cpu"), *others)
    assert (problem.name, problem.path) == ("missing-queue", ("metadata", "labels", QUEUE))
    assert problem.message.endswith("LocalQueue cpu doesn't exist")
    assert problem.help == "did you mean cpus?"
    (problem,) = findings(queued("completely-different"), *others)
    assert problem.help == "name one of cpus, tpus", "and none of another namespace"
    assert findings(queued("cpus"), *others) == []


def test_queue_of_a_namespace_without_queues_is_unknown() -> None:
    assert findings(queued("gpus")) == []
    assert findings(queued("gpus", namespace="else"), local_queue("cpus")) == []


def test_a_missing_cluster_queue_is_reported_if_the_files_have_others() -> None:
    (problem,) = findings(queued(), local_queue(), cluster_queue("a"), cluster_queue("b"))
    assert (problem.name, problem.help) == ("missing-queue", "name one of a, b in the LocalQueue")
    assert problem.message.endswith("ClusterQueue research of LocalQueue gpus doesn't exist")
    assert findings(queued(), local_queue()) == [], "the files have no ClusterQueue at all"
    assert findings(queued(), local_queue(target=3), cluster_queue("a")) == []


def test_a_job_that_fits_its_queue_has_no_finding() -> None:
    assert findings(queued(), local_queue(), cluster_queue(quota=8)) == []
    assert (
        findings(
            queued(),
            local_queue(),
            cluster_queue(quota=7, cohortName="all"),
            cluster_queue("b", quota=1),
        )
        != []
    )
    lender = cluster_queue("b", quota=1, cohortName="all")
    assert findings(queued(), local_queue(), cluster_queue(quota=7, cohortName="all"), lender) == []


@pytest.mark.parametrize(
    ("spec", "name", "severity", "message"),
    [
        (
            {},
            "never-fits-queue",
            "error",
            "queue gpus can never admit this: couldn't assign flavors to pod set main: insufficient",
        ),
        (
            {"cohortName": "all"},
            "exceeds-cohort",
            "warning",
            "queue gpus cannot admit this: couldn't assign flavors to pod set main: insufficient",
        ),
    ],
)
def test_a_job_that_requests_too_much_is_reported(
    spec: Json, name: str, severity: str, message: str
) -> None:
    queues = (local_queue(), cluster_queue(quota=7, **spec))
    (problem,) = findings(queued(), *queues)
    assert (problem.name, problem.severity, problem.path) == (
        name,
        severity,
        ("metadata", "labels", QUEUE),
    )
    assert message in problem.message
    assert problem.message.endswith("unless queues outside these files lend more") is bool(spec)
    assert findings(pod("python", resources=CPU), *queues) == [], "no queue"


def test_all_pods_of_a_job_count() -> None:
    manifest = jobset(role("python", pods=2, replicas=2, resources={"requests": {"cpu": 2}}))
    manifest["metadata"]["labels"] = {QUEUE: "gpus"}
    assert messages(manifest, local_queue(), cluster_queue(quota=8)) == []
    assert [
        problem.name for problem in findings(manifest, local_queue(), cluster_queue(quota=7))
    ] == ["never-fits-queue"]


def test_quota_of_pods_counts_a_job_without_requests() -> None:
    (problem,) = findings(queued(resources={}))
    assert (problem.name, problem.severity) == ("queue-without-requests", "note")
    assert findings(queued(resources={}), cluster_queue(resource="pods"), local_queue()) == []
    assert [
        finding.name for finding in findings(queued(resources={}), cluster_queue(), local_queue())
    ] == [problem.name]


def test_a_queue_that_takes_nothing_is_reported() -> None:
    held = messages(queued(), local_queue(), cluster_queue(stopPolicy="Hold"))
    assert held == ["ClusterQueue research is inactive: stopPolicy is Hold"]
    (other,) = messages(queued(), local_queue(), cluster_queue(namespaceSelector=None))
    assert "has no namespaceSelector" in other
    selector = {"matchLabels": {"team": "a"}}
    assert messages(queued(), local_queue(), cluster_queue(namespaceSelector=selector)) == [], (
        "no Namespace is written"
    )
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "default", "labels": {"team": "b"}},
    }
    assert messages(
        queued(), local_queue(), cluster_queue(namespaceSelector=selector), namespace
    ) == ["Workload namespace doesn't match ClusterQueue selector"]
