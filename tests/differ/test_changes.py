"""Path-by-path comparison of manifests: items matched by name, values with equal meaning, reported changes.

Lists of scalars give the same result as deepdiff, and a few cases have an explicit expectation.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from deepdiff import DeepDiff
from hypothesis import given, strategies as st

from ptcompile.apiserver.defaulting.meaning import is_default
from ptcompile.differ.changes import (
    _DEEPDIFF_KINDS,
    MAX_ALIGNED_ITEMS,
    _prune_common,
    changes,
    diff_plain_lists,
)
from ptcompile.differ.normal import hidden
from tests.conftest import GOLDEN, ROOT
from tests.differ.making import job, lines, pod
from tests.recordings import AGAIN, PARTS_OF_JOB, differences
from tests.records import read_records

ENV = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
TAINT = {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}

EQUAL: list[tuple[str, Any, Any]] = [
    ("env in another order", pod({"env": ENV}), pod({"env": ENV[::-1]})),
    ("quantities", pod({"resources": {"limits": {"memory": "1Gi", "cpu": "1000m"}}}),
     pod({"resources": {"limits": {"memory": "1024Mi", "cpu": 1}}})),
    ("a quantity in bytes", pod({"resources": {"limits": {"memory": "1Gi"}}}),
     pod({"resources": {"limits": {"memory": 1073741824}}})),
    ("requests as limits", pod({"resources": {"limits": {"cpu": "4"}}}),
     pod({"resources": {"limits": {"cpu": 4}, "requests": {"cpu": "4000m"}}})),
    ("size limits", pod(volumes=[{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}]),
     pod(volumes=[{"name": "v", "emptyDir": {"sizeLimit": "1024Mi"}}])),
    ("volumes in another order", pod(volumes=[{"name": "v", "emptyDir": {}}, {"name": "w", "hostPath": {"path": "/"}}]),
     pod(volumes=[{"name": "w", "hostPath": {"path": "/", "type": ""}}, {"name": "v", "emptyDir": {}}])),
    ("tolerations in another order", pod(tolerations=[TAINT, {"key": "b"}]),
     pod(tolerations=[{"key": "b", "operator": "Equal"}, TAINT])),
    ("pod defaults", pod(), pod(restartPolicy="Always", dnsPolicy="ClusterFirst", schedulerName="default-scheduler",
                                terminationGracePeriodSeconds=30, hostNetwork=False, securityContext={})),
    ("container defaults", pod(), pod({"imagePullPolicy": "IfNotPresent", "terminationMessagePolicy": "File",
                                       "terminationMessagePath": "/dev/termination-log", "resources": {}, "env": [],
                                       "stdin": False})),
    ("pull policy of a moving tag", pod({"image": "r:5/i"}), pod({"image": "r:5/i", "imagePullPolicy": "Always"})),
    ("a port's protocol", pod({"ports": [{"containerPort": 80}]}),
     pod({"ports": [{"containerPort": 80, "protocol": "TCP"}]})),
    ("null", pod(), pod(nodeName=None)),
    ("whole numbers", job(), job(backoffLimit=6.0)),
    ("job defaults", job(), job(backoffLimit=6, suspend=False, podReplacementPolicy="TerminatingOrFailed")),
    ("retries of each index", job(backoffLimitPerIndex=1), job(backoffLimitPerIndex=1, backoffLimit=2147483647)),
    ("namespace", pod(), {**pod(), "metadata": {"name": "a", "namespace": "default"}}),
    ("what the server writes", pod(), {**pod(), "status": {"phase": "Running"},
                                       "metadata": {"name": "a", "uid": "1", "resourceVersion": "7"}}),
    ("values of a label requirement", {"kind": "X", "matchExpressions": [{"key": "a", "values": ["x", "y"]}]},
     {"kind": "X", "matchExpressions": [{"key": "a", "values": ["y", "x"]}]}),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), [row[1:] for row in EQUAL], ids=[row[0] for row in EQUAL])
def test_equivalent_values_are_equal(a: Any, b: Any) -> None:
    assert lines(a, b) == []
    assert lines(b, a) == []


C = "spec.containers[c]"
DIFFERENT: list[tuple[Any, Any, list[str]]] = [
    (pod({"env": ENV}), pod({"env": [ENV[1], {"name": "C"}]}),
     [f"- {C}.env[A]: " + json.dumps(ENV[0]), f'+ {C}.env[C]: {{"name": "C"}}']),
    (pod(), pod({"env": ENV}), [f"+ {C}.env[A]: " + json.dumps(ENV[0]), f"+ {C}.env[B]: " + json.dumps(ENV[1])]),
    (pod({"env": ENV}), pod({"env": [ENV[0], {"name": "B", "value": "3"}]}), [f"~ {C}.env[B].value: 2 -> 3"]),
    (pod({"env": [ENV[0], ENV[0]]}), pod({"env": [ENV[0]]}), [f"- {C}.env[A#2]: " + json.dumps(ENV[0])]),
    (pod({"env": [{"name": "__A", "value": "1"}]}), pod({"env": [{"name": "__A", "value": "2"}]}),
     [f"~ {C}.env[__A].value: 1 -> 2"]),
    (pod({"env": [ENV[0], {"name": "X", "value": "$(A)"}]}), pod({"env": [{"name": "X", "value": "$(A)"}, ENV[0]]}),
     [f"~ {C}.env: order changed: A, X -> X, A"]),
    (pod(initContainers=[{"name": "x"}, {"name": "y"}]), pod(initContainers=[{"name": "y"}, {"name": "x"}]),
     ["~ spec.initContainers: order changed: x, y -> y, x"]),
    (pod({"args": ["a", "b", "c"]}), pod({"args": ["a", "x", "b", "c"]}), [f"+ {C}.args[1]: x"]),
    (pod({"resources": {"limits": {"memory": "1Gi"}}}), pod({"resources": {"limits": {"memory": "1G"}}}),
     [f"~ {C}.resources.limits.memory: 1Gi -> 1G"]),
    (pod({"resources": {"limits": {"cpu": 4}}}), pod({"resources": {"limits": {"cpu": 4}, "requests": {"cpu": 2}}}),
     [f'+ {C}.resources.requests: {{"cpu": "2"}}']),
    (pod({"image": "i"}), pod({"image": "i", "imagePullPolicy": "IfNotPresent"}),
     [f"+ {C}.imagePullPolicy: IfNotPresent"]),
    (pod(), pod(restartPolicy="Never"), ["+ spec.restartPolicy: Never"]),
    (pod(tolerations=[TAINT]), pod(tolerations=[{**TAINT, "operator": "Equal", "value": "x"}]),
     ["~ spec.tolerations[gpu:NoSchedule].operator: Exists -> Equal", "+ spec.tolerations[gpu:NoSchedule].value: x"]),
    (pod(volumes=[{"name": "v"}]), pod(volumes=[{"name": "w"}]),
     ['- spec.volumes[v]: {"name": "v"}', '+ spec.volumes[w]: {"name": "w"}']),
    (job(), job(parallelism=1, completions=1), ["~ spec.completions: 2 -> 1", "~ spec.parallelism: 2 -> 1"]),
    (pod(), {**pod(), "metadata": {"name": "a", "labels": {"a.b/c": "1"}}}, ['+ metadata.labels: {"a.b/c": "1"}']),
    ({"kind": "X", "l": [{}, {}, {"a": 1}]}, {"kind": "X", "l": [{}, {}, {"a": 2}]}, ["~ l[2].a: 1 -> 2"]),
    ({"kind": "X", "a": True}, {"kind": "X", "a": "true"}, ["~ a: true -> true"]),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "expected"), DIFFERENT, ids=[str(row[2]) for row in DIFFERENT])
def test_differences_are_reported_at_their_paths(a: Any, b: Any, expected: list[str]) -> None:
    assert lines(a, b) == expected


def _leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    pairs = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in pairs:
        yield from _leaves(inner, (*path, key))
    if not isinstance(value, dict | list):
        yield path


@pytest.mark.parametrize("target", ["job", "jobset"])
def test_every_changed_leaf_is_reported(target: str) -> None:
    """A change of any leaf of the richest golden is reported, for most leaves as the only change."""
    text = (GOLDEN / "everything-of-a-pod" / f"{target}.yaml").read_text(encoding="utf-8")
    manifest = next(
        document for document in yaml.safe_load_all(text) if document["kind"] != "Service"
    )
    changed = []
    for path in _leaves(manifest):
        other = copy.deepcopy(manifest)
        node: Any = other
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = "other"
        paths = changes(manifest, other)
        assert paths, path
        changed.append(len(paths))
    assert len(changed) > 40
    assert changed.count(1) > 0.7 * len(changed)


def _schema_defaults(
    node: Any, root: Any, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every default of a schema with its path, following `$ref` within the file."""
    if not isinstance(node, dict):
        return
    if "default" in node:
        yield path, node["default"]
    if str(node.get("$ref")).startswith("#/$defs/"):
        yield from _schema_defaults(root["$defs"][node["$ref"].rpartition("/")[2]], root, path)
    for name, inner in node.get("properties", {}).items():
        yield from _schema_defaults(inner, root, (*path, name))
    yield from _schema_defaults(node.get("items"), root, (*path, "[x]"))
    yield from _schema_defaults(node.get("additionalProperties"), root, (*path, "x"))


CRDS = {
    "PyTorchJob": "kubeflow.org/pytorchjob_v1.json",
    "Job": "batch.volcano.sh/job_v1alpha1.json",
    "JobSet": "jobset.x-k8s.io/jobset_v1alpha2.json",
    "TrainJob": "trainer.kubeflow.org/trainjob_v1alpha1.json",
    "TrainingRuntime": "trainer.kubeflow.org/trainingruntime_v1alpha1.json",
}


@pytest.mark.parametrize("kind", CRDS)
def test_defaults_of_crds_are_defaults(kind: str) -> None:
    schema = json.loads((ROOT / "schemas" / CRDS[kind]).read_text(encoding="utf-8"))
    side = {"apiVersion": f"{CRDS[kind].partition('/')[0]}/v1", "kind": kind}
    defaults = list(_schema_defaults(schema, schema))
    assert defaults
    assert [row for row in defaults if not is_default(*row, side)] == []


def test_long_lists_are_compared_by_index() -> None:
    """Aligning the items would cost the product of both lengths."""
    words = ["a", "b"] * MAX_ALIGNED_ITEMS
    assert (
        len(lines(pod({"args": words}), pod({"args": ["x", *words]}))) == 2 * MAX_ALIGNED_ITEMS + 1
    )


def test_secrets_are_hidden() -> None:
    a, b = (
        {"env": [{"name": "HF_TOKEN", "value": f"hf_{x}"}, {"name": "N", "value": x}]} for x in "ab"
    )
    assert lines(pod(a), pod(b)) == [
        f"~ {C}.env[HF_TOKEN].value: *** -> ***  (values hidden)",
        f"~ {C}.env[N].value: a -> b",
    ]
    assert lines(pod(), pod(a))[0] == f'+ {C}.env[HF_TOKEN]: {{"name": "HF_TOKEN", "value": "***"}}'
    kind = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    assert lines({**kind, "data": {"a": "x"}}, {**kind, "data": {"a": "y"}}) == [
        "~ data.a: *** -> ***  (values hidden)"
    ]
    assert lines(kind, {**kind, "stringData": {"a": "y"}}) == ['+ stringData: {"a": "***"}']
    config = {**kind, "kind": "ConfigMap"}
    assert lines(config, {**config, "data": {"API_KEY": "y", "n": "1"}}) == [
        '+ data: {"API_KEY": "***", "n": "1"}'
    ]
    number = {**kind, "kind": "ConfigMap", "data": {"A_TOKEN": 12345}}
    assert lines(config, number) == ['+ data: {"A_TOKEN": "***"}']


def test_hiding_does_not_modify_its_argument() -> None:
    old = pod({"env": [{"name": "HF_TOKEN", "value": "hf_a"}]})
    before = copy.deepcopy(old)
    assert hidden(old) != old
    assert old == before
    assert hidden(pod()) == pod()


ITEMS = st.one_of(
    st.sampled_from(["a", "b", "c", "--d", "e"]), st.integers(0, 2), st.booleans(), st.just(1.5)
)


def _of_deepdiff(one: list[Any], other: list[Any], *, zipped: bool) -> list[tuple[int, str]]:
    deep_diff = DeepDiff(
        one, other, view="tree", threshold_to_diff_deeper=0, zip_ordered_iterables=zipped
    )
    levels = ((kind, level) for kind, levels in deep_diff.items() for level in levels)
    return sorted(
        (level.path(output_format="list")[0], _DEEPDIFF_KINDS[kind]) for kind, level in levels
    )


@given(st.lists(ITEMS, max_size=7), st.lists(ITEMS, max_size=7), st.booleans())
def test_deepdiff_agrees(one: list[Any], other: list[Any], zipped: bool) -> None:
    left, right = _prune_common(one, other)
    assert sorted(diff_plain_lists(left, right, zipped=zipped)) == _of_deepdiff(
        left, right, zipped=zipped
    )


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (["a", "b"], ["a", "c"], [(1, "changed")]),
        (["a", "b", "c", "d"], ["b", "c", "d"], [(0, "removed")]),
        (["b", "c", "d"], ["a", "b", "c", "d"], [(0, "added")]),
        ([1], [True], []),
        (["1"], [1], [(0, "changed")]),
        (["a", "b"], [], [(0, "removed"), (1, "removed")]),
    ],
)
def test_plain_lists_are_compared_by_content(
    one: list[Any], other: list[Any], expected: list[tuple[int, str]]
) -> None:
    assert diff_plain_lists(one, other, zipped=False) == expected


@pytest.mark.parametrize("part", PARTS_OF_JOB.values())
def test_differences_are_as_recorded(part: str) -> None:
    assert differences(part) == read_records(Path(__file__).parent / "differences")[part], AGAIN


def test_objects_with_too_many_differences_are_compared_by_field(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """deepdiff's time grows faster than the number of differences."""
    monkeypatch.setattr(sys.modules["ptcompile.differ.changes"], "MAX_VALUES", 10)

    def data(count: int, value: str, **fields: Any) -> dict[str, Any]:
        values = {f"k{number}": value for number in range(count)}
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "a"},
            "data": values,
            **fields,
        }

    assert len(lines(data(10, "a"), data(10, "b"))) == 10
    (change,) = lines(data(11, "a"), data(11, "b"))
    assert change.startswith("~ data: ")
    # fields are counted together, and equal ones not at all
    assert len(lines(data(9, "a", immutable=True), data(9, "b", immutable=False))) == 10
    assert len(lines(data(10, "a", immutable=True), data(10, "b", immutable=False))) == 2
    assert len(lines(data(10, "a", binaryData={f"b{n}": "YQ==" for n in range(9)}),
                     data(10, "b", binaryData={f"b{n}": "YQ==" for n in range(9)}))) == 10  # fmt: skip


@pytest.mark.parametrize(("count", "listed"), [(9, 1), (10, 1), (11, 1)])
def test_an_added_value_is_one_change_whatever_its_size(
    count: int, listed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["ptcompile.differ.changes"], "MAX_VALUES", 10)
    assert len(lines(pod(), pod({"args": ["a"] * count}))) == listed
