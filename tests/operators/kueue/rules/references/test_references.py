"""Names in Kueue's objects and in the labels of queued jobs."""

from __future__ import annotations

from typing import Any

from tests.linter.asking import Json, problems_of

API = "kueue.x-k8s.io/v1beta2"


def _object(kind: str, name: str = "x", namespace: str | None = None, **spec: Any) -> Json:
    space = {} if namespace is None else {"namespace": namespace}
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name, **space}, "spec": spec}


def _job(namespace: str | None = None, **labels: str) -> Json:
    space = {} if namespace is None else {"namespace": namespace}
    metadata = {
        "name": "t",
        "labels": {f"kueue.x-k8s.io/{key}": value for key, value in labels.items()},
        **space,
    }
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "a"}]}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {"template": template},
    }


def _paths(manifest: Json, *others: Json) -> list[tuple[str | int, ...]]:
    return [problem.path for problem in problems_of("dangling-queue-reference", manifest, *others)]


def test_missing_flavors_and_checks_of_a_queue_are_reported() -> None:
    queue = _object(
        "ClusterQueue", resourceGroups=[{"flavors": [{"name": "a"}]}], admissionChecks=["c"]
    )
    assert _paths(queue) == []  # the cluster may have them
    assert _paths(queue, _object("ResourceFlavor", "b")) == [
        ("spec", "resourceGroups", 0, "flavors", 0, "name")
    ]
    flavors = [_object("ResourceFlavor", "b"), _object("ResourceFlavor", "a")]
    assert _paths(queue, *flavors) == [("spec", "admissionChecks", 0)]
    assert _paths(queue, *flavors, _object("AdmissionCheck", "c")) == []
    assert _paths(queue, _object("AdmissionCheck", "d")) == [("spec", "admissionChecks", 0)]
    newer = _object("ClusterQueue", admissionChecksStrategy={"admissionChecks": [{"name": "c"}]})
    assert _paths(newer, _object("AdmissionCheck", "d"))[0][-1] == "name"


def test_missing_topologies_queues_and_priorities_are_reported() -> None:
    assert _paths(_object("ResourceFlavor", topologyName="a"), _object("Topology", "b")) == [
        ("spec", "topologyName")
    ]
    assert _paths(_object("ResourceFlavor", topologyName="a"), _object("Topology", "a")) == []
    assert _paths(_object("LocalQueue", clusterQueue="a"), _object("ClusterQueue", "b")) == [
        ("spec", "clusterQueue")
    ]


def test_the_priority_class_of_a_job_must_exist() -> None:
    job, low, high = _job(**{"queue-name": "q", "priority-class": "high"}), "low", "high"
    (problem,) = problems_of("missing-queue", job, _object("WorkloadPriorityClass", low))
    assert problem.path[-1] == "kueue.x-k8s.io/priority-class"
    assert not problems_of("missing-queue", job, _object("WorkloadPriorityClass", high))
    assert not problems_of("missing-queue", job)


def test_a_queue_of_another_namespace_is_missing() -> None:
    def finds(job: Json, *queues: Json) -> bool:
        return bool(problems_of("missing-queue", job, *queues))

    job = _job("ml", **{"queue-name": "q"})
    assert finds(job, _object("LocalQueue", "q", "web"))
    assert not finds(job, _object("LocalQueue", "q", "ml"))
    assert not finds(job, _object("LocalQueue", "q", "web"), _object("LocalQueue", "q", "ml"))
    assert not finds(job, _object("LocalQueue", "q"))
    assert not finds(job, _object("LocalQueue", "other", "web"))
    assert not finds(_job(**{"queue-name": "q"}), _object("LocalQueue", "q", "web"))


def test_a_label_with_a_word_more_or_less_suggests_the_right_one() -> None:
    for word, meant in (
        ("priority-class-name", "priority-class"),
        ("queue", "queue-name"),
        ("flavor", None),
    ):
        problems = problems_of("unknown-kueue-label", _job(**{word: "x"}))
        assert [problem.help for problem in problems] == [
            f"did you mean kueue.x-k8s.io/{meant}?"
        ] * bool(meant), word
