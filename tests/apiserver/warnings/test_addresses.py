"""Addresses and ranges that are not in canonical form (Kubernetes 1.36, apimachinery/pkg/util/validation/ip.go)."""

from __future__ import annotations

import pytest

from ptcompile.apiserver.warnings.addresses import (
    cidr_warnings,
    ip_warnings,
    service_cidr_warnings,
    service_ip_warnings,
)
from ptcompile.kubernetes.requests import ApiServer

NEW, OLD = ApiServer((1, 35)), ApiServer((1, 31))
FUTURE = "will be considered invalid in a future Kubernetes release: use"
LOOPS = "which may cause controller apply-loops"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("10.0.0.1", None),
        ("::1", None),
        ("fd00::a", None),
        ("not an address", None),
        (None, None),
        (7, None),
        ("010.0.0.1", f'non-standard IP address "010.0.0.1" {FUTURE} "10.0.0.1"'),
        ("::ffff:0102:0304", f'non-standard IP address "::ffff:0102:0304" {FUTURE} "1.2.3.4"'),
        ("FD00::A", 'IPv6 address "FD00::A" should be in RFC 5952 canonical format ("fd00::a")'),
        (
            "2001:db8:0:0:0:0:0:1",
            'IPv6 address "2001:db8:0:0:0:0:0:1" should be in RFC 5952 canonical format ("2001:db8::1")',
        ),
    ],
)
def test_addresses_in_other_forms_are_warned_about(value: object, text: str | None) -> None:
    assert [problem.message for problem in ip_warnings(value, ("a",), NEW)] == (
        [f"a: {text}"] if text else []
    )
    assert list(ip_warnings(value, ("a",), OLD)) == []


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("10.0.0.0/8", []),
        ("::/0", []),
        ("10.0.0.0", []),
        (
            "10.0.0.1/8",
            [
                'CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)'
            ],
        ),
        (
            "fd00::1/64",
            [
                'CIDR value "fd00::1/64" is ambiguous in this context (should be "fd00::/64" or "fd00::1/128"?)'
            ],
        ),
        ("10.0.0.0/08", [f'non-standard CIDR value "10.0.0.0/08" {FUTURE} "10.0.0.0/8"']),
        (
            "::ffff:10.0.0.0/104",
            [f'non-standard CIDR value "::ffff:10.0.0.0/104" {FUTURE} "10.0.0.0/8"'],
        ),
        (
            "FD00::/8",
            ['IPv6 CIDR value "FD00::/8" should be in RFC 5952 canonical format ("fd00::/8")'],
        ),
    ],
)
def test_ranges_in_other_forms_are_warned_about(value: str, texts: list[str]) -> None:
    assert [problem.message for problem in cidr_warnings(value, ("a",), NEW)] == [
        f"a: {text}" for text in texts
    ]
    assert list(cidr_warnings(value, ("a",), OLD)) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("10.0.0.1", None),
        (
            "1e3",
            'IP address was accepted, but will be invalid in a future Kubernetes release: ParseAddr("1e3"): '
            "unable to parse IP",
        ),
        (
            "010.0.0.1",
            "IP address was accepted, but will be invalid in a future Kubernetes release: "
            'ParseAddr("010.0.0.1"): IPv4 field '
            "has octet with leading zero",
        ),
        (
            "::ffff:0102:0304",
            f'IPv6 address "::ffff:0102:0304" is not in RFC 5952 canonical format ("::ffff:1.2.3.4"), {LOOPS}',
        ),
    ],
)
def test_before_1_33_addresses_of_services_are_warned_about(value: str, text: str | None) -> None:
    assert [p.message for p in service_ip_warnings(value, ("a",), OLD)] == (
        [f"a: {text}"] if text else []
    )


def test_before_1_33_ranges_of_services_are_warned_about() -> None:
    def texts(value: str) -> list[str]:
        return [problem.message for problem in service_cidr_warnings(value, ("a",), OLD)]

    assert texts("10.0.0.1/8") == []
    assert texts("FD00::/8") == [
        f'a: IPv6 prefix "FD00::/8" is not in RFC 5952 canonical format ("fd00::/8"), {LOOPS}'
    ]
    assert "will be invalid in a future Kubernetes release" in texts("10.0.0.0/08")[0]


def test_services_get_the_new_words_since_1_33() -> None:
    assert list(service_ip_warnings("1e3", ("a",), NEW)) == []
    assert "non-standard IP address" in next(service_ip_warnings("010.0.0.1", ("a",), NEW)).message
    assert "is ambiguous" in next(service_cidr_warnings("10.0.0.1/8", ("a",), NEW)).message
