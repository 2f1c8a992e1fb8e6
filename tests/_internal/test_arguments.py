"""Arguments of the public functions: what each kind of parameter takes, and the error for anything else."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ptcompile._internal import arguments
from ptcompile.extending import NONE

Point = namedtuple("Point", "x")


def test_sources_are_returned_or_read(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\n", encoding="utf-8")
    spec = SimpleNamespace(metadata={})
    for value in ("a: 1", b"a: 1", {"a": 1}, [{"a": 1}], spec):
        assert arguments.source(value, "manifests") is value
    assert arguments.source(({"a": 1},), "manifests") == [{"a": 1}]
    assert arguments.source(path, "manifests") == b"a: 1\n"


@pytest.mark.parametrize(
    ("value", "name"), [(5, "int"), (None, "NoneType"), (Point(1), "Point"), ({1}, "set")]
)
def test_anything_else_is_no_source(value: Any, name: str) -> None:
    with pytest.raises(TypeError, match=f"^manifests must be text, bytes, .*, not {name}$"):
        arguments.source(value, "manifests")


def test_a_source_has_the_name_of_its_path_unless_it_has_another() -> None:
    assert arguments.filename(Path("a.yaml"), None) == "a.yaml"
    assert arguments.filename(Path("a.yaml"), "b.yaml") == "b.yaml"
    assert arguments.filename("a: 1", None) is None
    assert arguments.filename("a: 1", "b.yaml") == "b.yaml"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"target": 5}, "target must be a string or None, not int"),
        ({"filename": b"a"}, "filename must be a string or None, not bytes"),
        ({"target": 1.36}, "target must be a string or None, not float"),
        ({"kubernetes": 1.36}, "kubernetes must be a string or None, not float: write '1.36'"),
        ({"kubernetes": 1}, "kubernetes must be a string or None, not int"),
        (
            {"extensions": {}},
            "extensions must be the result of ptcompile.extensions or None, not dict",
        ),
        ({"pause": 5}, "pause must be a function or None, not int"),
        ({"select": "PTC1"}, "select must be a list, not str"),
        ({"select": b"PTC1"}, "select must be a list, not bytes"),
        ({"select": {"a": 1}}, "select must be a list, not dict"),
        ({"select": 5}, "select must be a list, not int"),
        ({"select": None}, "select must be a list, not NoneType"),
    ],
)
def test_a_wrong_type_is_an_error_that_names_the_parameter(
    value: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError) as raised:
        arguments.check(**value)
    assert str(raised.value) == message


def test_arguments_of_the_right_types_pass() -> None:
    for value in (None, "a"):
        arguments.check(target=value, name=value, namespace=value, kubernetes=value)
    arguments.check(extensions=None, pause=None)
    arguments.check(extensions=NONE, pause=print)
    lists: list[Any] = [[], (), {"a"}, (item for item in "ab"), {"a": 1}.keys()]
    for items in lists:
        arguments.check(select=items)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([("a", 1), ("b", 2, 3)], "faults must be a list of pairs, but contains tuple"),
        ([("a",)], "faults must be a list of pairs, but contains tuple"),
        (["ab"], "faults must be a list of pairs, but contains str"),
        ("ab", "faults must be a list, not str"),
    ],
)
def test_pairs_reject_anything_but_pairs(value: Any, message: str) -> None:
    assert arguments.pairs([("a", 1), ["b", 2]], "faults") == [("a", 1), ("b", 2)]
    with pytest.raises(TypeError) as raised:
        arguments.pairs(value, "faults")
    assert str(raised.value) == message


def test_mapping_accepts_a_mapping_or_none() -> None:
    given = {"a": 1}
    assert arguments.mapping(given, "env") is given
    assert arguments.mapping(None, "env") == {}
    wrong: list[Any] = [[], "a", 0]
    for value in wrong:
        with pytest.raises(
            TypeError, match=f"^env must be a mapping or None, not {type(value).__name__}$"
        ):
            arguments.mapping(value, "env")


def test_a_list_of_mappings_rejects_other_items() -> None:
    assert arguments.mappings(({"a": 1},), "others") == [{"a": 1}]
    with pytest.raises(TypeError, match=r"^others must be a list of mappings, but contains str$"):
        arguments.mappings([{}, "a"], "others")


def test_a_list_of_strings_rejects_other_items_and_a_string() -> None:
    assert arguments.strings(("a", "b"), "select") == ["a", "b"]
    with pytest.raises(TypeError, match=r"^select must be a list of strings, but contains int$"):
        arguments.strings(["a", 5], "select")
    with pytest.raises(TypeError, match=r"^select must be a list, not str$"):
        arguments.strings("a", "select")
