"""Pods and containers as operators create them: their fields, their defaults, and sequences of pods built on demand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ptcompile.kinds import pods
from ptcompile.kinds.pods import ContainerView, ExpandedRole, Expansion, PodView, main_container_of

Json = dict[str, Any]


def _roles(*counts: int) -> list[ExpandedRole]:
    def role(name: str, count: int) -> ExpandedRole:
        return ExpandedRole(name, count, lambda index: PodView(f"{name}{index}", name, index, {}))

    return [role(name, count) for name, count in zip("abc", counts, strict=False)]


def _names(views: Sequence[PodView]) -> str:
    return " ".join(view.name for view in views)


def test_pods_of_all_roles_are_in_order() -> None:
    assert _names(Expansion(tuple(_roles(2, 0, 3))).pods) == "a0 a1 c0 c1 c2"


def test_an_expansion_has_pods_and_config_maps_on_demand() -> None:
    expansion = Expansion(tuple(_roles(1)), configmaps_of=lambda: ({"a": 1},))
    assert _names(expansion.pods) == "a0"
    assert expansion.configmaps == ({"a": 1},)
    assert Expansion().configmaps == ()
    assert len(Expansion().pods) == 0


def test_a_container_view_has_the_fields_of_its_spec() -> None:
    spec = {
        "name": "c", "image": "i", "command": ["a"], "args": ["b", 5], "env": [{"name": "A"}, None],
        "ports": [{"containerPort": 1}], "resources": {"limits": {"cpu": 1}}, "volumeMounts": [{"mountPath": "/a"}],
    }  # fmt: skip
    view = ContainerView("c", False, spec)
    assert (view.image, view.command) == ("i", ("a",))
    assert (view.env, view.ports) == (({"name": "A"}, {}), ({"containerPort": 1},))
    assert (view.resources, view.mounts) == ({"limits": {"cpu": 1}}, ({"mountPath": "/a"},))
    data = view.to_dict()
    assert data["name"] == "c"
    assert data["init"] is False
    assert data["mounts"] == ["/a"]
    assert data["command"] == ["a"]


@pytest.mark.parametrize(
    "spec", [{}, {"command": [], "args": [], "image": ""}, {"command": None, "image": None}]
)
def test_a_container_without_a_command_has_the_image_s(spec: Json) -> None:
    view = ContainerView("c", True, spec)
    assert (view.image, view.command, view.args, view.env, view.resources) == (
        None,
        None,
        None,
        (),
        {},
    )
    assert view.to_dict()["command"] is None
    assert view.to_dict()["init"] is True


def test_a_pod_view_has_the_fields_of_its_spec() -> None:
    spec: Json = {
        "initContainers": [{"name": "i"}], "containers": [{"name": "a"}, {"name": "b"}], "nodeSelector": {"z": "a"},
        "tolerations": [{"key": "k"}], "volumes": [{"name": "v"}], "restartPolicy": "Never",
    }  # fmt: skip
    view = PodView("p", "node", 0, spec)
    assert [(container.name, container.init) for container in view.containers] == [
        ("i", True),
        ("a", False),
        ("b", False),
    ]
    assert view.restart_policy == "Never"
    assert (view.node_selector, view.tolerations, view.volumes) == (
        {"z": "a"},
        ({"key": "k"},),
        ({"name": "v"},),
    )
    assert PodView("p", "node", 0, {}).restart_policy == "Always"


@pytest.mark.parametrize(
    ("names", "main", "expected"),
    [("ab", "b", "b"), ("ab", None, "a"), ("ab", "x", "a"), ("ab", "i", "a"), ("", "a", None)],
)
def test_the_training_container_is_chosen_by_name(
    names: str, main: str | None, expected: str | None
) -> None:
    """An init container never trains, whatever its name."""
    spec = {"initContainers": [{"name": "i"}], "containers": [{"name": name} for name in names]}
    view = PodView("p", "node", 0, spec, main=main)
    container = main_container_of(view.containers, view.main)
    assert (container and container.name) == expected


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"name": "A", "value": "1"}, {"name": "A", "value": "1"}),
        ({"name": "A"}, {"name": "A", "value": ""}),
        ({"name": "A", "value": "", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
         {"name": "A", "fieldRef": "metadata.name"}),
        ({"name": "A", "value": "1", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}, {"name": "A", "value": "1"}),
        ({"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}, {"name": "A", "from": "secret:s/k"}),
        ({"name": "A", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k"}}},
         {"name": "A", "from": "configmap:m/k"}),
        ({"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
         {"name": "A", "resourceFieldRef": {"resource": "limits.cpu"}}),
        ({"name": "A", "valueFrom": {"fieldRef": None}}, {"name": "A", "value": ""}),
    ],
)  # fmt: skip
def test_an_env_entry_is_written_as_json(entry: Json, expected: Json) -> None:
    assert pods.env_entry(entry) == expected


def test_the_first_four_pods_that_are_asked_for_are_built_once() -> None:
    built: list[int] = []

    def build(index: int) -> PodView:
        built.append(index)
        return PodView(f"p{index}", "node", index, {})

    pod = pods.remember_first(build)
    for index in (0, 1, 9, 1, 0, 2, 9, 2, 3, 3):
        assert pod(index).index == index
    assert built == [0, 1, 9, 2, 3, 3]


@pytest.mark.parametrize(
    ("port", "expected"),
    [
        ({"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}),
        ({"name": "web", "containerPort": 80, "protocol": "UDP"},
         {"name": "web", "containerPort": 80, "protocol": "UDP"}),
        ({"name": "", "containerPort": "x"}, {"containerPort": 0, "protocol": "TCP"}),
    ],
)  # fmt: skip
def test_a_port_is_json(port: Json, expected: Json) -> None:
    assert pods.port_entry(port) == expected


def test_a_pod_template_splits_into_metadata_and_spec() -> None:
    assert pods.template_parts({"metadata": {"a": 1}, "spec": {"b": 2}}) == ({"a": 1}, {"b": 2})
    assert pods.template_parts(None) == pods.template_parts({"spec": 5}) == ({}, {})


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"secretKeyRef": {"name": "s", "key": "k"}}, "secret:s/k"),
        ({"configMapKeyRef": {"name": "m", "key": "k"}}, "configmap:m/k"),
        ({"fieldRef": {"fieldPath": "metadata.name"}}, None),
        ({}, None),
    ],
)
def test_a_source_names_its_key(source: Json, expected: str | None) -> None:
    assert pods.reference(source) == expected
