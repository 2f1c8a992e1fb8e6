"""Updates of custom resources: CRDs' transition rules, operators' webhooks, and fields that controllers ignore."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.differ.model import Apply
from tests.apiserver.validation.test_other_kinds import paths
from tests.differ.applying.test_updates import changed
from tests.differ.making import job, pod

Json = dict[str, Any]
POD = {"spec": {"containers": [{"name": "node", "image": "i"}]}}


def _object(kind: str, version: str, spec: Json, **meta: Any) -> Json:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "a", **meta}, "spec": spec}


def rejections(old: Json, new: Json, *, server_side: bool = False) -> list[tuple[str, str]]:
    """Return the authority and the path of each rejection of the update."""
    report = ptcompile.diff(old, new, server_side=server_side)
    return [
        (d.authority, ".".join(map(str, d.path))) for d in report.diagnostics if d.stage == "apply"
    ]


def outcome(old: Json, new: Json) -> str:
    """Return the outcome of applying the update."""
    (change,) = ptcompile.diff(old, new).objects
    assert isinstance(change.apply, Apply)
    return change.apply.outcome


JOBSET = _object(
    "JobSet",
    "jobset.x-k8s.io/v1alpha2",
    {
        "network": {"subdomain": "s"},
        "replicatedJobs": [{"name": "w", "template": {"spec": {"template": POD}}}],
    },
)
IMAGE = "spec.replicatedJobs.0.template.spec.template.spec.containers.0.image"


def test_a_transition_rule_needs_both_values() -> None:
    assert ("kube-apiserver", "spec.network") in rejections(
        JOBSET, changed(JOBSET, "spec.network.subdomain", "t")
    )
    assert rejections(JOBSET, changed(JOBSET, "spec.network", None)) == []
    assert rejections(JOBSET, changed(JOBSET, "spec.suspend", True)) == []


def test_the_webhook_checks_replicated_jobs_of_a_jobset() -> None:
    assert rejections(JOBSET, changed(JOBSET, IMAGE, "j")) == [("jobset", "spec.replicatedJobs")]
    waiting = changed(JOBSET, "spec.suspend", True)
    selector = "spec.replicatedJobs.0.template.spec.template.spec.nodeSelector"
    assert rejections(waiting, changed(waiting, selector, {"a": "b"})) == []
    assert rejections(waiting, changed(waiting, IMAGE, "j")) == [("jobset", "spec.replicatedJobs")]


TRAINJOB = _object(
    "TrainJob",
    "trainer.kubeflow.org/v1alpha1",
    {"runtimeRef": {"name": "torch-distributed"}, "trainer": {"image": "i"}},
)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("spec.trainer.image", "j", [("kube-apiserver", "spec.trainer")]),
        ("spec.runtimeRef.name", "other", [("kube-apiserver", "spec.runtimeRef")]),
        ("spec.runtimeRef.kind", "ClusterTrainingRuntime", []),
        ("spec.trainer", None, []),
        ("spec.activeDeadlineSeconds", 60, []),
        ("spec.suspend", True, []),
    ],
)
def test_forbidden_updates_of_a_trainjob_are_rejected(
    path: str, value: Any, expected: list[tuple[str, str]]
) -> None:
    assert rejections(TRAINJOB, changed(TRAINJOB, path, value)) == expected


def test_a_null_is_a_value_to_a_server_side_apply() -> None:
    new = changed(TRAINJOB, "spec.trainer.image", "x")
    new["spec"]["trainer"]["image"] = None
    assert ("kube-apiserver", "spec.trainer.image") in rejections(TRAINJOB, new, server_side=True)
    assert ("kube-apiserver", "spec.trainer.image") not in rejections(TRAINJOB, new)


VOLCANO = _object(
    "Job",
    "batch.volcano.sh/v1alpha1",
    {
        "minAvailable": 1,
        "queue": "q",
        "tasks": [{"name": "w", "replicas": 2, "maxRetry": 3, "template": POD}],
    },
)


@pytest.mark.parametrize(
    ("path", "value", "free"),
    [
        ("spec.minAvailable", 2, True),
        ("spec.tasks.0.replicas", 3, True),
        ("spec.priorityClassName", "p", True),
        ("spec.queue", "r", False),
        ("spec.tasks.0.template.spec.containers.0.image", "j", False),
        ("spec.tasks.0.name", "v", False),
    ],
)
def test_forbidden_updates_of_a_volcano_job_are_rejected(path: str, value: Any, free: bool) -> None:
    assert ("volcano" not in dict(rejections(VOLCANO, changed(VOLCANO, path, value)))) == free


def test_kueues_labels_change_while_a_job_is_suspended() -> None:
    queued = _object(
        "JobSet",
        "jobset.x-k8s.io/v1alpha2",
        JOBSET["spec"],
        labels={"kueue.x-k8s.io/queue-name": "a"},
    )
    moved = changed(queued, "metadata.labels", {"kueue.x-k8s.io/queue-name": "b"})
    label = ("kueue", "metadata.labels.kueue.x-k8s.io/queue-name")
    assert rejections(queued, moved) == [label]
    assert (
        rejections(changed(queued, "spec.suspend", True), changed(moved, "spec.suspend", True))
        == []
    )


QUEUE = _object("LocalQueue", "kueue.x-k8s.io/v1beta2", {"clusterQueue": "c"})


def test_a_transition_rule_of_a_shipped_crd_rejects_an_update() -> None:
    assert rejections(QUEUE, changed(QUEUE, "spec.clusterQueue", "d")) == [
        ("kube-apiserver", "spec.clusterQueue")
    ]
    assert rejections(QUEUE, changed(QUEUE, "spec.stopPolicy", "Hold")) == []


CONFIG = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a"},
    "data": {"k": "v"},
    "immutable": True,
}
SECRET = {**CONFIG, "kind": "Secret", "type": "Opaque", "data": {"k": "dg=="}}


@pytest.mark.parametrize("manifest", [CONFIG, SECRET], ids=["ConfigMap", "Secret"])
def test_immutable_data_stays(manifest: Json) -> None:
    assert rejections(manifest, changed(manifest, "data.k", "dw==")) == [("kube-apiserver", "data")]
    assert rejections(manifest, changed(manifest, "immutable", False)) == [
        ("kube-apiserver", "immutable")
    ]
    assert rejections(manifest, changed(manifest, "metadata.labels", {"a": "b"})) == []
    for old in (changed(manifest, "immutable", None), changed(manifest, "immutable", False)):
        assert rejections(old, changed(old, "data.k", "dw==")) == []


def test_the_type_of_a_secret_never_changes() -> None:
    free = changed(SECRET, "immutable", None)
    assert rejections(free, changed(free, "type", "example.com/other")) == [
        ("kube-apiserver", "type")
    ]


CLAIM = _object(
    "PersistentVolumeClaim",
    "v1",
    {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
)


@pytest.mark.parametrize("field", ["volumeName", "storageClassName"])
def test_the_volume_and_the_class_of_a_claim_are_set_once(field: str) -> None:
    bound = changed(CLAIM, f"spec.{field}", "a")
    assert rejections(CLAIM, bound) == []
    assert rejections(bound, changed(bound, f"spec.{field}", "b"))
    assert rejections(CLAIM, changed(CLAIM, "spec.volumeMode", "Block"))


PYTORCH = _object(
    "PyTorchJob",
    "kubeflow.org/v1",
    {
        "pytorchReplicaSpecs": {
            "Worker": {
                "replicas": 2,
                "template": {"spec": {"containers": [{"name": "pytorch", "image": "i"}]}},
            }
        }
    },
)
DEPLOYED = _object(
    "Deployment",
    "apps/v1",
    {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, **POD},
    },
)


@pytest.mark.parametrize(
    ("manifest", "path", "value", "expected"),
    [
        (PYTORCH, "spec.pytorchReplicaSpecs.Worker.replicas", 3, "ignored"),
        (PYTORCH, "spec.runPolicy", {"suspend": True}, "in-place"),
        (
            changed(PYTORCH, "spec.runPolicy", {"suspend": True}),
            "spec.pytorchReplicaSpecs.Worker.replicas",
            3,
            "in-place",
        ),
        (DEPLOYED, "spec.template.spec.containers.0.image", "j", "restarts"),
        (DEPLOYED, "spec.replicas", 3, "in-place"),
        (DEPLOYED, "spec.selector.matchLabels", {"a": "c"}, "refused"),
        (DEPLOYED, "apiVersion", "apps/v1", "unchanged"),
    ],
)
def test_an_apply_says_what_it_would_do(
    manifest: Json, path: str, value: Any, expected: str
) -> None:
    assert outcome(manifest, changed(manifest, path, value)) == expected


@pytest.mark.parametrize(
    "manifest", [JOBSET, TRAINJOB, VOLCANO, QUEUE, PYTORCH, DEPLOYED, pod(), job(suspend=True)]
)
@pytest.mark.parametrize("value", [[], "x", [None], {"a": []}])
def test_no_type_of_value_raises(manifest: Json, value: Any) -> None:
    for path in paths(manifest, ()):
        variant = changed(manifest, ".".join(path), value)
        ptcompile.diff(manifest, variant)
        ptcompile.diff(variant, manifest)
