"""Values at a path: found in mappings, lists and tuples; whatever does not fit is missing."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile._internal.paths import MISSING, get, has

DATA = {"spec": {"args": ["a", "b"], "command": None, "env": ({"name": "A"},)}, 1: "one"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((), DATA),
        (("spec", "args", 1), "b"),
        (("spec", "env", 0, "name"), "A"),
        (("spec", "command"), None),
        ((1,), "one"),
    ],
)
def test_what_is_there(path: tuple[str | int, ...], value: Any) -> None:
    assert get(DATA, path, MISSING) == value
    assert has(DATA, path)


@pytest.mark.parametrize(
    "path",
    [
        ("metadata",),
        ("spec", "args", 2),
        ("spec", "args", -1),
        ("spec", "args", "0"),
        ("spec", "args", 0, 0),
        ("spec", "command", "x"),
        ("spec", 0),
    ],
)
def test_what_is_missing(path: tuple[str | int, ...]) -> None:
    assert get(DATA, path) is None
    assert get(DATA, path, MISSING) is MISSING
    assert not has(DATA, path)
