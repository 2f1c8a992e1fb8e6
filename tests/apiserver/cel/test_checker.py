"""Types of expressions, with cel-go's messages."""

from __future__ import annotations

import contextlib

import pytest

from ptcompile.apiserver.cel.checker import CelTypeError, Environment, type_of
from ptcompile.apiserver.cel.types import (
    BOOL,
    DYN,
    INT,
    STRING,
    CelType,
    format_type,
    list_of,
    map_of,
)
from tests.counting import steps

ENVIRONMENT = Environment(
    {
        "d": DYN,
        "n": INT,
        "s": STRING,
        "names": list_of(STRING),
        "labels": map_of(STRING, STRING),
        "o": CelType("Thing"),
    },
    {"Thing": {"size": INT, "a-b": BOOL}, "Patch": {"op": STRING, "value": DYN}},
    ("Patch", "Object"),
)

TYPES = [
    ("d.a.b", "dyn"),
    ("d.a > 1", "bool"),
    ("n + 1", "int"),
    ("1u", "uint"),
    ("b'a'", "bytes"),
    ("null", "null_type"),
    ("n < 1.5", "bool"),
    ("names[0]", "string"),
    ("names[?0].orValue('')", "string"),
    ("labels.?a", "optional_type(string)"),
    ("labels['a'] + s", "string"),
    ("'a' in names && 'a' in labels", "bool"),
    ("names.map(x, size(x))", "list(int)"),
    ("names.map(x, x != '', size(x))", "list(int)"),
    ("names.filter(x, x != '')", "list(string)"),
    ("names.all(i, x, i > 0 && x != '')", "bool"),
    ("names.transformMap(i, x, x)", "map(int, string)"),
    ("labels.map(k, k)", "list(string)"),
    ("labels.transformList(k, v, v)", "list(string)"),
    ("d.exists(x, x.y == 1)", "bool"),
    ("d == null", "bool"),
    ("o.size", "int"),
    ("o.a__dash__b", "bool"),
    ("has(o.size)", "bool"),
    ("type(1) == int", "bool"),
    ("[]", "list(dyn)"),
    ("{}", "map(dyn, dyn)"),
    ("[[], ['a']]", "list(list(string))"),
    ("[1, ?optional.none()]", "list(int)"),
    ("n > 1 ? [1] : []", "list(int)"),
    ("n > 1 ? d : 1", "dyn"),
    ("'%s %d'.format(['a', 1])", "string"),
    ("timestamp('2020-01-01T00:00:00Z') - timestamp(0)", "google.protobuf.Duration"),
    ("quantity('1Gi').add(1)", "kubernetes.Quantity"),
    ("cel.bind(x, names, x.size())", "int"),
    ("optional.of(n).optMap(x, x > 1)", "optional_type(bool)"),
    ("optional.of(n).optFlatMap(x, optional.of('a'))", "optional_type(string)"),
    ("Patch{op: 'add', value: {'a': 1}}", "Patch"),
    ("[Patch{op: 'add'}]", "list(Patch)"),
    ("Object.spec{replicas: n}", "Object.spec"),
    ("!(n > 1) || -n < 0", "bool"),
    ("math.greatest(1, n, 2.5, 4)", "dyn"),
    ("names.sortBy(x, size(x))", "list(string)"),
    ("names.transformMapEntry(i, x, {x: i})", "map(string, int)"),
    ("(n > 1 ? d : []) + [1]", "list(int)"),
]
ERRORS = [
    ("x", "undeclared reference to 'x' (in container '')"),
    ("x.y()", "undeclared reference to 'x' (in container '')"),
    ("s.shout()", "undeclared reference to 'shout' (in container '')"),
    ("Other{}", "undeclared reference to 'Other' (in container '')"),
    ("Patch{of: 'add'}", "undefined field 'of'"),
    ("Patch{op: 1}", "expected type of field 'op' is 'string' but provided type is 'int'"),
    ("'a' + 1", "found no matching overload for '_+_' applied to '(string, int)'"),
    ("n == 'a'", "found no matching overload for '_==_' applied to '(int, string)'"),
    ("1 == 1u", "found no matching overload for '_==_' applied to '(int, uint)'"),
    ("n.startsWith('a')", "found no matching overload for 'startsWith' applied to 'int.(string)'"),
    ("!n", "found no matching overload for '!_' applied to '(int)'"),
    ("n && true", "found no matching overload for '_&&_' applied to '(int, bool)'"),
    ("n ? 1 : 2", "found no matching overload for '_?_:_' applied to '(int, int, int)'"),
    ("true ? 1 : 'a'", "found no matching overload for '_?_:_' applied to '(bool, int, string)'"),
    ("names['a']", "found no matching overload for '_[_]' applied to '(list(string), string)'"),
    ("1 in names", "found no matching overload for '@in' applied to '(int, list(string))'"),
    ("o.color", "undefined field 'color'"),
    ("n.color", "type 'int' does not support field selection"),
    (
        "n.all(x, x)",
        "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
    ),
    ("names.all(x, x)", "found no matching overload for '_&&_' applied to '(bool, string)'"),
    (
        "names.filter(x, x)",
        "found no matching overload for '_?_:_' applied to '(string, bool, bool)'",
    ),
    ("n.optMap(x, x)", "found no matching overload for 'hasValue' applied to 'int.()'"),
    ("[1, 'a']", "expected type 'int' but found 'string'"),
    ("{'a': 1, 'b': 'c'}", "expected type 'int' but found 'string'"),
    ("[?1]", "expected type 'optional_type(int)' but found 'int'"),
    ("has(n)", "invalid argument to has() macro"),
    ("names.all(1, true)", "argument must be a simple name"),
    ("s.matches('[')", "invalid matches argument"),
    ("duration('a b')", "invalid duration argument"),
    ("timestamp('today')", "invalid timestamp argument"),
    ("1 +", "syntax error: mismatched input '<EOF>'"),
    ("Object{a}", "syntax error: mismatched input '}'"),
]


@pytest.mark.parametrize(("text", "expected"), TYPES)
def test_each_expression_has_its_type(text: str, expected: str) -> None:
    assert format_type(type_of(text, ENVIRONMENT)) == expected


@pytest.mark.parametrize(("text", "expected"), ERRORS)
def test_a_type_error_has_its_message(text: str, expected: str) -> None:
    with pytest.raises(CelTypeError) as error:
        type_of(text, ENVIRONMENT)
    assert str(error.value) == expected


@pytest.mark.parametrize(
    "text",
    [
        "[" * 45 + "1" + "]" * 45,
        "cel.bind(a, [n], " * 40 + "{a: a}" + ")" * 40,
        "".join(f"cel.bind(a{i + 1}, {{'k': a{i}, 'l': a{i}}}, " for i in range(40)).replace(
            "a0", "n"
        )
        + "1"
        + ")" * 40,
        "[].map(x, [x, " * 20 + "[]" + "])" * 20,
        " + ".join(["[]"] * 2000),
        " == ".join(["d"] * 2000),
        "d" + ".a" * 5000,
    ],
)
def test_types_of_hostile_expressions_stay_small(text: str) -> None:
    def check() -> None:
        with contextlib.suppress(CelTypeError):
            type_of(text, ENVIRONMENT)

    assert steps(check) < 5_000_000
