"""The argument parser, and the options that several commands share."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from functools import partial
from itertools import chain, groupby

from ptcompile._internal.limits import MAX_SECONDS
from ptcompile._internal.spelling import is_short_number
from ptcompile.cli import files
from ptcompile.cli.commands import SHARED, OptionRows
from ptcompile.cli.files import UsageError
from ptcompile.cli.reporter import ReportFormat
from ptcompile.report import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ptcompile.cli.overrides import Set
    from ptcompile.extending import Extensions


REPORT_FORMAT = "FORMAT[=FILE]"
"""How usage lines write a report's format."""
ALL = "all"
"""Value of --target for every target that can express the job."""


def add_options(parser: argparse._ActionsContainer, rows: OptionRows) -> None:
    """Add rows of the table of commands: options, rows that commands share, defaults, and options
    that exclude each other.
    """
    for row in rows:
        if isinstance(row, str):
            add_options(parser, SHARED[row])
        elif "defaults" in row:
            parser.set_defaults(**row["defaults"])
        elif "either" in row:
            add_options(parser.add_mutually_exclusive_group(), row["either"])
        else:
            _add_option(parser, **row)


def _add_option(
    parser: argparse._ActionsContainer,
    *,
    names: list[str],
    help: str | None = None,
    type: str | None = None,
    repeatable: bool = False,
    **more: Any,
) -> None:
    """Add an argument or an option. `more`: what else `add_argument` takes."""
    if help is not None:
        more["help"] = help.replace("{formats}", ", ".join(FORMATS))
    if type is not None:
        more["type"] = _TYPES[type]
    if repeatable:
        more |= {"action": "append", "default": []}
    parser.add_argument(*names, **more)


def profile_name(text: str) -> str:
    """Return the profile that an option names: a file, or a cloud's starter if no file has the
    name.
    """
    if os.path.exists(text) or not text.isalpha():
        return text
    name = cloud_name(text)
    files.print_error(
        f"ptcompile: {name} is a built-in starter; ptcompile init --profile --cloud {name} writes "
        "it"
    )
    return files.BUILT_IN + name


def cloud_name(text: str) -> str:
    """Parse the name of a cloud with a starter profile. Raises an error of argparse for an
    unknown one.
    """
    from ptcompile.api.reference import CLOUDS

    starter = files.starter_named(text)
    if starter is not None:
        return starter.removeprefix(files.BUILT_IN)
    starters = f"the starters are {', '.join(CLOUDS)}"
    raise argparse.ArgumentTypeError(
        f"no file and no cloud {text!r}; {starters}; ptcompile init --profile writes one"
    )


def _report_format(text: str) -> ReportFormat:
    """Parse the value of --output-format. Raises an error of argparse for an unknown format or a
    missing file.
    """
    name, equals, file = text.partition("=")
    if name not in FORMATS:
        from ptcompile._internal.spelling import spelling_help

        help = spelling_help(name, FORMATS, f"the formats are {', '.join(FORMATS)}")
        raise argparse.ArgumentTypeError(f"no format {name!r}; {help}")
    if equals and not file:
        raise argparse.ArgumentTypeError(f"name the file, such as {name}=report")

    return ReportFormat(name, file or None)


def _set(text: str) -> Set:
    """Parse the value of --set."""
    from ptcompile.cli import overrides

    return overrides.parse_yaml(text)


def _set_string(text: str) -> Set:
    """Parse the value of --set-string."""
    from ptcompile.cli import overrides

    return overrides.parse_string(text)


def parse_seconds(text: str) -> float:
    """Parse the value of --timeout. Raises ArgumentTypeError, which argparse reports, unless it
    is above 0.
    """
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if 0 < seconds < MAX_SECONDS:
        return seconds
    raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds, such as 60")


def _parse_jobs(text: str) -> int:
    """Parse the value of --jobs. Raises ArgumentTypeError, which argparse reports, unless it is
    a positive number.
    """
    if is_short_number(text) and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes, 1 or more")


def _parse_positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _parse_factor(text: str) -> float:
    number = float(text)
    if not 1 <= number <= 60:
        raise ValueError(text)
    return number


_TYPES = {
    "cloud": cloud_name,
    "factor": _parse_factor,
    "integer": int,
    "override": _set,
    "override of text": _set_string,
    "positive": _parse_positive,
    "processes": _parse_jobs,
    "profile": profile_name,
    "report format": _report_format,
    "seconds": parse_seconds,
}
"""What parses the values of options, by its name in the table of commands."""


def check_target(
    name: str | None, *, extra: tuple[str, ...] = (), extensions: Extensions | None = None
) -> None:
    """Raise `UsageError` for an unknown target. `extra`: other values that the option accepts."""
    if name is None or name in extra:
        return

    # the targets are not loaded for manifests
    from ptcompile.operators.targets import TARGETS

    targets = TARGETS if extensions is None else (*TARGETS, *extensions.targets)
    if name not in targets:
        from ptcompile._internal.spelling import closest_match
        from ptcompile.compiler.frontend.aliases import find_value

        near = find_value("target", name) or closest_match(name, [*targets, *extra])
        if near:
            help = f"did you mean {near}?"
        else:
            help = f"the targets are {', '.join([*targets, *extra])}"
        raise UsageError(f"no target {name!r}; {help}")


class HelpFormatter(argparse.HelpFormatter):
    """argparse's layout of a help, with texts that fit the terminal and no word that is broken
    at a hyphen.
    """

    def _split_lines(self, text: str, width: int) -> list[str]:
        return _wrap_words(" ".join(text.split()), width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return fit(text, width)


def fit(text: str, width: int) -> str:
    """Return paragraphs wrapped to a width. If an example is too long, the comments of its block
    go below the lines.
    """
    lines: list[str] = []
    for is_example, group in groupby(text.splitlines(), key=lambda line: line.startswith(" ")):
        block = list(group)
        if is_example:
            is_short = max(map(len, block)) <= width
            lines += block if is_short else chain.from_iterable(map(_parted_example, block))
            continue

        for is_blank, paragraph in groupby(block, key=lambda line: not line):
            lines += [""] if is_blank else _wrap_words(" ".join(paragraph), width)

    return "\n".join(lines)


def _wrap_words(text: str, width: int) -> list[str]:
    from textwrap import wrap

    return wrap(text, width, break_long_words=False, break_on_hyphens=False)


def _parted_example(line: str) -> list[str]:
    """Return an example with its comment in the next line."""
    command, _, comment = line.strip().partition("  ")
    return [f"  {command}", *([f"      {comment.strip()}"] if comment else [])]


class Parser(argparse.ArgumentParser):
    """argparse's parser with the terminal's width and suggestions for misspelled options."""

    def __init__(self, **arguments: Any) -> None:
        if sys.version_info >= (3, 14):
            # Python 3.14 colors help itself; the help of ptcompile is the same on every version
            arguments["color"] = False
        super().__init__(
            formatter_class=partial(HelpFormatter, width=terminal_width() - 2), **arguments
        )
        self._positionals.title, self._optionals.title = "Arguments", "Options"

    def shorten_usage(self) -> None:
        """Make the usage one line: the options are listed below it in the help, and a mistake
        names its own.
        """
        forms = {"*": "[{} ...]", "+": "{} ...", "?": "[{}]"}
        positionals = [
            forms.get(str(action.nargs), "{}").format(
                action.metavar or f"{{{','.join(action.choices or ())}}}"
            )
            for action in self._get_positional_actions()
        ]
        self.usage = " ".join([self.prog, "[OPTIONS]", *positionals])

    def print_help(self, _file: object = None) -> None:
        """Print the help, in color on a terminal."""
        from ptcompile.cli import presentation

        presentation.write_painted(self.format_help(), presentation.HELP)

    def error(self, message: str) -> NoReturn:
        """Report a usage error, with suggestions for unknown options; exit with status 2.

        With options between files, argparse counts the files after an unknown option among the
        unknown arguments.
        """
        before, marker, words = message.partition("unrecognized arguments: ")
        unknown = [word for word in words.split() if word.startswith("-")]
        if unknown and marker and not before:
            message = marker + " ".join(unknown) + "".join(self._suggestions(unknown))
        elif marker and not before and "--output" in self._option_string_actions:
            message += f"; to write to a file, use -o {words}"
        from ptcompile.report.layout import safe_text

        super().error(safe_text(message))

    def _suggestions(self, unknown: list[str]) -> Iterator[str]:
        """Yield a suggestion for each option that is similar to a known one."""
        from ptcompile._internal.spelling import closest_match

        options = sorted(self._option_string_actions)
        for word in unknown:
            near = closest_match(word.partition("=")[0], options) if word.startswith("--") else None
            if near:
                yield f"; did you mean {near}?"


def terminal_width(default: int = 80) -> int:
    """Return the width of the terminal, or `default` for other output.

    It is determined as shutil does, which imports three archive modules.
    """
    columns = os.environ.get("COLUMNS", "")
    if is_short_number(columns) and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or default  # type: ignore[union-attr]  # errors are caught
    except (AttributeError, ValueError, OSError):
        # the stream is closed, or is not a terminal
        return default
