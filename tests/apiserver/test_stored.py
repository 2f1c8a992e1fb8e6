"""The object as the server would keep it, against what a server kept (Kubernetes 1.36, without operators' webhooks)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ptcompile.apiserver import validate
from ptcompile.apiserver.stored import as_created, stored_object
from tests import recorded

Json = dict[str, Any]
ROWS = list(recorded.rows("apiserver/live/unchanged"))
GENERATED = {
    "creationTimestamp",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "namespace",
    "resourceVersion",
    "uid",
}
"""Metadata that only a server can write; the namespace came from kubectl's `-n`."""
NOTED = {
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.daemonset.template.generation",
    "kubernetes.io/limit-ranger",
}
"""Annotations of kubectl and of the server."""
LIMITS = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "limits", "namespace": "research"},
    "spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}}]},
}
"""The LimitRange of the namespace in which the objects were created."""
CONFORMANCE = {
    ("Service", "spec.clusterIP"): 1,
    ("Service", "spec.clusterIPs"): 1,
    ("Service", "spec.healthCheckNodePort"): 1,
    ("Service", "spec.ipFamilies"): 2,
}
"""The paths at which stored objects differ from recorded ones, by kind, and how many do: what a cluster allocates."""


def without_generated(manifest: Mapping[str, Any]) -> Json:
    """Return an object without what only a cluster can know."""
    out: Json = json.loads(json.dumps(manifest))
    out.pop("status", None)
    metadata = out.get("metadata", {})
    annotations = {
        key: value for key, value in metadata.pop("annotations", {}).items() if key not in NOTED
    }
    out["metadata"] = {key: value for key, value in metadata.items() if key not in GENERATED}
    if annotations:
        out["metadata"]["annotations"] = annotations
    if out["kind"] == "Pod":  # the server ran without the plugin ServiceAccount
        for name in ("serviceAccount", "serviceAccountName"):
            if out["spec"].get(name) == "default":
                del out["spec"][name]
    return out


def differences(a: Any, b: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the paths at which two values differ, except for the labels and selectors with the uid of a Job."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(a.keys() | b.keys()):
            if "controller-uid" not in key and (*path, key) != ("spec", "selector"):
                yield from differences(a.get(key), b.get(key), (*path, key))
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for left, right in zip(a, b, strict=True):
            yield from differences(left, right, (*path, "*"))
    elif a != b:
        yield ".".join(path)


def test_stored_objects_equal_those_of_the_server() -> None:
    counts: dict[tuple[str, str], int] = {}
    for row in ROWS:
        file = {
            **row["manifest"],
            "metadata": {**row["manifest"]["metadata"], "namespace": "research"},
        }
        stored = stored_object(file, others=[LIMITS], webhooks=False).manifest
        for path in differences(without_generated(stored), without_generated(row["live"])):
            key = row["manifest"]["kind"], path
            counts[key] = counts.get(key, 0) + 1
    assert counts == CONFORMANCE
    assert len({row["manifest"]["kind"] for row in ROWS}) > 30


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["id"]))
def test_storing_again_changes_nothing(row: Mapping[str, Any]) -> None:
    once = stored_object(row["manifest"], others=[LIMITS])
    again = stored_object(once.manifest, others=[LIMITS])
    assert again.manifest == once.manifest
    assert again.written == ()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["id"]))
def test_a_stored_object_is_accepted(row: Mapping[str, Any]) -> None:
    def rejections(manifest: Mapping[str, Any]) -> list[str]:
        problems = validate(manifest, webhooks=False)
        return [
            problem.message
            for problem in problems
            if problem.stage == "apply" and problem.severity == "error"
        ]

    stored = stored_object(row["manifest"]).manifest
    if (
        stored["apiVersion"] == "batch/v1" and stored["kind"] == "Job"
    ):  # a new Job may not have the labels that the server adds with its uid
        stored["spec"]["template"].get("metadata", {}).pop("labels", None)
    assert rejections(stored) == rejections(row["manifest"])


def writers(manifest: Json, **how: Any) -> dict[str, str]:
    """Return who writes each path."""
    return {
        ".".join(map(str, item.path)): item.by for item in stored_object(manifest, **how).written
    }


def _pod(**spec: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "c", "image": "i:1"}], **spec},
    }


def test_each_value_has_a_writer() -> None:
    by = writers(_pod())
    assert by["spec.containers.0.imagePullPolicy"] == "kube-apiserver"
    assert by["spec.priority"] == "Priority"
    assert by["spec.tolerations.0.key"] == "DefaultTolerationSeconds"
    assert by["spec.serviceAccountName"] == "ServiceAccount"


def test_a_webhook_and_a_crd_are_told_apart() -> None:
    template = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}}
    jobset = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "a"},
        "spec": {"replicatedJobs": [{"name": "w", "template": template}]},
    }
    by = writers(jobset)
    assert by["spec.replicatedJobs.0.replicas"] == "jobset CRD"
    assert by["spec.replicatedJobs.0.template.spec.completionMode"] == "jobset webhook"
    assert not any("webhook" in name for name in writers(jobset, webhooks=False).values())


def test_written_values_are_those_of_the_object() -> None:
    for row in ROWS:
        stored = stored_object(row["manifest"])
        for path, value, by in stored.written:
            node: Any = stored.manifest
            for part in path:
                node = node[part]
            assert node == value
            assert by


def test_any_data_is_stored_without_an_exception() -> None:
    values: tuple[Any, ...] = (None, [], "x", 1, {"a": None})
    for value in values:
        for kind in (
            ("v1", "Pod"),
            ("v1", "Service"),
            ("batch/v1", "Job"),
            ("apps/v1", "StatefulSet"),
            ("x/v1", "Y"),
        ):
            manifest = {"apiVersion": kind[0], "kind": kind[1], "metadata": value, "spec": value}
            stored_object(manifest)
            as_created(manifest)
