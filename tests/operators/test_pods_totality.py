"""Pod expansion on arbitrary data: it ends quickly and never raises, and a folded job costs the same at any size.

Source: CONTRIBUTING.md#laws 7.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ptcompile.operators.table import RUNS_PODS, expand
from ptcompile.simulator.kubelet import command_line, environment, qos_class
from tests.operators.making import (
    Json,
    container,
    edge_pods,
    jobset,
    pytorchjob,
    replicated,
    task,
    template,
    trainjob,
    volcano,
)
from tests.places import places

GARBAGE: list[Any] = [
    None,
    "",
    "x",
    0,
    -1,
    7,
    1.5,
    True,
    [],
    {},
    [None],
    [1],
    {"a": None},
    [[]],
    [{}],
    "-",
    2**70,
]

WHOLE: list[Json] = [
    pytorchjob(1, 2, nprocPerNode="2"),
    pytorchjob(None, 2, elasticPolicy={"minReplicas": 1, "rdzvConf": [{"key": "a", "value": "b"}]}),
    volcano(
        task("master"),
        task("worker", 2),
        plugins={"pytorch": ["--port=1"], "svc": [], "env": [], "ssh": []},
    ),
    volcano(
        task("master"),
        task("worker", 2),
        plugins={"mpi": [], "tensorflow": [], "hcclrank": [], "ray": []},
    ),
    jobset(replicated("a", replicas=2, pods=2), coordinator={"replicatedJob": "a"}),
    trainjob(trainer={"numNodes": 2, "env": [{"name": "A", "value": "1"}]}),
    trainjob("torchtune-llama3.2-1b", trainer={"command": ["tune", "run"], "args": ["a"]}),
    trainjob(
        "deepspeed-distributed",
        trainer={"numNodes": 2},
        initializer={"dataset": {"storageUri": "a://b"}},
    ),
    trainjob("flux-distributed", trainer={"numNodes": 2, "command": ["a"]}),
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": template()["spec"]},
    {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j"},
        "spec": {
            "completionMode": "Indexed",
            "completions": 2,
            "template": template(container(env=[{"name": "A"}])),
        },
    },
]


def read(manifest: Json) -> None:
    expansion = expand(manifest)
    for pod in edge_pods(expansion):
        for found in pod.containers:
            json.dumps(found.to_dict())
            command_line(found, environment(found, pod))
        assert qos_class(pod.spec)
    assert expansion.configmaps is not None
    assert expansion.services is not None


@pytest.mark.parametrize("manifest", WHOLE, ids=lambda m: m["kind"])
def test_pods_are_read_with_garbage_at_every_place(manifest: Json) -> None:
    for path in places(manifest):
        if path in {("apiVersion",), ("kind",)}:
            continue
        for value in GARBAGE:
            broken = copy.deepcopy(manifest)
            at = broken
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = value
            before = json.dumps(broken)
            read(broken)
            assert json.dumps(broken) == before, "the manifest was changed"


values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 30) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(RUNS_PODS)), values, values)
def test_any_spec_raises_nothing(kind: tuple[str, str], metadata: Any, spec: Any) -> None:
    read({"apiVersion": kind[0], "kind": kind[1], "metadata": metadata, "spec": spec})


def large(manifest: Json, count: int) -> Json:
    return json.loads(json.dumps(manifest).replace("12345", str(count)))  # type: ignore[no-any-return]


LARGE = [
    pytorchjob(1, 12345),
    volcano(task("master"), task("worker", 12345), plugins={"pytorch": [], "env": [], "svc": []}),
    jobset(replicated("a", pods=12345)),
    trainjob(trainer={"numNodes": 12345}),
]


@pytest.mark.parametrize("manifest", LARGE, ids=lambda m: m["kind"])
def test_pod_views_are_built_lazily(manifest: Json, monkeypatch: pytest.MonkeyPatch) -> None:
    """Expansion builds as many pod views for ten thousand pods as for a hundred."""
    from ptcompile.kinds import pods as expansion

    made = {}
    for count in (100, 10_000):
        calls = 0
        real = expansion.PodView.__new__

        def counting(made: Any, *args: Any, real: Any = real, **more: Any) -> Any:
            nonlocal calls
            calls += 1
            return real(made, *args, **more)

        with monkeypatch.context() as patch:
            patch.setattr(expansion.PodView, "__new__", counting)
            expanded = expand(large(manifest, count))
            assert sum(role.count for role in expanded.roles) >= count
            list(edge_pods(expanded))
        made[count] = calls
    assert made[100] == made[10_000] < 20


def test_expansion_is_repeatable() -> None:
    for manifest in WHOLE:
        order = sorted(manifest["spec"], reverse=True)
        first = [[c.to_dict() for c in p.containers] for p in expand(manifest).pods]
        again = [[c.to_dict() for c in p.containers] for p in expand(manifest).pods]
        turned = {**manifest, "spec": {k: manifest["spec"][k] for k in order}}
        assert first == again == [[c.to_dict() for c in p.containers] for p in expand(turned).pods]


def test_pod_views_are_cached() -> None:
    (role,) = expand(pytorchjob(None, 1000)).roles
    asked = [role.pod(index) for index in (0, 1, 999)]
    assert all(
        one is other for one, other in zip(asked, [role.pod(i) for i in (0, 1, 999)], strict=True)
    )
    assert [one.index for one in asked] == [0, 1, 999]
