"""The law of fixes: in any file, a fix changes the data as its edit says and preserves all unrelated lines."""

from __future__ import annotations

import copy
import re
from typing import Any

from hypothesis import HealthCheck, assume, given, settings, strategies as st

from ptcompile.diagnostics import Edit, Path
from ptcompile.fixer import Skipped, apply
from ptcompile.fixer.changes import canonical
from ptcompile.source.documents import Document, read
from tests.fixer.documents import KEYS, NEW, stream
from tests.fixer.making import finding
from tests.places import places

REASONS = (
    "an alias shares the value",
    "the value is an alias of a value elsewhere",
    "there is nothing to change",
    "nothing would be left",
    "it is not a plain value",
    "a comment precedes the comma",
    "the file does not end with a line break",
)
"""Acceptable reasons for skipping a fix in these files; any other is a bug."""


def allowed(skipped: Skipped, content: bytes) -> bool:
    """Return whether a fix may be skipped. Empty lines after a removed part would join a preceding `|+` block."""
    return skipped.why in REASONS or (
        skipped.why == "the edited text would not match the fix" and b"|+" in content
    )


def value_at(data: Any, path: Path) -> Any:
    for part in path:
        data = data[part]
    return data


def done(data: Any, edit: Edit) -> Any:
    """Return the data after the edit, computed in the simplest way."""
    data = copy.deepcopy(data)
    *above, last = edit.path
    box = value_at(data, tuple(above))
    if edit.op == "set":
        if box is None:
            box = {}
            value_at(data, tuple(above[:-1]))[above[-1]] = box
        box[last] = edit.value
    elif edit.op == "remove":
        del box[last]
    elif edit.op == "append":
        box[last] = (
            [*(box.get(last) or ()), edit.value]
            if isinstance(box, dict)
            else [*(box[last] or ()), edit.value]
        )
    elif edit.op == "rename":
        items = [(edit.value if key == last else key, value) for key, value in box.items()]
        box.clear()
        box.update(items)
    return data


@st.composite
def edits(draw: st.DrawFn, data: Any) -> Edit:
    """Draw an edit that applies to the data."""
    path = draw(st.sampled_from(list(places(data))))
    value, box = value_at(data, path), value_at(data, path[:-1])
    ops = ["set", "remove"]
    ops += ["append"] if value is None or isinstance(value, list) else []
    ops += ["add"] if value is None or isinstance(value, dict) else []
    ops += ["rename"] if isinstance(box, dict) else []
    op = draw(st.sampled_from(ops))
    if op == "rename":
        return Edit(
            "rename",
            path,
            draw(st.sampled_from([key for key in (*KEYS, "fresh") if key not in box])),
        )
    if op == "add":
        taken = value or {}
        return Edit(
            "set",
            (*path, draw(st.sampled_from([k for k in (*KEYS, "fresh") if k not in taken]))),
            draw(NEW),
        )
    if op == "remove":
        return Edit("remove", path)
    return Edit("append" if op == "append" else "set", path, draw(NEW))


def touched(document: Document, edit: Edit) -> tuple[int, int]:
    """Return the lines of the edited value, or of the collection that grows, according to the reader's positions."""
    path = edit.path
    if edit.op == "remove" and len(value_at(document.data, path[:-1])) == 1:
        path = path[:-1]  # `{}` goes on the parent key's line
    while path and not exists(document.data, path):
        path = path[:-1]
    value, key = document.span(path), document.span(path, on_key=True)
    assert value is not None
    assert key is not None
    return min(value.line, key.line), max(value.end_line, key.end_line)


def exists(data: Any, path: Path) -> bool:
    try:
        value_at(data, path)
    except (LookupError, TypeError):
        return False
    return True


def is_subsequence(few: list[str], many: list[str]) -> bool:
    """Return whether all lines remain in order; the line after a removed part may have moved up to its dash."""
    left = map(plain, many)
    return all(plain(one) in left for one in few)


def plain(line: str) -> str:
    """Return a line without the dash before it and the comma after it, which belong to its neighbors."""
    return re.sub(r",(?=\s*(#|$))", "", line.rstrip("\r").lstrip(" -"))


@settings(
    max_examples=2 * settings().max_examples,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    deadline=None,
)
@given(stream(), st.data())
def test_a_fix_makes_its_edit_and_preserves_other_lines(
    content: bytes, data: st.DataObject
) -> None:
    source = read(content)
    assume(source.documents and not source.problems)
    document = data.draw(st.sampled_from(source.documents))
    assume(document.data)
    edit = data.draw(edits(document.data))
    fixed = apply(content, [finding(edit, document=document.index)], unsafe=False)
    if fixed.skipped:
        assert allowed(fixed.skipped[0], content), (edit, fixed.skipped[0].why)
        assert fixed.content == content
        return
    after = read(fixed.content)
    assert not after.problems
    wanted = [done(one.data, edit) if one is document else one.data for one in source.documents]
    assert [canonical(document.data) for document in after.documents] == [
        canonical(data) for data in wanted
    ]
    assert fixed.content.startswith(b"\xef\xbb\xbf") == content.startswith(b"\xef\xbb\xbf")
    first, last = touched(document, edit)
    old, new = (
        content.decode("utf-8-sig").split("\n"),
        fixed.content.decode("utf-8-sig").split("\n"),
    )
    stay = [
        line
        for line in old[: first - 1] + old[last:]
        if edit.op != "remove" or plain(line) not in ("", "#- far: right")
    ]
    assert is_subsequence(stay, new), (edit, fixed.content.decode())
    if b"\r\n" in content:
        assert fixed.content.count(b"\n") == fixed.content.count(b"\r\n")
    assert fixed.content.endswith(b"\n") == content.endswith(b"\n") or edit.op == "remove"


@settings(
    max_examples=2 * settings().max_examples,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    deadline=None,
)
@given(stream(), st.data(), st.booleans())
def test_two_edits_apply_together_or_not_at_all(
    content: bytes, data: st.DataObject, as_one: bool
) -> None:
    """In one fix, each edit applies to the result of the previous one; in two fixes, each applies to the original
    file.
    """
    source = read(content)
    assume(source.documents and not source.problems and source.documents[0].data)
    document = source.documents[0]
    first = data.draw(edits(document.data))
    second_in = done(document.data, first) if as_one else document.data
    assume(list(places(second_in)))
    second = data.draw(edits(second_in))
    fixes = [finding(first, second)] if as_one else [finding(first), finding(second)]
    fixed = apply(content, fixes, unsafe=False)
    assert not any(skipped.fault and not allowed(skipped, content) for skipped in fixed.skipped), (
        first,
        second,
    )
    after = read(fixed.content)
    assert not after.problems
    if as_one:
        assert not fixed.skipped or allowed(fixed.skipped[0], content), fixed.skipped[0].why
        wanted = document.data if fixed.skipped else done(second_in, second)
        assert canonical(after.documents[0].data) == canonical(wanted)
    elif len(fixed.applied) == 1:
        wanted = done(
            document.data, fixed.applied[0].fix.edits[0] if fixed.applied[0].fix else first
        )
        assert canonical(after.documents[0].data) == canonical(wanted)
