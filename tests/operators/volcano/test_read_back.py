"""Volcano Jobs as import reads them."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kinds.reading import Read
from ptcompile.kubernetes.index import Objects
from ptcompile.operators.volcano.read import read
from tests.operators.making import Json, container, task, volcano

PYTORCH: Json = {"pytorch": []}
OTHER = container(image="other:1")


def _read(*tasks: Json, **spec: Any) -> Read:
    (reading,) = read(volcano(*tasks, **spec), Objects())
    return reading


@pytest.mark.parametrize(
    ("tasks", "spec", "roles"),
    [
        (
            [task("master"), task("worker", 3, OTHER)],
            {"plugins": PYTORCH},
            [("master", 1, True), ("worker", 3, True)],
        ),
        (
            [task("a"), task("b", 3, OTHER), task("log")],
            {"plugins": {"pytorch": ["--master=a", "--worker=b"]}},
            [("master", 1, True), ("worker", 3, True), ("log", 1, False)],
        ),
        (
            [task("log"), task("master"), task("worker", 2, OTHER)],
            {"plugins": PYTORCH},
            [("master", 1, True), ("worker", 2, True), ("log", 1, False)],
        ),
        ([task("master"), task("worker", 3)], {"plugins": PYTORCH}, [("node", 4, True)]),
        ([task("train")], {}, [("node", 1, True)]),
        ([task("train")], {"plugins": {"svc": []}}, [("node", 1, True)]),
        ([task("train", 2)], {}, [("node", 2, True)]),
        ([task("train"), task("other")], {}, None),
        ([task("a"), task("worker")], {"plugins": PYTORCH}, None),
    ],
)
def test_tasks_become_roles(
    tasks: list[Json], spec: Json, roles: list[tuple[str, int, bool]] | None
) -> None:
    reading = _read(*tasks, **spec)
    assert [(role.role, role.replicas, role.trains) for role in reading.pods] == (roles or [])


@pytest.mark.parametrize(
    ("plugins", "listed"),
    [({}, "its plugins: none"), ({"svc": [], "ssh": []}, "its plugins: ssh, svc")],
)
def test_a_job_with_other_plugins_is_not_read(plugins: Json, listed: str) -> None:
    reading = _read(task("train", 2), task("other"), plugins=plugins)
    assert listed in str(reading)


@pytest.mark.parametrize(
    ("arguments", "port"),
    [
        ([], None),
        (["--port=23456"], None),
        (["--port=5000"], 5000),
        (["--port="], None),
        (["--port=x"], None),
        (["--other=1"], None),
        (None, None),
    ],
)
def test_the_plugin_s_port_becomes_the_master_port(
    arguments: list[str] | None, port: int | None
) -> None:
    assert _read(task("master"), plugins={"pytorch": arguments}).fields.get("masterPort") == port


def test_the_names_of_tasks_are_kept() -> None:
    reading = _read(task("a"), task("b"), plugins={"pytorch": ["--master=a", "--worker=b"]})
    assert reading.fields["names"] == {"master": "a", "worker": "b"}
    usual = _read(task("master"), task("worker"), plugins=PYTORCH)
    assert "names" not in usual.fields
    single = _read(task("train"))
    assert "worker" not in single.fields.get("names", {})
