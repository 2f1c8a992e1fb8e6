"""Arguments of Volcano's plugins as Go's flag package parses them.

Source: docs/facts/volcano.md#plugin-arguments.
"""

from __future__ import annotations

import pytest

from ptcompile.kubernetes.goflags import atoi, parse, parse_bool, parse_int

FLAGS: dict[str, str | int | bool] = {
    "master": "master",
    "port": 23456,
    "wait": False,
    "timeout": 300,
}


@pytest.mark.parametrize(
    ("args", "flag", "expected", "stops"),
    [
        (["--port=5000"], "port", 5000, False),
        (["-port=5000"], "port", 5000, False),
        (["--port", "5000"], "port", 5000, False),
        (["--port 5000"], "port", 23456, True),
        (["port=5000"], "port", 23456, True),
        ([" --port=5000"], "port", 23456, True),
        (["--", "--port=5000"], "port", 23456, True),
        (["--port=1", "--"], "port", 1, False),
        (["--port=abc"], "port", 0, True),
        (["--port="], "port", 0, True),
        (["--port= 5000"], "port", 0, True),
        (["--port=0x1388"], "port", 5000, False),
        (["--port=010"], "port", 8, False),
        (["--port=5_000"], "port", 5000, False),
        (["--port=99999"], "port", 99999, False),
        (["--port=99999999999999999999"], "port", 2**63 - 1, True),
        (["--nproc=8", "--port=1"], "port", 23456, True),
        (["--wait"], "wait", True, False),
        (["--wait=T"], "wait", True, False),
        (["--wait=1"], "wait", True, False),
        (["--wait=yes"], "wait", False, True),
        (["--wait", "true", "--port=5000"], "port", 23456, True),
        (["--timeout=10m"], "timeout", 0, True),
        (["--master="], "master", "", False),
        (["--port=1", "--port=2"], "port", 2, False),
        (["---port=1"], "port", 23456, True),
        (["--port"], "port", 23456, True),
        (["--port=1", "x", "--port=2"], "port", 1, True),
        (["-=1"], "port", 23456, True),
        (["-"], "port", 23456, True),
        (["--=1"], "port", 23456, True),
        (["-p=1"], "port", 23456, True),
    ],
)
def test_a_flag_is_read_as_go_reads_it(
    args: list[str], flag: str, expected: object, stops: bool
) -> None:
    values, problem = parse(args, FLAGS)
    assert values[flag] == expected
    assert (problem is not None) == stops


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("08", (0, False)), ("0_7", (7, True)), ("-0x10", (-16, True)), ("0b11", (3, True)), ("0o17", (15, True)),
        ("+5", (5, True)), ("", (0, False)), ("--5", (0, False)), ("1__0", (0, False)), ("5_", (0, False)),
        ("-99999999999999999999", (-(2**63), False)), ("٣", (0, False)), ("0", (0, True)), ("0_10", (8, True)),
        ("9", (9, True)), ("01", (1, True)), ("0_", (0, False)), ("0__7", (0, False)),
    ],
)  # fmt: skip
def test_parse_int_reads_integers_of_go(text: str, expected: tuple[int, bool]) -> None:
    assert parse_int(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("8", 8), ("+8", 8), ("-1", -1), ("08", 8), ("8 ", None), ("1_0", None), ("auto", None), ("", None),
     ("9223372036854775808", None), ("٣", None), ("9" * 5000, None),
     ("0" * 399 + "7", 7)],
)  # fmt: skip
def test_atoi_accepts_what_go_accepts(text: str, expected: int | None) -> None:
    assert atoi(text) == expected


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["--nproc=8"], "unknown flag '--nproc=8'"),
        (["---port=1"], "bad flag syntax '---port=1'"),
        (["--=1"], "bad flag syntax '--=1'"),
        (["--port"], "flag '--port' needs a value"),
        (["--port=x"], "'x' is not a value for flag --port"),
        (["--", "x"], "`--` ends the flags"),
    ],
)
def test_parsing_stops_with_its_reason(args: list[str], problem: str) -> None:
    assert parse(args, FLAGS)[1] == problem


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", True),
        ("t", True),
        ("TRUE", True),
        ("0", False),
        ("False", False),
        ("yes", None),
        ("", None),
        ("tRUE", None),
    ],
)
def test_parse_bool_reads_booleans_of_go(text: str, expected: bool | None) -> None:
    assert parse_bool(text) is expected
