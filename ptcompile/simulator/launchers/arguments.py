"""Options before the script, as Python's argparse reads them.

Source: Python 3.11 to 3.14, argparse: an exact spelling first, then every spelling that begins with
the argument; more than one is an error, even if both belong to the same option.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple

NO_SHORT_OPTIONS: Mapping[str, str] = {}


class OptionTable(NamedTuple):
    """The options of a launcher, by their dashed names."""

    names: frozenset[str]
    """All options; empty if only some are known, so that prefixes are not resolved."""
    flags: frozenset[str]
    """Options without a value."""
    short: Mapping[str, str] = NO_SHORT_OPTIONS
    """Names of the one-letter options."""


class GivenOption(NamedTuple):
    """One option of a command line."""

    name: str
    """Its dashed name, completed if the argument is a unique prefix."""
    written: str
    """The argument without its value."""
    value: str | None
    """None for a flag without a value, and for an option at the end whose value is missing."""
    matches: tuple[str, ...] = ()
    """Spellings that an ambiguous prefix could mean."""


def read_arguments(
    table: OptionTable, arguments: Sequence[str]
) -> tuple[tuple[GivenOption, ...], tuple[str, ...]]:
    """Return the options, and the arguments from the script on."""
    given: list[GivenOption] = []
    index = 0
    while index < len(arguments):
        argument = arguments[index]
        if argument == "--":
            return tuple(given), tuple(arguments[index + 1 :])
        if not argument.startswith("-") or argument == "-":
            break

        written, value = _split(argument, table)
        name, matches = _resolve(written, table)
        index += 1
        if value is None and name not in table.flags and index < len(arguments):
            value = arguments[index]
            index += 1
        given.append(GivenOption(name, written, value, matches))

    return tuple(given), tuple(arguments[index:])


def _split(argument: str, table: OptionTable) -> tuple[str, str | None]:
    """Return an argument's option as written, and the value that the same argument contains, if
    any: `-t3`, `--a=b`.
    """
    written, equals, value = argument.partition("=")
    if not equals and len(argument) > 2 and argument[1] != "-" and argument[:2] in table.short:
        return argument[:2], argument[2:]
    return written, value if equals else None


def _resolve(written: str, table: OptionTable) -> tuple[str, tuple[str, ...]]:
    """Return the dashed name of an option, and the spellings that it could mean if it is an
    ambiguous prefix.
    """
    name = written[2:].replace("_", "-")
    if written.startswith("--") and name in table.names:
        return name, ()
    matches = _spellings(table, written)
    name = matches[0] if len(matches) == 1 else table.short.get(written, written)
    return name.lstrip("-").replace("_", "-"), matches if len(matches) > 1 else ()


def _spellings(table: OptionTable, written: str) -> tuple[str, ...]:
    """Return the spellings of options that begin with an argument that is not itself a spelling."""
    stem = written[2:]
    if not written.startswith("--") or not stem:
        return ()
    spellings = {spelling for name in table.names for spelling in (name, name.replace("-", "_"))}
    return tuple(sorted(f"--{spelling}" for spelling in spellings if spelling.startswith(stem)))
