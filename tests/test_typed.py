"""Our named tuples behave like typing's, except that annotations are lazy; hints of public types can be resolved."""

from __future__ import annotations

import copy
import inspect
import pickle
import typing
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter

import ptcompile
from ptcompile._internal import namedtuple
from ptcompile.diagnostics import Span


class Ours(namedtuple.NamedTuple):
    """A named tuple with methods."""

    first: int
    second: Unheard = ()  # type: ignore[name-defined] # noqa: F821
    third: dict[str, int] | None = None

    @property
    def double(self) -> int:
        """Return twice the first field."""
        return self.first * 2

    def more(self) -> str:
        """Return a text that names the class."""
        return f"{__class__.__name__} {self.first}"  # type: ignore[name-defined]


class Theirs(typing.NamedTuple):
    """A named tuple with methods."""

    first: int
    second: Any = ()
    third: dict[str, int] | None = None

    @property
    def double(self) -> int:
        """Return twice the first field."""
        return self.first * 2

    def more(self) -> str:
        """Return a text that names the class."""
        return f"Ours {self.first}"


class Below(Ours):
    """A subclass with additional methods and attributes."""

    def more(self) -> str:
        """Return what the base class returns, with "!"."""
        return super().more() + "!"


def _raised(ask: Callable[[], Any]) -> tuple[type, str] | Any:
    try:
        return ask()
    except (TypeError, ValueError, AttributeError) as error:
        return type(error), str(error).replace("Theirs", "Ours")


ASKED: dict[str, Callable[[Any], Any]] = {
    "fields": lambda one: one._fields,
    "defaults": lambda one: one._field_defaults,
    "match": lambda one: one.__match_args__,
    "doc": lambda one: one.__doc__,
    "signature": lambda one: list(inspect.signature(one).parameters),
    "default of the signature": lambda one: inspect.signature(one).parameters["third"].default,
    "bases": lambda one: issubclass(one, tuple) and isinstance(one(1), tuple) and type(one) is type,
    "values": lambda one: tuple(one(1, third={"a": 2})),
    "by name": lambda one: (
        one(second=3, first=2).second,
        one(2).first,
        one(2).double,
        one(2).more(),
    ),
    "repr": lambda one: repr(one(1, "x")).replace("Theirs", "Ours"),
    "equal": lambda one: (
        one(1) == (1, (), None),
        one(1) < one(2),
        hash(one(1)) == hash((1, (), None)),
    ),
    "make": lambda one: tuple(one._make([1, 2, 3])),
    "make too few": lambda one: one._make([]),
    "make too many": lambda one: one._make(range(4)),
    "replace": lambda one: tuple(one(1)._replace(second=5)),
    "replace another": lambda one: one(1)._replace(fourth=5),
    "asdict": lambda one: one(1)._asdict(),
    "pickle": lambda one: pickle.loads(pickle.dumps(one(1, 2))) == one(1, 2),  # noqa: S301
    "copies": lambda one: (
        type(copy.deepcopy(one(1, [2]))) is one,
        copy.copy(one(1, 2)) == one(1, 2),
    ),
    "nothing": lambda one: one(),
    "too many": lambda one: one(1, 2, 3, 4),
    "unknown": lambda one: one(1, fourth=4),
    "twice": lambda one: one(1, first=4),
    "set": lambda one: setattr(one(1), "first", 2),
    "another attribute": lambda one: hasattr(one(1), "__dict__"),
}


@pytest.mark.parametrize("asked", ASKED)
def test_a_named_tuple_equals_that_of_typing(asked: str) -> None:
    ours, theirs = (_raised(lambda one=one: ASKED[asked](one)) for one in (Ours, Theirs))  # type: ignore[misc]
    assert ours == theirs


def test_a_subclass_of_a_named_tuple_is_an_ordinary_class() -> None:
    below = Below(3)
    assert (below.more(), below.double, below._fields) == ("Ours 3!", 6, Ours._fields)
    assert isinstance(below._replace(first=4), Below)


def test_classes_of_as_many_fields_keep_their_own_names() -> None:
    class Other(namedtuple.NamedTuple):
        a: int
        b: int = 2
        c: int = 3

    assert Other(a=1) == (1, 2, 3)
    assert Ours(first=1) == (1, (), None)
    with pytest.raises(
        TypeError, match=r"Other\.__new__\(\) missing 1 required positional argument: 'a'"
    ):
        Other()  # type: ignore[call-arg]


def test_a_match_takes_the_fields_in_order() -> None:
    match Span(1, 2, 3, 4):
        case Span(line, column, end_line=end):
            assert (line, column, end) == (1, 2, 3)
        case _:
            raise AssertionError


PUBLIC = [name for name in ptcompile.__all__ if hasattr(getattr(ptcompile, name), "_fields")]


@pytest.mark.parametrize("name", PUBLIC)
def test_type_hints_of_public_types_resolve(name: str) -> None:
    public = getattr(ptcompile, name)
    assert tuple(typing.get_type_hints(public)) == public._fields
    TypeAdapter(public)  # and of the types in its fields


def test_a_pydantic_model_can_contain_findings() -> None:
    (diagnostic, *_) = ptcompile.lint("kind: Pod").diagnostics
    kept = TypeAdapter(ptcompile.Diagnostic)
    assert kept.validate_json(kept.dump_json(diagnostic)) == diagnostic
