"""The parser of a command line, which looks once how wide its help may be, and not for each of its options.

argparse itself asks shutil each time, and that imports the readers of three archive formats.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from functools import partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, NoReturn

_COLUMNS: Final = 80
"""For anything but a terminal."""


class Parser(argparse.ArgumentParser):
    """argparse's, and so are those of its commands."""

    def __init__(self, *, formatter_class: Any = argparse.HelpFormatter, **given: Any) -> None:
        super().__init__(formatter_class=partial(formatter_class, width=_columns() - 2), **given)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line, with the options that were meant; exit status 2."""
        super().error(message + "".join(self._meant(message)))

    def _meant(self, message: str) -> Iterator[str]:
        """The near options of those that argparse does not know."""
        known, found, unknown = message.partition("unrecognized arguments: ")
        if known or not found:
            return
        from ptcompile.kubernetes.names import suggest

        options = sorted({name for parser in self._with_commands() for name in parser._option_string_actions})
        for word in unknown.split():
            near = suggest(word.partition("=")[0], options) if word.startswith("--") else None
            if near:
                yield f"; did you mean {near}?"

    def _with_commands(self) -> Iterator[argparse.ArgumentParser]:
        yield self
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                yield from action.choices.values()


def _columns() -> int:
    """How wide the terminal is, as shutil finds it."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or _COLUMNS  # type: ignore[union-attr]  # caught
    except (AttributeError, ValueError, OSError):  # closed, or no terminal
        return _COLUMNS
