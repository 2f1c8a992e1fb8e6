"""The options of sbatch and srun, as getopt_long reads them, in the directives of a script and in a
command line.

`slurm.json` has the options. Source: SchedMD/slurm 284c3b95, src/sbatch/opt.c: _opt_batch_script,
get_argument; docs/facts/slurm.md#how-a-script-is-read.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.importer.slurm.amounts import READERS
from ptcompile.importer.slurm.findings import Offsets
from ptcompile.simulator.launchers.arguments import GivenOption, OptionTable, read_arguments

_WORD = "#SBATCH"
_OTHER_SYSTEMS = ("#PBS", "#BSUB", "#SLURM", "#COBALT", "#FLUX", "#$ -")
_MAX_OPTIONS = 500
_MAX_LINE = 1 << 13
"""Maximum number of characters of a directive that are read."""


def rows_of(name: str) -> Any:
    """Return a part of the table of facts about Slurm, such as `options`."""
    return load_table("importer/slurm/slurm.json")[name]


class SlurmOption(NamedTuple):
    """An option as it is given."""

    name: str
    """Its long name, or the argument as written if there is no such option."""
    value: str
    """Empty without a value."""
    written: str
    """The argument with its value, for messages."""
    place: Offsets
    """Its line in the script, or the command."""
    row: Mapping[str, Any] = {}
    """What the table says about it; empty for an unknown option."""
    wrong: str = ""
    """Why sbatch rejects its form, or empty."""

    @property
    def amount(self) -> Any:
        """Its value as its kind is read, None if sbatch rejects it; the text itself for an
        option without a kind.
        """
        return READERS[self.row.get("is", "text")](self.value)


class Options(dict[str, SlurmOption]):
    """The options that sbatch accepts, by name."""

    def amount(self, name: str) -> Any:
        """Return the amount of an option, or None if it is not given or rejected."""
        return self[name].amount if name in self else None

    def value(self, *names: str) -> str:
        """Return the value of the first of these options that is given, or nothing."""
        return next((self[name].value for name in names if name in self), "")

    def place(self, *names: str) -> Offsets:
        """Return the position of the first of these options that is given, or else the beginning of
        the script.
        """
        return next((self[name].place for name in names if name in self), (0, 0))

    def without(self, names: Iterable[str]) -> Options:
        """Return the other options."""
        return Options({name: option for name, option in self.items() if name not in names})


class Directives(NamedTuple):
    """The head of a batch script."""

    components: list[list[SlurmOption]]
    """The options of each component; a job that is not heterogeneous has one."""
    ignored: list[tuple[Offsets, str]]
    """The place of each line that only looks like a directive, and why."""


_blank_or_comment = re.compile(r"\s*(?:#|$)").match
_not_at_margin = re.compile(r"\s+#SBATCH\s").match


def read_directives(text: str) -> Directives:
    """Return the directives of a script: those before its first command."""
    components: list[list[SlurmOption]] = [[]]
    ignored: list[tuple[Offsets, str]] = []
    in_head = True
    start = 0
    for line in text.split("\n"):
        place = (start, start + len(line))
        start += len(line) + 1
        is_directive = line.startswith(_WORD)
        in_head = in_head and _blank_or_comment(line) is not None
        if is_directive and not in_head:
            ignored.append((place, "sbatch ignores it: it comes after the first command"))
        elif is_directive and sum(map(len, components)) < _MAX_OPTIONS:
            words = split_directive(line[len(_WORD) :])
            if words[:1] in (["hetjob"], ["packjob"]):
                components.append([])
                del words[0]
            components[-1] += _read_directive(words, place)
        elif in_head and _not_at_margin(line):
            ignored.append((place, "sbatch reads it as a comment: a directive starts in column 1"))
        elif in_head and line.startswith(_OTHER_SYSTEMS):
            ignored.append(
                (place, "it is a directive of another scheduler, which sbatch does not read")
            )

    return Directives(components, ignored[:_MAX_OPTIONS])


def split_directive(line: str) -> list[str]:
    """Return the arguments of a directive: quotes are removed, a `#` outside of them ends it,
    nothing is expanded.
    """
    try:
        return shlex.split(line[:_MAX_LINE], comments=True)
    except ValueError:  # a quote without its end
        return line[:_MAX_LINE].split()


def _read_directive(words: Sequence[str], place: Offsets) -> list[SlurmOption]:
    """Return the options of a directive, with the arguments that are no options."""
    options, rest = read_options(words, place)
    while rest:
        word, *following = rest
        options.append(SlurmOption(word, "", word, place, wrong="it is not an option"))
        more, rest = read_options(following, place)
        options += more
    return options


def read_options(words: Sequence[str], place: Offsets) -> tuple[list[SlurmOption], list[str]]:
    """Return the options of a command line, and the program after them with its arguments."""
    table = _table()
    # an unknown option takes no value that looks like another option
    flags = {
        word[2:] for word, following in pairwise(words) if following.startswith("-")
    } - table.names
    given, program = read_arguments(table._replace(flags=table.flags | flags), words)
    return [
        _option(each, place, has_equals=f"{each.written}={each.value}" in words) for each in given
    ], [*program]


@cache
def _table() -> OptionTable:
    rows = rows_of("options")
    return OptionTable(
        names=frozenset(rows),
        flags=frozenset([name for name, row in rows.items() if row["takes"] != "required"]),
        short={f"-{row['short']}": name for name, row in rows.items() if "short" in row},
    )


def _option(given: GivenOption, place: Offsets, *, has_equals: bool) -> SlurmOption:
    """Return an option that was read as argparse reads it, which getopt may reject."""
    rows = rows_of("options")
    is_long = given.written.startswith("--")
    # argparse knows each option with underscores too, sbatch does not
    meant = [match[2:] for match in given.matches if "_" not in match] or [given.name]
    is_other = "_" in given.written and given.written[2:] not in rows
    row = {} if is_other or len(meant) > 1 else rows.get(meant[0], {})
    wrong = f"it may be {' or '.join(meant[:3])}" if len(meant) > 1 else ""
    if has_equals and not is_long:
        wrong = "a short option has no ="

    return SlurmOption(
        name=row.get("alias", meant[0]),
        value=given.value or "",
        written=given.written
        if given.value is None
        else f"{given.written}{'=' if is_long else ' '}{given.value}",
        place=place,
        row=row,
        wrong=wrong,
    )


def last_values(options: Iterable[SlurmOption]) -> Options:
    """Return the options that sbatch accepts, by name: of a repeated option the last counts."""
    return Options({option.name: option for option in options if option.row and not option.wrong})
