"""The options of sbatch and srun, as getopt_long reads them, in the directives of a script and in a command line.

`slurm.json` has the options. Source: SchedMD/slurm 284c3b95, src/sbatch/opt.c: _opt_batch_script, get_argument;
docs/facts/slurm.md#how-a-script-is-read.
"""

from __future__ import annotations

import re
import shlex
from collections import deque
from collections.abc import Iterable, Mapping

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.importer.slurm.amounts import READERS

_WORD = "#SBATCH"
_OTHER_SYSTEMS = ("#PBS", "#BSUB", "#SLURM", "#COBALT", "#FLUX", "#$ -")
_MAX_OPTIONS = 500
_MAX_LINE = 1 << 13
"""Maximum number of characters of a directive that are read."""
_NO_ROW: Mapping[str, Any] = {}


class SlurmOption(NamedTuple):
    """An option as it is given."""

    name: str
    """Its long name, or the argument as written if there is no such option."""
    value: str
    """Empty without a value."""
    written: str
    """The argument with its value, for messages."""
    place: tuple[int, int]
    """Start and end of its line in the script, or of the command."""
    wrong: str = ""
    """Why sbatch rejects its form, or empty."""

    @property
    def row(self) -> Mapping[str, Any]:
        """What the table says about it; empty for an unknown option."""
        return option_table().get(self.name, _NO_ROW)

    @property
    def amount(self) -> Any:
        """Its value as its kind is read, None if sbatch rejects it; the text itself for an option without a kind."""
        read = READERS.get(self.row.get("is", ""))
        return self.value if read is None else read(self.value)


class Directives(NamedTuple):
    """The head of a batch script."""

    components: tuple[tuple[SlurmOption, ...], ...]
    """The options of each component; a job that is not heterogeneous has one."""
    ignored: tuple[tuple[tuple[int, int], str], ...]
    """The place of each line that only looks like a directive, and why."""


def option_table() -> Mapping[str, Mapping[str, Any]]:
    """Return the options of sbatch, srun, pyxis and shifter, by their long names."""
    options: Mapping[str, Any] = load_table("importer/slurm/slurm.json")["options"]
    return options


_blank_or_comment = re.compile(r"\s*(?:#|$)").match
_not_at_margin = re.compile(r"\s+#SBATCH\s").match


def read_directives(text: str) -> Directives:
    """Return the directives of a script: those before its first command."""
    components: list[list[SlurmOption]] = [[]]
    ignored: list[tuple[tuple[int, int], str]] = []
    in_head = True
    start = 0
    for line in text.split("\n"):
        place = (start, start + len(line))
        start += len(line) + 1
        is_directive = line.startswith(_WORD)
        if is_directive and not in_head:
            ignored.append((place, "sbatch ignores it: it comes after the first command"))
        elif is_directive and sum(map(len, components)) < _MAX_OPTIONS:
            words = split_directive(line[len(_WORD) :])
            if words[:1] in (["hetjob"], ["packjob"]):
                components.append([])
                del words[0]
            components[-1] += read_options(words, place)[0]
        elif in_head and _not_at_margin(line):
            ignored.append((place, "sbatch reads it as a comment: a directive starts in column 1"))
        elif in_head and line.startswith(_OTHER_SYSTEMS):
            ignored.append((place, "it is a directive of another scheduler, which sbatch does not read"))
        in_head = in_head and _blank_or_comment(line) is not None
    return Directives(tuple(map(tuple, components)), tuple(ignored[:_MAX_OPTIONS]))


def split_directive(line: str) -> list[str]:
    """Return the arguments of a directive: quotes are removed, a `#` outside of them ends it, nothing is expanded."""
    try:
        return shlex.split(line[:_MAX_LINE], comments=True)
    except ValueError:  # a quote without its end
        return line[:_MAX_LINE].split()


def read_options(
    words: Iterable[str], place: tuple[int, int], *, is_step: bool = False
) -> tuple[list[SlurmOption], list[str]]:
    """Return the options of a command line, and the program after them with its arguments.

    A directive has only options; in a step of srun, the first other argument begins the program.
    """
    options: list[SlurmOption] = []
    rest = deque(words)
    while rest:
        word = rest[0]
        is_option = word.startswith("-") and word != "-"
        if is_step and not is_option:
            break
        rest.popleft()
        if word == "--":
            break
        if not is_option:
            options.append(SlurmOption(word, "", word, place, "it is not an option"))
        elif word.startswith("--"):
            options.append(_read_name(word, rest, place))
        else:
            options += _read_letters(word, rest, place)
    return options, [*rest]


def _read_name(word: str, rest: deque[str], place: tuple[int, int]) -> SlurmOption:
    """Return a long option, or an unambiguous prefix of it; the value may be the next argument."""
    written, equals, value = word[2:].partition("=")
    table = option_table()
    names = [written] if written in table else [name for name in table if written and name.startswith(written)]
    is_ambiguous = len(names) > 1 and len(written) > 1
    if len(names) != 1:
        takes_next = not equals and not is_ambiguous and rest and not rest[0].startswith("-")
        wrong = f"it may be {' or '.join(names[:3])}" if is_ambiguous else ""
        return SlurmOption(written, rest.popleft() if takes_next else value, word, place, wrong)

    (name,) = names
    row = table[name]
    if not equals and row["takes"] == "required":
        value = rest.popleft() if rest else ""
        word = f"{word}={value}"
    return SlurmOption(row.get("alias", name), value, word, place)


def _read_letters(word: str, rest: deque[str], place: tuple[int, int]) -> list[SlurmOption]:
    """Return the options of `-Ht10`: letters without a value, and then perhaps one that takes all that follows."""
    options: list[SlurmOption] = []
    for index, letter in enumerate(word[1:], 2):
        name = next((name for name, row in option_table().items() if row.get("short") == letter), word)
        takes = option_table()[name]["takes"] if name != word else ""
        if takes == "none":
            options.append(SlurmOption(name, "", f"-{letter}", place))
            continue
        if not takes:
            return [*options, SlurmOption(word, "", word, place)]

        value = word[index:]
        if not value and takes == "required" and rest:
            value = rest.popleft()
        wrong = "a short option has no =" if value.startswith("=") else ""
        return [*options, SlurmOption(name, value, f"-{letter} {value}", place, wrong)]
    return options


def last_values(options: Iterable[SlurmOption]) -> dict[str, SlurmOption]:
    """Return the options that sbatch accepts, by name: of a repeated option the last counts."""
    return {option.name: option for option in options if option.row and not option.wrong}
