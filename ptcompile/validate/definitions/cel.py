"""CEL expressions, by the library `common-expression-language`, with Kubernetes' own functions.

The library is loaded when a rule is first asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_RESERVED: Final = frozenset(
    [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ]
)
_MARKS: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}


class Unreadable(Exception):  # noqa: N818  # a state of affairs, not a fault
    """An expression that cannot be asked here: a function or a form that the library does not have."""


def escaped(name: str) -> str:
    """The name of a field in an expression: `a-b` is `a__dash__b`, `if` is `__if__`."""
    if name in _RESERVED:
        return f"__{name}__"
    return re.sub(r"__|[./-]", lambda found: _MARKS[found.group()], name)


def ask(text: str, names: Mapping[str, Any]) -> bool:
    """Whether an expression is true of these values.

    Raises KeyError where it reads a key that is not there, and Unreadable where it cannot be asked.
    """
    try:
        import cel
    except ImportError as error:
        raise Unreadable("common-expression-language is not installed") from error
    context = cel.Context(variables=dict(names))
    for name, function in functions().items():
        if name in text:
            context.add_function(name, function)
    try:
        return _program(text).execute(context) is True
    except KeyError:
        raise
    except Exception as error:  # the library raises what it likes
        raise Unreadable(str(error).splitlines()[0] if str(error) else type(error).__name__) from error


def checked(text: str) -> str | None:
    """What is wrong with an expression as such; None where it can be asked."""
    try:
        _program(text)
    except ImportError:
        return "common-expression-language is not installed"
    except Exception as error:  # the library raises what it likes
        return " ".join(str(error).split())[:300] or type(error).__name__
    return None


@cache
def _program(text: str) -> Any:
    import cel

    return cel.compile(text)


@cache
def functions() -> dict[str, Callable[..., Any]]:
    """Kubernetes' functions by name; a method's first argument is what it is called on."""
    from ptcompile.validate.definitions.cel_library import FUNCTIONS

    return FUNCTIONS
