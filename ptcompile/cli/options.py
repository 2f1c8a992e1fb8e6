"""The argument parser, and the options that several commands share."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from functools import partial

from ptcompile.cli.files import UsageError
from ptcompile.report import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, NoReturn

    from ptcompile.extending import Extensions


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add --cluster, and the form of the findings."""
    parser.add_argument("--cluster", metavar="FILE", help="the cluster profile (kind: ClusterProfile)")
    add_output_format(parser)


def add_output_format(parser: argparse.ArgumentParser) -> None:
    """Add --output-format, the form of the findings."""
    parser.add_argument(
        "--output-format", choices=FORMATS, default="full", help="how to print findings (default: full)"
    )
    parser.add_argument(
        "--untrusted", action="store_true", help="for input of strangers: lower limits, no lines of files outside"
    )


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add --jobs, how many processes share the files."""
    parser.add_argument(
        "--jobs", type=_jobs, metavar="N", help="number of processes (default: one per core if there are many files)"
    )


def _jobs(text: str) -> int:
    """What --jobs reads. Raises ArgumentTypeError, which argparse reports, for anything but a number above 0."""
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    from argparse import ArgumentTypeError

    raise ArgumentTypeError(f"{text!r} is not a number of processes, 1 or more")


def check_target(name: str | None, *, beside: tuple[str, ...] = (), extensions: Extensions | None = None) -> None:
    """Raises `UsageError` for a target that does not exist. `beside`: other words that the option takes."""
    if name is None:
        return
    from ptcompile.registry.targets import TARGETS  # manifests alone do without

    known = TARGETS if extensions is None else (*TARGETS, *extensions.targets)
    if name not in known:
        from ptcompile._internal.spelling import closest_match

        near = closest_match(name, [*known, *beside])
        help = f"did you mean {near}?" if near else f"the targets are {', '.join([*known, *beside])}"
        raise UsageError(f"no target {name!r}; {help}")


_COLUMNS: Final = 80
"""For anything but a terminal. argparse asks shutil for them each time, which imports the readers of three archive
formats."""


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
        from ptcompile._internal.spelling import closest_match

        options = sorted({name for parser in self._with_commands() for name in parser._option_string_actions})
        for word in unknown.split():
            near = closest_match(word.partition("=")[0], options) if word.startswith("--") else None
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
