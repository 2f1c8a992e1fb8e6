"""Values at the edges of CEL's types and functions, as cel-spec and Kubernetes' libraries define them.

Source: cel-spec 0.24 (langdef.md), cel-go 0.26 (ext/strings.go), and k8s.io/apiserver 1.36 (pkg/cel/library).
"""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver.cel import evaluate
from ptcompile.apiserver.cel.evaluation import unescape
from ptcompile.apiserver.cel.types import (
    BOOL,
    DYN,
    INT,
    NULL,
    STRING,
    CelType,
    compose,
    is_assignable,
    list_of,
    map_of,
    most_general,
)
from ptcompile.apiserver.cel.values import CelError


def _value(text: str, budget: int = 100_000, **variables: Any) -> Any:
    return evaluate(text, variables, [budget])


TRUE = """
9223372036854775807 == 9223372036854775806 + 1
-9223372036854775808 + 1 == -9223372036854775807
18446744073709551615u == 18446744073709551614u + 1u
int('9223372036854775807') == 9223372036854775807
int('-9223372036854775808') + 1 == -9223372036854775807
uint('18446744073709551615') == 18446744073709551615u
uint('0') == 0u
int(timestamp('1970-01-01T00:00:10Z')) == 10
int(timestamp('1970-01-01T00:02:00Z')) == 120
int(b'\\xff'.size()) == 1
b'\\377' == b'\\xff'
'abcabc'.indexOf('c') == 2
'abcabc'.indexOf('c', 3) == 5
'abc'.indexOf('c', 2) == 2
'abc'.indexOf('', 3) == 3
'abc'.indexOf('c', 3) == -1
'abc'.indexOf('d') == -1
'a,b,c'.split(',') == ['a', 'b', 'c']
'a,b,c'.split(',', 2) == ['a', 'b,c']
'a,b,c'.split(',', 1) == ['a,b,c']
'a,b,c'.split(',', 0) == []
'a,b,c'.split(',', -1) == ['a', 'b', 'c']
'abc'.split('') == ['a', 'b', 'c']
'abc'.split('', 2) == ['a', 'bc']
[1, 2, 1].indexOf(1) == 0
[1, 2, 1].lastIndexOf(1) == 2
[1, 2, 1].lastIndexOf(2) == 1
[1].lastIndexOf(1) == 0
[1].lastIndexOf(3) == -1
quantity('9223372036854775807').asInteger() == 9223372036854775807
quantity('-2').asInteger() == -2
!quantity('1.5').isInteger()
isCIDR('10.0.0.0/8')
isCIDR('10.0.0.0/0')
!isCIDR('10.0.0.0/08')
!isCIDR('10.0.0.0/')
!isCIDR('10.0.0.0/33')
!isCIDR('10.0.0.0/-1')
!isCIDR('10.0.0.0')
isCIDR('::/128')
!isCIDR('::/129')
duration('1000ns') == duration('1us')
duration('1000us') == duration('1ms')
duration('1000µs') == duration('1ms')
duration('1000μs') == duration('1ms')
duration('1000ms') == duration('1s')
duration('60s') == duration('1m')
duration('60m') == duration('1h')
duration('1h1m1s') == duration('3661s')
true ? (false ? 1 == 2 : true) : false
[1, 3, 2].max() == 3
[1, 3, 2].min() == 1
"""


@pytest.mark.parametrize("text", TRUE.strip().splitlines())
def test_each_expression_is_true(text: str) -> None:
    assert _value(text) is True


@pytest.mark.parametrize(
    "text",
    """
    9223372036854775807 + 1
    -9223372036854775808 - 1
    18446744073709551615u + 1u
    0u - 1u
    int('9223372036854775808')
    int('-9223372036854775809')
    uint('18446744073709551616')
    uint('-1')
    uint('1.0')
    uint('')
    'abc'.indexOf('c', -1)
    quantity('9223372036854775808').asInteger()
    quantity('1.5').asInteger()
    cidr('10.0.0.0/08')
    """.strip().splitlines(),
)
def test_each_expression_fails(text: str) -> None:
    with pytest.raises(CelError):
        _value(text.strip())


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("a__dash__b", "a-b"),
        ("a__dot__b", "a.b"),
        ("a__slash__b", "a/b"),
        ("a__underscores__b", "a__b"),
        ("__if__", "if"),
        ("__namespace__", "namespace"),
        ("a__b", "a__b"),
        ("a__underscores__dash__underscores__b", "a__dash__b"),
    ],
)
def test_escaped_names_mean_their_fields(name: str, field: str) -> None:
    assert unescape(name) == field


def test_types_are_composed_to_a_limited_depth() -> None:
    kind = compose("list", STRING)
    while kind.depth < compose("list", kind).depth:
        kind = compose("list", kind)
    flat = compose("list", kind)
    assert (flat.depth, flat.parameters) == (1, (DYN,))
    assert compose("map", kind, kind).parameters == (DYN, DYN)


@pytest.mark.parametrize(
    ("kind", "other", "expected"),
    [
        (INT, INT, True),
        (INT, STRING, False),
        (INT, DYN, True),
        (DYN, STRING, True),
        (NULL, STRING, False),
        (NULL, INT, False),
        (NULL, CelType("Thing"), True),
        (CelType("Thing"), NULL, True),
        (BOOL, NULL, False),
        (list_of(INT), list_of(INT), True),
        (list_of(INT), list_of(STRING), False),
        (list_of(INT), list_of(DYN), True),
        (list_of(INT), map_of(INT, INT), False),
    ],
)
def test_only_some_types_are_assignable(kind: CelType, other: CelType, expected: bool) -> None:
    assert is_assignable({}, kind, other) is expected


@pytest.mark.parametrize(
    ("kind", "other", "expected"),
    [
        (INT, INT, INT),
        (DYN, INT, DYN),
        (INT, DYN, DYN),
        (list_of(DYN), list_of(INT), list_of(DYN)),
        (list_of(INT), list_of(DYN), list_of(DYN)),
        (map_of(STRING, INT), map_of(STRING, DYN), map_of(STRING, DYN)),
    ],
)
def test_the_more_general_of_two_types_is_found(
    kind: CelType, other: CelType, expected: CelType
) -> None:
    assert most_general(kind, other) == expected


def test_a_loop_of_ternaries_is_not_nested() -> None:
    """cel-go limits the depth of a program, and a chain has none."""
    chain = "".join(f"a == {i} ? {i} : " for i in range(400)) + "-1"
    assert _value(chain, a=399) == 399


def test_each_comparison_of_a_maximum_is_paid_for() -> None:
    budget = [100_000]
    evaluate("a.max()", {"a": list(range(100))}, budget)
    hundred = 100_000 - budget[0]
    budget = [100_000]
    evaluate("a.max()", {"a": list(range(200))}, budget)
    assert 100_000 - budget[0] - hundred == 100
