"""Quantities as apimachinery parses them (Kubernetes 1.36).

Source: docs/facts/api-server.md#resources-and-quantities.
"""

from __future__ import annotations

import time

import pytest
from hypothesis import given, strategies as st

from ptcompile.kubernetes.quantity import (
    NANO,
    Quantity,
    is_quantity,
    likely_quantity,
    parse,
    to_string,
    why_not,
)

# accepted (docs/facts/api-server.md#resources-and-quantities), and how the server prints them
PRINTED = {
    "1k": "1k", "1M": "1M", "1E": "1E", "1e3": "1e3", "1E3": "1e3", "1e-3": "1e-3", "1.5Gi": "1536Mi", ".5": "500m",
    "5.": "5", "+5": "5", "1n": "1n", "1u": "1u", "1m": "1m", "0.1m": "100u", "100Ei": "9223372036854775807",
    "9223372036854775808": "9223372036854775808", "1000m": "1", "1024Mi": "1Gi", "0": "0", "0Gi": "0", "2.5": "2500m",
    "-1.5": "-1500m", "0.9n": "1n", "1000E": "1e21", "0.5Ki": "512", "12e6": "12e6", "1000k": "1M", " 1Gi ": "1Gi",
    "Ki": "0", "+": "0", "1023": "1023", "1Ki": "1Ki", "1.5": "1500m", "1e1": "10", "0.001n": "1n",
}  # fmt: skip
REFUSED: list[object] = [
    "1K", "1KI", "1Kib", "1GB", "1Gib", "1gi", "1mi",
    "1e", "1_0", "0x10", "1 Gi", "", " ", "1Mi1", "1e1.5", "Inf",
    "true", "1..5", "1e+", "\u0661", "1\n",
    "--1", "1e99999999999999999999", None, True, [], float("inf"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "printed"), PRINTED.items())
def test_an_accepted_quantity_is_printed_in_canonical_form(text: str, printed: str) -> None:
    quantity = parse(text)
    assert quantity is not None
    assert to_string(quantity) == printed
    assert why_not(text) is None


@pytest.mark.parametrize("value", REFUSED)
def test_non_quantities_are_rejected_with_a_reason(value: object) -> None:
    assert not is_quantity(value)
    assert why_not(value)


@pytest.mark.parametrize(
    ("value", "printed"), [(2, "2"), (0.5, "500m"), (1e21, "1e21"), (1e-07, "100n"), (-3, "-3")]
)
def test_numbers_are_printed_as_kubernetes_prints_them(value: float, printed: str) -> None:
    quantity = parse(value)
    assert quantity is not None
    assert Quantity(quantity.nano).nano == quantity.nano
    assert to_string(quantity) in (printed, "100e-9")


def _amount(text: str) -> Quantity:
    quantity = parse(text)
    assert quantity is not None
    return quantity


def test_amounts_compare_regardless_of_their_suffix() -> None:
    gibi, mebi, half, one = (_amount(text) for text in ("1Gi", "1024Mi", "500m", "1"))
    assert gibi == mebi
    assert hash(gibi) == hash(mebi)
    assert half < one <= one
    assert one > half
    assert one >= one
    assert not half >= one
    assert not one < one
    assert not one > one
    assert one != 1


def test_amounts_add_subtract_and_multiply() -> None:
    mebi = _amount("1024Mi")
    assert str(_amount("500m") * 3) == "1500m"
    assert str(mebi + mebi) == "2Gi"
    assert str(_amount("1Gi") - mebi) == "0"
    assert str(Quantity(0) + mebi) == "1Gi"


def test_the_value_of_a_fraction_is_rounded_up() -> None:
    half = _amount("500m")
    assert not half.is_integer
    assert half.value == 1
    assert _amount("1").is_integer


def test_resource_lists_round_up_to_milli() -> None:
    tenth, negative = (
        parse("0.1m"),
        parse("-0.1m"),
    )  # docs/facts/api-server.md#resources-and-quantities
    assert tenth
    assert negative
    assert (str(tenth.rounded()), str(negative.rounded())) == ("1m", "-1m")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8gib", "8Gi"),
        ("8GB", "8G"),
        ("8K", "8k"),
        ("8 Gi", "8Gi"),
        ("1mi", "1Mi"),
        ("x", None),
        ("1e", None),
    ],
)
def test_the_likely_quantity_is_suggested(text: str, expected: str | None) -> None:
    assert likely_quantity(text) == expected


@given(st.integers(-(10**20), 10**20), st.sampled_from(["decimal", "binary", "exponent"]))
def test_the_printed_form_preserves_the_amount(nano: int, style: str) -> None:
    quantity = Quantity(nano, style)  # type: ignore[arg-type]
    again = parse(to_string(quantity))
    assert again == quantity
    assert again is not None
    assert to_string(Quantity(again.nano, quantity.format)) == to_string(quantity)


@pytest.mark.parametrize(
    "text",
    [
        "1" * 10**6,
        "1" * 999 + "!",
        "0." + "0" * 900 + "1",
        "1e999999999",
        "1e-999999999",
        "9" * 900 + "Ei",
    ],
)
def test_hostile_texts_are_quick(text: str) -> None:
    start = time.process_time()
    is_quantity(text)
    assert time.process_time() - start < 0.5


def test_a_tiny_amount_is_never_zero() -> None:
    assert parse("1e-999999999") == Quantity(1)
    assert parse("1") == Quantity(NANO)
