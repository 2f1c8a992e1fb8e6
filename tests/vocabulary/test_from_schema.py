"""The plain reader and the models: of one mind about what is taken, and about every field of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from pydantic import BaseModel, ValidationError

from ptcompile.catalogue import accelerators
from ptcompile.catalogue.fabrics import FABRICS
from ptcompile.catalogue.vendors import ANYWHERE
from ptcompile.documents.schema_files import load
from ptcompile.vocabulary import from_schema
from ptcompile.vocabulary.checks import CHECKS, amount, as_text, interval, nnodes
from ptcompile.vocabulary.cluster.devices import Accelerator, Fabric
from ptcompile.vocabulary.cluster.hardware import built_in_accelerator, built_in_fabric
from ptcompile.vocabulary.cluster.model import ClusterProfile, ProfileSpec
from ptcompile.vocabulary.cluster.pod_base import check
from ptcompile.vocabulary.cluster.queues import TopologyLevel
from ptcompile.vocabulary.fields import Plain
from ptcompile.vocabulary.spec import Spec, Topology
from tests import strategies, test_schema_law
from tests.making import DEFAULT_CLUSTER

MODELS: dict[str, type[BaseModel]] = {"TrainingJob": Spec, "ClusterProfile": ClusterProfile}
FILES = ("spec.schema.json", "cluster.schema.json")
LAW = {
    **test_schema_law.GOLDENS,
    **{
        f"spec {at}": test_schema_law._document("TrainingJob", spec=one) for at, one in enumerate(test_schema_law.SPECS)
    },
    **{
        f"right {at}": test_schema_law._document("TrainingJob", spec=one)
        for at, one in enumerate(test_schema_law.RIGHT)
    },
}


def plain_of(document: Any) -> Any:
    return (from_schema.cluster if document.get("kind") == "ClusterProfile" else from_schema.spec)(document)


def model_of(document: Any) -> BaseModel | None:
    try:
        return MODELS[document["kind"]].model_validate(document)
    except ValidationError:
        return None


def same(plain: Any, model: Any) -> bool:
    """Whether two values are equal, field by field and type by type, and give the same fields."""
    if isinstance(model, BaseModel):
        fields, own = vars(model), vars(plain)
        assert isinstance(plain, Plain)
        assert plain.model_fields_set == model.model_fields_set
        return list(own) == list(fields) and all(same(own[name], fields[name]) for name in fields)
    if isinstance(model, dict):
        return list(plain) == list(model) and all(same(plain[key], model[key]) for key in model)
    if isinstance(model, list):
        return len(plain) == len(model) and all(map(same, plain, model))
    return type(plain) is type(model) and repr(plain) == repr(model)


def agree(document: Any) -> None:
    """What is read here the models take as the same; what they and the schema take is read here."""
    plain, model = plain_of(document), model_of(document)
    if plain is not None:
        assert model is not None, "the models do not take it"
        assert same(plain, model)
        assert plain.document() == model.document()  # type: ignore[attr-defined]  # every model has it
        assert plain.document(given=True) == model.document(given=True)  # type: ignore[attr-defined]
    elif model is not None and "\\n" not in repr(document):  # Python's `$`, the validator's, takes a line's end
        assert not test_schema_law.SCHEMAS[document["kind"]].is_valid(document), "it could have been read"


@pytest.mark.parametrize("name", LAW)
def test_both_agree_on_documents_good_and_bad(name: str) -> None:
    agree(LAW[name])


@given(strategies.specs(catalogue=True))
def test_both_agree_on_any_spec(document: Any) -> None:
    assert plain_of(document) is not None
    agree(document)


@given(strategies.profiles())
def test_both_agree_on_any_profile(document: Any) -> None:
    agree(document)


@given(strategies.mutated(strategies.specs()))
def test_both_agree_on_a_spec_with_a_mistake(document: Any) -> None:
    if isinstance(document, dict) and document.get("kind") in tuple(MODELS):
        agree(document)


@given(strategies.mutated(strategies.profiles()))
def test_both_agree_on_a_profile_with_a_mistake(document: Any) -> None:
    if isinstance(document, dict) and document.get("kind") in tuple(MODELS):
        agree(document)


ODD: list[Any] = [None, [], "text", 7, {1: 2}, {"kind": "TrainingJob"}, {None: None}]


@pytest.mark.parametrize("data", ODD, ids=repr)
def test_what_is_no_document_is_not_read(data: Any) -> None:
    assert from_schema.spec(data) is None
    assert from_schema.cluster(data) is None


def test_a_profile_may_leave_everything_out() -> None:
    assert same(from_schema.cluster({}), ClusterProfile.model_validate({}))
    assert from_schema.spec({}) is None


IN_A_SPEC: list[tuple[dict[str, Any], bool]] = [
    ({"nodes": True}, False),
    ({"nodes": 2.0}, False),
    ({"nodes": "2"}, False),
    ({"elastic": {"nnodes": "4:2"}}, False),
    ({"elastic": {"nnodes": "2:4"}}, True),
    ({"elastic": {"nproc_per_node": 2}}, False),
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
    ({"master": None}, True),
]


@pytest.mark.parametrize(("words", "taken"), IN_A_SPEC, ids=str)
def test_what_is_read(words: dict[str, Any], taken: bool) -> None:
    """False is no refusal: the models decide, and `nproc_per_node` for one they take."""
    document = test_schema_law._document("TrainingJob", spec={"script": "t.py", **words})
    assert (plain_of(document) is not None) == taken
    agree(document)


def test_the_built_in_profile_and_the_built_in_entries_are_the_models() -> None:
    assert same(DEFAULT_CLUSTER, ClusterProfile(api_version="ptcompile/v1", kind="ClusterProfile"))
    assert same(from_schema.no_level(), TopologyLevel())
    for cloud in (None, "gke", "eks", "aks"):
        for name in accelerators.names(cloud or ANYWHERE, slices=True):
            entry = built_in_accelerator(name, cloud)
            assert entry is not None
            assert same(entry, Accelerator.model_validate(entry.document(given=True)))
    for name in FABRICS:
        fabric = built_in_fabric(name)
        assert fabric is not None
        assert same(fabric, Fabric.model_validate(fabric.document(given=True)))


def test_two_documents_share_nothing_that_can_change() -> None:
    document = test_schema_law._document("TrainingJob", spec={"env": {"A": "1"}})
    first, second = from_schema.spec(document), from_schema.spec(document)
    assert first is not None
    assert second is not None
    held = vars(first.spec)
    vars(first.metadata)["labels"]["a"] = held["env"]["B"] = held["pod_labels"]["c"] = "changed"
    first.spec.tolerations.append({})
    assert same(second, Spec.model_validate(document))
    assert document["spec"]["env"] == {"A": "1"}


def test_one_with_another_field() -> None:
    read = from_schema.spec(test_schema_law._document("TrainingJob", spec={"nodes": 2}))
    assert read is not None
    changed = read.spec.but(nodes=3, module="m")
    assert (read.spec.nodes, changed.nodes, changed.module) == (2, 3, "m")
    assert changed.document(given=True) == {"image": "i", "nodes": 3, "module": "m"}
    assert repr(read.metadata).startswith("Plain(name='a', generate_name=None")


def _schemas(node: Any) -> Iterator[dict[str, Any]]:
    """Every schema within one that says what is taken: not those for editors, nor what an `x-check` says better."""
    yield node
    if node.get("x-check") == "pod-template":
        return
    inner = [*node.get("anyOf", ()), *node.get("properties", {}).values(), *node.get("$defs", {}).values()]
    inner += [node[key] for key in ("items", "additionalProperties") if isinstance(node.get(key), dict)]
    for one in inner:
        yield from _schemas(one)


SAY_NOTHING = {"$id", "$schema", "$defs", "title", "description", "examples", "default", "x-check"}
FOR_EDITORS = {"allOf", "if", "then"}
READ = {"$ref", "anyOf", "const", "enum", "type", "properties", "required", "additionalProperties", "items"}
BOUNDS = {"object": set(), "string": {"pattern", "maxLength"}, "integer": {"minimum", "maximum"}}


@pytest.mark.parametrize("file", FILES)
def test_no_word_of_a_schema_goes_unread(file: str) -> None:
    """A new constraint of a model must be read as well, or be said here to be for editors."""
    for schema in _schemas(load(file)):
        if "x-check" not in schema:
            kind = schema.get("type")
            known = READ | SAY_NOTHING | (FOR_EDITORS if kind == "object" else set()) | BOUNDS.get(str(kind), set())
            known |= {"minProperties", "maxProperties"} if schema.get("title") == "EnvSource" else set()
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
    """A new one needs an `x-check`, or is a union's part of one."""
    found = set[Any]()
    for model in MODELS.values():
        model.model_rebuild(force=True)
        found |= set(_validators(model.__pydantic_core_schema__))
    ours = {one for one in found if one.__module__.startswith("ptcompile")}
    own = {Topology._one_of_the_two, ProfileSpec._queues_have_their_scheduler.__func__}  # type: ignore[attr-defined]
    assert ours == {as_text, amount, interval, nnodes, check, *own}
    named = {one["x-check"] for file in FILES for one in _schemas(load(file)) if "x-check" in one}
    assert named == set(CHECKS)
