"""The law of the emitter: every reader reads the same data back."""

from __future__ import annotations

from enum import IntEnum
from io import StringIO
from typing import Any

import pytest
import yaml
from hypothesis import given, settings, strategies as st
from ruamel.yaml import YAML

from ptcompile.source.documents import read
from ptcompile.source.emitter import emit, emit_all, inline, line_ranges
from tests import kubectl

# characters with a meaning in YAML, or special to readers and editors
AWKWARD = "abyYnNoe01289.:_+-~=<>[]{}#&*!|'\"%@`,?\\/$( )\t\n\r"
AWKWARD += "\x00\x1b\x7f\x85\xa0\u2028\u2029\ufeff\ufffe\u200b\u00e9\U0001f600"
TEXTS = (
    st.text(alphabet=AWKWARD, max_size=12)
    | st.text(max_size=12)
    | st.text(alphabet="a \n\t", max_size=8)
)
WORDS = (
    "on",
    "y",
    "1e3",
    "08",
    "12:30",
    "=",
    "<<",
    "0o7",
    "2024-01-01",
    "|",
    "- a",
    "a: b",
    "a\n",
    "\na",
    " a\nb",
    "a\n\n",
)
SCALARS = (
    TEXTS
    | st.sampled_from(WORDS)
    | st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15)
)
KEYS = TEXTS | st.sampled_from(WORDS)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


def _legal(value: Any) -> Any:
    """Replace lone surrogates with U+FFFD, as Go and our reader do."""
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in value)
    if isinstance(value, list):
        return [_legal(item) for item in value]
    return (
        {_legal(key): _legal(item) for key, item in value.items()}
        if isinstance(value, dict)
        else value
    )


@settings(max_examples=5 * settings().max_examples, deadline=None)
@given(st.dictionaries(KEYS, DATA, max_size=4))
def test_all_readers_agree(data: dict[str, Any]) -> None:
    data = _legal(data)
    _assert_read_back(emit(data), data)


@settings(max_examples=5 * settings().max_examples, deadline=None)
@given(st.dictionaries(KEYS, DATA, max_size=4))
def test_all_readers_agree_on_values_in_brackets(data: dict[str, Any]) -> None:
    data = _legal(data)
    _assert_read_back(f"a: {inline(data)}\n", {"a": data})


def _assert_read_back(text: str, data: dict[str, Any]) -> None:
    if data:
        source = read("---\n" + text)
        assert not source.problems
        assert source.documents[0].data == data
    assert yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) == data  # noqa: S506, TID251
    assert YAML(typ="safe", pure=True).load(text) == data


@settings(max_examples=15, deadline=None)
@given(st.lists(st.dictionaries(KEYS, DATA, max_size=3), min_size=20, max_size=40))
def test_kubectl_agrees(items: list[Any]) -> None:
    items = _legal(items)
    head = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "a"}}
    (read_back,) = kubectl.objects(emit({**head, "values": items}))
    assert read_back["values"] == items


def test_the_style_matches_kubectl() -> None:
    data = {
        "a": [{"b": 1, "c": ["x", ["s", "z"]]}, [], {}],
        "script": "set -e\n\nrun it\n",
        "tail": "no end",
        "keep": "a\nb\n\n",
        "strip": "a\nb",
        "n": None,
        "f": 0.5,
        "g": 1e-07,
        "h": 1e30,
        "i": 1000.0,
    }
    assert emit(data) == (
        "a:\n- b: 1\n  c:\n  - x\n  - - s\n    - z\n- []\n- {}\nscript: |\n  set -e\n\n  run it\ntail: no end\n"
        'keep: |+\n  a\n  b\n\nstrip: |-\n  a\n  b\n"n": null\nf: 0.5\ng: 1.0e-07\nh: 1.0e+30\ni: 1000\n'
    )


def test_documents_are_separated() -> None:
    assert emit_all([{"a": 1}, {"b": 2}]) == "a: 1\n---\nb: 2\n"
    assert emit_all([]) == ""


def test_a_root_need_not_be_a_mapping() -> None:
    assert emit([1, "on"]) == '- 1\n- "on"\n'
    assert emit({}) == "{}\n"
    assert emit("a") == "a\n"


def test_a_character_beyond_the_first_plane_is_written_as_one() -> (
    None
):  # docs/facts/api-server.md#yaml: kubectl rejects them
    assert emit({"a": "\U0001f600: x"}) == 'a: "\U0001f600: x"\n'


def test_long_keys_are_explicit() -> None:
    data = {"a": {"k" * 2000: {"b": [1]}, "k" * 1500: "x"}}
    assert read(emit(data)).documents[0].data == data


def test_shared_parts_are_written_out() -> None:
    part = {"x": [1]}
    assert emit({"a": part, "b": part}) == "a:\n  x:\n  - 1\nb:\n  x:\n  - 1\n"


class Number(IntEnum):
    ONE = 1


@pytest.mark.parametrize(
    "value", [(1,), {1}, b"x", object(), float("nan"), float("inf"), {1: 2}, Number]
)
def test_values_outside_json_raise(value: object) -> None:
    with pytest.raises(TypeError):
        emit({"a": value})


def test_ruamel_round_trip() -> None:
    out = StringIO()
    tool = YAML()
    text = emit({"a": ["on", "1e3"], "b": {"c": "x\ny\n"}})
    tool.dump(tool.load(text), out)
    assert YAML(typ="safe", pure=True).load(out.getvalue()) == {
        "a": ["on", "1e3"],
        "b": {"c": "x\ny\n"},
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('[{"name": "eth0"}]', '\'[{"name": "eth0"}]\''),
        ('say: "it\'s"', '"say: \\"it\'s\\""'),  # a single quote would need doubling
        ('{"é": 1}', "'{\"é\": 1}'"),
        ("C:\\: x", "'C:\\: x'"),
    ],
)
def test_json_in_a_string_needs_no_escapes(value: str, text: str) -> None:
    assert emit({"a": value}) == f"a: {text}\n"
    assert yaml.safe_load(emit({"a": value})) == {"a": value}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (-2.0, "-2"),
        (1.5, "1.5"),
        (2.0**62, "4611686018427387904"),
        (-(2.0**62), "-4611686018427387904"),
        (2.0**63, "9.223372036854776e+18"),
        (1e22, "1.0e+22"),
        (1e-7, "1.0e-07"),
        (1.5e300, "1.5e+300"),
    ],
)
def test_numbers_are_emitted_for_every_reader(value: float, text: str) -> None:
    assert emit({"a": value}) == f"a: {text}\n"


@given(
    st.dictionaries(KEYS, DATA, max_size=3) | st.lists(DATA, min_size=1, max_size=3),
    st.integers(1, 50),
)
def test_line_ranges_are_where_a_reader_finds_the_values(data: Any, first: int) -> None:
    (document,) = read(emit(data)).documents or (None,)
    if document is None or document.data != data:  # not a mapping, or text that Go replaces
        return
    ranges = line_ranges(data, first)
    for path, span in document.leaf_spans():
        assert span is not None
        last = span.end_line - (span.end_column == 1 and span.end_line > span.line)
        assert ranges[path] == (span.line + first - 1, last + first - 1)
    for path, (line, _) in ranges.items():
        on_key = document.span(path, on_key=True)
        assert on_key is None or not path or on_key.line <= line


def test_line_ranges_count_the_lines_of_long_keys_and_of_blocks() -> None:
    data = {"a": {"k" * 1000: {"script": "one\ntwo\n"}}, "items": [{"b": 1, "c": []}, ["d"]]}
    lines = emit(data).split("\n")
    ranges = line_ranges(data)
    assert ranges["a", "k" * 1000, "script"] == (4, 6)
    assert [line.strip() for line in lines[3:6]] == ["script: |", "one", "two"]
    assert [ranges["items", 0, "b"], ranges["items", 0, "c"], ranges["items", 1, 0]] == [
        (8, 8),
        (9, 9),
        (10, 10),
    ]
    assert lines[7:10] == ["- b: 1", "  c: []", "- - d"]
