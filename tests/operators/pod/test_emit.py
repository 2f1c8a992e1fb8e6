"""Target pod: one node, no operator."""

from __future__ import annotations

from typing import Any

import pytest

from tests import making
from tests.making import compiled, manifest, smallest


def refused(body: str) -> list[tuple[Any, ...]]:
    return [problem.path for problem in compiled(smallest(body), "pod").problems]


def test_the_smallest_spec_becomes_the_smallest_pod() -> None:
    assert manifest(smallest(), "pod") == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "train"},
        "spec": {
            "restartPolicy": "Never",
            "containers": [
                {
                    "name": "pytorch",
                    "image": "img:1",
                    "command": [
                        "torchrun",
                        "--standalone",
                        "--nproc-per-node=1",
                        "--monitor-interval=5",
                        "train.py",
                    ],
                    "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],  # noqa: S108
                }
            ],
            "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}],
        },
    }


@pytest.mark.parametrize("policy", ["Never", "OnFailure", "Always"])
def test_a_pod_has_the_user_s_restart_policy(policy: str) -> None:
    assert manifest(smallest(f"restartPolicy: {policy}"), "pod")["spec"]["restartPolicy"] == policy


def test_deadline_is_a_pod_field() -> None:
    body = "runPolicy: {activeDeadlineSeconds: 3600}"
    assert manifest(smallest(body), "pod")["spec"]["activeDeadlineSeconds"] == 3600


def test_queue_is_a_kueue_label() -> None:
    labels = manifest(smallest("queue: research"), "pod")["metadata"]["labels"]
    assert labels == {"kueue.x-k8s.io/queue-name": "research"}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("nodes: 2", ("spec", "nodes")),
        ("restartPolicy: ExitCode", ("spec", "restartPolicy")),
        (
            "runPolicy: {ttlSecondsAfterFinished: 0}",
            ("spec", "runPolicy", "ttlSecondsAfterFinished"),
        ),
        (
            "runPolicy: {ttlSecondsAfterFinished: 60}",
            ("spec", "runPolicy", "ttlSecondsAfterFinished"),
        ),
        ("runPolicy: {backoffLimit: 1}", ("spec", "runPolicy", "backoffLimit")),
        ("runPolicy: {cleanPodPolicy: All}", ("spec", "runPolicy", "cleanPodPolicy")),
        ("runPolicy: {suspend: true}", ("spec", "runPolicy", "suspend")),
    ],
)
def test_unsupported_fields_are_rejected(body: str, path: tuple[str, ...]) -> None:
    assert refused(body) == [path]


@pytest.mark.parametrize(
    "body",
    [
        "runPolicy: {backoffLimit: 0}",  # a pod is never retried, so 0 is accepted
        "runPolicy: {cleanPodPolicy: None}",
        "runPolicy: {cleanPodPolicy: 'None'}",
        "runPolicy: {cleanPodPolicy: Running}",
        "runPolicy: {suspend: false}",
        "elastic: {nnodes: '1:1'}",
    ],
)
def test_default_behavior_of_a_pod_is_accepted(body: str) -> None:
    assert refused(body) == []


def test_all_rejections_are_reported_together() -> None:
    assert (
        len(
            refused(
                "nodes: 2\nrunPolicy: {ttlSecondsAfterFinished: 1, backoffLimit: 1, suspend: true}"
            )
        )
        == 4
    )


@pytest.mark.parametrize("part", ["labels", "annotations"])
def test_pod_metadata_overrides_the_profile(part: str) -> None:
    field = {"labels": "podLabels", "annotations": "podAnnotations"}[part]
    cluster = making.profile({"defaults": {part: {"team": "platform", "tier": "gold"}}})
    metadata = manifest(smallest(f"{field}: {{team: mine}}"), "pod", cluster)["metadata"]
    assert metadata[part] == {"team": "mine", "tier": "gold"}


def test_labels_of_object_and_pod_are_merged() -> None:
    source = smallest("podLabels: {pod: a}").replace(
        "{name: train}", "{name: train, labels: {object: b}}"
    )
    assert manifest(source, "pod")["metadata"]["labels"] == {"object": "b", "pod": "a"}


def test_a_patch_may_not_rename_the_pod() -> None:
    assert refused("podTemplate: {metadata: {name: other}}") == [
        ("spec", "podTemplate", "metadata", "name")
    ]


def test_a_plain_command_is_kept() -> None:
    source = making.text("image: img:1\ncommand: [python, x.py]\nargs: ['$(RANK)']")
    (container,) = manifest(source, "pod")["spec"]["containers"]
    assert (container["command"], container["args"]) == (["python", "x.py"], ["$(RANK)"])


def test_command_of_the_image_is_used() -> None:
    (container,) = manifest(making.text("image: img:1\nargs: [--epochs, '3']"), "pod")["spec"][
        "containers"
    ]
    assert "command" not in container
    assert container["args"] == ["--epochs", "3"]
