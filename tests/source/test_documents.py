"""Reading of YAML and JSON: the values that kubectl reads, positions, and a finding for every fault."""

from __future__ import annotations

import json
import time
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings, strategies as st

import ptcompile
from ptcompile._internal import limits
from ptcompile.diagnostics.codes import CODES
from ptcompile.explainer.values import leaves
from ptcompile.kubernetes.versions import Versions
from ptcompile.source import documents, fast_reader
from ptcompile.source.documents import KeptDocuments, Source, from_data, read
from ptcompile.source.emitter import emit
from ptcompile.source.exact_reader import parse
from ptcompile.source.json_reader import read_json
from tests import kubectl, recorded
from tests.conftest import thinned
from tests.editing import Editor, examples, goldens

LEAVES = [
    "a: 1\nb:\n- x\n- c: |\n    two\n    lines\nd: {}\ne: []\nf:\n",
    "a: &x {b: 'two\n  lines'}\nc: {<<: *x, d: 1}\ne: [*x, *x]\n1: on\n",
    '{"a": [1, {"b": "c"}], "d": {}}',
    "--- {a: 1}\n---\nb: [2]\n",
]


@pytest.mark.parametrize("text", LEAVES)
def test_the_spans_of_all_leaves_are_those_of_each(text: str) -> None:
    for document in read(text).documents:
        spans = dict(document.leaf_spans())
        assert spans == {path: document.span(path) for path in spans}
        assert list(spans) == [path for path, _ in leaves(document.data)]


PARTS = 4
"""Parts of the recorded manifests, so that several processes share them."""
HEAD = "apiVersion: v1\nkind: X\nmetadata: {name: a}\n"

# from kubectl 1.32: a YAML value of `data:` and the output of `kubectl label --local -o json`
VALUES: list[tuple[str, Any]] = [
    ("{a: on, y: off, 1: 08, 1.0e6: x}", {"a": True, "true": False, "1": 8, "1e+06": "x"}),
    (
        "[1e3, 0777, 12:30, 2001-01-01, ~, 'on', \"1e3\", 1.5]",
        [1000, 511, "12:30", "2001-01-01", None, "on", "1e3", 1.5],
    ),
    ("{a: &x {b: 1}, c: {<<: *x, d: 1}}", {"a": {"b": 1}, "c": {"b": 1, "d": 1}}),
    ("{a: &x {b: 1}, c: {b: 2, <<: *x}}", {"a": {"b": 1}, "c": {"b": 1}}),
    ("{<<: [{b: 1}, {b: 2, c: 3}]}", {"b": 1, "c": 3}),
    ("{'<<': {b: 1}}", {"<<": {"b": 1}}),
    (
        "[!!str 1, !!int '1', !!float 1, !!bool yes, !!null '', !!binary aGVsbG8=, ! 12]",
        ["1", 1, 1, True, None, "hello", "12"],
    ),
    ("!!set {b, c}", {"b": None, "c": None}),
    (
        "[!!timestamp 2001-01-01, !!map {a: b}, !!omap [a: b]]",
        ["2001-01-01", {"a": "b"}, [{"a": "b"}]],
    ),
    ("[&a x, *a, a&b, '&a', a*b]", ["x", "x", "a&b", "&a", "a*b"]),
    ("[9223372036854775808, 18446744073709551616]", [float(2**63), float(2**64)]),
    ("{.inf: x, 2001-01-01: w, '': z}", {".inf": "x", "2001-01-01": "w", "": "z"}),
    ('["a\\u00e9\\n", "\\x41"]', ["aé\n", "A"]),
    ("|2\n     foo\n    bar\n", "   foo\n  bar\n"),
    ("a\n  b\n\n  c", "a b\nc"),
]

# text, name of the problem, start position
BAD: list[tuple[str, str, tuple[int, int]]] = [
    ("a:\n\tb: 1\n", "yaml-syntax", (2, 1)),
    ("a: [b\n", "yaml-syntax", (1, 4)),
    ("a: 'b\n", "yaml-syntax", (1, 4)),
    ("a: b: c\n", "yaml-syntax", (1, 5)),
    ("a: @x\n", "yaml-syntax", (1, 4)),
    ("a: 1\nb\nc: 1\n", "yaml-syntax", (2, 1)),
    ('a: "\\q"\n', "yaml-syntax", (1, 5)),
    ('---\na: "\\/"\n', "yaml-syntax", (2, 5)),
    ("a: \x01\n", "yaml-syntax", (1, 4)),
    ("a: b\0\n", "yaml-syntax", (1, 5)),
    ("a: \ud800\n", "yaml-syntax", (1, 4)),
    ("a: *nope\n", "yaml-syntax", (1, 4)),
    ("a: &x [*x]\n", "yaml-syntax", (1, 8)),
    ("a: !!int x\n", "yaml-syntax", (1, 4)),
    ("a: {<<: 1}\n", "yaml-syntax", (1, 9)),
    ("a: {{ .Values.x }}\n", "yaml-syntax", (1, 4)),
    ("{{- if .x }}\na: 1\n{{- end }}\n", "yaml-syntax", (1, 1)),
    ("a: 1\n--- b\n", "yaml-syntax", (2, 1)),
    ("%YAML 1.2\na: 1\n", "yaml-syntax", (2, 1)),
    ('{"a": 1', "yaml-syntax", (1, 8)),
    ('{"a": 1},', "yaml-syntax", (1, 9)),
    ('{"a": 1}\n{"b": 2}\n---\n{"c": 3}', "yaml-syntax", (3, 1)),
    ("---#c\na: 1\n", "yaml-syntax", (1, 1)),
    ("a: 1\n---\n---#c\nb: 2\n", "yaml-syntax", (3, 1)),
    ("\ufeff\ufeff\ufeffa: 1\nb: 2\n", "yaml-syntax", (1, 1)),
    ("a: .nan\n", "unsupported-yaml", (1, 4)),
    ("~: a\n", "unsupported-yaml", (1, 1)),
    ("[a]: b\n", "unsupported-yaml", (1, 1)),
    ("a: !Ref x\n", "unsupported-yaml", (1, 4)),
    ("a: 1\n...\nb: 2\n", "text-after-end", (3, 1)),
    ("a: 1\nb: 2\na: 3\n", "duplicate-key", (3, 1)),
    ("on: 1\ntrue: 2\n", "duplicate-key", (2, 1)),
    ('{"a": 1,\n"a": 2}', "duplicate-key", (2, 1)),
    ("- a\n", "not-a-mapping", (1, 1)),
    ("a\n", "not-a-mapping", (1, 1)),
    ("[1]\n", "not-a-mapping", (1, 1)),
]

HOSTILE: dict[str, tuple[str | bytes, str]] = {
    "alias bomb": (
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)),
        "too-many-aliases",
    ),
    "long aliases": (f"a: &a '{'x' * 100_000}'\nb: [{'*a, ' * 20_000}]\n", "too-many-aliases"),
    "merges": (
        "a: &a {" + ",".join(f"k{i}: 1" for i in range(1000)) + "}\n"
        + "".join(f"m{i}: {{<<: *a}}\n" for i in range(999)),
        "too-many-aliases",
    ),
    "10 MB": ("a: '" + "x" * 10_000_000 + "'\n", "too-large"),
    "open brackets": ("a: " + "[" * 100_000, "too-deep"),
    "closed brackets": ("a: " + "[" * 5000 + "]" * 5000, "too-deep"),
    "deep mappings": ("a: " + "{a: " * 20_000, "too-deep"),
    "deep block": ("".join(" " * i + "a:\n" for i in range(1500)), "too-deep"),
    "dashes": ("- " * 100_000, "too-deep"),
    "question marks": ("? " * 100_000, "too-deep"),
    "deep JSON": ('{"a":' * 500 + "1" + "}" * 500, "too-deep"),
    "very deep JSON": ('{"a":' * 100_000, "too-deep"),
    "UTF-16": ("a: 1\n".encode("utf-16"), "bad-encoding"),
    "Latin-1": (b"a: \xe9\n", "bad-encoding"),
    "many documents": ("a: 1\n---\n" * 10_100, "too-large"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_values_are_what_kubectl_reads(text: str, value: Any) -> None:
    source = read(f"{HEAD}data: {text}\n")
    assert not source.problems
    assert source.documents[0].data["data"] == value
    assert json.dumps(source.documents[0].data["data"]) == json.dumps(value)


def test_the_table_matches_the_output_of_kubectl() -> None:
    answers = list(recorded.rows("kubectl"))
    assert [row["text"] for row in answers] == [text for text, _ in VALUES]
    assert [_shortest(row["data"]) for row in answers] == [value for _, value in VALUES]
    if kubectl.INSTALLED:
        stream = "---\n".join(f"{HEAD}data: {text}\n" for text, _ in VALUES)
        assert [stored["data"] for stored in kubectl.objects(stream)] == [
            row["data"] for row in answers
        ]


def _shortest(seen: Any) -> Any:
    """Return large numbers as floats: kubectl pads their shortest digits with zeros, which Python reads as other
    integers.
    """
    return (
        [float(number) for number in seen] if str(seen).startswith("[9223372036854776000") else seen
    )


@pytest.mark.parametrize(("text", "name", "at"), BAD)
def test_bad_files_have_one_finding_at_the_right_position(
    text: str, name: str, at: tuple[int, int]
) -> None:
    (problem,) = read(text).problems
    assert problem.span
    assert (problem.name, problem.span[:2]) == (name, at)
    assert problem.name in CODES
    assert problem.help
    assert "yaml." not in problem.message


@pytest.mark.parametrize(("text", "name"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_are_rejected_quickly(text: str | bytes, name: str) -> None:
    start = time.process_time()
    source = read(text)
    assert time.process_time() - start < 2  # below 0.5 on an idle machine
    assert source.problems[0].name == name
    assert all(problem.span for problem in source.problems)


def test_documents_are_independent() -> None:
    source = read("# first\n---\na: [\n--- # third\nb: 1\n\n---\n---\n# none\n---\nc: {d: 1}\n")
    assert [(d.data, d.index, d.first_line) for d in source.documents] == [
        ({"b": 1}, 1, 5),
        ({"c": {"d": 1}}, 2, 11),
    ]
    assert [(p.name, p.span and p.span.line) for p in source.problems] == [("yaml-syntax", 4)]
    assert source.documents[1].span(("c", "d")) == (11, 8, 11, 9)


@pytest.mark.parametrize("text", ["", "\n", "# x\n", "---\n---\n", "null\n", "\ufeff", "~"])
def test_empty_streams_have_no_documents(text: str) -> None:
    source = read(text)
    assert (source.documents, source.problems) == ((), ())


A, B = {"a": 1}, {"b": 2}


@pytest.mark.parametrize(
    ("text", "documents", "older"),
    [
        ('{"a": 1}\n{"b": 2}\n', [(A, 1), (B, 2)], None),
        ('{"a": 1}\nnull\n', [(A, 1)], None),
        ('{"a": 1}\n# c\n', [(A, 1)], (2, 1)),
        ('{"a": 1} # c\n', [(A, 1)], (1, 10)),
        ('{"a": 1}\n---\nb: 2\n', [(A, 1), (B, 3)], (2, 1)),
        ('{"a": 1} ---\n{"b": 2}\n', [(A, 1), (B, 2)], (1, 10)),
        ('\n\n{"a": 1}\n\n---\n# c\n---\nb: 2\n', [(A, 3), (B, 8)], (5, 1)),
        ('{"a": 1,}', [(A, 1)], (1, 9)),
        ("{a: 1}", [(A, 1)], (1, 2)),
        ("{a: 1}\n---\n{b: 2}\n", [(A, 1), (B, 3)], (1, 2)),
        ("a: 1\n---#c\nb: 2\n", [(A, 1), (B, 3)], None),
        ("---\n---#c\na: 1\n", [(A, 3)], None),
        ("a: 1\n...\n%YAML 1.2\n---\nb: 2\n", [(A, 1), (B, 5)], None),
    ],
)
def test_streams_as_kubectl_reads_them(
    text: str, documents: list[Any], older: tuple[int, int] | None
) -> None:
    """apimachinery/pkg/util/yaml/decoder.go: since 1.33 YAML may follow one JSON value."""
    source = read(text)
    assert not source.problems
    assert [(document.data, document.first_line) for document in source.documents] == documents
    (key,) = documents[-1][0]
    span = source.documents[-1].span((key,))
    assert span is not None
    assert text.split("\n")[span.line - 1][span.column - 1 : span.end_column - 1] == str(
        documents[-1][0][key]
    )
    problems = read(text, None, (1, 32)).problems
    assert [(problem.name, problem.span and problem.span[:2]) for problem in problems] == (
        [("yaml-syntax", older)] if older else []
    )


def test_verdicts_agree_with_kubectl() -> None:
    """An error of stage apply for each text that `kubectl create --validate=strict` of 1.37 rejected, and no other."""
    rows = list(recorded.rows("kubectl-texts"))
    wrong = [
        (row["text"], row["message"])
        for row in rows
        if row["accepted"] == has_rejection(row["text"], f"x.{row['ext']}")
    ]
    assert len(rows) == 783
    assert wrong == []


def has_rejection(text: str, filename: str) -> bool:
    findings = ptcompile.lint(text, webhooks=False, filename=filename).diagnostics
    return any(finding.stage == "apply" and finding.severity == "error" for finding in findings)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("prefix", ["", "\ufeff", "---\n", "on: 1\n"])
def test_values_and_keys_have_their_positions(prefix: str, line_end: str) -> None:
    text = (
        prefix
        + 'spec:\n  "é\U0001f600": x\n  list:\n  - name: a\n    m: 1\n\n  - b\n  text: |\n    foo\n\nz: {k: v}\n'
    )
    first = prefix.count("\n")
    document = read(text.replace("\n", line_end).encode()).documents[0]

    def at(*path: str | int, on_key: bool = False) -> tuple[int, ...] | None:
        span = document.span(path, on_key=on_key)
        return span and (span.line - first, span.column, span.end_line - first, span.end_column)

    assert at("spec", "é\U0001f600") == (2, 9, 2, 10)
    assert at("spec", "é\U0001f600", on_key=True) == (2, 3, 2, 7)
    assert at("spec", "list", 0) == (4, 5, 5, 9)
    assert at("spec", "list", 0, "m") == (5, 8, 5, 9)
    assert at("spec", "list", 1) == (7, 5, 7, 6)
    assert at("spec", "list", 0, "missing") == (4, 5, 4, 12)
    assert at("spec", "missing", "more") == (1, 1, 1, 5)
    assert at("spec", "tag", "list", 1) == (7, 5, 7, 6)
    assert at("z") == (11, 4, 11, 10)
    assert at("z", "k") == (11, 8, 11, 9)


def test_an_alias_has_a_position_and_its_values_those_of_the_anchor() -> None:
    document = read("a: &x {b: 1}\nc: *x\n").documents[0]
    assert document.span(("c",)) == (2, 4, 2, 6)
    assert document.span(("c", "b")) == (1, 11, 1, 12)


def test_json_has_positions() -> None:
    source = read('{"a": "\\/\\ud83d\\ude00",\n "b": [1.0, "\\ud800"]}\n{"c": 2}')
    assert [document.data for document in source.documents] == [
        {"a": "/\U0001f600", "b": [1, "\ufffd"]},
        {"c": 2},
    ]
    assert source.documents[0].span(("b", 0)) == (2, 8, 2, 11)
    assert source.documents[1].span(("c",)) == (3, 7, 3, 8)
    assert source.lines[2] == '{"c": 2}'


def test_the_first_of_two_keys_is_named() -> None:
    assert "first at line 2" in read("---\na: 1\nb: 2\na: 3\n").problems[0].message
    assert read("a: 1\na: 2\n").documents[0].data == {"a": 2}


def test_bad_bytes_have_their_position() -> None:
    (problem,) = read("é: 1\nb: \U0001f600".encode() + b"\xff").problems
    assert problem.span
    assert problem.span[:2] == (2, 5)


def test_decoded_data_is_a_document_without_positions() -> None:
    source = from_data({"a": 1})
    assert source.documents[0].data == {"a": 1}
    assert source.documents[0].span(("a",)) is None


def test_decoded_data_that_is_no_json_is_not_a_document() -> None:
    loop: dict[str, Any] = {}
    loop["a"] = loop
    for value in (1, {"a": (1,)}, {"a": float("nan")}, {1: 2}, {"a": object()}, loop):
        assert len(from_data(value).problems) == 1
        assert from_data(value).documents == ()


# fmt: off
TOKENS = st.sampled_from(
    ["a", "on", "y", "no", "~", "null", "true", "'on'", '"y"', "1", "08", "1e3", "0o7", "1.5", "1.0", "-1", ".5",
     "0x1F", "1_0", ".inf", "12:30", "<<:", "<<:", "a:", "b:", "on:", "1:", "'1':", "-", "-", "?", ":", "&a",
     "*a", "!x", "!!str", "[", "]", "{", "}", ",", "#", "|", ">", "|-", "---", "...", "%", "\\/", '"\\/"',
     "18446744073709551615", "a&b", "!a", "x!y", "ab", "8Gi", "'8'", '"1e3"', "2001-01-01"]
)
# fmt: on
SPACES = st.sampled_from([" ", " ", "\n", "\n  ", "\n    ", "", "\n- ", "\t", "\r\n", "\n\n"])
SOUP = st.lists(st.tuples(TOKENS, SPACES), max_size=14).map(
    lambda pairs: "".join(a + b for a, b in pairs)
)
# fmt: off
PLAIN = st.sampled_from(
    ["a", "on", "y", "~", "'on'", '"y"', "1", "08", "1e3", "0o7", "1.5", "1.0", "-1", ".5", "0X1F", "+1", "1_0",
     "'1'", '"08"', "12:30", "a&b", "8Gi", "'1.0'", "yes"]
)
# fmt: on
LINES = st.lists(st.tuples(st.sampled_from("abcdefg"), PLAIN, PLAIN), max_size=6).map(
    lambda rows: "".join(
        f"{key}:\n  - {left}\n  - k: {right}\n"
        for key, left, right in {r[0]: r for r in rows}.values()
    )
)


@pytest.mark.skipif(fast_reader.loads is None, reason="ryaml is not installed")
@settings(max_examples=20 * settings().max_examples, deadline=None)
@given(SOUP | LINES)
@example("a: ! on")
@example("- 'on'\n- on")
@example('{"a":on}')
@example("a: [on]")
def test_both_readers_agree(text: str) -> None:
    quick, exact = fast_reader.read_document(text), parse(text)
    assert json.dumps(quick.data) == json.dumps(exact.data)
    assert quick.findings == exact.findings


@settings(max_examples=8 * settings().max_examples, deadline=None)
@given(st.text(max_size=60) | SOUP)
def test_nothing_raises(text: str) -> None:
    source = read(text)
    for document in source.documents:
        assert document.span(("a", 0, "b"))
    read(text.encode("utf-8", errors="surrogatepass"))


@pytest.mark.parametrize("part", range(PARTS))
def test_recorded_manifests_are_read_in_several_styles(part: int) -> None:
    for manifest in [*recorded.manifests("apiserver/real").values()][part::PARTS]:
        texts = [emit(manifest), json.dumps(manifest), "---\n" + json.dumps(manifest, indent=2)]
        for style in (
            {},
            {"default_flow_style": True},
            {"default_style": '"'},
            {"width": 30, "indent": 4},
        ):
            dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
            texts.append(str(yaml.dump(manifest, sort_keys=False, Dumper=dumper, **style)))
        expected = json.dumps(manifest)
        for text in texts:
            body = text.removeprefix("---\n")
            assert json.dumps(fast_reader.read_document(body).data) == json.dumps(parse(body).data)
        for text in texts[:3]:
            source = read(text)
            assert not source.problems
            assert json.dumps(source.documents[0].data) == expected


def test_json_that_yaml_rejects_is_located_at_its_first_line() -> None:
    """YAML limits keys to 1,024 characters, but JSON does not."""
    source = read('{"a": 1}\n{"' + "k" * 1100 + '": {"b": 2}}')
    assert not source.problems
    span = source.documents[1].span(("k" * 1100, "b"))
    assert span is not None
    assert (span.line, span.column) == (2, 1)


AS_JSON = "kubectl reads a file that begins with '{' as JSON, but this is not JSON"


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ('{"a": @}', AS_JSON, (1, 7)),
        (' {\n "a": @}', AS_JSON, (2, 7)),
        ('{"a": 1} \n{"b": [}\n', AS_JSON, (2, 8)),
        ('{"a": 1}   \nb: @\n', AS_JSON, (2, 1)),
        ("{a: 1: 2}", "a mapping that begins with '{' is not closed", (1, 6)),
        ("a: @\n", "a plain value cannot begin with '@'", (1, 4)),
    ],
)
def test_an_error_in_json_is_that_of_kubectl_s_json_reader(
    text: str, message: str, position: tuple[int, int]
) -> None:
    source = read(text)
    (problem,) = source.problems
    assert problem.message == message
    assert problem.span is not None
    assert (problem.span.line, problem.span.column) == position


@pytest.mark.parametrize(
    "text", ['{"a": 1,}\n', '{"a": 1}\n{"b": }\n', '{"a": 1} \t\nb: 2\n', '{"a": 1}\n\n---\nb: 2\n']
)
def test_yaml_that_begins_as_json_is_read_as_yaml(text: str) -> None:
    source = read(text)
    assert not source.problems
    assert source.documents[0].data == {"a": 1}


def test_a_json_stream_does_not_take_quadratic_time() -> None:
    def seconds(count: int) -> float:
        text = ('{"kind": "Pod", "metadata": {"name": "' + "x" * 200 + '"}}\n') * count
        before = time.process_time()
        assert len(read_json(text)[0]) == count
        return time.process_time() - before

    few = min(seconds(1200) for _ in range(3))
    assert min(seconds(9600) for _ in range(2)) < 20 * few, (
        "eight times the work; a square would be 64 times"
    )


def test_text_that_looks_like_a_file_name_gets_help() -> None:
    help = read("specs/job.yaml").problems[0].help
    assert help == "if it is the name of a file, pass pathlib.Path('specs/job.yaml')"
    assert "pathlib" not in (read("job").problems[0].help or "")
    assert "pathlib" not in (read("a: 1\n---\njob.yaml\n").problems[0].help or "")


def test_lines_that_begin_inside_a_value_or_a_key_are_known() -> None:
    source = read('a: |\n  # x\n  b\nc: "d\n  e"\nf: g  # h\n')
    lines = range(1, 7)
    assert [line for line in lines if source.continues_scalar(line)] == [2, 3, 5]
    assert [line for line in lines if source.in_scalar(line, 3)] == [2, 3, 5]
    assert [column for column in range(1, 9) if source.in_scalar(6, column)] == [1, 4]


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [(0, 3, 3), (0, 99, 4), (0, 4, 4), (0, 5, 5), (6, 99, 7), (8, 99, 99), (4, 99, 4)],
)
def test_a_line_ends_before_its_break(start: int, end: int, expected: int) -> None:
    assert read("a: 1\r\nb\nc: 1").line_end(start, end) == expected


def test_a_comment_names_the_template_of_a_document() -> None:
    stream = read("# Source: chart/a.yaml\na: 1\n---\nb: 1\n---\n# Source:  chart/c.yaml \nc: 1\n")
    assert [document.template for document in stream.documents] == [
        "chart/a.yaml",
        None,
        "chart/c.yaml",
    ]
    assert [document.template for document in stream.documents] == [
        "chart/a.yaml",
        None,
        "chart/c.yaml",
    ]
    assert from_data({"a": 1}).documents[0].template is None


def test_the_depth_of_a_document_is_limited() -> None:
    for depth, names in ((99, []), (100, ["too-deep"])):
        problems = read("a: " + "[" * depth + "]" * depth + "\n").problems
        assert [problem.name for problem in problems] == names


def test_the_number_of_documents_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_in_force", [limits.TRUSTED._replace(documents=2)])
    assert read("---\na: 1\n---\nb: 2\n").problems == ()
    (problem,) = read("---\na: 1\n---\nb: 2\n---\nc: 3\n").problems
    assert (problem.name, problem.message) == ("too-large", "the file has more than 2 documents")
    assert problem.span is not None
    assert (problem.span.line, problem.span.column, problem.span.end_column) == (5, 1, 2)


@pytest.mark.parametrize(
    ("constant", "most", "document"),
    [
        ("MAX_VALUES", 6, "a: &x [1, 2]\nb: *x\n"),
        ("MAX_VALUES", 6, "a: &x 1\nb: &y [*x]\nc: *y\n"),
        ("MAX_VALUES", 6, "a: &x {b: 1, c: 1}\nb: {<<: *x, b: 2}\n"),
        ("MAX_DOCUMENT", 20, f"a: &x {'x' * 10}\nb: *x\n"),
        ("MAX_DOCUMENT", 20, f"a: &x {{{'x' * 9}: 1}}\nb: *x\n"),
    ],
)
def test_what_aliases_stand_for_is_limited_in_a_stream(
    constant: str, most: int, document: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, constant, most)
    allowed = read("---\n".join([document] * 2))
    assert (len(allowed.documents), allowed.problems) == (2, ())
    stream = read("---\n".join([document] * 5))
    (problem,) = stream.problems
    assert (problem.name, problem.authority) == ("too-many-aliases", "ptcompile")
    assert problem.span is not None
    assert problem.span.line == 2 * (document.count("\n") + 1) + 1
    assert len(stream.documents) == 2
    assert read("---\n".join([document.partition("\n")[0] + "\n"] * 5)).problems == ()


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a: 1\n---\nb: 2\n", 2),
        ("a: 1\n---\nb: 2\n---\nc: 3\n", 3),
        ("# a comment\n\n---\na: 1\n---\nb: 2\n", 2),
        ("# a comment\n---\na: 1\n---\nb: 2\n---\nc: 3\n", 3),
    ],
)
def test_the_first_document_counts_without_its_line_too(
    text: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_in_force", [limits.TRUSTED._replace(documents=2)])
    stream = read(text)
    assert [problem.name for problem in stream.problems] == ["too-large"] * (count > 2)


_EDITS = 40
_KUBECTL = Versions().kubernetes


def _facts(source: Source) -> list[Any]:
    """Everything of each document that depends on where it is in the text."""
    facts = [
        (document.data, document.index, document.first_line, document.texts)
        for document in source.documents
    ]
    positions = [list(document.leaf_spans()) for document in source.documents]
    return [facts, positions, source.problems, source.text]


@pytest.mark.parametrize("seed", thinned(range(64), 8))
def test_every_edit_gives_the_documents_of_the_whole_text(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - the same edits each time
    editor = Editor(random, goldens() if seed % 12 == 0 else examples())
    kept = KeptDocuments()
    for _ in range(_EDITS):
        again = kept.read(editor.text, "a.yaml", _KUBECTL)
        assert _facts(again) == _facts(documents.read(editor.text, "a.yaml", _KUBECTL))
        editor.edit()


def test_only_a_changed_document_is_parsed() -> None:
    kept = KeptDocuments()
    first = kept.read("a: 1\n---\nb: 2\n---\nb: 2\n", "a.yaml", _KUBECTL)
    second = kept.read("# moved\na: 3\n---\nb: 2\n---\nb: 2\n", "a.yaml", _KUBECTL)
    is_kept = [
        before.data is now.data
        for before, now in zip(first.documents, second.documents, strict=True)
    ]
    assert is_kept == [False, True, True]


def test_documents_of_the_version_before_the_last_are_forgotten() -> None:
    kept = KeptDocuments()
    first = kept.read("a: 1\n", "a.yaml", _KUBECTL)
    kept.read("a: 2\n", "a.yaml", _KUBECTL)
    again = kept.read("a: 1\n", "a.yaml", _KUBECTL)
    assert again.documents[0].data is not first.documents[0].data


def test_positions_and_secrets_of_a_kept_document_are_not_found_again() -> None:
    kept = KeptDocuments()
    first = kept.read("a: 1\n---\nb: 2\n", "a.yaml", _KUBECTL).documents[1]
    root, first.secrets = first.positions(), object()
    second = kept.read("a: 13\n---\nb: 2\n", "a.yaml", _KUBECTL).documents[1]
    assert second.positions() is root
    assert second.secrets is first.secrets
