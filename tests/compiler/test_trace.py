"""The trace of a compilation: the same manifests, with the spec path and the writer of each value.

Marked values compare equal to plain ones, and values derived from them keep the mark.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ptcompile.compiler.pipeline import compile_document
from ptcompile.compiler.reader import read_profile
from ptcompile.compiler.trace import (
    NO_ORIGIN,
    Origin,
    existing_prefix,
    origin_of,
    source_path,
    with_origin,
    with_writer,
)
from ptcompile.operators.targets import TARGETS
from tests.making import DEFAULT_CLUSTER, compiled, profile, smallest, traced

GOLDEN = Path(__file__).parents[2] / "golden"


def cases() -> Iterator[Path]:
    for file in sorted(GOLDEN.glob("*/spec.yaml")):
        if (file.parent / "job.yaml").exists() or (file.parent / "jobset.yaml").exists():
            yield file.parent


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.name)
def test_tracing_changes_no_manifest_and_leaves_no_marks(case: Path) -> None:
    data = next(yaml.safe_load_all((case / "spec.yaml").read_text()))
    cluster = DEFAULT_CLUSTER
    if (case / "cluster.yaml").exists():
        cluster = read_profile(yaml.safe_load((case / "cluster.yaml").read_text()))[0] or cluster
    for target in TARGETS:
        done = compile_document(data, cluster, target)
        if not done.manifests:
            continue
        assert done.trace is not None
        assert done.trace().manifests == done.manifests
        again = compile_document(data, cluster, target).manifests
        assert set(kinds(list(again))) <= {str, int, bool, float, type(None)}


def kinds(value: Any) -> Iterator[type]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield type(key)
            yield from kinds(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from kinds(inner)
    else:
        yield type(value)


POD = ("spec", "template", "spec")
MAIN = (*POD, "containers", 0)
BODY = (
    "args: [--epochs, '3']\nenv: {A: b}\nnodes: 3\nresources: {gpu: 8}\nhostNetwork: true\n"
    "securityContext: {runAsNonRoot: false}\nvolumes: [{name: v, emptyDir: {}}]\n"
    "podTemplate: {spec: {shareProcessNamespace: false}}\nrunPolicy: {ttlSecondsAfterFinished: 60}"
)
PLACES: list[tuple[tuple[Any, ...], tuple[Any, ...] | None, str]] = [
    ((*MAIN, "image"), ("spec", "image"), "spec"),
    ((*MAIN, "args", 1), ("spec", "args", 1), "spec"),
    ((*MAIN, "args"), ("spec", "args"), "spec"),
    ((*MAIN, "command", 0), None, "rendezvous"),
    ((*MAIN, "env", 0), ("spec", "env", "A"), "spec"),
    ((*MAIN, "resources", "limits", "nvidia.com/gpu"), ("spec", "resources", "gpu"), "resources"),
    (
        (*MAIN, "resources", "limits", "cpu"),
        ("spec", "resources"),
        "resources",
    ),  # the enclosing field
    (
        (*MAIN, "securityContext", "runAsNonRoot"),
        ("spec", "securityContext", "runAsNonRoot"),
        "spec",
    ),
    ((*MAIN, "volumeMounts", 0), None, "shm"),
    ((*POD, "hostNetwork"), ("spec", "hostNetwork"), "spec"),
    (
        (*POD, "shareProcessNamespace"),
        ("spec", "podTemplate", "spec", "shareProcessNamespace"),
        "spec",
    ),
    ((*POD, "volumes", 0), ("spec", "volumes", 0), "spec"),
    ((*POD, "volumes", 0, "emptyDir"), ("spec", "volumes", 0, "emptyDir"), ""),
    ((*POD, "volumes", 1), None, "shm"),
    ((*POD, "tolerations", 0), None, "tolerations"),
    (("spec", "completions"), ("spec", "nodes"), ""),
    (("spec", "ttlSecondsAfterFinished"), ("spec", "runPolicy", "ttlSecondsAfterFinished"), ""),
    (("spec", "completionMode"), None, ""),
]


@pytest.mark.parametrize(("path", "place", "by"), PLACES)
def test_a_value_has_its_spec_path_and_writer(
    path: tuple[Any, ...], place: tuple[Any, ...] | None, by: str
) -> None:
    trace, _, index = traced(smallest(BODY), "job")
    assert (trace.spec_path(index, path), trace.writer(index, path)) == (place, by)


def test_a_role_s_values_have_the_role_s_path() -> None:
    body = "master: {}\nworker: {replicas: 2, env: {B: c}}\nenv: {A: b}"
    trace, _, index = traced(smallest(body), "pytorchjob")
    env = ("spec", "pytorchReplicaSpecs", "Worker", "template", "spec", "containers", 0, "env")
    assert [trace.spec_path(index, (*env, i)) for i in (0, 1)] == [
        ("spec", "env", "A"),
        ("spec", "worker", "env", "B"),
    ]
    assert trace.role(index, env) == "worker"
    assert trace.role(index, ("spec",)) == ""
    assert trace.spec_path(index, (*env[:3], "replicas")) == ("spec", "worker", "replicas")


def test_the_number_of_a_volcano_task_is_that_of_its_role() -> None:
    trace, _, index = traced(smallest("master: {}\nworker: {replicas: 2}"), "volcano")
    _, worker = trace.manifests[index]["spec"]["tasks"]
    assert origin_of(worker["replicas"]).is_exact
    assert trace.spec_path(index, ("spec", "tasks", 1, "replicas")) == (
        "spec",
        "worker",
        "replicas",
    )


def test_a_profile_s_values_have_no_spec_path() -> None:
    cluster = profile({"defaults": {"labels": {"team": "x"}, "env": {"A": "b"}}})
    trace, _, index = traced(smallest(), "job", cluster)
    assert trace.spec_path(index, ("metadata", "labels", "team")) is None
    assert (trace.spec_path(index, (*MAIN, "env", 0)), trace.writer(index, (*MAIN, "env", 0))) == (
        None,
        "env",
    )


def test_the_trace_is_only_computed_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("ptcompile.compiler.trace.trace_of", never)
    assert compiled(smallest("resources: {gpu: 8}"), "job").manifests


NODES, NAME = ("spec", "nodes"), ("metadata", "name")


def from_place(value: Any, *place: str | int) -> Any:
    return with_origin(value, Origin((place,)))


@pytest.mark.parametrize("value", ["x", 3, True, False, ""])
def test_a_marked_value_equals_the_value(value: Any) -> None:
    traced_value = from_place(value, *NODES)
    assert traced_value == value
    assert hash(traced_value) == hash(value)
    assert bool(traced_value) == bool(value)
    assert origin_of(traced_value) == Origin((NODES,))


@pytest.mark.parametrize("value", [None, 1.5])
def test_values_that_cannot_be_marked_are_unchanged(value: Any) -> None:
    assert from_place(value, *NODES) is value
    assert origin_of(value) is NO_ORIGIN


@pytest.mark.parametrize(
    ("made", "value"),
    [
        (from_place(3, *NODES) - 1, 2), (1 + from_place(3, *NODES), 4), (from_place(3, *NODES) + 1, 4),
    (2 * from_place(3, *NODES), 6),
        (sum([from_place(3, *NODES)]), 3), ("--n=" + from_place("3", *NODES), "--n=3"),
        (from_place("3", *NODES) + ":4", "3:4"),
    ],
)  # fmt: skip
def test_derived_values_keep_the_mark(made: Any, value: Any) -> None:
    assert made == value
    assert origin_of(made) == Origin((NODES,), is_exact=False)


def test_a_number_converted_to_text_keeps_the_mark() -> None:
    assert origin_of(str(from_place(3, *NODES))) == Origin((NODES,))


def test_a_value_from_two_fields_has_both_paths() -> None:
    assert origin_of(from_place("a", *NAME) + from_place("b", *NODES)).paths == (NAME, NODES)


def test_the_first_writer_is_kept() -> None:
    first = with_writer({"a": from_place("x", *NODES), "b": [1], "c": {}}, "shm", "node")
    again = with_writer(first, "env")
    assert [origin_of(one) for one in (again["a"], again["b"][0])] == [
        Origin((NODES,), writer="shm", role="node"),
        Origin(writer="shm", role="node"),
    ]
    # an empty mapping cannot be marked, so its key is
    assert [origin_of(key).writer for key in again] == ["", "", "shm"]


VOLUMES = ("spec", "volumes")
HELD: list[tuple[Any, tuple[Any, ...] | None]] = [
    ({from_place("name", *VOLUMES, 0, "name"): from_place("v", *VOLUMES, 0, "name")}, (*VOLUMES, 0)),
    ([{from_place("name", *VOLUMES, 0, "name"): from_place("v", *VOLUMES, 0, "name")}], VOLUMES),
    ({"name": from_place("A", "spec", "env", "A"), "value": from_place("b", "spec", "env", "A")}, ("spec", "env", "A")),
    ({"cpu": from_place("1", "spec", "resources", "cpu"), "gpu": from_place("2", "spec", "resources", "gpu")},
     ("spec", "resources")),
    ({"cpu": from_place("1", "spec", "resources", "cpu"), "memory": "2Gi"}, ("spec", "resources")),
    ({"cpu": from_place("1", "spec", "resources", "cpu")}, ("spec", "resources")),
    ({"medium": "Memory"}, None),
    ([], None),
]  # fmt: skip


@pytest.mark.parametrize(("value", "place"), HELD)
def test_the_path_of_a_collection_is_its_members_parent(
    value: Any, place: tuple[Any, ...] | None
) -> None:
    assert source_path(value) == place


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("spec", "env", "A"), ("spec", "env", "A")),
        (("spec", "args", 1), ("spec", "args", 1)),
        (("spec", "args", 2), ("spec", "args")),
        (("spec", "env", "B"), ("spec", "env")),
        (("spec", "env", "A", "secretKeyRef"), ("spec", "env", "A")),  # a text has no fields
        (("spec", "args", "a"), ("spec", "args")),
        (("spec", "env", 0), ("spec", "env")),
        (("spec", "nodes"), ()),  # the whole spec is no place
        (("metadata",), ()),
        (("spec",), ("spec",)),
    ],
)
def test_a_path_is_cut_where_the_data_ends(
    path: tuple[str | int, ...], expected: tuple[str | int, ...]
) -> None:
    assert existing_prefix(path, {"spec": {"env": {"A": "a"}, "args": ["a", "b"]}}) == expected
