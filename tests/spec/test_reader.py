"""The JSON Schema reader against the models: both give equal objects or equal violations for any document."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from pydantic import BaseModel, ValidationError

from ptcompile._internal.schema_files import load
from ptcompile.compiler.frontend.errors import problems
from ptcompile.hardware import accelerators
from ptcompile.hardware.fabrics import FABRICS
from ptcompile.hardware.nodes import ANYWHERE
from ptcompile.source import documents as source
from ptcompile.spec import reader
from ptcompile.spec.checks import (
    CHECKS,
    as_text,
    check_amount,
    check_interval,
    check_nnodes,
    check_pod_template,
)
from ptcompile.spec.cluster_profile import (
    Accelerator,
    ClusterProfile,
    Fabric,
    ProfileSpec,
    TopologyLevel,
)
from ptcompile.spec.devices import built_in_accelerator, built_in_fabric
from ptcompile.spec.objects import PlainObject
from ptcompile.spec.reader import CLUSTER, SPEC, Block, SpecViolation
from ptcompile.spec.training_job import Spec, Topology
from tests import strategies, test_schema_law
from tests.conftest import thinned
from tests.making import DEFAULT_CLUSTER

ROOT = Path(__file__).parents[2]
MODELS: dict[Block, type[BaseModel]] = {SPEC: Spec, CLUSTER: ClusterProfile}
FILES = ("spec.schema.json", "cluster.schema.json")
LAW = {
    **test_schema_law.GOLDENS,
    **{
        f"spec {at}": test_schema_law._document("TrainingJob", spec=spec)
        for at, spec in enumerate(test_schema_law.SPECS)
    },
    **{
        f"right {at}": test_schema_law._document("TrainingJob", spec=spec)
        for at, spec in enumerate(test_schema_law.RIGHT)
    },
}


VALUES: tuple[Any, ...] = (
    None, True, 0, 5, -1, 70000, 1.5, "", "x", "1 Gi", "2:1", [], ["a"], [5], [None], [{"a": 1}], {}, {"a": 1},
    {"a": "b"}, {"gpu": True}, {"required": "a", "preferred": "b"}, [{"key": 1, "operator": "In"}],
    {"spec": {"containers": [{}]}},
)  # fmt: skip
"""Replacement values, tried at every path of a document."""

DOCUMENTS = {
    path.parent.name: path
    for name in ("spec.yaml", "cluster.yaml")
    for folder in ("golden", "examples")
    for path in sorted((ROOT / folder).glob(f"*/{name}"))
    if name == "cluster.yaml"
    or path.parent.name
    in {"everything-of-a-pod", "roles-differ", "llm", "data-loader", "bad-types", "env-sources"}
}
WHOLE: dict[str, Any] = {
    "apiVersion": "ptcompile/v1",
    "kind": "TrainingJob",
    "metadata": {"name": "a", "namespace": "b", "labels": {"c": "d"}},
    "spec": {
        "image": "i:1",
        "elastic": {
            "nnodes": "2:4",
            "nprocPerNode": "auto",
            "maxRestarts": 3,
            "rdzvConfigs": {"timeout": 5},
        },
        "runPolicy": {
            "backoffLimit": "Unlimited",
            "activeDeadlineSeconds": 9,
            "cleanPodPolicy": "All",
        },
        "resources": {"cpu": 1, "requests": {"memory": "1Gi"}, "devices": {"rdma/hca": 1}},
        "topology": {"required": "rack"},
        "runtimeRef": {"name": "r"},
        "names": {"container": "c"},
        "podSecurity": "restricted",
        "sharedMemory": "1Gi",
        "masterPort": 1,
        "roles": {
            "loader": {"replicas": 2, "env": {"A": {"secretKeyRef": {"name": "n", "key": "k"}}}}
        },
        "manifest": {"job": {"spec": {}}},
    },
}


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, child in inner:
        yield from _places(child, (*path, key))


def _changed(data: Any) -> Iterator[Any]:
    """Yield copies of the document with one mistake each: another value, or a missing, misspelled or unknown key."""
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
            for name in ("initContainers", "nprocPerNode", "nproc-per-node", "gpu", "Name"):
                other = copy.deepcopy(data)
                _at(other, path).setdefault(name, {"a": 1})
                yield other


def _at(data: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        data = data[part]
    return data


def same(plain: Any, model: Any) -> bool:
    """Return whether two values have the same fields, with equal values and types."""
    if isinstance(model, BaseModel):
        fields, own = vars(model), vars(plain)
        assert isinstance(plain, PlainObject)
        assert plain.model_fields_set == model.model_fields_set
        return list(own) == list(fields) and all(same(own[name], fields[name]) for name in fields)
    if isinstance(model, dict):
        return list(plain) == list(model) and all(same(plain[key], model[key]) for key in model)
    if isinstance(model, list):
        return len(plain) == len(model) and all(map(same, plain, model))
    return type(plain) is type(model) and repr(plain) == repr(model)


def document_of(data: Any) -> Block:
    return CLUSTER if isinstance(data, dict) and data.get("kind") == "ClusterProfile" else SPEC


def of_models(document: Block, data: Any) -> tuple[BaseModel | None, list[SpecViolation]]:
    """Return the models' result for a document, in the reader's format."""
    try:
        return MODELS[document].model_validate(data), []
    except ValidationError as error:
        return None, [_fault(detail, data) for detail in error.errors(include_url=False)]


def _fault(detail: Mapping[str, Any], data: Any) -> SpecViolation:
    context = detail.get("ctx", {})
    expected: tuple[str, ...] = ()
    message = detail["msg"]
    if detail["type"] == "literal_error":
        words = str(context["expected"]).replace(" or ", ", ").split(", ")
        expected = tuple(word.strip("'") for word in words)
    elif detail["type"] == "string_pattern_mismatch":
        message = context["pattern"]
    error = context.get("error")
    return SpecViolation(
        detail["type"], _path(detail["loc"], data), detail["input"], message, expected, error
    )


def _path(loc: Iterable[str | int], data: Any) -> tuple[str | int, ...]:
    """Return pydantic's location without union tags, such as `str`, `bool` or a class name."""
    parts = list(loc)
    path: list[str | int] = []
    for at, part in enumerate(parts):
        if isinstance(data, Mapping) and (part in data or (at == len(parts) - 1 and _is_key(part))):
            path.append(part)
            data = data.get(part)
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            path.append(part)
            data = data[part]
    return tuple(path)


def _is_key(part: str | int) -> bool:
    tags = {"str", "int", "bool", "float", "dict", "list"}
    return isinstance(part, str) and part.isidentifier() and part[0].islower() and part not in tags


def agree(data: Any) -> bool:
    """Check that reader and models agree on a document, and return whether it is valid."""
    document = document_of(data)
    value, faults = reader.read(document, data)
    model, expected = of_models(document, data)
    assert [(fault.kind, fault.path) for fault in faults] == [
        (fault.kind, fault.path) for fault in expected
    ]
    assert problems(faults, data, document) == problems(expected, data, document)
    assert (value is None) == (model is None)
    if model is not None:
        assert same(value, model)
        assert value.document() == model.document()  # type: ignore[attr-defined]  # every model has it
        assert value.document(only_set=True) == model.document(only_set=True)  # type: ignore[attr-defined]
    return model is not None


@pytest.mark.parametrize("name", LAW)
def test_both_agree_on_valid_and_invalid_documents(name: str) -> None:
    agree(LAW[name])


@given(strategies.specs(catalogue=True))
def test_both_agree_on_any_spec(document: Any) -> None:
    assert agree(document)


@given(strategies.profiles())
def test_both_agree_on_any_profile(document: Any) -> None:
    agree(document)


@given(strategies.mutated(strategies.specs()))
def test_both_agree_on_a_spec_with_a_mistake(document: Any) -> None:
    agree(document)


@given(strategies.mutated(strategies.profiles()))
def test_both_agree_on_a_profile_with_a_mistake(document: Any) -> None:
    agree(document)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_both_agree_on_a_file_with_a_mistake_at_any_path(name: str) -> None:
    for document in source.read(DOCUMENTS[name].read_bytes()).documents:
        taken = [
            agree(changed)
            for changed in thinned(_changed(document.data), 3, start=len(json.dumps(document.data)))
        ]
        assert taken.count(False) > 30


def test_both_agree_on_a_mistake_in_every_block() -> None:
    assert agree(WHOLE)
    taken = [agree(changed) for changed in thinned(_changed(WHOLE), 3)]
    assert taken.count(False) > 300


ODD: list[Any] = [None, [], "text", 7, {"kind": "TrainingJob"}]


@pytest.mark.parametrize("data", ODD, ids=repr)
def test_values_other_than_documents_are_violations(data: Any) -> None:
    assert agree(data) is False
    assert reader.read_spec(data) is None


@pytest.mark.parametrize(
    "data",
    [{1: 2}, {None: None}, {"spec": {(1, 2): 3}, "metadata": {"labels": {4: "a"}}}],
    ids=repr,
)
def test_keys_other_than_strings_are_violations(data: Any) -> None:
    """In files, `source.json_reader.flaw` rejects such keys first, with another message."""
    assert reader.read_spec(data) is None
    assert reader.read_cluster(data) is None


def test_a_profile_may_omit_everything() -> None:
    assert same(reader.read_cluster({}), ClusterProfile.model_validate({}))
    assert reader.read_spec({}) is None


IN_A_SPEC: list[tuple[dict[str, Any], bool]] = [
    ({"nodes": True}, False),
    ({"nodes": 2.0}, False),
    ({"nodes": "2"}, False),
    ({"elastic": {"nnodes": "4:2"}}, False),
    ({"elastic": {"nnodes": "2:4"}}, True),
    ({"resources": {"cpu": 0.5}}, True),
    ({"resources": {"cpu": "x"}}, False),
    ({"resources": {"cpu": "-1"}}, False),
    ({"sharedMemory": True}, True),
    ({"sharedMemory": 1}, True),
    ({"env": {"A": {"fieldRef": {"fieldPath": "p"}}}}, True),
    ({"env": {1: "a"}}, False),
    ({"topology": {"required": "rack", "preferred": None}}, True),
    ({"topology": {}}, False),
    ({"queue": "a\n"}, True),
    ({"podSecurity": "restricted\n"}, False),
    ({"podSecurity": "limited"}, False),
    ({"master": None}, True),
]


@pytest.mark.parametrize(("words", "taken"), IN_A_SPEC, ids=str)
def test_the_reader_accepts_what_pydantic_accepts(words: dict[str, Any], taken: bool) -> None:
    assert (
        agree(test_schema_law._document("TrainingJob", spec={"script": "t.py", **words})) == taken
    )


def test_violations_are_in_the_order_of_the_model() -> None:
    data = {
        **WHOLE,
        "spec": {
            "nodess": 2,
            **WHOLE["spec"],
            "script": 5,
            "master": {"replicas": "x"},
            "image": 1,
        },
    }
    _, faults = reader.read(SPEC, data)
    assert [fault.path[1:] for fault in faults] == [
        ("image",),
        ("script",),
        ("master", "replicas"),
        ("nodess",),
    ]


def test_the_default_profile_equals_the_model() -> None:
    assert same(DEFAULT_CLUSTER, ClusterProfile(api_version="ptcompile/v1", kind="ClusterProfile"))
    assert same(reader.unknown_level(), TopologyLevel())


def test_built_in_accelerators_equal_the_model() -> None:
    for cloud in (None, "gke", "eks", "aks"):
        for name in accelerators.names(cloud or ANYWHERE, slices=True):
            entry = built_in_accelerator(name, cloud)
            assert entry is not None
            assert same(entry, Accelerator.model_validate(entry.document(only_set=True)))


def test_built_in_fabrics_equal_the_model() -> None:
    for name in FABRICS:
        fabric = built_in_fabric(name)
        assert fabric is not None
        assert same(fabric, Fabric.model_validate(fabric.document(only_set=True)))


def test_documents_share_no_mutable_values() -> None:
    document = test_schema_law._document("TrainingJob", spec={"env": {"A": "1"}})
    first, second = reader.read_spec(document), reader.read_spec(document)
    assert first is not None
    assert second is not None
    held = vars(first.spec)
    vars(first.metadata)["labels"]["a"] = held["env"]["B"] = held["pod_labels"]["c"] = "changed"
    first.spec.tolerations.append({})
    assert same(second, Spec.model_validate(document))
    assert document["spec"]["env"] == {"A": "1"}


def test_replace_returns_a_changed_copy() -> None:
    read = reader.read_spec(test_schema_law._document("TrainingJob", spec={"nodes": 2}))
    assert read is not None
    changed = read.spec.replace(nodes=3, module="m")
    assert (read.spec.nodes, changed.nodes, changed.module) == (2, 3, "m")
    assert changed.document(only_set=True) == {"image": "i", "nodes": 3, "module": "m"}
    assert repr(read.metadata).startswith("PlainObject(name='a', generate_name=None")


def _schemas(node: Any) -> Iterator[dict[str, Any]]:
    """Yield all schemas in `node` that the reader applies: without those for editors or replaced by an `x-check`."""
    yield node
    if node.get("x-check") == "pod-template":
        return
    inner = [
        *node.get("anyOf", ()),
        *node.get("properties", {}).values(),
        *node.get("$defs", {}).values(),
    ]
    inner += [
        node[key] for key in ("items", "additionalProperties") if isinstance(node.get(key), dict)
    ]
    for child in inner:
        yield from _schemas(child)


SAY_NOTHING = {"$id", "$schema", "$defs", "title", "description", "examples", "default", "x-check"}
FOR_EDITORS = {"allOf", "if", "then", "propertyNames", "minProperties"}
READ = {
    "$ref",
    "anyOf",
    "const",
    "enum",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
}
BOUNDS = {"object": set(), "string": {"pattern", "maxLength"}, "integer": {"minimum", "maximum"}}


@pytest.mark.parametrize("file", FILES)
def test_the_reader_supports_every_keyword_of_the_schemas(file: str) -> None:
    """The reader must support a model's new constraint, or `FOR_EDITORS` must list it."""
    for schema in _schemas(load(file)):
        if "x-check" not in schema:
            kind = schema.get("type")
            known = (
                READ
                | SAY_NOTHING
                | (FOR_EDITORS if kind == "object" else set())
                | BOUNDS.get(str(kind), set())
            )
            known |= (
                {"minProperties", "maxProperties"} if schema.get("title") == "EnvSource" else set()
            )
            assert schema.keys() <= known, schema


def _validators(core: Any) -> Iterator[Any]:
    if isinstance(core, dict):
        if str(core.get("type", "")).startswith("function-"):
            yield getattr(core["function"]["function"], "__func__", core["function"]["function"])
        for key, value in core.items():
            if key not in {"metadata", "serialization", "cls"}:
                yield from _validators(value)
    elif isinstance(core, list | tuple):
        for value in core:
            yield from _validators(value)


def test_every_validator_of_the_models_is_named_in_the_schemas() -> None:
    """A new validator needs an `x-check`, unless it belongs to a member of a union with one."""
    found = set[Any]()
    for model in MODELS.values():
        model.model_rebuild(force=True)
        found |= set(_validators(model.__pydantic_core_schema__))
    ours = {one for one in found if one.__module__.startswith("ptcompile")}
    own = {Topology._one_of_the_two, ProfileSpec._queues_have_their_scheduler.__func__}  # type: ignore[attr-defined]
    assert ours == {as_text, check_amount, check_interval, check_nnodes, check_pod_template, *own}
    named = {
        schema["x-check"]
        for file in FILES
        for schema in _schemas(load(file))
        if "x-check" in schema
    }
    assert named == set(CHECKS)
