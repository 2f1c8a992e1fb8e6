"""Pods, names and Services that JobSet 0.12 creates.

Source: docs/facts/jobset.md#cases, #pods; docs/facts/kubernetes.md#indexed-jobs.
"""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.kinds.templates import Template
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.jobset.pods import is_recreated, lost_pod, placement_notes, retries
from ptcompile.operators.table import expand
from tests.operators.making import Json, container, env, jobset, pods, replicated, template

P = "jobset.sigs.k8s.io/"


def test_the_global_index_counts_jobs_of_all_replicated_jobs() -> None:
    """Case 71 of docs/facts/jobset.md#cases."""
    world = pods(jobset(replicated("a", replicas=2), replicated("b", replicas=4), replicated("c")))
    assert world["js-b-3-0"].labels[P + "job-global-index"] == "5"
    assert (
        pods(jobset(replicated("a", replicas=3)))["js-a-1-0"].labels[P + "job-global-index"] == "1"
    )


def test_global_replicas_are_those_of_all_replicated_jobs() -> None:
    """Case 72 of docs/facts/jobset.md#cases."""
    pod = expand(jobset(replicated("a", replicas=2), replicated("b", replicas=5))).pods[0]
    assert pod.labels[P + "global-replicas"] == "7"


def test_the_group_index_counts_jobs_of_the_group() -> None:
    """Case 73 of docs/facts/jobset.md#cases."""
    jobs = [replicated("a", replicas=1, groupName="A"), replicated("b", replicas=2, groupName="B")]
    pod = pods(jobset(*jobs, replicated("c", replicas=3, groupName="A")))["js-c-1-0"]
    assert pod.labels[P + "job-group-index"] == "2"
    assert pod.labels[P + "group-replicas"] == "4"


@pytest.mark.parametrize(
    ("network", "name"), [({}, "test-jobset"), ({"subdomain": "test-subdomain"}, "test-subdomain")]
)
def test_the_subdomain_names_the_service(network: Json, name: str) -> None:
    """Case 74 of docs/facts/jobset.md#cases."""
    world = expand(jobset(replicated("w", pods=2), name="test-jobset", network=network))
    assert [s["metadata"]["name"] for s in world.services] == [name]
    assert world.pods[1].dns == f"test-jobset-w-0-1.{name}.default.svc.cluster.local"
    assert world.services[0]["spec"]["publishNotReadyAddresses"] is True


def test_each_replica_is_a_job_with_an_index() -> None:
    """Case 76 of docs/facts/jobset.md#cases."""
    world = expand(jobset(replicated("replicated-job", replicas=2), name="test-jobset"))
    assert [j["name"] for j in world.jobs] == [
        "test-jobset-replicated-job-0",
        "test-jobset-replicated-job-1",
    ]


def test_a_pod_of_a_nonindexed_job_has_no_host_name() -> None:
    """Source: docs/facts/jobset.md#pods."""
    job = {"completionMode": "NonIndexed"}
    pod = expand(jobset(replicated("w", pods=2, job=job))).pods[1]
    assert (pod.hostname, pod.dns) == (None, None)
    assert "JOB_COMPLETION_INDEX" not in env(pod)


def test_without_dns_host_names_there_is_no_service() -> None:
    """Source: docs/facts/jobset.md#pods."""
    world = expand(jobset(replicated("w"), network={"enableDNSHostnames": False}))
    assert world.services == ()
    assert (world.pods[0].subdomain, world.pods[0].dns) == (None, None)


def test_the_index_restarts_in_each_job() -> None:
    """Source: docs/facts/jobset.md#pods."""
    world = pods(jobset(replicated("w", replicas=2, pods=2)))
    pod = world["js-w-1-1"]
    assert (pod.index, pod.annotations["batch.kubernetes.io/job-completion-index"]) == (3, "1")
    assert pod.restart_policy == "OnFailure"
    assert pod.random_suffix


def test_the_coordinator_is_a_label() -> None:
    """Source: docs/facts/jobset.md#pods."""
    coordinator = {"replicatedJob": "w", "jobIndex": 0, "podIndex": 1}
    pod = expand(jobset(replicated("w", pods=2), coordinator=coordinator)).pods[0]
    assert pod.labels[P + "coordinator"] == "js-w-0-1.js"


def test_suspended_jobset_is_reported() -> None:
    assert "suspended" in expand(jobset(replicated("w"), suspend=True)).notes[0]


def job(**spec: object) -> Json:
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}, "spec": spec}


def service(**spec: object) -> Json:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "svc"}, "spec": spec}


def test_pods_of_an_indexed_job_have_a_dns_name_and_an_index() -> None:
    """Source: docs/facts/kubernetes.md#indexed-jobs."""
    t = template(
        container(env=[{"name": "X", "value": "$(JOB_COMPLETION_INDEX)"}]), subdomain="svc"
    )
    indexed = job(completionMode="Indexed", parallelism=2, completions=2, template=t)
    good = service(clusterIP="None", selector={"batch.kubernetes.io/job-name": "train"})
    pod = expand(indexed, related=[good]).pods[1]
    assert (pod.name, pod.hostname) == ("train-1", "train-1")
    assert pod.dns == "train-1.svc.default.svc.cluster.local"
    assert list(env(pod)) == ["X", "JOB_COMPLETION_INDEX"]


@pytest.mark.parametrize(
    "other",
    [
        None,
        service(selector={"batch.kubernetes.io/job-name": "train"}),
        service(clusterIP="None", selector={"app": "other"}),
        service(clusterIP="None"),
    ],
    ids=["no Service", "not headless", "selector does not fit", "no selector"],
)
def test_a_pod_without_a_matching_service_has_no_dns_record(other: Json | None) -> None:
    """Source: docs/facts/kubernetes.md#indexed-jobs."""
    indexed = job(completionMode="Indexed", completions=1, template=template(subdomain="svc"))
    assert expand(indexed, related=[other] if other else []).pods[0].dns is None


def test_an_index_variable_of_the_user_is_kept() -> None:
    """Source: docs/facts/kubernetes.md#indexed-jobs."""
    own = template(container(env=[{"name": "JOB_COMPLETION_INDEX", "value": "7"}]))
    assert env(expand(job(completionMode="Indexed", completions=1, template=own)).pods[0]) == {
        "JOB_COMPLETION_INDEX": "7"
    }


def test_index_label_exists_since_1_28() -> None:
    indexed = job(completionMode="Indexed", completions=1, template=template())
    pod = expand(indexed, versions=Versions(kubernetes=(1, 27))).pods[0]
    assert "batch.kubernetes.io/job-completion-index" not in pod.labels
    assert env(pod)["JOB_COMPLETION_INDEX"].startswith("$(metadata.annotations")


LIMITED = {"template": template(), "backoffLimit": 0}


@pytest.mark.parametrize(
    ("policy", "role", "recreated"),
    [
        (None, "a", "none"),
        ({}, "a", "none"),  # maxRestarts is 0
        ({"maxRestarts": 1}, "a", "job"),
        ({"maxRestarts": 1, "rules": [{"action": "FailJobSet"}]}, "a", "none"),
        ({"maxRestarts": 1, "rules": [{"action": "RestartJob"}]}, "a", "role"),
        ({"rules": [{"action": "RestartJob"}]}, "a", "none"),
        ({"rules": [{"action": "RestartJobAndIgnoreMaxRestarts"}]}, "a", "role"),
        ({"rules": [{"action": "RestartJobSetAndIgnoreMaxRestarts"}]}, "a", "job"),
        (
            {"maxRestarts": 1, "rules": [{"action": "RestartJob", "targetReplicatedJobs": ["b"]}]},
            "a",
            "job",
        ),
        (
            {"maxRestarts": 1, "rules": [{"action": "RestartJob", "targetReplicatedJobs": ["b"]}]},
            "b",
            "role",
        ),
        (
            {
                "maxRestarts": 1,
                "rules": [{"action": "RestartJob", "onJobFailureReasons": ["DeadlineExceeded"]}],
            },
            "a",
            "job",
        ),
        (
            {
                "maxRestarts": 1,
                "rules": [
                    {"action": "RestartJob", "onJobFailureReasons": ["BackoffLimitExceeded"]}
                ],
            },
            "a",
            "role",
        ),
    ],
)
def test_a_lost_pod_fails_its_job_and_the_failure_policy_decides(
    policy: Json | None, role: str, recreated: str
) -> None:
    spec = jobset(replicated("a", job=LIMITED), replicated("b", job=LIMITED), failurePolicy=policy)[
        "spec"
    ]
    assert lost_pod(spec, role).recreated == recreated


def test_a_child_job_that_replaces_its_pod_decides_itself() -> None:
    spec = jobset(
        replicated("a"), failurePolicy={"maxRestarts": 1, "rules": [{"action": "FailJobSet"}]}
    )["spec"]
    assert lost_pod(spec, "a").recreated == "pod"


@pytest.mark.parametrize(
    ("limits", "policy", "number", "recreated"),
    [
        ([None], None, 6, True),
        ([0], None, 0, False),
        ([0], {"maxRestarts": 2}, 2, True),
        ([1], {"maxRestarts": 2}, 5, True),
        ([0, 3], None, 3, True),
        ([], {"maxRestarts": 0}, 0, False),
    ],
)
def test_retries_are_those_of_jobs_and_jobset(
    limits: list[int | None], policy: Json | None, number: int, recreated: bool
) -> None:
    jobs = [
        replicated(f"r{i}", job={} if limit is None else {"backoffLimit": limit})
        for i, limit in enumerate(limits)
    ]
    manifest = jobset(*jobs, failurePolicy=policy)
    assert retries(manifest) == number
    assert is_recreated(manifest, Template((), None)) is recreated


@pytest.mark.parametrize(("replicas", "pods_per_job"), [(None, 1), (2, 2), (0, 0), (-1, 0)])
def test_each_replica_has_its_pods(replicas: int | None, pods_per_job: int) -> None:
    job = {
        key: value
        for key, value in {**replicated("a"), "replicas": replicas}.items()
        if value is not None
    }
    assert len(expand(jobset(job)).pods) == pods_per_job


EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
NODE_SELECTOR = "alpha.jobset.sigs.k8s.io/node-selector"
LABEL = "cloud.google.com/gke-nodepool"
NAMES = {"unusable-exclusive-topology", "unread-exclusive-topology"}


def annotated(annotations: dict[str, str], **job: Any) -> Json:
    manifest = jobset(replicated("w", replicas=2, pods=2, job=job))
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": annotations}}


def findings_of(manifest: Json) -> list[tuple[str, str]]:
    diagnostics = ptcompile.lint(manifest).diagnostics
    return [(d.name, ".".join(map(str, d.path))) for d in diagnostics if d.name in NAMES]


def of_replicated_job(annotations: dict[str, str]) -> Json:
    manifest = jobset(replicated("w", replicas=2, pods=2))
    template = manifest["spec"]["replicatedJobs"][0]["template"]
    template["metadata"] = {"annotations": annotations}
    return manifest


@pytest.mark.parametrize(
    ("annotations", "job", "expected"),
    [
        ({EXCLUSIVE: LABEL}, {}, []),
        ({EXCLUSIVE: "rack"}, {}, []),
        ({EXCLUSIVE: LABEL, NODE_SELECTOR: "true"}, {}, []),
        (
            {EXCLUSIVE: ""},
            {},
            [("unusable-exclusive-topology", f"metadata.annotations.{EXCLUSIVE}")],
        ),
        (
            {EXCLUSIVE: "a b"},
            {},
            [("unusable-exclusive-topology", f"metadata.annotations.{EXCLUSIVE}")],
        ),
        (
            {EXCLUSIVE: LABEL},
            {"completionMode": "NonIndexed"},
            [("unusable-exclusive-topology", "spec.replicatedJobs.0.template.spec.completionMode")],
        ),
        ({EXCLUSIVE: LABEL, NODE_SELECTOR: "true"}, {"completionMode": "NonIndexed"}, []),
        (
            {NODE_SELECTOR: "true"},
            {},
            [("unread-exclusive-topology", f"metadata.annotations.{NODE_SELECTOR}")],
        ),
        (
            {"jobset.sigs.k8s.io/exclusive-topology": LABEL},
            {},
            [
                (
                    "unread-exclusive-topology",
                    "metadata.annotations.jobset.sigs.k8s.io/exclusive-topology",
                )
            ],
        ),
        (
            {f"{EXCLUSIVE[:-2]}yg": LABEL},
            {},
            [("unread-exclusive-topology", f"metadata.annotations.{EXCLUSIVE[:-2]}yg")],
        ),
        ({"acme.io/topology": LABEL}, {}, []),
    ],
)
def test_mistakes_in_annotations_of_a_jobset_are_found(
    annotations: dict[str, str], job: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert findings_of(annotated(annotations, **job)) == expected


def test_annotations_of_a_replicated_job_are_judged() -> None:
    path = f"spec.replicatedJobs.0.template.metadata.annotations.{EXCLUSIVE}"
    assert findings_of(of_replicated_job({EXCLUSIVE: "a b"})) == [
        ("unusable-exclusive-topology", path)
    ]
    assert findings_of(of_replicated_job({EXCLUSIVE: LABEL})) == []


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (annotated({}), []),
        (
            annotated({EXCLUSIVE: LABEL}),
            [
                f"each Job runs alone in one domain of {LABEL}: its other pods are created when pod 0 has a node, and "
                "go to nodes with the same value"
            ],
        ),
        (
            annotated({EXCLUSIVE: LABEL, NODE_SELECTOR: "true"}),
            [f"each Job runs alone in one domain of {LABEL}: the nodes must be labeled for it"],
        ),
        (
            of_replicated_job({EXCLUSIVE: "rack"}),
            [
                "each Job of w runs alone in one domain of rack: its other pods are created when pod 0 has a node, and "
                "go to nodes with the same value"
            ],
        ),
    ],
)
def test_simulate_says_where_the_jobs_go(manifest: Json, expected: list[str]) -> None:
    assert list(placement_notes(manifest)) == expected
    assert set(expected) <= set(ptcompile.simulate(manifest).to_dict()["jobs"][0]["notes"])


SPEC = {
    "apiVersion": "ptcompile/v1",
    "kind": "TrainingJob",
    "metadata": {"name": "train", "annotations": {EXCLUSIVE: LABEL}},
    "spec": {"image": "ghcr.io/acme/train:1.0", "script": "train.py", "nodes": 2},
}


@pytest.mark.parametrize(("target", "expected"), [("jobset", []), ("job", ["not-carried-over"])])
def test_targets_that_ignore_the_annotation_say_so(target: str, expected: list[str]) -> None:
    result = ptcompile.compile(SPEC, target=target, lint=False)
    named = [d.name for d in result.diagnostics if d.path[:2] == ("metadata", "annotations")]
    assert named == expected


def test_convert_reports_the_annotation_that_it_drops() -> None:
    manifest = ptcompile.compile(SPEC, target="jobset", lint=False).manifests[0]
    result = ptcompile.convert(manifest, target="job")
    assert [d.severity for d in result.diagnostics if EXCLUSIVE in d.message] == ["error"]
    lossy = ptcompile.convert(manifest, target="job", lossy=True)
    assert [d.severity for d in lossy.diagnostics if EXCLUSIVE in d.message] == ["warning"]


PRIORITY = "jobset.sigs.k8s.io/priority"


@pytest.mark.parametrize(
    ("class_name", "others", "expected"),
    [
        (None, [], "0"),
        ("system-node-critical", [], "2000001000"),
        ("high", [], "<priority of high>"),
        ("high", [("high", 7)], "7"),
    ],
)
def test_the_webhook_of_pods_adds_their_priority(
    class_name: str | None, others: list[tuple[str, int]], expected: str
) -> None:
    """JobSet 0.12, pkg/webhooks/pod_webhook.go, Default: a label, and no annotation."""
    classes = [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
        }
        for name, value in others
    ]
    manifest = jobset(replicated("node", job={"template": template(priorityClassName=class_name)}))
    (pod,) = expand(manifest, related=classes).pods
    assert pod.labels[PRIORITY] == expected
    assert PRIORITY not in pod.annotations


def test_pods_placed_by_a_node_selector_have_no_priority_label() -> None:
    manifest = jobset(replicated("node"))
    pod_template = manifest["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    pod_template["metadata"] = {"annotations": {"alpha.jobset.sigs.k8s.io/node-selector": "true"}}
    (pod,) = expand(manifest).pods
    assert PRIORITY not in pod.labels
