"""What typing is asked for at run time, without an import of typing.

That import is 15 M of the 200 to 280 M instructions of a cold start, and each named tuple that typing makes is 0.3 to
0.6 M more, most of it to compile `__new__` and to look at annotations: 60 M for those that a lint loads. So:

- `TYPE_CHECKING = False` stands in every module before `if TYPE_CHECKING:`. Type checkers take it for true, and at run
  time typing is not even imported for its constant. What annotations alone name is imported there; they are never
  evaluated (`from __future__ import annotations`).
- `NamedTuple`, `cast`, `dataclass_transform` and `Any` come from here. To type checkers they are typing's own.
- A public type imports what its hints name at run time, for programs that ask (`typing.get_type_hints`, pydantic):
  from its siblings, and from typing itself only in modules that no cold start reads.
"""

from __future__ import annotations

__all__ = ["Any", "NamedTuple", "cast", "dataclass_transform"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, NamedTuple, Self, cast, dataclass_transform
else:
    from types import FunctionType

    try:
        from _collections import _tuplegetter as _field  # as collections has it
    except ImportError:
        from operator import itemgetter

        def _field(index: int, doc: str) -> property:
            """A field of a tuple by its place."""
            return property(itemgetter(index), doc=doc)

    Any = object  # for the hints of public types, which programs may ask for (typing.get_type_hints, pydantic)

    def cast(_kind: object, value: Any) -> Any:
        """The value."""
        return value

    def dataclass_transform(**_options: bool) -> Callable[[type], type]:
        """Leaves a class as it is."""
        return lambda base: base

    class _Named(tuple):
        """What all named tuples do alike, word for word what those of collections do."""

        __slots__ = ()
        _fields = ()

        @classmethod
        def _make(cls, values: Iterable[Any]) -> Self:
            """One of the fields' values, in their order."""
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changed: Any) -> Self:
            """The same with other values in some fields."""
            made = tuple.__new__(type(self), map(changed.pop, self._fields, self))
            if changed:
                raise ValueError(f"Got unexpected field names: {list(changed)!r}")
            return made

        def _asdict(self) -> dict[str, Any]:
            """Its values by their fields' names."""
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            fields = ", ".join([f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True)])
            return f"{type(self).__name__}({fields})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

    _makers: dict[int, FunctionType] = {}

    def _maker(name: str, fields: tuple[str, ...], defaults: dict[str, Any]) -> FunctionType:
        """`__new__` of a class, compiled once for each number of fields: that is two thirds of making a class."""
        words = ", ".join([f"_{index}" for index in range(len(fields))])
        if len(fields) not in _makers:
            make = eval(f"lambda _cls, {words}: _new(_cls, ({words},))", {"_new": tuple.__new__})  # noqa: S307
            _makers[len(fields)] = make
        make = _makers[len(fields)]
        code = make.__code__.replace(co_varnames=("_cls", *fields), co_name="__new__", co_qualname=f"{name}.__new__")
        return FunctionType(code, make.__globals__, "__new__", tuple(defaults.values()))

    class _Making(type):
        """Makes a subclass of `tuple` of a class whose annotations name its fields."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:
                return type.__new__(cls, name, bases, body)
            fields = tuple(body.get("__annotations__", ()))
            defaults = {field: body[field] for field in fields if field in body}
            body |= {field: _field(index, "") for index, field in enumerate(fields)}
            body |= {"__new__": _maker(name, fields, defaults), "__slots__": (), "__match_args__": fields}
            return type(name, (_Named,), body | {"_fields": fields, "_field_defaults": defaults})

    class NamedTuple(metaclass=_Making):
        """`typing.NamedTuple` for half of its time: annotations are texts, and never evaluated."""
