"""Meaning of plain scalars, compared with recorded kubectl output and with kubectl itself if it is installed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from ptcompile.source.scalars import key, needs_quotes, resolve
from tests import kubectl, recorded

HEAD = "kind: X\napiVersion: v1\nmetadata: {name: a}\nvalues:\n"

# docs/facts/api-server.md#yaml; each checked with kubectl 1.32
READ: list[tuple[str, Any]] = [
    *((word, True) for word in ["y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"]),
    *((word, False) for word in ["n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"]),
    *((word, None) for word in ["", "~", "null", "Null", "NULL"]),
    *((word, word) for word in ["yEs", "nUll", "oN", "12:30:45", "1:30", "2024-01-01", "=", "<<", "8Gi", "100m",
     "10.0.0.1", "v1", "1e400", "0x", "0o", "0b2"]),
    ("0777", 511), ("0o17", 15), ("0X1F", 31), ("0B11", 3), ("1_000", 1000), ("08", 8), ("1e3", 1000), (".5e3", 500),
    ("0b-1", -1), ("-0b1", -1), ("0B-1", "0B-1"), (".5_0", 0.5), ("._5", "._5"), ("-_1", -1), ("1.5", 1.5), ("-0.0", 0),
    ("9223372036854775807", 2**63 - 1), ("9223372036854775808", float(2**63)),
    ("-9223372036854775809", -float(2**63)), ("1234567890123456789.0", 1234567890123456800),
    ("9007199254740993.0", 9007199254740992),
    ("0xFFFFFFFFFFFFFFFFFF", "0xFFFFFFFFFFFFFFFFFF"), ("1e20", 1e20), ("1" * 400, "1" * 400), ("1" * 5000, "1" * 5000),
]  # fmt: skip
KEYS = [
    ("n", "false"), ("1", "1"), ("1.0", "1"), ("0777", "511"), ("1000000.0", "1e+06"), ("0.30000000000000004", "0.3"),
    ("99999999999999999999", "1e+20"), (".inf", ".inf"), ("-0.0", "-0"), ("a", "a"), ("~", None), ("", None),
    ("18446744073709551615", None), ("1e39", ".inf"), (".NaN", ".nan"),
]  # fmt: skip
NUMBERS = st.text(alphabet="0123456789+-._eExXoObBTZ: ", min_size=1, max_size=9)


@pytest.mark.parametrize(("text", "value"), READ)
def test_plain_scalars_resolve_as_in_kubectl(text: str, value: Any) -> None:
    assert (type(resolve(text)), resolve(text)) == (type(value), value)


@pytest.mark.parametrize("text", [".inf", "+.Inf", "-.INF", ".nan"])
def test_infinities_resolve_to_floats(text: str) -> None:
    value = resolve(text)
    assert isinstance(value, float)
    assert value - value != 0


@pytest.mark.parametrize(("text", "expected"), KEYS)
def test_keys_become_strings_as_in_kubectl(text: str, expected: str | None) -> None:
    assert key(text) == expected


@pytest.mark.parametrize(
    "text",
    ["8Gi", "100m", "10.0.0.1", "v1", "a:b", "http://a:80/b", "--nnodes", "$(X)", "é", "a b"],
)
def test_ordinary_strings_stay_plain(text: str) -> None:
    assert not needs_quotes(text)


# fmt: off
# docs/facts/api-server.md#yaml: plain for PyYAML but another type for Kubernetes; then strings that need quotes
DOUBTFUL = ["y", "N", "oN", "1e3", "1E5", "1e+3", "1.e3", ".5e3", "12e03", "0e0", "-1e3", "+.5", "08", "-09", "0o10",
     "0X1F", "0B1", "1e10", "12:30", "2024-01-01", "2:4", "=", "<<", "._5", "-_1", "", " a", "a ", "a: b",
     "a #b", "- a", "? a", "#a", "&a", "*a", "!a", "a:", "@a", "`a", "%a", "'a", '"a', "[a", "{a", "---", "...",
     "a\nb", "a\tb ", "\x7f", "a\u2028b", "\ufeff", "a\x85", "-", "?", ":", "|", ">", "null", ".inf"]
# fmt: on


@pytest.mark.parametrize("text", DOUBTFUL)
def test_doubtful_strings_are_quoted(text: str) -> None:
    assert needs_quotes(text)


@given(NUMBERS)
def test_strings_that_kubectl_reads_as_another_type_are_quoted(text: str) -> None:
    assert isinstance(resolve(text), str) or needs_quotes(text)


def test_the_table_matches_kubectl() -> None:
    rows = [(text, value) for text, value in READ if text]
    answers = list(recorded.rows("kubectl-scalars"))
    assert [answer["text"] for answer in answers] == [text for text, _ in rows]
    seen = [answer["value"] for answer in answers]
    if kubectl.INSTALLED:
        (read,) = kubectl.objects(HEAD + "".join(f"- {text}\n" for text, _ in rows))
        assert read["values"] == seen
    # kubectl prints large floats without an exponent
    plain = [
        float(value) if isinstance(row[1], float) else value
        for value, row in zip(seen, rows, strict=True)
    ]
    assert plain == [value for _, value in rows]
