"""Pod templates: lossless reading and writing; patches merge by name, and null removes."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ptcompile.ir import pods as pod_template

FULL: dict[str, Any] = {
    "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
    "spec": {
        "restartPolicy": "Never",
        "serviceAccountName": "me",
        "nodeSelector": {"zone": "a"},
        "affinity": {"podAffinity": {}},
        "tolerations": [{"key": "k", "operator": "Exists"}],
        "initContainers": [{"name": "init", "image": "i"}],
        "containers": [
            {"name": "side", "image": "s"},
            {
                "name": "pytorch", "image": "p", "command": ["c"], "args": [], "workingDir": "/w",
                "ports": [{"containerPort": 1}], "env": [{"name": "A", "value": "1"}],
                "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}, "claims": [{"name": "x"}]},
                "volumeMounts": [{"name": "v", "mountPath": "/v"}], "livenessProbe": {"exec": {"command": ["x"]}},
            },
        ],
        "volumes": [{"name": "v", "emptyDir": {}}],
        "enableServiceLinks": False,
    },
}  # fmt: skip


def test_reading_and_writing_lose_nothing() -> None:
    before = copy.deepcopy(FULL)
    out = pod_template.write(pod_template.read(FULL, "pytorch"))
    assert before == FULL
    assert out["metadata"] == FULL["metadata"]
    assert {c["name"]: c for c in out["spec"].pop("containers")} == {
        c["name"]: c for c in copy.deepcopy(FULL)["spec"]["containers"]
    }
    assert out["spec"] == {key: value for key, value in FULL["spec"].items() if key != "containers"}


def test_keys_are_in_the_conventional_order() -> None:
    out = pod_template.write(pod_template.read(FULL, "pytorch"), subdomain="s")["spec"]
    assert list(out)[:3] == ["restartPolicy", "subdomain", "serviceAccountName"]
    assert list(out).index("containers") < list(out).index("volumes")
    assert list(out["containers"][0])[:5] == ["name", "image", "command", "args", "workingDir"]


@pytest.mark.parametrize(
    ("name", "main"), [("pytorch", "pytorch"), ("side", "side"), ("none-such", "side")]
)
def test_the_training_container_is_found_by_name_or_is_the_first(name: str, main: str) -> None:
    assert pod_template.read(FULL, name).main.name == main


def test_the_main_container_can_be_renamed() -> None:
    out = pod_template.write(pod_template.read(FULL, "pytorch"), main="node")
    assert [container["name"] for container in out["spec"]["containers"]] == ["node", "side"]


@pytest.mark.parametrize(
    "empty", [{}, {"spec": {}}, {"spec": None, "metadata": None}, {"spec": {"containers": []}}]
)
def test_an_empty_template_gets_the_main_container(empty: dict[str, Any]) -> None:
    assert pod_template.write(pod_template.read(empty, "m")) == {
        "spec": {"containers": [{"name": "m"}]}
    }


def test_with_keys_first_moves_the_listed_keys_to_the_front() -> None:
    assert list(pod_template.with_keys_first({"z": 1, "b": 2, "a": 3}, ("a", "b", "c"))) == [
        "a",
        "b",
        "z",
    ]


NULLS = {
    "spec": {
        "hostname": ("spec", "a"),
        "containers": {
            "pytorch": {"args": ("spec", "b"), "env": {"A": ("spec", "c")}},
            "side": ("spec", "d"),
        },
    }
}


def nulled(**fields: Any) -> pod_template.PodTemplate:
    return pod_template.read(FULL, "pytorch")._replace(nulls=NULLS, **fields)


def test_what_is_null_is_not_written() -> None:
    written = pod_template.write(nulled(), hostname="h")["spec"]
    (main,) = written["containers"]
    assert "hostname" not in written
    assert "args" not in main
    assert (main["name"], main["env"]) == ("pytorch", [])
    renamed = pod_template.write(nulled(), main="node")["spec"]["containers"]
    assert [
        (container["name"], "args" in container, container["env"]) for container in renamed
    ] == [("node", False, [])]
    others = {"spec": {"containers": {"side": ("spec", "d")}}}
    kept = pod_template.write(nulled()._replace(nulls=others), main="node")["spec"]["containers"]
    assert [container["name"] for container in kept] == ["node"]


def test_without_nulled_fields_keeps_amounts_and_nulls() -> None:
    amounts = pod_template.Resources({"cpu": "1"}, {}, frozenset({("limits", "cpu")}))
    template = nulled()
    template = template.with_main(template.main._replace(resources=amounts))
    remaining = pod_template.without_nulled_fields(template)
    assert (remaining.main.args, remaining.main.env, remaining.sidecars) == (None, (), ())
    assert (remaining.main.resources, remaining.nulls) == (amounts, NULLS)
    whole = pod_template.read(FULL, "pytorch")
    assert pod_template.without_nulled_fields(whole) is whole


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("spec", "hostname"), True),
        (("spec", "hostname", "deep"), True),
        (("spec",), False),
        (("spec", "containers", "side", "image"), True),
        (("spec", "containers", "pytorch"), False),
        (("spec", "containers", "pytorch", "env", "A"), True),
        (("spec", "containers", "pytorch", "env", "B"), False),
        (("metadata", "labels"), False),
    ],
)
def test_a_null_is_also_one_above(path: tuple[str, ...], expected: bool) -> None:
    assert pod_template.is_nulled(nulled(), *path) is expected


LEAF = ("spec", "x")


@pytest.mark.parametrize(
    ("nulls", "value", "remaining"),
    [
        ({"a": LEAF}, {}, {"a": LEAF}),
        ({"a": LEAF}, {"a": 1}, {}),
        ({"a": LEAF}, 5, {"a": LEAF}),
        ({"a": {"b": LEAF}}, {"a": {"b": 1}}, {}),
        ({"a": {"b": LEAF}}, {"a": {"c": 1}}, {"a": {"b": LEAF}}),
        ({"env": {"A": LEAF, "B": LEAF}}, {"env": [{"name": "A"}]}, {"env": {"B": LEAF}}),
        ({"env": {"A": LEAF}}, {"env": {"A": 1}}, {}),
        ({"command": {"A": LEAF}}, {"command": ["A"]}, {"command": {"A": LEAF}}),
    ],
)
def test_a_value_sets_some_nulls_again(nulls: Any, value: Any, remaining: Any) -> None:
    assert pod_template.absent_nulls(nulls, value) == remaining


def test_paths_are_removed_by_the_keys_of_lists() -> None:
    value = {
        "command": ["a"],
        "env": [{"name": "A", "value": "1"}, {"name": "B"}],
        "volumeMounts": [{"mountPath": "/a"}],
    }
    nulls = {
        "command": {"a": LEAF},
        "env": {"A": {"value": LEAF}, "B": LEAF},
        "volumeMounts": {"/a": LEAF},
    }
    assert pod_template.without_paths(value, nulls) == {
        "command": ["a"],
        "env": [{"name": "A"}],
        "volumeMounts": [],
    }
    assert pod_template.without_paths({"env": {"A": 1}}, {"env": {"A": LEAF}}) == {"env": {}}
    assert pod_template.without_paths({"env": "A"}, {"env": {"A": LEAF}}) == {"env": "A"}


@pytest.mark.parametrize(
    ("name", "request_", "limit", "expected"),
    [
        ("gpu", "1", None, ("1", "1")),
        ("nvidia.com/gpu", "1", None, ("1", "1")),
        ("cpu", "1", None, ("1", None)),
        ("cpu", None, "1", ("1", "1")),
        ("gpu", None, "1", ("1", "1")),
        ("cpu", "1", "2", ("1", "2")),
    ],
)
def test_only_devices_get_a_limit_of_their_request(
    name: str, request_: str | None, limit: str | None, expected: tuple[str | None, str | None]
) -> None:
    requests, limits = ({name: amount} if amount else {} for amount in (request_, limit))
    done = pod_template.Resources(requests, limits).over(pod_template.Resources())
    assert (done.requests.get(name), done.limits.get(name)) == expected


BASE: dict[str, Any] = {
    "metadata": {"labels": {"a": "base", "z": "base"}},
    "spec": {
        "hostname": "base",
        "enableServiceLinks": True,
        "affinity": {"nodeAffinity": {}},
        "dnsConfig": {"nameservers": ["1.1.1.1"]},
        "containers": [
            {
                "name": "pytorch",
                "image": "base",
                "tty": True,
                "env": [{"name": "A", "value": "0"}, {"name": "Z"}],
            },
            {"name": "proxy", "image": "proxy"},
        ],
        "volumes": [{"name": "v", "hostPath": {"path": "/"}}, {"name": "w"}],
    },
}


def test_a_template_over_a_base_keeps_all_of_its_own() -> None:
    template = pod_template.read(FULL, "pytorch")
    merged = pod_template.write(pod_template.merge_under(template, BASE, "pytorch"))
    spec, containers = (
        merged["spec"],
        {container["name"]: container for container in merged["spec"]["containers"]},
    )
    assert merged["metadata"]["labels"] == {"a": "b", "z": "base"}
    assert spec["hostname"] == "base"
    assert spec["enableServiceLinks"] is False
    assert spec["affinity"] == {"podAffinity": {}}
    assert spec["dnsConfig"] == {"nameservers": ["1.1.1.1"]}
    assert [*containers] == ["pytorch", "proxy", "side"]
    main = containers["pytorch"]
    assert main["image"] == "p"
    assert main["tty"] is True
    assert main["env"] == [{"name": "Z"}, {"name": "A", "value": "1"}]
    assert spec["volumes"] == [{"name": "w"}, {"name": "v", "emptyDir": {}}]
    assert pod_template.merge_under(nulled(), BASE, "pytorch").nulls == NULLS
