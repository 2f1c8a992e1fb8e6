"""Names under apimachinery's rules (Kubernetes 1.36).

Source: docs/facts/api-server.md#metadata, #containers, #environment, #resources-and-quantities, #ports.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import chain

import pytest

from ptcompile._internal.spelling import closest_match
from ptcompile.kubernetes import names

CASES: list[tuple[Callable[[str], str | None], list[str], list[str]]] = [
    (
        names.why_not_dns_label,
        ["a", "1a", "a-b", "a" * 63],
        ["", "A", "a_b", "-a", "a-", "a.b", "a" * 64, "a\n", "é"],
    ),
    (names.why_not_dns_1035_label, ["a", "a1", "a" * 63], ["1a", "", "a.b", "a" * 64]),
    (
        names.why_not_dns_subdomain,
        ["a", "a.b", "1.2", "a" * 253],
        ["", "a..b", ".a", "a.", "A", "a-.b", "a" * 254],
    ),
    (
        names.why_not_label_value,
        ["", "A_b.c-1", "1", "a" * 63],
        ["-a", "a-", "a b", "a/b", "a" * 64, "a\n"],
    ),
    (
        names.why_not_qualified_name,
        ["a", "A_b.c", "nvidia.com/gpu", "a/b", "a" * 63],
        ["", "/a", "a/", "a/b/c", "A.com/b", "a b", "a" * 64, "x.io/" + "a" * 64, "a" * 254 + "/b"],
    ),
    (
        names.why_not_domain_prefixed_path,
        ["acme.io/foo", "a/b/c%20"],
        ["a", "/a", "a/", "A/b", "a/b c"],
    ),
    (names.why_not_env_name, ["A", "1a", "a b", "a.b", "-"], ["", "a=b", "é", "a\n", "\x7f"]),
    (names.why_not_classic_env_name, ["A", "a.b", "-a"], ["", "1a", "a b", "..", "..a", "."]),
    (names.why_not_config_key, ["a.yaml", "A_b-c", "1"], ["", ".", "..", "..a", "a/b", "a" * 254]),
    (
        names.why_not_port_name,
        ["http", "a-1", "1a"],
        ["", "1", "a--b", "-a", "a-", "A", "a" * 16, "-"],
    ),
]

TESTS: list[tuple[Callable[[str], bool], Callable[[str], str | None]]] = [
    (names.is_dns_label, names.why_not_dns_label),
    (names.is_dns_1035_label, names.why_not_dns_1035_label),
    (names.is_dns_subdomain, names.why_not_dns_subdomain),
    (names.is_label_value, names.why_not_label_value),
    (names.is_qualified_name, names.why_not_qualified_name),
    (names.is_env_name, names.why_not_env_name),
]


@pytest.mark.parametrize(("reason", "good", "bad"), CASES)
def test_invalid_names_have_a_reason(
    reason: Callable[[str], str | None], good: list[str], bad: list[str]
) -> None:
    assert [text for text in good if reason(text) is not None] == []
    assert [text for text in bad if reason(text) is None] == []


@pytest.mark.parametrize(("test", "reason"), TESTS)
def test_tests_and_reasons_agree(
    test: Callable[[str], bool], reason: Callable[[str], str | None]
) -> None:
    for text in chain.from_iterable(good + bad for _, good, bad in CASES):
        assert test(text) == (reason(text) is None), text


def test_a_label_with_dots_has_a_specific_reason() -> None:
    assert names.why_not_dns_label("a.b") == "must not contain dots"


@pytest.mark.parametrize(("reason", "good", "bad"), CASES)
def test_long_texts_take_linear_time(
    reason: Callable[[str], str | None], good: list[str], bad: list[str]
) -> None:
    start = time.process_time()
    for text in (
        "a" * 100_000 + "!",
        "a." * 50_000 + "!",
        "-" * 100_000,
        "a-" * 50_000,
        "a/" * 50_000,
    ):
        reason(text)
    assert time.process_time() - start < 1


def test_the_closest_match_is_suggested() -> None:
    assert closest_match("Replicas", ["replicas", "template"]) == "replicas"
    assert closest_match("resorces", ["resources", "restartPolicy"]) == "resources"
    assert closest_match("zzz", ["resources"]) is None
    assert closest_match("a" * 100_000, ["a" * 1000]) is None
    assert closest_match("valeu", ["value"] * 1000) == "value"
    assert closest_match("valeu", ["value"] * 1001) is None


def test_the_longest_name_leaves_room_for_suffixes() -> None:
    assert names.longest_name(["-worker-0", "-master-0"]) == 54
    assert (
        names.longest_name(["-9"]) == 61
    )  # docs/facts/api-server.md#jobs: an Indexed Job of 1 to 10 completions
    assert names.longest_name(["x" * 70]) == 0


@pytest.mark.parametrize(
    ("host", "expected"),
    [("worker-0.train.ns.svc", "worker-0"), ("worker-0", "worker-0"), ("", "")],
)
def test_the_first_label_of_a_host_name(host: str, expected: str) -> None:
    assert names.first_label(host) == expected
