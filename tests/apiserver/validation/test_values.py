"""Equal pod templates of one object, which are checked once, and nearly equal ones, which are checked separately."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest

from ptcompile.apiserver import validate
from ptcompile.apiserver.validation.field import CheckScope, FieldValue
from ptcompile.apiserver.validation.values import (
    amount_of,
    check_amount_or_percent,
    check_host_ports,
    check_port_reference,
    is_equal,
)
from ptcompile.diagnostics import Path
from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kubernetes.requests import ApiServer

Json = dict[str, Any]


def field_of(value: Any) -> FieldValue:
    return FieldValue(value, ("a",), CheckScope(ApiServer(), FieldErrors()))


DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ({"a": [1, "x", None, 1.5]}, {"a": [1, "x", None, 1.5]}, True),
        ({"a": 1}, {"a": 2}, False),
        ({"a": 1}, {"a": True}, False),  # == treats them as equal
        ({"a": 0}, {"a": False}, False),
        ({"a": 1}, {"a": 1.0}, False),
        ({"a": [{"b": True}]}, {"a": [{"b": 1}]}, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, False),  # findings follow the order of the keys
        ({"a": None}, {}, False),
        (None, {}, False),
        ({}, None, False),
        ({"a": Decimal(1)}, {"a": Decimal(1)}, False),  # not JSON, so equality is unknown
        (MappingProxyType({"a": 1}), MappingProxyType({"a": 1}), False),
        (DEEP, [DEEP], False),
    ],
)
def test_is_equal(a: Any, b: Any, expected: bool) -> None:
    assert is_equal(a, b) is expected


@pytest.mark.parametrize(
    ("value", "limited", "unlimited"),
    [(0, True, True), (-1, False, False), (101, True, True), ("0%", True, True), ("100%", True, True),
     ("101%", False, True), ("-1%", False, False), ("5", False, False), ("%", False, False), (None, True, True),
     ("9" * 5000 + "%", False, True)],  # Go compares the largest number
)  # fmt: skip
def test_only_some_fields_accept_percentages_above_100(
    value: Any, limited: bool, unlimited: bool
) -> None:
    for limit, accepted in ((True, limited), (False, unlimited)):
        amount = field_of(value)
        check_amount_or_percent(amount, limit_to_100=limit)
        assert (not amount.problems) is accepted
    expected = {101: 101, -1: -1, "100%": 100, "101%": 101, "9" * 5000 + "%": 10**19 - 1}
    assert amount_of(value) == expected.get(value, 0)


@pytest.mark.parametrize(
    ("port", "name"),
    [
        ({"containerPort": 80}, None),
        ({"containerPort": 65535}, None),
        ({}, "required-value"),
        ({"containerPort": 0}, "required-value"),
        ({"containerPort": -1}, "invalid-value"),
        ({"containerPort": 65536}, "invalid-value"),
    ],
)
def test_the_port_of_a_container_is_checked(port: Json, name: str | None) -> None:
    container = {"name": "a", "image": "i", "ports": [port]}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [container]},
    }
    names_and_keys = [(problem.name, problem.path[-1]) for problem in validate(pod)]
    assert names_and_keys == ([] if name is None else [(name, "containerPort")])


def pods(**container: Any) -> Json:
    main = {"name": "pytorch", "image": "x", **container}
    return {"spec": {"restartPolicy": "OnFailure", "containers": [main]}}


def volcano(*templates: Json, **task: Any) -> Json:
    tasks = [
        {"name": f"t{i}", "replicas": 1, "template": template, **task}
        for i, template in enumerate(templates)
    ]
    spec = {"minAvailable": 1, "tasks": tasks}
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "x"},
        "spec": spec,
    }


def pytorch(*templates: Json) -> Json:
    keys = ("Master", "Worker")
    specs = {
        key: {"replicas": 1, "template": template}
        for key, template in zip(keys, templates, strict=False)
    }
    spec = {"pytorchReplicaSpecs": specs}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "x"},
        "spec": spec,
    }


def jobset(*templates: Json) -> Json:
    jobs = [
        {"name": f"j{i}", "replicas": 1, "template": {"spec": {"template": template}}}
        for i, template in enumerate(templates)
    ]
    spec = {"replicatedJobs": jobs}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "x"},
        "spec": spec,
    }


def paths(manifest: Mapping[str, Any], *, webhooks: bool = True) -> set[Path]:
    return {problem.path for problem in validate(manifest, webhooks=webhooks)}


GOOD = pods()
BAD = pods(volumeMounts=[{"name": "none", "mountPath": "/x"}])
TAIL = ("spec", "containers", 0, "volumeMounts", 0, "name")
"""The path of a mount without a volume, a mistake that only the rules for pods report."""

PLACES = [
    (volcano, lambda i: ("spec", "tasks", i, "template")),
    (pytorch, lambda i: ("spec", "pytorchReplicaSpecs", ("Master", "Worker")[i], "template")),
    (jobset, lambda i: ("spec", "replicatedJobs", i, "template", "spec", "template")),
]


@pytest.mark.parametrize("webhooks", [True, False])
@pytest.mark.parametrize(("make", "place"), PLACES, ids=["volcano", "pytorch", "jobset"])
def test_each_template_with_the_mistake_is_reported(make: Any, place: Any, webhooks: bool) -> None:
    problem_paths = [(*place(i), *TAIL) for i in range(2)]
    assert paths(make(GOOD, GOOD), webhooks=webhooks).isdisjoint(problem_paths)
    assert paths(make(BAD, BAD), webhooks=webhooks) >= set(problem_paths)
    assert paths(make(GOOD, BAD), webhooks=webhooks) & set(problem_paths) == {problem_paths[1]}
    assert paths(make(BAD, GOOD), webhooks=webhooks) & set(problem_paths) == {problem_paths[0]}
    reported = {
        problem.path: (problem.name, problem.stage, problem.authority)
        for problem in validate(make(BAD, BAD), webhooks=webhooks)
    }
    assert reported[problem_paths[0]] == reported[problem_paths[1]]


def test_nearly_equal_templates_are_checked() -> None:
    """`privileged: 1` has the wrong type and does not allow bidirectional mounts, but `==` treats it as `true`."""
    mounts = {
        "volumeMounts": [{"name": "v", "mountPath": "/v", "mountPropagation": "Bidirectional"}]
    }

    def template(privileged: Any) -> Json:
        pod = pods(securityContext={"privileged": privileged}, **mounts)
        pod["spec"]["volumes"] = [{"name": "v", "emptyDir": {}}]
        return pod

    tail = ("template", "spec", "containers", 0, "volumeMounts", 0, "mountPropagation")
    problem_paths = paths(volcano(template(True), template(True), template(1), template(True)))
    assert {path[2] for path in problem_paths if path[3:] == tail} == {2}


def test_task_settings_apply_to_equal_templates() -> None:
    """With a topology policy, Volcano requires whole CPUs in equal templates too.

    Source: docs/facts/volcano.md#the-validating-webhook V9.
    """
    problem_paths = paths(volcano(GOOD, GOOD, topologyPolicy="restricted"))
    assert {path[2] for path in problem_paths if path[-1] == "resources"} == {0, 1}


def _ports(*ports: Json) -> Json:
    return {"name": f"c{len(ports)}", "image": "i", "ports": list(ports)}


@pytest.mark.parametrize(
    ("containers", "fill", "keys"),
    [
        ([_ports({"containerPort": 80})], False, []),
        ([_ports({"containerPort": 80}, {"containerPort": 80})], False, []),
        ([_ports({"containerPort": 80}, {"containerPort": 80})], True, ["TCP//80"]),
        ([_ports({"hostPort": 80}, {"hostPort": 81})], False, []),
        ([_ports({"hostPort": 80}, {"hostPort": 80})], False, ["TCP//80"]),
        ([_ports({"hostPort": 80}), _ports({"hostPort": 80}, {})], False, ["TCP//80"]),
        ([_ports({"hostPort": 80}, {"hostPort": 80, "protocol": "UDP"})], False, []),
        ([_ports({"hostPort": 80}, {"hostPort": 80, "hostIP": "1.2.3.4"})], False, []),
        ([_ports({"hostPort": 0}, {"hostPort": 0})], False, []),
        ([_ports({"hostPort": "80"}, {"hostPort": "80"})], False, []),
        ([_ports({}, {})], True, []),
    ],
)
def test_host_ports_are_used_once(containers: list[Json], fill: bool, keys: list[str]) -> None:
    field = field_of(containers)
    check_host_ports(field.objects(), fill)
    assert [
        problem.message.partition('"')[2].partition('"')[0] for problem in field.problems
    ] == keys


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        (80, True),
        ("http", True),
        (None, False),
        (0, False),
        (65536, False),
        ("80", False),
        ("a b", False),
        ("", False),
    ],
)
def test_a_port_is_a_number_or_a_name(value: Any, valid: bool) -> None:
    port = field_of(value)
    check_port_reference(port)
    assert (not port.problems) is valid


@pytest.mark.parametrize(
    ("port", "host_network", "paths"),
    [
        ({"containerPort": 80}, False, []),
        ({"containerPort": 80, "hostPort": 81}, False, []),
        ({"containerPort": 80, "hostPort": 81}, True, ["hostPort"]),
        ({"containerPort": 80, "hostPort": 80}, True, []),
        ({"containerPort": 0}, False, ["containerPort"]),
        ({}, False, ["containerPort"]),
        ({"containerPort": 65536}, False, ["containerPort"]),
        ({"containerPort": 80, "hostPort": 65536}, False, ["hostPort"]),
        ({"containerPort": 80, "protocol": "Some"}, False, ["protocol"]),
        ({"containerPort": 80, "protocol": "SCTP"}, False, []),
        ({"containerPort": 80, "name": "a_b"}, False, ["name"]),
    ],
)
def test_the_host_network_decides_about_host_ports(
    port: Json, host_network: bool, paths: list[str]
) -> None:
    container = {"name": "c", "image": "i", "ports": [port]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
    spec = {"containers": [container], "hostNetwork": host_network}
    found = [
        problem.path[-1]
        for problem in validate({**pod, "spec": spec})
        if problem.severity == "error"
    ]
    assert found == paths


def test_a_value_is_equal_to_itself() -> None:
    value = {"a": Decimal(1)}
    assert is_equal(value, value)


def test_exact_values_are_equal_as_in_python() -> None:
    assert is_equal({"a": 1}, {"a": True}, exact=True)
    assert not is_equal({"a": 1}, {"a": 2}, exact=True)
