"""Reports: order, locations, code frames with carets in the right columns, and text that cannot control a terminal."""

from __future__ import annotations

import json

import pytest

import ptcompile
from ptcompile.diagnostics import Diagnostic, Span
from ptcompile.report import renderer
from ptcompile.report.layout import format_location, safe_text, sort_by_location

ONE = Diagnostic("PTC021", "spec-unknown-field", "error", "spec.nods: unknown field", "did you mean nodes?",
                 ("spec", "nods"), Span(2, 3, 2, 7), "apply", "ptcompile", "x.yaml")  # fmt: skip
TEXT = "spec:\n  nods: 4\n  image: x\n"


def full(diagnostic: Diagnostic, text: str = TEXT) -> str:
    return renderer("full")([diagnostic], {"x.yaml": text})


def test_a_finding_is_printed_with_its_lines_and_help() -> None:
    assert full(ONE) == (
        "error[PTC021 spec-unknown-field]: spec.nods: unknown field\n"
        "  --> x.yaml:2:3\n"
        "  |\n"
        "1 | spec:\n"
        "2 |   nods: 4\n"
        "  |   ^^^^\n"
        f"{when(ONE)}"
        "  = help: did you mean nodes?\n"
    )


def when(diagnostic: Diagnostic) -> str:
    """Return the line with stage and authority, worded by the report itself."""
    return next(
        line + "\n"
        for line in full(diagnostic).splitlines()
        if line.endswith(f"({diagnostic.authority})")
    )


@pytest.mark.parametrize("stage", ["apply", "pod", "run", "style"])
def test_every_stage_is_worded_with_its_authority(stage: str) -> None:
    text = when(ONE._replace(stage=stage, authority="volcano"))  # type: ignore[arg-type]
    assert text.startswith("  = ")
    assert len(text.split()) > 3


def carets(text: str) -> tuple[str, str]:
    """The source line of a frame and the text under its carets."""
    lines = text.splitlines()
    at = next(
        i
        for i, line in enumerate(lines)
        if line.rstrip("^").endswith((" ", "|")) and line.endswith("^")
    )
    source, mark = lines[at - 1], lines[at]
    return source, source[mark.index("^") : mark.rindex("^") + 1]


SPANS = [
    ("a: b\n", Span(1, 4, 1, 5), "b"),
    ("a: b", Span(1, 4, 1, 5), "b"),
    ("żółć: 'x'\n", Span(1, 7, 1, 10), "'x'"),
    ("a: 🚀🚀 x\n", Span(1, 7, 1, 8), "x"),
    ("\ta: b\n", Span(1, 2, 1, 3), "a"),
    ("x\n" * 99 + "a: b\n", Span(100, 4, 100, 5), "b"),
    ("k: |\n  one\n  two\n", Span(1, 4, 4, 1), "|"),
    ("x" * 500 + ": bad\n", Span(1, 503, 1, 506), "bad"),
    ("a: " + "y" * 500 + "\n", Span(1, 4, 1, 504), "y" * 157),
]


@pytest.mark.parametrize(("text", "span", "marked"), SPANS)
def test_the_carets_are_below_the_value(text: str, span: Span, marked: str) -> None:
    shown = full(ONE._replace(span=span), text)
    assert carets(shown)[1] == marked
    assert max(map(len, shown.splitlines())) < 200


def test_an_empty_span_has_one_caret() -> None:
    assert "  |  ^\n" in full(ONE._replace(span=Span(1, 2, 1, 2)), "a\n")
    assert "  | ^\n" in full(ONE._replace(span=Span(1, 1, 1, 1)), "a\n")


@pytest.mark.parametrize("span", [None, Span(50, 1, 50, 2)])
def test_without_a_line_there_is_no_frame(span: Span | None) -> None:
    shown = full(ONE._replace(span=span))
    assert " | " not in shown
    assert "  --> x.yaml" in shown


SEPARATORS = ["\x0b", "\x0c", "\x1c", "\x1e"]


@pytest.mark.parametrize("character", SEPARATORS)
def test_lines_are_numbered_as_the_reader_numbers_them(character: str) -> None:
    """str.splitlines ends lines where YAML does not."""
    text = f"# a{character}b\nspec:\n  nods: 4\n"
    assert "3 |   nods: 4" in full(ONE._replace(span=Span(3, 3, 3, 7)), text)


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85"])
def test_a_finding_after_an_unusual_line_break_shows_its_own_line(character: str) -> None:
    head = "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: a}\nspec:\n"
    text = f'{head}  image: "a{character}b"\n  script: t.py\n  nods: 4\n'
    (diagnostic,) = [
        d
        for d in ptcompile.compile(text, filename="x.yaml").diagnostics
        if d.name == "spec-unknown-field"
    ]
    shown = full(diagnostic, text)
    assert carets(shown)[1] == "nods"


ESCAPES = ["\x1b[31m", "\x07", "\u202e", "\u200b", "\x9b31m", "\r"]


@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize("form", ["full", "concise", "json"])
def test_a_file_cannot_steer_a_terminal(form: str, escape: str) -> None:
    bad = ONE._replace(message=f"a{escape}b", help=f"c{escape}d", filename=f"x{escape}.yaml")
    shown = renderer(form)([bad], {bad.filename: f"spec:\n  no{escape}: 4\n"})
    assert escape not in shown


@pytest.mark.parametrize(
    ("text", "wanted"), [("a b", "a b"), ("ż🚀", "ż🚀"), ("a\nb", "a\\nb"), ("\x1b", "\\x1b")]
)
def test_unprintable_characters_are_escaped(text: str, wanted: str) -> None:
    assert safe_text(text) == wanted


def test_concise_is_one_line_per_finding() -> None:
    shown = renderer("concise")([ONE, ONE._replace(message="two\nlines")], {})
    assert shown.splitlines() == [
        "x.yaml:2:3: error PTC021 spec-unknown-field: spec.nods: unknown field",
        "x.yaml:2:3: error PTC021 spec-unknown-field: two\\nlines",
    ]


def test_concise_names_the_object() -> None:
    shown = renderer("concise")([ONE._replace(resource="Job/train")], {})
    assert shown.endswith("unknown field (Job/train)\n")


def test_json_has_the_findings_under_diagnostics() -> None:
    shown = renderer("json")([ONE], {})
    report = json.loads(shown)
    assert report["diagnostics"] == [json.loads(json.dumps(ONE.to_dict()))]
    assert report["version"] >= 1
    assert shown.isascii()
    assert json.loads(renderer("json")([], {}))["diagnostics"] == []


def test_order_is_by_file_as_given_then_by_position() -> None:
    b2, b1 = (ONE._replace(filename="b", span=Span(line, 1, line, 2)) for line in (9, 1))
    a, nowhere = ONE._replace(filename="a"), ONE._replace(filename="b", span=None)
    assert sort_by_location([b2, a, b1, nowhere]) == [nowhere, b1, b2, a]
    assert sort_by_location([]) == []


@pytest.mark.parametrize(
    ("name", "span", "wanted"),
    [
        ("x.yaml", Span(1, 2, 1, 3), "x.yaml:1:2"),
        ("x.yaml", None, "x.yaml"),
        (None, None, "<input>"),
    ],
)
def test_a_location_has_file_line_and_column(
    name: str | None, span: Span | None, wanted: str
) -> None:
    assert format_location(ONE._replace(filename=name, span=span)) == wanted
