"""Formats of strings: what go-openapi accepts, and which servers check them."""

from __future__ import annotations

import pytest

from ptcompile.apiserver.structure.formats import compile_format

CASES: list[tuple[str, list[str], list[str]]] = [
    ("date-time", ["2026-01-02T03:04:05Z"], ["2026-01-02", "x"]),
    ("byte", ["dg=="], ["d"]),
    ("date", ["2026-01-02"], ["2026-02-30", "20260102", "2026-W01-1", "2026-1-2", ""]),
    ("duration", ["3s", "1h30m", "-2d", "0", "1.5h"], ["3", "s3 ", "x y"]),
    ("email", ["a@b.c", "A <a@b.c>"], ["a", "a@"]),
    ("hostname", ["a", "a.b.", "a-b.c", "a" * 63], ["-a", "a-", "a" * 64, "a..b", ""]),
    ("ipv4", ["10.0.0.1"], ["::1", "10.0.0", "10.0.0.256"]),
    ("ipv6", ["::1"], ["10.0.0.1", ":::"]),
    ("cidr", ["10.0.0.0/8", "10.0.0.1/8", "::/0"], ["10.0.0.1", "10.0.0.0/33"]),
    ("uri", ["https://a.b/c", "mailto:a@b", "/a"], ["a/b", "", "https://a b", "http://[a"]),
    (
        "mac",
        ["00:1b:44:11:3a:b7", "00-1B-44-11-3A-B7", "001b.4411.3ab7"],
        ["00:1b:44:11:3a", "001b.4411"],
    ),
    (
        "uuid",
        ["123e4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000"],
        ["123e4567"],
    ),
    ("uuid3", ["123e4567-e89b-32d3-a456-426614174000"], ["123e4567-e89b-42d3-a456-426614174000"]),
    ("uuid4", ["123e4567-e89b-42d3-a456-426614174000"], ["123e4567-e89b-42d3-c456-426614174000"]),
    ("uuid5", ["123e4567-e89b-52d3-8456-426614174000"], ["123e4567-e89b-42d3-8456-426614174000"]),
    ("hexcolor", ["#fff", "FFF", "#a1b2c3"], ["#ff", "ggg", "#ffff"]),
    ("bsonobjectid", ["507f1f77bcf86cd799439011"], ["507f1f77bcf86cd79943901", "x" * 24]),
]


@pytest.mark.parametrize(("name", "right", "wrong"), CASES, ids=[case[0] for case in CASES])
def test_a_format_accepts_only_its_values(name: str, right: list[str], wrong: list[str]) -> None:
    check = compile_format(name, (1, 0))
    assert check is not None
    assert [value for value in right if check(value)] == []
    assert [value for value in wrong if not check(value)] == []


def test_a_violation_names_the_format() -> None:
    check = compile_format("ipv4", (1, 36))
    assert check is not None
    violations = check("::1")
    assert violations is not None
    (violation,) = violations
    assert (violation.name, violation.help) == ("invalid-value", "write a ipv4")
    assert violation.text == 'Invalid value: "::1": must be of type ipv4'


@pytest.mark.parametrize("name", ["k8s-short-name", "k8s-long-name"])
def test_names_are_checked_since_1_34(name: str) -> None:
    assert compile_format(name, (1, 33)) is None
    check = compile_format(name, (1, 34))
    assert check is not None
    assert check("a-b") is None
    assert check("A")
    assert (check("a.b") is None) is (name == "k8s-long-name")


def test_other_formats_are_not_checked() -> None:
    assert compile_format("int-or-string", (1, 36)) is None
    assert compile_format("ssn", (1, 36)) is None
