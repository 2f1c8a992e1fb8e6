"""Scalar types of the two schemas, and the strict base class of their models."""

from __future__ import annotations

from inspect import signature
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from ptcompile.spec.base import DnsLabel, DnsSubdomain, Metadata, Port, ResourceList, Resources
from ptcompile.spec.training_job import Elastic

QUANTITIES = [
    ("8", "8"), (8, "8"), (0.5, "0.5"), ("500m", "500m"), ("64Gi", "64Gi"), ("1e3", "1e3"), (0, "0"),
    ("1.5Gi", "1.5Gi"),
    (10**18, "1000000000000000000"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "expected"), QUANTITIES)
def test_a_quantity_is_kept_as_written(given: Any, expected: str) -> None:
    assert ResourceList.model_validate({"cpu": given}).cpu == expected


@pytest.mark.parametrize(
    "given",
    [True, "", "1 Gi", "8gib", "8GB", "-1", -1, "x", [], {}, float("nan"), float("inf"), "0x10"],
)
def test_invalid_quantities_are_rejected(given: Any) -> None:
    with pytest.raises(ValidationError):
        ResourceList.model_validate({"cpu": given})


def test_both_spellings_set_the_same_field() -> None:
    assert ResourceList.model_validate({"ephemeralStorage": "1Gi"}) == ResourceList(
        ephemeral_storage="1Gi"
    )


def test_unknown_keys_are_refused() -> None:
    with pytest.raises(ValidationError, match="extra_forbidden"):
        Metadata.model_validate({"name": "a", "nam": "b"})


def test_models_are_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Metadata(name="a").name = "b"


@pytest.mark.parametrize(
    "given", [{"name": 5}, {"name": "a", "labels": {"x": 1}}, {"name": "a", "labels": []}]
)
def test_types_are_not_converted(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Metadata.model_validate(given)


def test_amounts_have_kubernetes_names_in_conventional_order() -> None:
    amounts = Resources.model_validate(
        {"devices": {"rdma/hca": 1}, "gpu": 1, "ephemeralStorage": 2, "memory": 3, "cpu": 4}
    )
    assert amounts.amounts_by_name() == {
        "cpu": "4",
        "memory": "3",
        "ephemeral-storage": "2",
        "gpu": "1",
        "rdma/hca": "1",
    }


def test_zero_is_an_amount() -> None:
    assert ResourceList.model_validate({"gpu": 0}).amounts_by_name() == {"gpu": "0"}


@pytest.mark.skipif(
    not hasattr(BaseModel, "__pydantic_on_complete__"),
    reason="older pydantic sets its own signature",
)
def test_the_signature_of_a_model_has_python_names() -> None:
    """pydantic's signature has the YAML names, and is empty before the model is built."""
    before = signature(Elastic)
    assert (
        before.parameters["max_restarts"].annotation,
        before.parameters["max_restarts"].default,
    ) == (int, 0)
    assert before.parameters["nnodes"].annotation == int | str | None
    assert signature(Metadata).parameters["name"].annotation is str
    Elastic(max_restarts=2)
    assert signature(Elastic) == before


@pytest.mark.parametrize(
    ("value", "valid"),
    [(1, True), (65535, True), (0, False), (65536, False), ("80", False), (True, False)],
)
def test_only_ports_are_accepted(value: Any, valid: bool) -> None:
    adapter = TypeAdapter(Port)
    if valid:
        assert adapter.validate_python(value) == value
    else:
        with pytest.raises(ValidationError):
            adapter.validate_python(value, strict=True)


def test_schemas_limit_the_lengths_of_names() -> None:
    assert TypeAdapter(DnsLabel).json_schema()["maxLength"] == 63
    assert TypeAdapter(DnsSubdomain).json_schema()["maxLength"] == 253
