"""CEL: values of expressions, their cost, and the server's messages for failures."""

from __future__ import annotations

import contextlib
import json
import time
import tracemalloc
from typing import Any

import pytest

import ptcompile
from ptcompile.apiserver.cel import evaluate, fresh_budget, why_invalid
from ptcompile.apiserver.cel.library import UncheckedError
from ptcompile.apiserver.cel.values import CelError, CostError

SELF: dict[str, Any] = {
    "a": 1,
    "text": "text",
    "list": [1, 2, 3],
    "map": {"x": 1, "y": "z"},
    "half": 0.5,
    "null": None,
    "items": [{"k": "v"}, {"k": "w", "z": 1}],
    "a-b": 1,
    "namespace": "n",
}


def value(text: str, budget: int = 1_000_000) -> Any:
    return evaluate(text, {"self": SELF}, [budget])


@pytest.mark.parametrize(
    "text",
    """
    1 + 2 * 3 - 4 == 3 && 8 / 2 / 2 == 2 && -5 / 2 == -2 && -5 % 3 == -2
    1 - -1 == 2 && !!true && -(-1) == 1
    1 == 1.0 && 1 < 1.5 && 1u == 1 && dyn(1) != '1' && dyn(true) != 1
    'a' + "b" == '''ab''' && r'\\d' == '\\\\d' && '\\u00e9'.size() == 1 && b'\\xff'.size() == 1 && '\\101' == 'A'
    0x1F == 31 && 1e3 == 1000.0
    [1, 2] + [3] == self.list && [1, 2,] == [1.0, 2.0] && {'a': [1]} == {'a': [1]}
    1 in self.list && 'x' in self.map && !('q' in self.map) && 1.0 in self.list
    self.a__dash__b == 1 && self.__namespace__ == 'n' && self['a-b'] == 1
    has(self.a) && !has(self.q) && has(self.map.x) && has(self.null) && self.null == null
    true || 1 / 0 == 1
    1 / 0 == 1 || true
    !(false && 1 / 0 == 1) && !(1 / 0 == 1 && false)
    false ? 1 / 0 == 1 : true ? true : 1 / 0 == 1
    self.list.all(x, x > 0) && self.list.exists(x, x == 2) && self.list.exists_one(x, x == 2)
    !self.list.exists_one(x, x > 1) && !self.list.exists_one(x, x > 3)
    self.list.map(x, x * 2) == [2, 4, 6] && self.list.map(x, x > 1, x) == [2, 3] && self.list.filter(x, x > 2) == [3]
    self.map.all(k, k < 'z') && self.map.map(k, k) == ['x', 'y'] && self.map.all(k, v, k != v)
    self.items.exists(i, i.z == 1) && !self.items.all(i, i.z == 2 && i.k == 'w')
    self.list.all(i, v, i + 1 == v) && self.list.transformList(i, v, i * v) == [0, 2, 6]
    self.list.transformMap(i, v, v > 1, v) == {1: 2, 2: 3} && cel.bind(x, 2, x + x) == 4
    size(self.list) == 3 && self.text.size() == 4 && size(self.map) == 2
    self.?q.orValue(3) == 3 && self.?a.orValue(3) == 1 && self.list[?9].hasValue() == false && self.?map.x.value() == 1
    self.map[?'x'].value() == 1 && !self.map[?'q'].hasValue() && self.list[?0].value() == 1
    self.list[?2].value() == 3 && self.list[?1].value() == 2
    !self.list[?3].hasValue() && !self.?q[?0].hasValue() && self.?list[?1].value() == 2 && !self.?map[?'q'].hasValue()
    [?optional.none(), 1] == [1] && {?'a': optional.of(1)} == {'a': 1} && optional.of(1).optMap(x, x + 1).value() == 2
    type(1) == int && type([]) == list && type('') == string && type(null) == null_type
    int('12') == 12 && int(1.9) == 1 && string(1.5) == '1.5' && string(1e6) == '1e+06' && double('1e3') == 1000.0
    string(true) == 'true' && bool('true') && uint(3) == 3u && bytes('a') == b'a' && string(b'a') == 'a'
    duration('1h30m') > duration('1h') && string(duration('1.5s')) == '1.5s' && duration('-1.5ms') < duration('0')
    timestamp('2020-01-01T00:00:00Z') + duration('24h') == timestamp('2020-01-02T00:00:00Z')
    timestamp('2020-01-01T01:00:00+01:00').getFullYear() == 2020 && duration('90m').getMinutes() == 90
    string(timestamp('2020-01-01T00:00:00.5Z')) == '2020-01-01T00:00:00.5Z'
    timestamp('2020-03-01T23:00:00Z').getHours('+02:00') == 1 && timestamp('2020-03-01T23:00:00Z').getDayOfWeek() == 0
    self.text.startsWith('te') && self.text.endsWith('xt') && self.text.contains('ex') && self.text.matches('^t.*t$')
    self.text.indexOf('t') == 0 && self.text.indexOf('t', 1) == 3 && self.text.lastIndexOf('t') == 3
    self.list.indexOf(2) == 1 && self.list.lastIndexOf(9) == -1 && self.list.sum() == 6 && self.list.max() == 3
    self.list.isSorted() && self.list.min() == 1 && ![2, 1].isSorted() && ['b', 'a'].sort() == ['a', 'b']
    'a,b,c'.split(',', 2) == ['a', 'b,c'] && ['a', 'b'].join('-') == 'a-b' && 'abc'.substring(1, 2) == 'b'
    'aaa'.replace('a', 'b', 2) == 'bba' && 'aB'.upperAscii() == 'AB' && ' a '.trim() == 'a' && 'abc'.charAt(1) == 'b'
    'abc123'.find('[0-9]+') == '123' && 'a1b2'.findAll('[0-9]') == ['1', '2'] && 'a1b2'.findAll('[0-9]', 1) == ['1']
    '%s %d %.2f %x %b'.format(['a', 1, 2.5, 255, 5]) == 'a 1 2.50 ff 101' && '%s'.format([[1, 'a']]) == '[1, a]'
    quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('1k').asInteger() == 1000 && !isQuantity('1Qi')
    quantity('1').add(quantity('500m')).compareTo(quantity('1500m')) == 0 && quantity('-1').sign() == -1
    quantity('1k') == quantity('1000') && quantity('2').sub(1).isInteger()
    isURL('https://a.b:80/x?q=1') && !isURL('a b') && url('https://a.b:80/x%20y?q=1').getPort() == '80'
    url('https://[::1]:80/x%20y').getHostname() == '::1' && url('/a?q=1&q=2').getQuery() == {'q': ['1', '2']}
    url('https://a.b:80/x').getHost() == 'a.b:80' && url('https://a.b/x%20y').getEscapedPath() == '/x%20y'
    isIP('1.2.3.4') && !isIP('1.2.3') && ip('::1').family() == 6 && ip('127.0.0.1').isLoopback()
    !isIP('::ffff:1.2.3.4')
    ip.isCanonical('::1') && !ip.isCanonical('::0001') && string(ip('::0001')) == '::1'
    cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16'))
    cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8') && cidr('::1/64').prefixLength() == 64 && !isCIDR('10.0.0.0')
    semver('1.2.3').isLessThan(semver('1.10.0')) && semver('1.0.0-a').isLessThan(semver('1.0.0'))
    isSemver('v1.2', true) && !isSemver('v1.2')
    format.dns1123Label().validate('A b').hasValue() && format.named('uuid').value().validate('x').hasValue()
    !format.dns1123LabelPrefix().validate('a.-').hasValue() && format.dns1123LabelPrefix().validate('a.b-').hasValue()
    sets.contains([1, 2], [1]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])
    """.strip().splitlines(),
)
def test_each_expression_is_true(text: str) -> None:
    assert value(text.strip()) is True


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("self.q == 1", "no such key: q"),
        ("self.map['q'] == 1", "no such key: q"),
        ("self.list[3] == 1", "index out of bounds: 3"),
        ("int('x') == 1", "type conversion error from 'string' to 'int'"),
        ("int('9223372036854775808') == 1", "type conversion error from 'string' to 'int'"),
        (
            "duration('1d') > duration('1h')",
            "type conversion error from 'string' to 'google.protobuf.Duration'",
        ),
        (
            "timestamp('x') == null",
            "type conversion error from 'string' to 'google.protobuf.Timestamp'",
        ),
        ("1 / 0 == 1", "division by zero"),
        ("1 % 0 == 1", "modulus by zero"),
        ("0.0 / 0.0 <= 1.0", "NaN values cannot be ordered"),
        ("1u > 0.0 / 0.0", "NaN values cannot be ordered"),
        ("9223372036854775807 + 1 > 0", "integer overflow"),
        ("0u - 1u == 0u", "unsigned integer overflow"),
        ("self.text > 1", "no such overload"),
        ("self.text + 1 == 2", "no such overload"),
        ("self.text.map(x, x) == []", "no such overload"),
        ("self.list.all(x, x)", "no such overload"),
        ("self.items.all(i, i.z == 1)", "no such key: z"),
        ("1 / 0 == 1 || false", "division by zero"),
        ("self.a ? true : false", "no such overload"),
        ("'abc'.substring(9) == ''", "index out of range: 9"),
        ("quantity('x').sign() == 0", "quantity parse error during conversion from string: x"),
        ("optional.none().value() == 1", "optional.none() dereference"),
        (
            "'%d'.format(['x']) == ''",
            'could not parse formatting clause: unrecognized formatting clause "d"',
        ),
        (
            "'%.\u00b2f'.format([1.0]) == ''",
            'could not parse formatting clause: unrecognized formatting clause "\u00b2"',
        ),
    ],
)
def test_a_failing_expression_has_its_message(text: str, message: str) -> None:
    with pytest.raises(CelError) as raised:
        value(text)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    "text",
    [
        *(
            "1 +",
            "self.",
            "[1",
            "'a",
            "a b",
            "'a' 'b'",
            "has(1)",
            "true ? true ? 1 : 2 : 3",
            "self.all(1, true)",
            "in",
        ),
        *(
            "isFoo(self)",
            "self.foo()",
            "other == 1",
            "self.list.all(x, y == 1)",
            "Foo{a: 1}",
            "'\\q'",
        ),
        *(
            "(" * 100 + "1" + ")" * 100,
            "[" * 100,
            "1 == 1 || " * 3000 + "true",
            "99999999999999999999",
        ),
        *("self.text.matches('(?=a)')", "self.text.matches('(\\\\pL{100}){100}')"),
    ],
)
def test_unsupported_expressions_are_unchecked(text: str) -> None:
    with pytest.raises(UncheckedError):
        value(text)


def test_long_expressions_do_not_need_a_deep_stack() -> None:
    assert value(" && ".join(["true"] * 2000)) is True
    assert value(" + ".join(["1"] * 2000) + " == 2000") is True
    assert value("self.text" + ".trim()" * 2000 + " == 'text'") is True
    assert value("!" * 4000 + "true") is True
    assert value("false ? 1 : " * 1500 + "2") == 2


TEN = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
COSTLY = [
    f"{TEN}.all(x, " * 10 + "true" + ")" * 10,
    "'a'" + ".replace('a', 'aaaaaaaaaaaaaaaa')" * 9 + ".size() > 0",
    "[" * 9 + "'a'" + f"].map(x, {'+'.join(['x'] * 16)})[0]" * 9 + ".size() > 0",
    "[" * 9
    + "'a'"
    + "].map(x, [x, x, x, x, x, x, x, x, x, x].join('aaaaaaaaaaaaaaaa'))[0]" * 9
    + ".size() > 0",
    "[" * 9
    + "'a'"
    + f"].map(x, '{'%s' * 16}'.format([{', '.join('x' * 16)}]))[0]" * 9
    + ".size() > 0",
    "[" * 9 + "[1]" + f"].map(x, {'+'.join(['x'] * 16)})[0]" * 9 + ".size() > 0",
    "[" * 9 + "[1]" + f"].map(x, [{', '.join(['x'] * 16)}].flatten())[0]" * 9 + ".size() > 0",
    "cel.bind(a, "
    + "+".join(["'" + "a" * 100 + "'"] * 20)
    + ", a"
    + ".split('')"
    + ".map(x, a)"
    + ".join(a)"
    + ") != ''",
]


@pytest.mark.parametrize("text", COSTLY)
def test_no_expression_takes_long_or_much(text: str) -> None:
    started = time.process_time()
    tracemalloc.start()
    try:
        with pytest.raises((CostError, CelError)) as raised:
            value(text)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert raised.type is CostError
    assert peak < 100 << 20
    assert time.process_time() - started < 20  # includes tracemalloc; about a second without it


def test_the_budget_grows_with_the_object() -> None:
    assert fresh_budget({"a": [1] * 1000})[0] > fresh_budget({"a": []})[0] + 99 * 1000
    budget = [1000]
    assert evaluate("self.all(x, x > 0)", {"self": [1] * 10}, budget) is True
    assert 900 < budget[0] < 1000
    with pytest.raises(CostError):
        evaluate("self.all(x, x > 0)", {"self": [1] * 1000}, budget)
    assert 400 < budget[0] < 600, "one expression takes half of what is left"


def test_an_unknown_variable_is_the_reason_for_an_invalid_expression() -> None:
    names = frozenset(("self", "object"))
    assert why_invalid("self.a == object.b", names) is None
    assert "oldSelf" in str(why_invalid("self == oldSelf", names))


def crd(*rules: dict[str, Any], **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "x-kubernetes-validations": list(rules)}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.x.io"},
        "spec": {
            "group": "x.io",
            "names": {"kind": "Foo", "plural": "foos"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }


def problems_of(definition: dict[str, Any], **fields: Any) -> list[tuple[str, str]]:
    foo = {"apiVersion": "x.io/v1", "kind": "Foo", "metadata": {"name": "a"}, **fields}
    text = "\n---\n".join(json.dumps(manifest) for manifest in (definition, foo))
    report = ptcompile.lint(text)
    return [
        (diagnostic.name, diagnostic.message)
        for diagnostic in report.diagnostics
        if diagnostic.resource == "Foo/a"
    ]


def test_functions_that_parse_a_text_cost_more() -> None:
    for expression in (
        "cidr('10.0.0.0/8').containsIP(ip('10.1.1.1'))",
        "size(cidr('10.0.0.0/8').masked()) == 1",
    ):
        budget = [1000]
        with contextlib.suppress(CelError):
            evaluate(expression, {"self": 1}, budget)
        assert budget[0] < 980
    long = [1000]
    with pytest.raises(CostError):
        evaluate("isQuantity(self)", {"self": "1" * 20_000}, long)


@pytest.mark.parametrize("rule", COSTLY[:3])
def test_a_rule_over_the_budget_is_reported(rule: str) -> None:
    (name, message), failure = problems_of(crd({"rule": rule}, {"rule": "false"}))
    assert (name, failure[0]) == ("unread-rule", "invalid-value")
    assert "not checked" in message
    assert "1,000,000 units" in message


def test_a_rule_that_is_too_long_for_each_item_is_reported_once() -> None:
    item = {
        "type": "integer",
        "x-kubernetes-validations": [{"rule": COSTLY[1]}, {"rule": "self < 5"}],
    }
    names = [
        name for name, _ in problems_of(crd(l={"type": "array", "items": item}), l=[1, 2, 3, 9])
    ]
    assert sorted(names) == ["invalid-value", "unread-rule"]


def test_a_failing_rule_rejects_the_object() -> None:
    definition = crd(
        {"rule": "self.l[0].x == 1", "message": "m"},
        l={"type": "array", "items": {"type": "object"}},
    )
    assert problems_of(definition, l=[{}]) == [
        ("invalid-value", "Invalid value: no such key: x evaluating rule: m")
    ]
    assert problems_of(definition, l=[]) == [
        ("invalid-value", "Invalid value: index out of bounds: 0 evaluating rule: m")
    ]


def test_an_int_or_string_is_compared_by_its_type() -> None:
    definition = crd({"rule": "self.p > 1", "message": "m"}, p={"x-kubernetes-int-or-string": True})
    assert problems_of(definition, p=2) == []
    ((_, message),) = problems_of(definition, p="2")
    assert "no such overload" in message


def test_a_message_expression_is_evaluated() -> None:
    definition = crd(
        {"rule": "self.n < 3", "messageExpression": "'not ' + string(self.n)"},
        n={"type": "integer"},
    )
    assert problems_of(definition, n=5) == [("invalid-value", "Invalid value: not 5")]
    definition = crd(
        {"rule": "self.n < 3", "messageExpression": "1 / 0", "message": "m"}, n={"type": "integer"}
    )
    assert problems_of(definition, n=5) == [("invalid-value", "Invalid value: m")]


def test_values_have_the_types_of_their_fields() -> None:
    rules = [
        {"rule": "self.f / 2.0 == 2.5"},
        {"rule": "self.t.getFullYear() == 2020"},
        {"rule": "self.b == b'a'"},
    ]
    form = {"type": "string", "format": "byte"}
    definition = crd(
        *rules, f={"type": "number"}, t={"type": "string", "format": "date-time"}, b=form
    )
    assert problems_of(definition, f=5, t="2020-01-01T00:00:00Z", b="YQ==") == []


def test_many_rules_on_many_items_end() -> None:
    item = {
        "type": "integer",
        "x-kubernetes-validations": [{"rule": f"self > -{n}"} for n in range(1, 401)],
    }
    started = time.process_time()
    ((name, message),) = problems_of(crd(l={"type": "array", "items": item}), l=[1] * 4000)
    assert name == "unread-rule"
    assert "later rules" in message
    assert time.process_time() - started < 10  # about a second


def test_half_of_a_surrogate_pair_in_bytes_is_replaced() -> None:
    """Files cannot contain one; data from Python can."""
    assert value("b'a\ud800'") == b"a?"
