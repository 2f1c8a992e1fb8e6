"""`null` in a spec: it removes a field on every target, or the target reports why it cannot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ptcompile.compiler.pipeline import compile_document
from ptcompile.ir.job import JOIN_TIMEOUT_SECONDS
from ptcompile.kubernetes.pod_spec import MERGE_KEYS
from ptcompile.operators.targets import TARGETS
from tests import strategies
from tests.making import compiled, manifest, profile, smallest, text
from tests.strategies import Json

MANY = [name for name in TARGETS if name != "pod"]


def templates(value: Any) -> Iterator[Json]:
    """Yield every pod template with a training container, at any depth of a manifest."""
    if isinstance(value, dict):
        names = (
            {container["name"] for container in value.get("spec", {}).get("containers", ())}
            if "spec" in value
            else set()
        )
        if names & {"pytorch", "node"}:
            yield {
                key: value[key]
                for key in ("metadata", "spec")
                if key in value and (key == "spec" or "kind" not in value)
            }
        for inner in value.values():
            yield from templates(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from templates(inner)


def places(value: Any, key: str = "") -> Iterator[tuple[str, ...]]:
    """Yield every path inside a template that a null can address; list items are addressed by their merge keys."""
    parts = value if isinstance(value, dict) else {}
    if isinstance(value, list) and key in MERGE_KEYS:
        named = MERGE_KEYS[key]
        parts = {str(item[named]): {k: v for k, v in item.items() if k != named} for item in value}
    for name, inner in parts.items():
        if isinstance(value, dict):
            yield (name,)
        for rest in places(inner, name):
            yield (name, *rest)


def patch_of(place: tuple[str, ...], key: str = "") -> Any:
    """Return the pod template patch with null at a path."""
    if not place:
        return None
    head, *rest = place
    inner = patch_of(tuple(rest), head)
    name = int(head) if key == "ports" else head
    return [{**inner, MERGE_KEYS[key]: name}] if key in MERGE_KEYS else {head: inner}


def has(value: Any, place: tuple[str, ...], key: str = "") -> bool:
    """Return whether a path exists. The training container is named either `pytorch` or `node`."""
    if not place:
        return True
    head, *rest = place
    if isinstance(value, list) and key in MERGE_KEYS:
        heads = {head, "node"} if (key, head) == ("containers", "pytorch") else {head}
        items = [item for item in value if str(item.get(MERGE_KEYS[key])) in heads]
        return any(has(item, tuple(rest)) for item in items)
    return isinstance(value, dict) and head in value and has(value[head], tuple(rest), head)


def main_of(made: Json) -> Json:
    """Return the first training container in a manifest."""
    container: Json = next(templates(made))["spec"]["containers"][0]
    return container


@pytest.mark.parametrize("target", MANY)
def test_a_request_without_a_limit_gets_no_limit(target: str) -> None:
    body = {
        "image": "img:1",
        "script": "t.py",
        "nodes": 2,
        "resources": {"memory": "4Gi", "requests": {"cpu": 4}},
    }
    made = main_of(manifest(text(json.dumps(body)), target))
    assert made["resources"] == {
        "requests": {"cpu": "4", "memory": "4Gi"},
        "limits": {"memory": "4Gi"},
    }


RESOURCES: list[tuple[Json, Json]] = [
    # (the spec, the manifest)
    ({"cpu": 4}, {"requests": {"cpu": "4"}, "limits": {"cpu": "4"}}),
    ({"cpu": 4, "limits": {"cpu": None}}, {"requests": {"cpu": "4"}}),
    ({"cpu": None, "requests": {"cpu": 4}}, {"requests": {"cpu": "4"}}),
    ({"requests": {"cpu": 4}}, {"requests": {"cpu": "4"}}),
    ({"limits": {"cpu": 4}}, {"requests": {"cpu": "4"}, "limits": {"cpu": "4"}}),
    ({"requests": {"cpu": None}, "limits": {"cpu": 4}}, {"limits": {"cpu": "4"}}),
    (
        {"cpu": 1, "requests": {"gpu": 2}},
        {
            "requests": {"cpu": "1", "nvidia.com/gpu": "2"},
            "limits": {"cpu": "1", "nvidia.com/gpu": "2"},
        },
    ),
    ({}, {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}),
    ({"limits": {"cpu": None}}, {"requests": {"cpu": "1"}}),
    ({"cpu": None}, {}),
]


@pytest.mark.parametrize(("resources", "expected"), RESOURCES, ids=str)
def test_resources_override_the_profile_s_requests_and_limits(
    resources: Json, expected: Json
) -> None:
    cluster = profile({"defaults": {"requests": {"cpu": 1}, "limits": {"cpu": 2}}})
    body = {"image": "img:1", "command": ["sh"], "resources": resources, "sharedMemory": False}
    assert (
        main_of(manifest(text(json.dumps(body)), "job", cluster)).get("resources", {}) == expected
    )


@pytest.mark.parametrize("half", ["requests", "limits"])
@pytest.mark.parametrize(
    "devices", [{"gpu": 1}, {"devices": {"rdma/hca": 1}}, {"devices": {"hugepages-2Mi": "1Gi"}}]
)
def test_a_device_with_a_null_request_or_limit_is_rejected(half: str, devices: Json) -> None:
    empty = {key: None if key == "gpu" else dict.fromkeys(value) for key, value in devices.items()}
    body = {"image": "img:1", "script": "t.py", "resources": {**devices, half: empty}}
    done = compiled(text(json.dumps(body)))
    leaf = [*devices["devices"]] if "devices" in devices else []
    assert [
        (problem.name, problem.path) for problem in done.problems if problem.severity == "error"
    ] == [("gpu-request-differs-from-limit", ("spec", "resources", half, *empty, *leaf))]


KEPT_AWAY: dict[str, tuple[Json, tuple[str, ...]]] = {
    # the spec, and the path that a pass or the profile would fill in
    "OMP_NUM_THREADS": (
        {"env": {"OMP_NUM_THREADS": None}},
        ("spec", "containers", "pytorch", "env", "OMP_NUM_THREADS"),
    ),
    "env": ({"env": {"P": None}}, ("spec", "containers", "pytorch", "env", "P")),
    "podLabels": ({"podLabels": {"team": None}}, ("metadata", "labels", "team")),
    "podAnnotations": ({"podAnnotations": {"note": None}}, ("metadata", "annotations", "note")),
    "nodeSelector": ({"nodeSelector": {"pool": None}}, ("spec", "nodeSelector", "pool")),
    "serviceAccountName": ({"serviceAccountName": None}, ("spec", "serviceAccountName")),
    "schedulerName": ({"schedulerName": None}, ("spec", "schedulerName")),
    "priorityClassName": ({"priorityClassName": None}, ("spec", "priorityClassName")),
    "imagePullPolicy": (
        {"imagePullPolicy": None},
        ("spec", "containers", "pytorch", "imagePullPolicy"),
    ),
    "limits": (
        {
            "podTemplate": {
                "spec": {"containers": [{"name": "pytorch", "resources": {"limits": None}}]}
            }
        },
        ("spec", "containers", "pytorch", "resources", "limits"),
    ),
    "volumes": ({"podTemplate": {"spec": {"volumes": None}}}, ("spec", "volumes")),
    "imagePullSecrets": (
        {"podTemplate": {"spec": {"imagePullSecrets": None}}},
        ("spec", "imagePullSecrets"),
    ),
    "tolerations": ({"podTemplate": {"spec": {"tolerations": None}}}, ("spec", "tolerations")),
}
PROFILE = profile(
    {
        "defaults": {
            "env": {"P": "1"},
            "labels": {"team": "a"},
            "annotations": {"note": "b"},
            "nodeSelector": {"pool": "c"},
            "serviceAccountName": "d",
            "schedulerName": "e",
            "imagePullSecrets": [{"name": "f"}],
            "tolerations": [{"key": "g", "operator": "Exists"}],
            "podTemplate": {
                "spec": {
                    "priorityClassName": "h",
                    "containers": [{"name": "pytorch", "imagePullPolicy": "Always"}],
                }
            },
        }
    }
)


@pytest.mark.parametrize("target", MANY)
@pytest.mark.parametrize(("fields", "place"), KEPT_AWAY.values(), ids=KEPT_AWAY)
def test_null_prevents_defaults(fields: Json, place: tuple[str, ...], target: str) -> None:
    body = {
        "image": "img:1",
        "script": "t.py",
        "nodes": 2,
        "elastic": {"nprocPerNode": 2},
        "resources": {"memory": "4Gi"},
    }
    filled = list(templates(manifest(text(json.dumps(body)), target, PROFILE)))
    assert filled
    assert all(has(template, place) for template in filled)
    left = list(templates(manifest(text(json.dumps({**body, **fields})), target, PROFILE)))
    assert len(left) == len(filled)
    assert not any(has(template, place) for template in left)


def test_a_role_s_null_removes_the_job_s_value() -> None:
    written = {
        "workingDir": "/app",
        "env": {"A": "1"},
        "podLabels": {"x": "y"},
        "priorityClassName": "high",
    }
    role = {
        "workingDir": None,
        "env": {"A": None},
        "podLabels": {"x": None},
        "priorityClassName": None,
    }
    body = {"image": "img:1", "script": "t.py", **written, "master": {}, "worker": role}
    master, worker = templates(manifest(text(json.dumps(body)), "pytorchjob"))
    assert (master["metadata"], master["spec"]["priorityClassName"]) == (
        {"labels": {"x": "y"}},
        "high",
    )
    assert "metadata" not in worker
    assert "priorityClassName" not in worker["spec"]
    assert "workingDir" not in worker["spec"]["containers"][0]
    assert "env" not in worker["spec"]["containers"][0]


def test_a_role_overrides_the_job_s_null() -> None:
    patch = {"spec": {"priorityClassName": None}}
    body = {
        "image": "img:1",
        "script": "t.py",
        "env": {"P": None},
        "podTemplate": patch,
        "master": {},
    }
    worker = {"env": {"P": "2"}, "podTemplate": {"spec": {"priorityClassName": "own"}}}
    master, last = templates(
        manifest(text(json.dumps({**body, "worker": worker})), "pytorchjob", PROFILE)
    )
    assert "env" not in master["spec"]["containers"][0]
    assert "priorityClassName" not in master["spec"]
    assert last["spec"]["containers"][0]["env"] == [{"name": "P", "value": "2"}]
    assert last["spec"]["priorityClassName"] == "own"


def test_null_removes_labels_annotations_and_the_queue() -> None:
    cluster = profile(
        {"defaults": {"labels": {"a": "1", "b": "2"}, "annotations": {"c": "3"}, "queue": "team"}}
    )
    head = {"apiVersion": "ptcompile/v1", "kind": "TrainingJob"}
    metadata = {"name": "train", "labels": {"a": None}, "annotations": {"c": None}}
    spec = {
        **head,
        "metadata": metadata,
        "spec": {"image": "img:1", "script": "t.py", "queue": None},
    }
    done = compile_document(spec, cluster, "job")
    assert done.manifests[-1]["metadata"] == {"name": "train", "labels": {"b": "2"}}
    unsaid = compile_document(
        {**spec, "spec": {"image": "img:1", "script": "t.py"}}, cluster, "job"
    )
    assert unsaid.manifests[-1]["metadata"]["labels"] == {
        "b": "2",
        "kueue.x-k8s.io/queue-name": "team",
    }


@pytest.mark.parametrize("target", MANY)
def test_null_under_elastic_omits_the_option(target: str) -> None:
    elastic = {"rdzvBackend": "c10d", "nprocPerNode": 1}
    body = {"image": "img:1", "script": "t.py", "nodes": 2, "resources": {}}
    null = {
        "monitorInterval": None,
        "rdzvId": None,
        "rdzvConfigs": {"timeout": None, "join_timeout": None},
    }
    for more, there in (({}, True), (null, False)):
        made = str(manifest(text(json.dumps({**body, "elastic": {**elastic, **more}})), target))
        for option in ("--monitor-interval", "--rdzv-id", "--rdzv-conf"):
            assert (option in made) is there, option


def test_null_under_elastic_leaves_an_elastic_policy_s_field_out() -> None:
    null = {"rdzvId": None, "rdzvConfigs": {"timeout": None}}
    body = {
        "image": "img:1",
        "script": "t.py",
        "elastic": {"nnodes": "1:2", "nprocPerNode": 1, **null},
    }
    policy = manifest(text(json.dumps(body)), "pytorchjob")["spec"]["elasticPolicy"]
    assert "rdzvId" not in policy
    assert policy["rdzvConf"] == [{"key": "join_timeout", "value": str(JOIN_TIMEOUT_SECONDS)}]


NEEDED: list[tuple[str, str, Json, tuple[str | int, ...]]] = [
    ("job", "subdomain", {"spec": {"subdomain": None}}, ("spec", "subdomain")),
    (
        "pytorchjob",
        "ports",
        {"spec": {"containers": [{"name": "pytorch", "ports": None}]}},
        ("spec", "containers", 0, "ports"),
    ),
    (
        "jobset",
        "env",
        {"spec": {"containers": [{"name": "pytorch", "env": None}]}},
        ("spec", "containers", 0, "env"),
    ),
]


@pytest.mark.parametrize(("target", "field", "patch", "place"), NEEDED, ids=str)
def test_removing_a_field_that_the_target_needs_is_an_error(
    target: str, field: str, patch: Json, place: tuple[str | int, ...]
) -> None:
    body = {
        "image": "img:1",
        "script": "t.py",
        "masterPort": 1234,
        "master": {},
        "worker": {},
        "podTemplate": patch,
    }
    if target == "job":
        body = {"image": "img:1", "script": "t.py", "nodes": 2, "podTemplate": patch}
    errors = [
        problem
        for problem in compiled(text(json.dumps(body)), target).problems
        if problem.severity == "error"
    ]
    assert [(error.name, error.path) for error in errors] == [
        ("unsupported-by-target", ("spec", "podTemplate", *place))
    ]
    assert f"the target {target} needs {field}" in errors[0].message


@pytest.mark.parametrize("name", ["MASTER_ADDR", "PET_NNODES"])
def test_removing_a_variable_set_by_the_operator_is_an_error(name: str) -> None:
    done = compiled(smallest(f"nodes: 2\nenv: {{{name}: null}}"), "pytorchjob")
    assert [(problem.name, problem.path) for problem in done.problems] == [
        ("unsupported-by-target", ("spec", "env", name))
    ]


@pytest.mark.parametrize(
    ("patch", "place"), [("{spec: null}", ()), ("{spec: {containers: null}}", ("containers",))]
)
def test_a_pod_without_a_training_container_is_rejected(patch: str, place: tuple[str, ...]) -> None:
    done = compiled(smallest(f"podTemplate: {patch}"))
    assert [(problem.name, problem.path) for problem in done.problems] == [
        ("spec-conflict", ("spec", "podTemplate", "spec", *place))
    ]


def test_nulls_in_items_added_by_a_patch_are_omitted() -> None:
    sidecar = {
        "name": "side",
        "image": "s:1",
        "workingDir": None,
        "env": [{"name": "A", "value": None}],
    }
    patch = {
        "spec": {
            "containers": [sidecar],
            "tolerations": [{"key": "a", "value": None, "operator": "Exists"}],
        }
    }
    body = {"image": "img:1", "script": "t.py", "podTemplate": patch}
    (made,) = templates(manifest(text(json.dumps(body)), "job"))
    assert made["spec"]["containers"][1] == {"name": "side", "image": "s:1", "env": [{"name": "A"}]}
    assert made["spec"]["tolerations"] == [{"key": "a", "operator": "Exists"}]


NOT_ASKED = {("spec",), ("spec", "containers"), ("spec", "restartPolicy")}
"""Paths at which the spec reader rejects null, independent of the target."""


def compiled_document(spec: Json, target: str, cluster: Any) -> Any:
    return compile_document(spec, cluster, target)


@given(st.data(), strategies.specs(catalogue=True), st.sampled_from([*TARGETS]))
def test_null_in_a_pod_template_removes_on_every_target(
    data: st.DataObject, spec: Json, target: str
) -> None:
    cluster = profile(data.draw(strategies.profiles()).get("spec", {}))
    done = compiled_document(spec, target, cluster)
    every_template = [template for made in done.manifests for template in templates(made)]
    named = sorted({place for template in every_template for place in places(template)} - NOT_ASKED)
    if not named:
        return
    place = tuple(
        "pytorch" if part == "node" else part for part in data.draw(st.sampled_from(named))
    )
    patch = {"podTemplate": patch_of(place)}
    roles = {
        role: {**spec["spec"][role], **patch}
        for role in ("master", "worker")
        if role in spec["spec"]
    }
    job = {**spec["spec"], **patch, **roles}
    after = compiled_document({**spec, "spec": job}, target, cluster)
    for made in after.manifests:
        for template in templates(made):
            assert not has(template, place), (place, target)
