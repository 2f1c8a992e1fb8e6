"""Parts that all operators share: live status, templates, roles as import reads them, and the view of a pod."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kinds.pods import ContainerView, PodView, env_entry, port_entry, reference
from ptcompile.kinds.reading import (
    ReadRole,
    as_nodes,
    changed_names,
    have_same_pods,
    main_container,
    pod_count,
    restart_policy,
    without_empty,
)
from ptcompile.kinds.status import (
    Status,
    field_condition,
    merge_patch_for,
    status_from_condition,
    true_conditions,
)
from ptcompile.kinds.templates import find_headless_service, limit_sentences, restart_sentence

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("state", "done"),
    [
        ("created", False),
        ("queued", False),
        ("running", False),
        ("restarting", False),
        ("succeeded", True),
        ("failed", True),
    ],
)
def test_only_final_states_are_done(state: Any, done: bool) -> None:
    assert Status(state).done is done


@pytest.mark.parametrize(
    ("reason", "message", "why"),
    [("r", "m", "r: m"), ("r", None, "r"), (None, "m", "m"), (None, None, None), ("", "", None)],
)
def test_why_joins_reason_and_message(
    reason: str | None, message: str | None, why: str | None
) -> None:
    assert Status("failed", reason, message).why == why


def test_only_true_conditions_of_a_live_object_count() -> None:
    conditions = [
        {"type": "A", "status": "True", "reason": "r"},
        {"type": "B", "status": "False"},
        {"type": "C"},
    ]
    conditions_true = true_conditions({"status": {"conditions": conditions}})
    assert list(conditions_true) == ["A"]
    assert status_from_condition("failed", conditions_true["A"]) == ("failed", "r", None)
    assert status_from_condition("failed", {"message": "m"}) == ("failed", None, "m")


def test_a_condition_on_a_field_names_its_values() -> None:
    one, two = (
        field_condition("status.phase", "Done"),
        field_condition("status.phase", "Done", "Failed"),
    )
    assert (
        one.cel == "has(object.status) && has(object.status.phase) && object.status.phase == 'Done'"
    )
    assert (
        two.cel
        == "has(object.status) && has(object.status.phase) && object.status.phase in ['Done', 'Failed']"
    )
    assert one.argo == "status.phase == Done"
    assert two.argo == "status.phase in (Done, Failed)"
    assert merge_patch_for(("spec", "suspend"), True) == {"spec": {"suspend": True}}
    assert merge_patch_for((), True) is None


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ({}, "restartPolicy Never: a container that fails is not restarted in its pod"),
        (
            {"restartPolicy": "OnFailure"},
            "restartPolicy OnFailure: a container that fails is restarted in its pod",
        ),
        ({"restartPolicy": "Some"}, "restartPolicy Some: unknown policy"),
    ],
)
def test_the_sentence_says_how_a_container_restarts(template: Json, text: str) -> None:
    assert restart_sentence(template, "Never").startswith(text)
    assert restart_policy({"spec": template}, "Never") == template.get("restartPolicy", "Never")


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ({}, 0),
        ({"activeDeadlineSeconds": 0}, 1),
        ({"activeDeadlineSeconds": 1, "ttlSecondsAfterFinished": 0}, 2),
    ],
)
def test_each_limit_has_a_sentence(spec: Json, count: int) -> None:
    assert len(list(limit_sentences(spec, "the job"))) == count


def _service(namespace: str = "ml", cluster_ip: str | None = "None", **selector: str) -> Json:
    metadata = {"name": "s", "namespace": namespace}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {"clusterIP": cluster_ip, "selector": selector},
    }


@pytest.mark.parametrize(
    ("services", "name", "expected"),
    [
        ([_service(a="b")], "s", True),
        ([_service(a="b", c="d")], "s", True),
        ([_service(a="b", c="d", e="f")], "s", False),
        ([_service()], "s", False),
        ([_service(cluster_ip=None, a="b")], "s", False),
        ([_service("other", a="b")], "s", False),
        ([_service(a="b")], "t", False),
        ([_service(a="b")], None, False),
        ([], "s", False),
    ],
)
def test_the_headless_service_of_pods_is_found(
    services: list[Json], name: str | None, expected: bool
) -> None:
    service = find_headless_service(services, name, {"a": "b", "c": "d"}, "ml")
    assert (service is not None) is expected


def _role(name: str, replicas: int, image: str = "i", restart: str = "Never") -> ReadRole:
    return ReadRole(name, replicas, {"image": image}, (name,), "main", restart)


def test_equal_roles_are_read_as_nodes() -> None:
    roles, fields = as_nodes([_role("master", 1), _role("worker", 3)])
    assert [(role.role, role.replicas, role.other_paths) for role in roles] == [
        ("node", 4, (("worker",),))
    ]
    assert fields == {"nodes": 4}
    assert as_nodes([_role("master", 2)])[1] == {"nodes": 2}
    for other in (_role("worker", 3, image="j"), _role("worker", 3, restart="Always")):
        roles, fields = as_nodes([_role("master", 1), other])
        assert [role.role for role in roles] == ["master", "worker"]
        assert fields == {"master": {}, "worker": {"replicas": 3}}
        assert not have_same_pods(roles)


def test_small_helpers_drop_empty_values() -> None:
    assert without_empty({"a": None, "b": [], "c": {}, "d": 0, "e": "", "f": False}) == {
        "d": 0,
        "e": "",
        "f": False,
    }
    assert (pod_count(None), pod_count(3), pod_count("x")) == (1, 3, 1)
    assert changed_names(container="pytorch", node="node") == {}
    assert changed_names(node="a", master="master") == {"names": {"node": "a"}}


GPU = {"resources": {"limits": {"nvidia.com/gpu": 1}}}


@pytest.mark.parametrize(
    ("containers", "names", "expected"),
    [
        ([{"name": "a"}, {"name": "b"}], ("b",), "b"),
        ([{"name": "a"}, {"name": "b", **GPU}], ("x",), "b"),
        ([{"name": "a"}, {"name": "b", "resources": {"limits": {"cpu": 1}}}], ("x",), "a"),
        ([{"name": "a"}, {"name": "b"}], (), "a"),
        ([], (), "pytorch"),
    ],
)
def test_the_container_that_trains_is_found_by_name_or_devices(
    containers: list[Json], names: tuple[str, ...], expected: str
) -> None:
    assert main_container({"spec": {"containers": containers}}, *names) == expected


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"name": "A", "value": "1"}, {"name": "A", "value": "1"}),
        ({"name": "A"}, {"name": "A", "value": ""}),
        (
            {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "p"}}},
            {"name": "A", "fieldRef": "p"},
        ),
        (
            {"name": "A", "value": "1", "valueFrom": {"fieldRef": {"fieldPath": "p"}}},
            {"name": "A", "value": "1"},
        ),
        (
            {"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
            {"name": "A", "from": "secret:s/k"},
        ),
        (
            {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}},
            {"name": "A", "from": "configmap:c/k"},
        ),
        (
            {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
            {"name": "A", "resourceFieldRef": {"resource": "limits.cpu"}},
        ),
    ],
)
def test_env_entries_are_written_as_json(entry: Json, expected: Json) -> None:
    assert env_entry(entry) == expected
    assert reference({}) is None


def test_a_port_is_written_as_json() -> None:
    assert port_entry({"containerPort": 80}) == {"containerPort": 80, "protocol": "TCP"}
    assert port_entry({"containerPort": 80, "name": "a", "protocol": "UDP"}) == {
        "name": "a",
        "containerPort": 80,
        "protocol": "UDP",
    }


def test_a_container_is_written_as_json() -> None:
    plain = ContainerView("a", False, {"image": "i"}).to_dict()
    assert plain["command"] is None
    assert plain["args"] is None
    assert plain["init"] is False
    written = ContainerView("a", True, {"image": "i", "command": ["c"], "args": ["x"]}).to_dict()
    assert written["command"] == ["c"]
    assert written["args"] == ["x"]
    assert written["init"] is True


def test_a_pod_restarts_always_unless_its_spec_says_otherwise() -> None:
    assert PodView("a", "job", 0, {}).restart_policy == "Always"
    assert PodView("a", "job", 0, {"restartPolicy": "Never"}).restart_policy == "Never"
