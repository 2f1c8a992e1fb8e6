"""The parts of typing that are needed at run time, without importing typing.

That import takes 15 M of the 200 to 280 M instructions of a cold start, and each named tuple made
by typing takes 0.3 to 0.6 M more, mostly to compile `__new__` and to read annotations: 60 M for
those that a lint loads. So:

- `TYPE_CHECKING = False` precedes `if TYPE_CHECKING:` in every module. Type checkers treat it as
  true, and at run time typing is not imported even for its constant. Names that only annotations
  use are imported there; they are never evaluated (`from __future__ import annotations`).
- `NamedTuple`, `cast`, `dataclass_transform` and `Any` come from here. To type checkers they are
  typing's.
- A public type imports what its hints name at run time, for programs that read them
  (`typing.get_type_hints`, pydantic): from its siblings, and from typing only in modules that no
  cold start loads.
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
        from _collections import _tuplegetter as _field  # as in collections
    except ImportError:
        from operator import itemgetter

        def _field(index: int, doc: str) -> property:
            """Return a field of a tuple by its index."""
            return property(itemgetter(index), doc=doc)

    # for the hints of public types, which programs may read (typing.get_type_hints, pydantic)
    Any = object

    def cast(_kind: object, value: Any) -> Any:
        """Return the value unchanged."""
        return value

    def dataclass_transform(**_options: bool) -> Callable[[type], type]:
        """Return a decorator that returns the class unchanged."""
        return lambda base: base

    class _Named(tuple):
        """The methods that all named tuples share; they behave as those of
        collections.namedtuple.
        """

        __slots__ = ()
        _fields = ()

        @classmethod
        def _make(cls, values: Iterable[Any]) -> Self:
            """Return an instance with these values, in the order of the fields."""
            instance = tuple.__new__(cls, values)
            if len(instance) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(instance)}")
            return instance

        def _replace(self, /, **changed: Any) -> Self:
            """Return a copy with other values in some fields."""
            copy = tuple.__new__(type(self), map(changed.pop, self._fields, self))
            if changed:
                raise ValueError(f"Got unexpected field names: {list(changed)!r}")
            return copy

        def _asdict(self) -> dict[str, Any]:
            """Return the values by field name."""
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            fields = ", ".join(
                [f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True)]
            )
            return f"{type(self).__name__}({fields})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

    _makers: dict[int, FunctionType] = {}

    def _maker(name: str, fields: tuple[str, ...], defaults: dict[str, Any]) -> FunctionType:
        """Return `__new__` of a class, compiled once per number of fields, which saves two thirds
        of the time to make a class.
        """
        words = ", ".join([f"_{index}" for index in range(len(fields))])
        if len(fields) not in _makers:
            make = eval(f"lambda _cls, {words}: _new(_cls, ({words},))", {"_new": tuple.__new__})  # noqa: S307
            _makers[len(fields)] = make
        make = _makers[len(fields)]
        code = make.__code__.replace(
            co_varnames=("_cls", *fields), co_name="__new__", co_qualname=f"{name}.__new__"
        )
        return FunctionType(code, make.__globals__, "__new__", tuple(defaults.values()))

    class _Making(type):
        """Makes a subclass of `tuple` from a class whose annotations name its fields."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:
                return type.__new__(cls, name, bases, body)

            fields = tuple(body.get("__annotations__", ()))
            defaults = {field: body[field] for field in fields if field in body}
            body |= {field: _field(index, "") for index, field in enumerate(fields)}
            body |= {
                "__new__": _maker(name, fields, defaults),
                "__slots__": (),
                "__match_args__": fields,
            }

            return type(name, (_Named,), body | {"_fields": fields, "_field_defaults": defaults})

    class NamedTuple(metaclass=_Making):
        """`typing.NamedTuple` in half the time: annotations are strings and never evaluated."""


def with_field_texts(kind: type) -> str:
    """Return the docstring of a public type with a line for each field, for `help()`. The texts
    below fields are read from the source, because the interpreter drops them.
    """
    import ast
    import inspect
    from itertools import pairwise

    texts = {
        name: field.description or "" for name, field in getattr(kind, "model_fields", {}).items()
    }
    tuples = [base for base in reversed(kind.__mro__) if hasattr(base, "__match_args__")]
    for base in tuples:
        try:
            (tree,) = ast.parse(inspect.getsource(base)).body
        except OSError:  # installed without its source
            continue
        for field, text in pairwise(cast("ast.ClassDef", tree).body):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                texts[ast.unparse(field.target)] = " ".join(ast.literal_eval(text.value).split())

    lines = [f"{name}: {text}" for name, text in texts.items() if text]
    return "\n".join([inspect.getdoc(kind) or "", *(["", "Fields:", *lines] if lines else [])])
