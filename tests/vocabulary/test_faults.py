"""What the schemas say of a document with a mistake is what the models say of it, word for word."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from ptcompile.documents import source
from ptcompile.frontends.errors import problems
from ptcompile.vocabulary import from_schema
from ptcompile.vocabulary.blocks import CLUSTER, SPEC, Block
from ptcompile.vocabulary.cluster.model import ClusterProfile
from ptcompile.vocabulary.faults import faults
from ptcompile.vocabulary.spec import Spec
from tests.conftest import thinned

ROOT = Path(__file__).parents[2]
VALUES: tuple[Any, ...] = (
    None, True, 0, 5, -1, 70000, 1.5, "", "x", "1 Gi", "2:1", [], ["a"], [5], [None], [{"a": 1}], {}, {"a": 1},
    {"a": "b"}, {"gpu": True}, {"required": "a", "preferred": "b"}, [{"key": 1, "operator": "In"}],
    {"spec": {"containers": [{}]}},
)  # fmt: skip
"""One after the other stands in every place of a document."""

DOCUMENTS = {
    path.parent.name: path
    for name in ("spec.yaml", "cluster.yaml")
    for folder in ("golden", "examples")
    for path in sorted((ROOT / folder).glob(f"*/{name}"))
    if name == "cluster.yaml"
    or path.parent.name in {"everything-of-a-pod", "roles-differ", "llm", "data-loader", "bad-types", "env-sources"}
}
WHOLE: dict[str, Any] = {
    "apiVersion": "ptcompile/v1",
    "kind": "TrainingJob",
    "metadata": {"name": "a", "namespace": "b", "labels": {"c": "d"}},
    "spec": {
        "image": "i:1",
        "elastic": {"nnodes": "2:4", "nprocPerNode": "auto", "maxRestarts": 3, "rdzvConfigs": {"timeout": 5}},
        "runPolicy": {"backoffLimit": "Unlimited", "activeDeadlineSeconds": 9, "cleanPodPolicy": "All"},
        "resources": {"cpu": 1, "requests": {"memory": "1Gi"}, "devices": {"rdma/hca": 1}},
        "topology": {"required": "rack"},
        "runtimeRef": {"name": "r"},
        "names": {"container": "c"},
        "podSecurity": "restricted",
        "sharedMemory": "1Gi",
        "masterPort": 1,
        "roles": {"loader": {"replicas": 2, "env": {"A": {"secretKeyRef": {"name": "n", "key": "k"}}}}},
        "manifest": {"job": {"spec": {}}},
    },
}


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from _places(one, (*path, key))


def _changed(data: Any) -> Iterator[Any]:
    """The document with one mistake each: another value, a key less, a key that is misspelt, and one too many."""
    for path in _places(data):
        for value in VALUES if path else ():
            other = copy.deepcopy(data)
            holder = _at(other, path[:-1])
            holder[path[-1]] = value
            yield other
        if path and isinstance(path[-1], str):
            for name in (None, f"{path[-1]}s", path[-1].lower(), path[-1][1:]):
                other = copy.deepcopy(data)
                holder = _at(other, path[:-1])
                old = holder.pop(path[-1])
                if name is not None:
                    holder[name] = old
                yield other
        if isinstance(_at(data, path), dict):
            for name in ("initContainers", "nprocPerNode", "nproc_per_node", "gpu", "Name"):
                other = copy.deepcopy(data)
                _at(other, path).setdefault(name, {"a": 1})
                yield other


def _at(data: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        data = data[part]
    return data


def _of_models(block: Block, data: Any) -> list[Any]:
    try:
        (Spec if block == SPEC else ClusterProfile).model_validate(data)
    except ValidationError as error:
        return problems(error.errors(include_url=False), data, block)
    return []


def _compared(data: Any) -> tuple[int, int]:
    """How many documents with a mistake were told by the schema, and of how many the models had to be asked."""
    block = CLUSTER if data.get("kind") == "ClusterProfile" else SPEC
    read = from_schema.cluster if block == CLUSTER else from_schema.spec
    told = unsure = 0
    for one in thinned(_changed(data), 3, start=len(json.dumps(data))):
        if read(one) is not None:
            assert _of_models(block, one) == []
            continue
        found = faults(block, one)
        if found is None:
            unsure += 1
            continue
        told += 1
        assert problems(found, one, block) == _of_models(block, one)
    return told, unsure


@pytest.mark.parametrize("name", DOCUMENTS)
def test_both_say_the_same(name: str) -> None:
    for document in source.read(DOCUMENTS[name].read_bytes()).documents:
        told, unsure = _compared(document.data)
        assert told > 30
        assert unsure < told / 5


def test_both_say_the_same_of_every_block() -> None:
    told, unsure = _compared(WHOLE)
    assert told > 300
    assert unsure < told / 10


def test_what_is_right_has_no_faults() -> None:
    assert faults(SPEC, WHOLE) is None


def test_two_mistakes_are_two_faults() -> None:
    data = {**WHOLE, "spec": {**WHOLE["spec"], "nodess": 2, "script": 5}}
    assert [one["loc"] for one in faults(SPEC, data) or ()] == [("spec", "script"), ("spec", "nodess")]


def test_python_names_are_the_models() -> None:
    data = {**WHOLE, "spec": {"image": "i:1", "script": "t.py", "host_network": 5}}
    assert faults(SPEC, data) is None
