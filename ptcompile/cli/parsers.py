"""The parser of a command line, which looks once how wide its help may be, and not for each of its options.

argparse itself asks shutil each time, and that imports the readers of three archive formats.
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from typing import Any, Final

_COLUMNS: Final = 80
"""Of what is no terminal."""


class Parser(argparse.ArgumentParser):
    """argparse's, and so are those of its commands."""

    def __init__(self, *, formatter_class: Any = argparse.HelpFormatter, **given: Any) -> None:
        super().__init__(formatter_class=partial(formatter_class, width=_columns() - 2), **given)


def _columns() -> int:
    """How wide the terminal is, as shutil finds it."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or _COLUMNS  # type: ignore[union-attr]  # caught
    except (AttributeError, ValueError, OSError):  # closed, or no terminal
        return _COLUMNS
