"""Specs as text: lines of at most 120 columns, and the same data for every YAML parser."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import yaml
from ruamel.yaml import YAML

from ptcompile.source import documents as source
from ptcompile.spec.text import write_yaml

VALUES: list[Any] = [
    ["-v", "x", "8", "on", "it's", "a b", "a: b", "a #b", "[x]", "y,", ""] * 12,
    [":a", "::error::x", "?", "a?", "a?b", "-?"],
    ["one two " * 30, "it's " * 40, "a: b " * 40, "x" * 300],
    {"nested": {"words": ["a b", "no", "1e3"] * 20}},
    {"image": "registry.example.org/" + "x" * 150, "text": "several words " * 20},
    {f"NAME_{i}": "value" if i % 2 else None for i in range(20)},
]


@pytest.mark.parametrize("value", VALUES)
def test_every_parser_reads_the_same_data(value: Any) -> None:
    document = {"spec": {"word": value}}
    text = write_yaml(document, {("spec", "word"): "why"}, ("head",))
    assert yaml.safe_load(text) == document
    assert YAML(typ="safe", pure=True).load(text) == document


def test_yaml_indicators_are_quoted_in_flow_collections() -> None:
    """Found by fuzzing (200,000 runs): `mountPath: ::error::x` was written without quotes and could not be read."""
    signs = ":?-#!|& a,'"
    texts = ["".join(word) for n in (1, 2, 3) for word in product(signs, repeat=n)]
    documents = [
        {"spec": {"env": dict.fromkeys("AB", text), "args": [text, "b"]}} for text in texts
    ]
    read = source.read("---\n".join(map(write_yaml, documents)))
    assert not read.problems
    assert [document.data for document in read.documents] == documents


def test_short_items_share_lines_and_long_items_do_not() -> None:
    document = {
        "spec": {
            "command": ["-v", "x", "8", "sixteen letters."] * 12,
            "args": [f"--a-longer-option={i}" for i in range(9)],
        }
    }
    text = write_yaml(document)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 120
    assert all(line == line.rstrip() for line in lines)
    assert [line.strip() for line in lines[-9:]] == [f"- --a-longer-option={i}" for i in range(9)]
    assert len(lines) < 20


def test_a_comment_follows_its_line_if_it_fits() -> None:
    document = {
        "spec": {
            "image": "i:1",
            "args": ["a" * 40, "b" * 40],
            "env": {"A": "a" * 60, "B": "b" * 60},
        }
    }
    remarks: dict[tuple[str | int, ...], str] = {
        ("spec", word): "a reason that is long enough" for word in ("image", "args", "env")
    }
    lines = write_yaml(document, remarks, ("proved",)).splitlines()
    assert lines[0] == "spec: # proved"
    assert lines[1] == "  image: i:1 # a reason that is long enough"
    assert lines[2] == "  # a reason that is long enough"
    assert "  env: # a reason that is long enough" in lines


@pytest.mark.parametrize("sign", ["\n", "\r", "\x85", "\u2028", "\x00"])
def test_no_character_ends_a_comment(sign: str) -> None:
    text = write_yaml(
        {"a": 1, "b": 2}, {("b",): f"was {sign}c: 3"}, (f"spec.{sign}x is removed", "more")
    )
    assert yaml.safe_load(text) == {"a": 1, "b": 2}
    assert text.count("\n") == (
        6 if sign == "\n" else 4
    )  # several lines go above the key, each as a comment
    assert repr(sign)[1:-1] in text


def test_a_comment_on_the_first_key_of_an_item_has_a_line_of_its_own() -> None:
    document = {"spec": {"roles": [{"image": "i:1", "env": {"A": "x" * 90, "B": "y" * 90}}]}}
    comments: dict[tuple[str | int, ...], str] = {("spec", "roles", 0, "image"): "one\ntwo"}
    assert write_yaml(document, comments).splitlines()[2:6] == [
        "  -",
        "    # one",
        "    # two",
        "    image: i:1",
    ]


def test_a_text_is_written_as_in_manifests_outside_brackets() -> None:
    text = 'say "a, b" {c}'
    assert write_yaml({"spec": {"command": ["bash", "-c", f"{text}\n"], "script": text}}) == (
        f"spec:\n  command:\n  - bash\n  - -c\n  - |\n    {text}\n  script: {text}\n"
    )
    assert write_yaml({"a": {"b": text}}) == """a: {b: "say \\"a, b\\" {c}"}\n"""


@pytest.mark.parametrize("key", ["k" * 1000, "a\nb", "", "on", "-0.0"])
def test_any_key_is_read_back(key: str) -> None:
    document = {"spec": {key: {key: "v" * 120}, "list": [{key: ["w" * 120]}]}}
    text = write_yaml(document)
    assert yaml.safe_load(text) == document
    assert YAML(typ="safe", pure=True).load(text) == document


def test_an_empty_document_is_an_empty_mapping() -> None:
    assert write_yaml({}, head=("nothing",)) == "{} # nothing\n"
