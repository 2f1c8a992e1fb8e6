"""The quick check for values that Go cannot decode, which must report everything that the exact check reports."""

from __future__ import annotations

from collections import UserString
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ptcompile.apiserver import webhooks
from ptcompile.apiserver.webhooks import webhook_rejection

SAY = webhook_rejection("volcano")
KEYS = st.sampled_from(["limits", "requests", "port", "targetPort", "minResources", "a"])
WORDS = st.sampled_from(["1e1.5", "1E0.5", "1.5e3", "8Gi", "x", "e.", "1.5"])
NUMBERS = st.sampled_from([0, 1, 2**31, -(2**31), -(2**31) - 1, 1.5, True, None])
DATA = st.recursive(
    WORDS | NUMBERS,
    lambda values: st.lists(values, max_size=3) | st.dictionaries(KEYS, values, max_size=3),
)


@given(st.dictionaries(KEYS, DATA, max_size=4))
def test_quick_and_exact_pass_agree(value: dict[str, Any]) -> None:
    assert list(webhooks.decode_problems(value, SAY)) == list(
        webhooks._problems_below(value, SAY, ())
    )


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (
            {"a": [{"limits": {"cpu": "1e1.5"}}]},
            ("a", 0, "limits", "cpu"),
        ),  # apimachinery 1.36, quantity.go
        ({"a": {"port": 2**31}}, ("a", "port")),  # intstr.IntOrString is 32 bits wide
        ({"port": -(2**31) - 1}, ("port",)),
    ],
)
def test_undecodable_values_are_reported_at_their_path(
    value: dict[str, Any], path: tuple[object, ...]
) -> None:
    assert [problem.path for problem in webhooks.decode_problems(value, SAY)] == [path]


@pytest.mark.parametrize("amount", ["1.5", "1.5e3", "1.5x", "1.5ex", "8Gi", "x"])
def test_an_amount_that_go_decodes_has_no_problem(amount: str) -> None:
    """The pattern of the CRD already rejects a text that is no quantity and has no point in its exponent."""
    assert not list(webhooks.decode_problems({"limits": {"cpu": amount}}, SAY))


def test_other_data_takes_the_exact_pass() -> None:
    assert not webhooks._is_decodable({"a": UserString("x")})
    assert webhooks._is_decodable({"a": ["x", 1, {"limits": {"cpu": "1.5", "b": 2}}], "port": 80})
