"""Cluster setup for a profile and its jobs, and the operator's chart of reference document 004."""

from __future__ import annotations

from typing import Any

import yaml

from ptcompile import ClusterProfile, Spec, lint
from ptcompile.requirements import setup as platform
from ptcompile.source.documents import read

CLUSTER = ClusterProfile.model_validate({"spec": {}})


def profile(words: dict[str, Any]) -> ClusterProfile:
    return ClusterProfile.model_validate({"spec": words})


def spec(job: dict[str, Any], **metadata: Any) -> Spec:
    common = {"image": "i", "script": "t.py"}
    return Spec.model_validate({"metadata": {"name": "job", **metadata}, "spec": {**common, **job}})


def test_the_operator_s_chart_has_the_documented_defaults() -> None:
    setup = platform.plan_setup(CLUSTER)
    assert setup.values == {
        "image": {
            "repository": "ccr.ccs.tencentyun.com/tke-market/pytorch-operator",
            "tag": "latest",
        },
        "namespace": {"create": True, "name": "pytorch-operator"},
    }
    assert "#   repository: ccr.ccs.tencentyun.com/tke-market/pytorch-operator\n" in setup.text()
    assert read(setup.text()).documents == ()


def test_namespaces_priorities_and_queues_of_the_jobs_are_written_in_this_order() -> None:
    jobs = [
        spec({"nodes": 2, "queue": "gold", "priorityClassName": "high"}, namespace="ml"),
        spec(
            {"nodes": 2, "queue": "gold", "priorityClassName": "system-node-critical"},
            namespace="ml",
        ),
        spec({"nodes": 2, "target": "volcano", "queue": "bulk"}, namespace="volcano-jobs"),
    ]
    setup = platform.plan_setup(profile({"priorities": {"low": -5}}), jobs)
    documents = list(yaml.safe_load_all(setup.text()))
    assert [(document["kind"], document["metadata"]["name"]) for document in documents] == [
        ("Namespace", "ml"),
        ("Namespace", "volcano-jobs"),
        ("PriorityClass", "high"),
        ("PriorityClass", "low"),
        ("LocalQueue", "gold"),
        ("Queue", "bulk"),
    ]
    assert [document["value"] for document in documents if document["kind"] == "PriorityClass"] == [
        0,
        -5,
    ]
    assert documents[4]["metadata"]["namespace"] == "ml"
    assert setup.values == {}


def test_the_chart_creates_its_namespace() -> None:
    job = spec({"nodes": 2, "target": "pytorchjob"}, namespace="pytorch-operator")
    own = profile({"operator": {"namespace": {"create": False}}})
    kinds = [
        [manifest["kind"] for manifest in platform.plan_setup(one, [job]).manifests]
        for one in (CLUSTER, own)
    ]
    assert kinds == [[], ["Namespace"]]


def test_old_kueue_has_the_old_version() -> None:
    old = profile({"versions": {"kueue": "0.14"}})
    made = platform.plan_setup(old, [spec({"nodes": 2, "queue": "gold"})]).manifests
    assert made[0]["apiVersion"] == "kueue.x-k8s.io/v1beta1"
    new = platform.plan_setup(CLUSTER, [spec({"nodes": 2, "queue": "q"})]).manifests
    assert new[0]["apiVersion"].endswith("v1beta2")


def test_default_objects_are_not_created() -> None:
    jobs = [
        spec({"nodes": 1}, namespace="default"),
        spec({"nodes": 1, "target": "volcano", "queue": "default"}),
    ]
    assert platform.plan_setup(CLUSTER, jobs).manifests == ()


def test_the_profile_says_how_the_operator_is_deployed() -> None:
    own = profile(
        {"operator": {"image": {"tag": "v1"}, "namespace": {"create": False, "name": "kubeflow"}}}
    )
    pod = spec({"nodes": 1, "target": "pod"})
    assert platform.plan_setup(CLUSTER, [pod]).values == {}
    setup = platform.plan_setup(own, [pod])
    assert setup.values == {
        "image": {"repository": "ccr.ccs.tencentyun.com/tke-market/pytorch-operator", "tag": "v1"},
        "namespace": {"create": False, "name": "kubeflow"},
    }
    assert [manifest["metadata"]["name"] for manifest in setup.manifests] == ["kubeflow"], (
        "the chart does not make it"
    )


def test_a_priority_of_a_pod_template_counts() -> None:
    job = spec(
        {"nodes": 1, "target": "pod", "podTemplate": {"spec": {"priorityClassName": "urgent"}}}
    )
    assert [
        manifest["metadata"]["name"] for manifest in platform.plan_setup(CLUSTER, [job]).manifests
    ] == ["urgent"]


def test_trainjobs_require_their_runtimes() -> None:
    """Trainer's manager and runtimes are two steps; a job that the built-in runtime cannot express has its own.

    Source: docs/facts/trainer.md#built-in-runtimes.
    """
    jobs = [
        spec({"nodes": 2, "target": "trainjob", "restartPolicy": "OnFailure"}, name="plain"),
        spec(
            {"nodes": 2, "target": "trainjob", "restartPolicy": "Never"}, name="own", namespace="ml"
        ),
    ]
    setup = platform.plan_setup(CLUSTER, jobs)
    objects = [(manifest["kind"], manifest["metadata"]["name"]) for manifest in setup.manifests]
    assert objects == [
        ("Namespace", "ml"),
        ("ClusterTrainingRuntime", "torch-distributed"),
        ("TrainingRuntime", "own"),
    ]
    assert lint(setup.text()).ok


def test_a_cluster_queue_is_listed_but_not_created() -> None:
    """In Kueue 0.19, a LocalQueue without its ClusterQueue admits nothing; the administrator sets the quota."""
    setup = platform.plan_setup(
        CLUSTER, [spec({"nodes": 2, "queue": "gold"}), spec({"nodes": 2, "target": "volcano"})]
    )
    (local,) = (manifest for manifest in setup.manifests if manifest["kind"] == "LocalQueue")
    (listed,) = (requirement for requirement in setup.requirements if requirement.kind == "object")
    assert listed.name == f"ClusterQueue/{local['spec']['clusterQueue']}"
    assert "clusterQueue of the LocalQueue" in listed.why
    assert "# object     ClusterQueue/gold  (" in setup.text()


def test_each_queue_system_has_its_queues_and_priority_classes() -> None:
    """Kueue has a separate class for jobs; KAI's queue guarantees nothing and has no limit."""
    job = spec({"nodes": 2, "queue": "gold", "priority": "high"})
    made = {
        system: platform.plan_setup(
            profile({"queueSystem": system, "priorities": {"high": 7}}), [job]
        ).manifests
        for system in ("kueue", "volcano", "kai")
    }
    kinds = {
        system: [(obj["kind"], obj["metadata"]["name"]) for obj in objects]
        for system, objects in made.items()
    }
    assert kinds["kueue"] == [
        ("PriorityClass", "high"),
        ("WorkloadPriorityClass", "high"),
        ("LocalQueue", "gold"),
    ]
    assert kinds["volcano"] == kinds["kai"] == [("PriorityClass", "high"), ("Queue", "gold")]
    assert made["kueue"][1]["value"] == 7
    assert made["kai"][1]["spec"]["resources"]["gpu"] == {
        "quota": 0,
        "limit": -1,
        "overQuotaWeight": 1,
    }
