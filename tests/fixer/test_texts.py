"""Exact text that fixes produce."""

from __future__ import annotations

import pytest

from ptcompile.diagnostics import Edit, Span
from ptcompile.fixer import apply
from ptcompile.source.documents import read
from tests.fixer.making import finding


def edit_of(op: str, *path: str | int, to: object = None) -> Edit:
    return Edit(op, path, to)  # type: ignore[arg-type]  # from a table row


CASES: list[tuple[str, tuple[Edit, ...], str]] = [
    # values: comments, spaces and quotes are preserved
    ("a:   1   # one\n", (edit_of("set", "a", to=2),), "a:   2   # one\n"),
    ("a: 'x'\n", (edit_of("set", "a", to="it's"),), "a: 'it''s'\n"),
    ('"a": "x"\n', (edit_of("set", "a", to="8"),), '"a": "8"\n'),
    ("a: x\n", (edit_of("set", "a", to="8"),), 'a: "8"\n'),
    ("a: \"8\"\n", (edit_of("set", "a", to=8),), "a: 8\n"),
    ("a: 0777\n", (edit_of("quote", "a"),), 'a: "0777"\n'),
    ("a: on # why\n", (edit_of("quote", "a"),), 'a: "on" # why\n'),
    ("a: plain\n  that goes on # c\nb: 1\n", (edit_of("set", "a", to=1),), "a: 1 # c\nb: 1\n"),
    ("a: | # c\n  x\n\n  y\n\n# d\nb: 1\n", (edit_of("set", "a", to=1),), "a: 1 # c\n\n# d\nb: 1\n"),
    ("a: x\n", (edit_of("set", "a", to="p\nq\n"),), 'a: "p\\nq\\n"\n'),
    ("a: !!str 5 # c\n", (edit_of("set", "a", to="6"),), 'a: "6" # c\n'),
    # empty values
    ("a:\nb: 1\n", (edit_of("set", "a", to=2),), "a: 2\nb: 1\n"),
    ("a: # c\nb: 1\n", (edit_of("set", "a", to=2),), "a: 2 # c\nb: 1\n"),
    ("a: # c\n", (edit_of("set", "a", "b", "c", to=1),), "a: # c\n  b:\n    c: 1\n"),
    ("l:\n-\n- b\n", (edit_of("set", "l", 0, to={"k": 1, "m": [2]}),), "l:\n- k: 1\n  m:\n  - 2\n- b\n"),
    # missing final line break, CRLF line breaks
    ("a: 1", (edit_of("set", "b", to=2),), "a: 1\nb: 2"),
    ("a: 1\nb: 2", (edit_of("remove", "b"),), "a: 1\n"),
    ("a: |+\n  x\n\nb: 2", (edit_of("remove", "b"),), "a: |+\n  x\n\n"),
    ("a: 1\rb: 2\r", (edit_of("set", "b", to=3),), "a: 1\rb: 3\r"),
    ("a: 1\r\nb:\r\n  c: 1\r\n", (edit_of("set", "b", "d", to={"e": 1}),),
     "a: 1\r\nb:\r\n  c: 1\r\n  d:\r\n    e: 1\r\n"),
    # new keys: short ones before the first long one, after merges, in the existing layout
    ("a: 1\nb:\n  c: 1\n", (edit_of("set", "d", to=2),), "a: 1\nd: 2\nb:\n  c: 1\n"),
    ("b:\n    c: 1\n# tail\n", (edit_of("set", "b", "d", to={"e": [1]}),),
     "b:\n    c: 1\n    d:\n        e:\n        - 1\n# tail\n"),
    ("l:\n  - 1\n", (edit_of("set", "m", to=[{"a": [2]}]),), "l:\n  - 1\nm:\n  - a:\n      - 2\n"),
    ("x: &x {a: 1}\nz:\n  <<: *x\n", (edit_of("set", "z", "b", to=2),), "x: &x {a: 1}\nz:\n  <<: *x\n  b: 2\n"),
    ("a: |+\n  x\n\nb: 1\n", (edit_of("remove", "b"), edit_of("set", "c", to=2)), "a: |+\n  x\n\nc: 2\n"),
    # lists
    ("l:\n- a: 1\n  # about b\n  b: 2\n", (edit_of("remove", "l", 0, "a"),), "l:\n- # about b\n  b: 2\n"),
    ("l:\n- a: 1 # c\n  b: 2\n", (edit_of("remove", "l", 0, "b"),), "l:\n- a: 1 # c\n"),
    ("l:\n- a: 1\n", (edit_of("remove", "l", 0, "a"),), "l:\n- {}\n"),
    ("l: # c\n- a: 1\nb: 1\n", (edit_of("remove", "l", 0),), "l: [] # c\nb: 1\n"),
    ("l:\n- 1 # one\n# about 2\n- 2\n- 3\n", (edit_of("remove", "l", 1),), "l:\n- 1 # one\n# about 2\n- 3\n"),
    ("l: |\n  x\na: 1\n  # within a\n# beside\nb: 1\n", (edit_of("remove", "a"),), "l: |\n  x\n# beside\nb: 1\n"),
    ("l:\n-   1 # c\n", (edit_of("set", "l", 0, to={"a": 1, "b": 2}),), "l:\n-   a: 1 # c\n    b: 2\n"),
    ("l:\n- 1\n- 2\n", (edit_of("append", "l", to={"a": 1, "b": 2}),), "l:\n- 1\n- 2\n- a: 1\n  b: 2\n"),
    ("l:\n- - 1\n  - 2\n", (edit_of("remove", "l", 0, 0),), "l:\n- - 2\n"),
    ("l:\n- python # c\n- train.py\n", (edit_of("set", "l", to=["bash", "-c", "python train.py"]),),
     "l:\n- bash # c\n- -c\n- python train.py\n"),
    ("l:\n- a # c\n- b\n", (edit_of("set", "l", to=["x", "a", "b"]),), "l:\n- x\n- a # c\n- b\n"),
    ("a: 1\n", (edit_of("append", "l", to="x"),), "a: 1\nl:\n- x\n"),
    ("l: python\n", (edit_of("set", "l", to=["python"]),), "l: [python]\n"),
    # flow style
    ("a: {b: 1, c: [x]}\n", (edit_of("set", "a", "d", to={"e": "f,g"}),), 'a: {b: 1, c: [x], d: {e: "f,g"}}\n'),
    ("a: {b: 1, c: 2}\n", (edit_of("remove", "a", "b"),), "a: {c: 2}\n"),
    ("a: {b: 1, c: 2}\n", (edit_of("remove", "a", "c"),), "a: {b: 1}\n"),
    ("a: { b: 1 }\n", (edit_of("set", "a", "c", to=None),), "a: { b: 1, c: null }\n"),
    ("a: {}\n", (edit_of("set", "a", "b", to=1),), "a: {b: 1}\n"),
    ("a: {b, c: , d: 1}\n", (edit_of("set", "a", "b", to=1), edit_of("set", "a", "c", to=2)),
     "a: {b: 1, c: 2 , d: 1}\n"),
    ('a: {"b": 1}\n', (edit_of("set", "a", "c", to="x"),), 'a: {"b": 1, "c": "x"}\n'),
    ("a: [\n  1, # one\n  2 # two\n]\n", (edit_of("append", "a", to=3),), "a: [\n  1, # one\n  2, # two\n  3\n]\n"),
    ("a: [\n  1,\n  2, # two\n]\n", (edit_of("append", "a", to=3),), "a: [\n  1,\n  2, # two\n  3,\n]\n"),
    ("a: [\n  1, # one\n  2,\n]\n", (edit_of("remove", "a", 0),), "a: [\n  2,\n]\n"),
    ("a: [\n  1, # one\n  2 # two\n]\n", (edit_of("remove", "a", 1),), "a: [\n  1 # one\n]\n"),
    ("a: {b: {c: 1}}\n", (edit_of("set", "a", "b", to="x"),), "a: {b: x}\n"),
    # renamed and replaced keys
    ("spec:\n  'back_off' : 1 # c\n", (edit_of("rename", "spec", "back_off", to="backoff"),),
     "spec:\n  'backoff' : 1 # c\n"),
    ("a: {b: 1}\n", (edit_of("rename", "a", "b", to="on"),), 'a: {"on": 1}\n'),
    ("b: # c\n  d: 1\n", (edit_of("rename", "b", to="e"), edit_of("set", "e", "d", to=2)), "e: # c\n  d: 2\n"),
    ("v:\n- name: x # c\n  hostPath:\n    path: /x\n",
     (edit_of("remove", "v", 0, "hostPath"), edit_of("set", "v", 0, "emptyDir", to={})),
     "v:\n- name: x # c\n  emptyDir: {}\n"),
    # an item moves from the end of a list to a new list after it
    ("s:\n  c:\n  - a: 1\n  - b: 1\n", (edit_of("remove", "s", "c", 1), edit_of("set", "s", "i", to=[{"b": 1}])),
     "s:\n  c:\n  - a: 1\n  i:\n  - b: 1\n"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "edits", "after"), CASES)
def test_edits_change_only_their_part_of_yaml(
    before: str, edits: tuple[Edit, ...], after: str
) -> None:
    fixed = apply(before.encode(), [finding(*edits)], unsafe=False)
    assert fixed.skipped == ()
    assert fixed.content.decode() == after


JSON = '{\n\t"a": 1,\n\t"b": {"c": "x\\u0041"}\n}\n{"a": 2}\n'


@pytest.mark.parametrize(
    ("document", "edit", "after"),
    [
        (0, edit_of("quote", "a"), '{\n\t"a": "1",\n\t"b": {"c": "x\\u0041"}\n}\n{"a": 2}\n'),
        (
            0,
            edit_of("set", "d", to=[True]),
            '{\n\t"a": 1,\n\t"b": {"c": "x\\u0041"},\n\t"d": [true]\n}\n{"a": 2}\n',
        ),
        (0, edit_of("set", "b", "c", to="é"), '{\n\t"a": 1,\n\t"b": {"c": "é"}\n}\n{"a": 2}\n'),
        (0, edit_of("remove", "a"), '{\n\t"b": {"c": "x\\u0041"}\n}\n{"a": 2}\n'),
        (0, edit_of("remove", "b"), '{\n\t"a": 1\n}\n{"a": 2}\n'),
        (
            1,
            edit_of("rename", "a", to="z"),
            '{\n\t"a": 1,\n\t"b": {"c": "x\\u0041"}\n}\n{"z": 2}\n',
        ),
    ],
)
def test_edits_change_only_their_part_of_json(document: int, edit: Edit, after: str) -> None:
    assert (
        apply(JSON.encode(), [finding(edit, document=document)], unsafe=False).content.decode()
        == after
    )


LEFT_ALONE: list[tuple[str, Edit, str]] = [
    ("x: &x {a: 1}\nz: *x\n", edit_of("set", "x", "a", to=2), "an alias shares the value"),
    ("x: &x {a: 1}\nz: *x\n", edit_of("remove", "x"), "an alias shares the value"),
    ("x:\n  y: &y 1\nz: *y\n", edit_of("set", "x", to=2), "an alias shares the value"),
    (
        "x: &x {a: 1}\nz: *x\n",
        edit_of("set", "z", "a", to=2),
        "the value is an alias of a value elsewhere",
    ),
    (
        "x: &x {a: 1}\nz: {<<: *x}\n",
        edit_of("set", "z", "a", to=2),
        "the key a comes from a merge (<<)",
    ),
    ("? a\n: 1\n", edit_of("set", "a", to=2), "its key is written with '?'"),
    (
        "? a\n: 1\n",
        edit_of("rename", "a", to="b"),
        "its key is written with '?', an anchor or a tag",
    ),
    ("a: 1\n", edit_of("remove", "a"), "nothing would be left"),
    ("a: 1\n", edit_of("remove", "b"), "the field does not exist"),
    ("a: 1\n", edit_of("set", "a", "b", to=1), "the field does not exist"),
    ("a: 1\n", edit_of("append", "a", to=1), "the list to append to does not exist"),
    ("a: 1\nb: 2\n", edit_of("rename", "a", to="b"), "b is already there"),
    ("a: 'x'\n", edit_of("quote", "a"), "it is not a plain value"),
    ("a: &a 1\n", edit_of("quote", "a"), "it is not a plain value"),
    ("a: 1\n", edit_of("set", "a", to=1), "there is nothing to change"),
    ("a: |\n  x", edit_of("set", "b", to=1), "the file does not end with a line break"),
    ("a: [1]\n", edit_of("set", "a", 5, to=1), "the field does not exist"),
    ("a: 1\n", edit_of("set", "k" * 2000, to=1), "the key is too long"),
    ("{a: 1}\n", edit_of("set", "b", to=[{"k" * 2000: 1}]), "the key is too long"),
    ('{"a": 1}\n', edit_of("set", "b", to=[{"k" * 2000: 1}]), "the key is too long"),
    ("a: {b: 1}\n", edit_of("set", "a", "c", to=[{"k" * 2000: 1}]), "the key is too long"),
]


@pytest.mark.parametrize(("text", "edit", "why"), LEFT_ALONE)
def test_an_impossible_edit_is_skipped_with_its_reason(text: str, edit: Edit, why: str) -> None:
    fixed = apply(text.encode(), [finding(edit)], unsafe=False)
    assert [(skipped.why, skipped.fault) for skipped in fixed.skipped] == [(why, False)]
    assert (fixed.content, fixed.applied) == (text.encode(), ())


def test_an_alias_itself_may_be_replaced() -> None:
    fixed = apply(b"x: &x {a: 1}\nz: *x # c\n", [finding(edit_of("set", "z", to=2))], unsafe=False)
    assert fixed.content == b"x: &x {a: 1}\nz: 2 # c\n"


def test_other_encodings_and_files_that_cannot_be_read() -> None:
    utf16 = "a: 1\n".encode("utf-16")
    assert (
        apply(utf16, [finding(edit_of("set", "a", to=2))], unsafe=False).skipped[0].why
        == "the file is not UTF-8"
    )
    broken = b"a: [\n"
    assert (
        apply(broken, [finding(edit_of("set", "a", to=2))], unsafe=False).skipped[0].why
        == "the document cannot be read"
    )
    marked = b"\xef\xbb\xbfa: 1\n"
    assert (
        apply(marked, [finding(edit_of("set", "a", to=2))], unsafe=False).content
        == b"\xef\xbb\xbfa: 2\n"
    )


def test_unsafe_fixes_are_applied_only_on_request() -> None:
    fixes = [finding(edit_of("set", "a", to=2)), finding(edit_of("set", "b", to=2), safe=False)]
    assert apply(b"a: 1\nb: 1\n", fixes, unsafe=False).content == b"a: 2\nb: 1\n"
    assert apply(b"a: 1\nb: 1\n", fixes, unsafe=True).content == b"a: 2\nb: 2\n"


def test_overlapping_fixes_wait_for_each_other() -> None:
    text = b"l:\n- a: 1\n- b: 1\n"
    fixes = [
        finding(edit_of("append", "l", to=1)),
        finding(edit_of("append", "l", to=2)),
        finding(edit_of("set", "l", 0, "a", to=2)),
    ]
    fixed = apply(text, fixes, unsafe=False)
    assert fixed.applied == (fixes[0], fixes[2])
    assert fixed.skipped == ()
    assert fixed.content == b"l:\n- a: 2\n- b: 1\n- 1\n"


def test_all_fixes_of_a_round_use_paths_of_the_original_file() -> None:
    fixes = [
        finding(edit_of("remove", "l", 0)),
        finding(edit_of("set", "l", 2, to="z")),
        finding(edit_of("remove", "l", 1)),
    ]
    assert apply(b"l:\n- a\n- b\n- c\n", fixes, unsafe=False).content == b"l:\n- z\n"


def test_documents_of_a_stream_are_fixed_separately() -> None:
    text = b"# one\na: 1\n--- # two\n\na: 1\n---\n---\na: 1 # three"
    fixes = [finding(edit_of("set", "a", to=n + 2), document=n) for n in range(3)]
    assert (
        apply(text, fixes, unsafe=False).content
        == b"# one\na: 2\n--- # two\n\na: 3\n---\n---\na: 4 # three"
    )


@pytest.mark.parametrize(
    ("text", "line", "column", "after"),
    [
        (
            "a: 1\nb:\n  # c\n  x: 1 # one\n  y: 1\n  x: 2\n",
            6,
            3,
            "a: 1\nb:\n  # c\n  y: 1\n  x: 2\n",
        ),
        ("---\nb: 1\n---\nl:\n- x: 1\n  x: 2\n", 6, 3, "---\nb: 1\n---\nl:\n- x: 2\n"),
        ("a: {x: 1, x: 2}\n", 1, 11, "a: {x: 2}\n"),
        ('{"x": 1, "x": 2}\n', 1, 10, '{"x": 2}\n'),
    ],
)
def test_the_first_of_two_equal_keys_is_removed(
    text: str, line: int, column: int, after: str
) -> None:
    twin = finding(Edit("deduplicate", ()))._replace(span=Span(line, column, line, column + 1))
    assert apply(text.encode(), [twin], unsafe=False).content.decode() == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("data:\n" + "  a: 1\n" * 30, "data:\n  a: 1\n"),
        (f"data: {{{', '.join(['a: 1'] * 30)}}}\n", "data: {a: 1}\n"),
        ("l:\n- a: 1\n" + "  a: 1\n" * 30 + "  b: 1\n", "l:\n- a: 1\n  b: 1\n"),
    ],
)
def test_one_round_removes_all_duplicates_of_a_key(text: str, after: str) -> None:
    problems = [problem for problem in read(text).problems if problem.name == "duplicate-key"]
    twins = [finding(Edit("deduplicate", ()))._replace(span=problem.span) for problem in problems]
    made = apply(text.encode(), twins, unsafe=False)
    assert (made.content.decode(), len(made.applied), made.skipped) == (after, len(twins), ())
