"""Positions without a full parse: equal to the exact reader's for every document that the fast reader accepts."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings

from ptcompile.source import exact_reader, fast_reader
from ptcompile.source.emitter import emit
from ptcompile.source.exact_reader import parse, positions
from ptcompile.source.nodes import MAX_DEPTH, UnreadableError, ValueNode, find, walk
from tests import recorded
from tests.conftest import ROOT
from tests.source.test_documents import LINES, SOUP

pytestmark = pytest.mark.skipif(fast_reader.loads is None, reason="ryaml is not installed")


def assert_same(text: str) -> bool:
    """Return whether the fast reader accepts a text, and assert that both readers then agree."""
    if fast_reader.read_document(text).texts is None:
        return False
    assert _plain(positions(text)) == _plain(parse(text).root)
    return True


def _plain(node: ValueNode | None) -> Any:
    if node is None:
        return None
    inner = node.children
    if isinstance(inner, dict):
        return node.start, node.end, [(key, *at[:2], _plain(at[2])) for key, at in inner.items()]
    return node.start, node.end, inner and [_plain(child) for child in inner]


@settings(max_examples=20 * settings().max_examples, deadline=None)
@given(SOUP | LINES)
@example("a:\n  - b: |\n      c\n\n  - {d: [e, 'f']}\n\n# g\n")
@example("a: \x7f")
@example("? a\n: b")
@example("a: []\nb: {}\nc:\n")
def test_any_document_is_read_as_by_kubectl(text: str) -> None:
    assert_same(text)


def test_our_manifests_are_read_as_by_kubectl() -> None:
    texts = [path.read_text("utf-8") for path in sorted((ROOT / "golden").rglob("*.yaml"))]
    parts = [part for text in texts for part in text.split("---\n")]
    assert sum(map(assert_same, parts)) > 0.8 * len(parts)


def test_recorded_manifests_are_read_in_several_styles() -> None:
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    for manifest in list(recorded.manifests("apiserver/real").values())[::5]:
        assert_same(emit(manifest))
        assert_same(json.dumps(manifest))
        for style in (
            {"default_flow_style": True},
            {"default_style": '"'},
            {"width": 30, "indent": 4},
        ):
            assert_same(str(yaml.dump(manifest, sort_keys=False, Dumper=dumper, **style)))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a: &x [1, 2, 3]\nb: *x\n", None),
        ("a: &x [1, 2, 3]\nb: *x\nc: 1\n", "too-many-aliases"),
        ("a: [1, 2, 3, 4, 5, 6, 7]\n", None),
        ("a: [1, 2, 3, 4, 5, 6, 7, 8]\n", "too-large"),
    ],
)
def test_values_of_aliases_count(
    text: str, name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact_reader, "MAX_VALUES", 8)
    findings = parse(text).findings
    assert [finding.name for finding in findings] == ([name] if name else [])


def test_text_that_the_exact_reader_rejects_has_no_positions() -> None:
    assert positions("a: " + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1)) is not None
    for text in ("a: " + "[" * MAX_DEPTH + "]" * MAX_DEPTH, "a: \x07", "a: ["):
        assert positions(text) is None
        assert parse(text).root is None


def test_find_gives_the_innermost_value_at_an_offset() -> None:
    text = "a: {b: cd}\ne:\n- f\n- gh: i\n"
    root = parse(text).root
    assert root is not None
    found = {
        text[offset]: find(root, offset) for offset in (text.index(sign) for sign in "abcefgi")
    }
    assert found == {
        "a": (("a",), True),
        "b": (("a", "b"), True),
        "c": (("a", "b"), False),
        "e": (("e",), True),
        "f": (("e", 0), False),
        "g": (("e", 1, "gh"), True),
        "i": (("e", 1, "gh"), False),
    }
    assert find(root, text.index("- f") - 1)[0] in ((), ("e",))


def test_parts_that_do_not_exist_are_skipped_if_the_rest_does() -> None:
    root = parse("a: {b: c}\nd: [e]\n").root
    assert root is not None
    for path, length, exact in (
        (("a", "b"), 2, True),
        (("x", "a", "b"), 2, True),
        (("a", "x", "b"), 2, True),
        (("a", "x", "y", "b"), 2, True),
        (("d", 0), 2, True),
        (("a", "b", "x"), 2, False),
        (("a", "x"), 1, False),
        (("x", "y"), 0, False),
    ):
        steps, is_exact = walk(root, path)
        assert (len(steps), is_exact) == (length, exact), path


@pytest.mark.parametrize("text", ["a: \x01\n", "a: \ud800\n"])
def test_text_that_no_parser_reads_is_reported_at_its_start(text: str) -> None:
    with pytest.raises(UnreadableError) as raised:
        list(exact_reader.events(text))
    problem = raised.value.args[0]
    assert (problem.name, problem.message, problem.start, problem.end) == (
        "yaml-syntax", "this cannot be read as YAML", 0, 1,
    )  # fmt: skip
