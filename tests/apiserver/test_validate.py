"""The runner: supported kinds, the order of the layers, and one problem per cause."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver import is_supported, validate
from ptcompile.kubernetes.versions import Versions

Json = dict[str, Any]


def pod(**container: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "x"},
        "spec": {"containers": [{"name": "main", "image": "x", **container}]},
    }


def volcano(template: Json, **spec: Any) -> Json:
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "x"},
        "spec": {
            "minAvailable": 1,
            "tasks": [{"name": "t", "replicas": 1, "template": {"spec": template}}],
            **spec,
        },
    }


@pytest.mark.parametrize(
    ("manifest", "known"),
    [
        ({"apiVersion": "v1", "kind": "Pod"}, True),
        ({"apiVersion": "batch/v1", "kind": "Job"}, True),
        ({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job"}, True),
        ({"apiVersion": "batch/v1beta1", "kind": "Job"}, False),
        ({"apiVersion": "v1", "kind": "Job"}, False),
        ({"apiVersion": ["v1"], "kind": "Pod"}, False),
        ({"kind": "Pod"}, False),
        ({}, False),
    ],
)
def test_supported_goes_by_api_version_and_kind(manifest: Json, known: bool) -> None:
    assert is_supported(manifest) is known
    if not known:
        assert validate(manifest) == []


def test_a_clean_pod_has_no_problem() -> None:
    assert validate(pod()) == []


def test_a_value_of_a_wrong_type_is_reported_once() -> None:
    assert [p.path for p in validate(pod(image=7))] == [("spec", "containers", 0, "image")]


def test_a_mistyped_field_is_reported_once() -> None:
    manifest = pod()
    manifest["spec"]["container"] = manifest["spec"].pop("containers")
    assert [p.path for p in validate(manifest)] == [("spec", "container")]


def test_structure_and_field_rules_report_together() -> None:
    names = [p.name for p in validate(pod(comand=["x"], imagePullPolicy="Sometimes"))]
    assert names == ["unknown-field", "unsupported-value"]


def test_names_of_the_operators_kinds_are_checked() -> None:
    manifest = volcano({"containers": [{"name": "a", "image": "x"}]})
    manifest["metadata"]["name"] = "Bad_Name"
    assert ("metadata", "name") in {p.path for p in validate(manifest, webhooks=False)}


def test_the_webhook_sets_defaults_before_the_schema_check() -> None:
    """The bare server rejects a task's empty name; a live one sets it to `default0` (operators/README.md)."""
    manifest = volcano({"containers": [{"name": "a", "image": "x"}], "restartPolicy": "Never"})
    manifest["spec"]["tasks"][0]["name"] = ""
    assert [p.path for p in validate(manifest, webhooks=False)] == [("spec", "tasks", 0, "name")]
    assert [p for p in validate(manifest) if p.severity == "error"] == []


def test_the_webhook_decodes_what_the_bare_server_only_matches() -> None:
    """`1e1.5` matches the CRD's pattern but not Go's parser (docs/facts/volcano.md#templates)."""
    template = {
        "containers": [{"name": "a", "image": "x", "resources": {"limits": {"cpu": "1e1.5"}}}]
    }
    path = ("spec", "tasks", 0, "template", "spec", "containers", 0, "resources", "limits", "cpu")
    for webhooks, stage in ((False, "pod"), (True, "apply")):
        stages = [p.stage for p in validate(volcano(template), webhooks=webhooks) if p.path == path]
        assert stages == [stage]


def test_a_webhook_rejection_is_not_repeated_for_the_pods() -> None:
    """Volcano's webhook runs the core checks on each template, as the pod's creation would.

    Source: docs/facts/volcano.md#the-validating-webhook V8.
    """
    template = {
        "containers": [{"name": "a", "image": "x", "imagePullPolicy": "Sometimes"}],
        "restartPolicy": "Never",
    }
    path = ("spec", "tasks", 0, "template", "spec", "containers", 0, "imagePullPolicy")
    assert [(p.path, p.stage) for p in validate(volcano(template)) if p.severity == "error"] == [
        (path, "apply")
    ]
    assert [(p.path, p.stage) for p in validate(volcano(template), webhooks=False)] == [
        (path, "pod")
    ]


def test_rules_depend_on_the_kubernetes_version() -> None:
    manifest = pod()
    manifest["spec"]["hostnameOverride"] = "x"  # Kubernetes 1.34
    older, newer = Versions(kubernetes=(1, 33)), Versions(kubernetes=(1, 34))
    assert [p.name for p in validate(manifest, versions=older)] == ["version-unknown-field"]
    assert [
        p for p in validate(manifest, versions=newer) if p.name == "version-unknown-field"
    ] == []


def test_the_manifest_is_left_unchanged() -> None:
    manifest = volcano({"containers": [None, {"name": None, "command": [None]}]})
    before = repr(manifest)
    validate(manifest)
    validate(manifest, webhooks=False)
    assert repr(manifest) == before


@pytest.mark.parametrize(
    "junk", [None, 1, "x", [], {}, [None], {"a": None}, [[[]]], True, 1.5, {"spec": {"spec": 1}}]
)
def test_junk_does_not_crash(junk: Any) -> None:
    for manifest in (pod(), volcano({"containers": []})):
        for key in ("metadata", "spec", "status", "junk"):
            validate({**manifest, key: junk})
            validate({**manifest, key: junk}, webhooks=False)
        validate(
            {
                **manifest,
                "spec": {"containers": junk, "volumes": junk, "tasks": junk, "plugins": junk},
            }
        )


def test_a_very_deep_value_does_not_crash() -> None:
    deep: Any = {}
    for _ in range(5000):
        deep = {"spec": deep}
    assert validate({**pod(), "spec": deep})


def test_mistakes_in_equal_requests_and_limits() -> None:
    """A mistake in one half is reported in the other half too, although the two are not compared."""
    half = {"cpu": "-1", "nvidia.com/gpu": "0.5"}
    reported_paths = {
        problem.path[3:]
        for problem in validate(pod(resources={"requests": half, "limits": dict(half)}))
    }
    assert reported_paths == {
        ("resources", side, name) for side in ("requests", "limits") for name in half
    }
