"""Named tuples that are made without typing behave like typing's."""

from __future__ import annotations

import copy
import pickle
import typing

import pytest

from ptcompile._internal.namedtuple import NamedTuple, cast


class Ours(NamedTuple):
    """A class made without typing."""

    name: str
    size: int = 1

    @property
    def double(self) -> int:
        return 2 * self.size


class Theirs(typing.NamedTuple):
    """The same class made by typing."""

    name: str
    size: int = 1


def test_named_tuples_behave_like_those_of_collections() -> None:
    ours = Ours("a")
    assert (ours.name, ours.size, ours.double, tuple(ours)) == ("a", 1, 2, ("a", 1))
    assert (Ours._fields, Ours._field_defaults, Ours.__match_args__) == (
        Theirs._fields, Theirs._field_defaults, Theirs.__match_args__,
    )  # fmt: skip
    assert ours == Ours(name="a", size=1) == ("a", 1)
    assert Ours("a", 2) != ours
    assert ours._asdict() == Theirs("a")._asdict() == {"name": "a", "size": 1}
    assert repr(ours) == "Ours(name='a', size=1)"
    assert ours._replace(size=3) == Ours("a", 3)
    assert copy.copy(ours) == pickle.loads(pickle.dumps(ours)) == ours  # noqa: S301


@pytest.mark.parametrize("kind", [Ours, Theirs])
def test_wrong_fields_are_errors(kind: typing.Any) -> None:
    assert kind._make(["a", 2]) == kind("a", 2)
    for values in ((), ("a",), ("a", 2, 3)):
        with pytest.raises(TypeError, match=f"Expected 2 arguments, got {len(values)}"):
            kind._make(values)
    with pytest.raises(ValueError, match="Got unexpected field names: \\['length'\\]"):
        kind("a")._replace(length=5)
    with pytest.raises(TypeError):
        kind()
    with pytest.raises(TypeError):
        kind("a", 1, 2)
    with pytest.raises(AttributeError):
        kind("a").other = 5


def test_casting_changes_nothing() -> None:
    value: typing.Any = ["a"]
    assert cast("list[int]", value) is value
