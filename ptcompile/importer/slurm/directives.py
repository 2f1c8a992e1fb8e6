"""The options of sbatch and srun, as getopt_long reads them, in the directives of a script and in a command line.

`slurm.json` has the options. Source: SchedMD/slurm 284c3b95, src/sbatch/opt.c: _opt_batch_script, get_argument;
docs/facts/slurm.md#how-a-script-is-read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_WORD = "#SBATCH"
_OTHER_SYSTEMS = ("#PBS", "#BSUB", "#SLURM", "#COBALT", "#FLUX", "#$ -")
_MAX_OPTIONS = 500


class SlurmOption(NamedTuple):
    """An option as it is given."""

    name: str
    """Its long name, or the argument as written if there is no such option."""
    value: str
    """Empty without a value."""
    written: str
    """The argument with its value, for messages."""
    start: int
    """Offset of its line in the script, or of the command."""
    end: int
    is_known: bool = True
    reads_wrong: str = ""
    """Why sbatch rejects it, or empty."""

    @property
    def row(self) -> Mapping[str, Any]:
        """What the table says about it."""
        row: Mapping[str, Any] = option_table().get(self.name, {})
        return row


class Directives(NamedTuple):
    """The head of a batch script."""

    components: tuple[tuple[SlurmOption, ...], ...]
    """The options of each component; a job that is not heterogeneous has one."""
    ignored: tuple[tuple[int, int, str], ...]
    """Start and end of each line that only looks like a directive, and why."""

    @property
    def options(self) -> tuple[SlurmOption, ...]:
        """The options of the first component."""
        return self.components[0]


def option_table() -> Mapping[str, Any]:
    """Return the options of sbatch, srun, pyxis and shifter, by their long names."""
    options: Mapping[str, Any] = load_table("importer/slurm/slurm.json")["options"]
    return options


@cache
def _by_letter() -> dict[str, str]:
    return {row["short"]: name for name, row in option_table().items() if "short" in row}


_blank_or_comment = re.compile(r"\s*(?:#|$)").match
_not_at_margin = re.compile(r"\s+#SBATCH\s").match


def read_directives(text: str) -> Directives:
    """Return the directives of a script: those before its first command."""
    components: list[list[SlurmOption]] = [[]]
    ignored: list[tuple[int, int, str]] = []
    in_head = True
    start = 0
    for line in text.split("\n"):
        end = start + len(line)
        is_directive = line.startswith(_WORD)
        if is_directive and not in_head:
            ignored.append((start, end, "sbatch ignores it: it comes after the first command"))
        elif is_directive and sum(map(len, components)) < _MAX_OPTIONS:
            words = split_directive(line[len(_WORD) :])
            if words[:1] in (["hetjob"], ["packjob"]):
                components.append([])
                del words[0]
            components[-1] += read_options(words, start, end)[0]
        elif in_head and _not_at_margin(line):
            ignored.append((start, end, "sbatch reads it as a comment: a directive starts in column 1"))
        elif in_head and line.startswith(_OTHER_SYSTEMS):
            ignored.append((start, end, "it is a directive of another scheduler, which sbatch does not read"))
        in_head = in_head and _blank_or_comment(line) is not None
        start = end + 1
    return Directives(tuple(map(tuple, components)), tuple(ignored[:_MAX_OPTIONS]))


_token = re.compile(r"""\\(.)|'([^']*)'?|"([^"]*)"?|([^\s\\'"#]+)|(\s+)|(\#.*)|(.)""", re.DOTALL)


def split_directive(line: str) -> list[str]:
    """Return the arguments of a directive: quotes are removed, a `#` outside of them ends it, nothing is expanded."""
    words: list[str] = []
    word: str | None = None
    for match in _token.finditer(line):
        *texts, space, comment, other = match.groups()
        if comment is not None:
            break
        if space is not None:
            words += [] if word is None else [word]
            word = None
            continue
        word = (word or "") + next((text for text in (*texts, other) if text is not None), "")
    return words if word is None else [*words, word]


def read_options(words: Sequence[str], start: int, end: int, *, is_step: bool = False) -> tuple[list[SlurmOption], int]:
    """Return the options of a command line, and the index of the program after them.

    A directive has only options; in a step of srun, the first other argument begins the program.
    """
    options: list[SlurmOption] = []
    index = 0
    while index < len(words):
        word = words[index]
        following = words[index + 1] if index + 1 < len(words) else ""
        if word == "--":
            return options, index + 1
        if not word.startswith("-") or word == "-":
            if is_step:
                break
            options.append(SlurmOption(word, "", word, start, end, False, "it is not an option"))
            index += 1
            continue
        given, takes_next = _read_option(word, following, start, end)
        options += given
        index += 2 if takes_next else 1
    return options, index


def _read_option(word: str, following: str, start: int, end: int) -> tuple[list[SlurmOption], bool]:
    """Return the options of one argument, and whether the last of them takes the next argument."""
    if not word.startswith("--"):
        return _read_letters(word, following, start, end)

    written, equals, value = word[2:].partition("=")
    name, reads_wrong = _full_name(written)
    if not name:
        takes_next = not equals and bool(following) and not following.startswith("-") and not reads_wrong
        value = following if takes_next else value
        return [SlurmOption(written, value, word, start, end, False, reads_wrong)], takes_next
    if equals or option_table()[name]["takes"] != "required":
        return [SlurmOption(name, value, word, start, end)], False
    return [SlurmOption(name, following, f"{word}={following}", start, end)], True


def _full_name(written: str) -> tuple[str, str]:
    """Return the option that a name or an unambiguous prefix means, or why sbatch rejects it."""
    if written in option_table():
        return written, ""
    matches = [name for name in option_table() if name.startswith(written)] if written else []
    if len(matches) > 1 and len(written) > 1:
        return "", f"it may be {' or '.join(matches[:3])}"
    return (matches[0], "") if len(matches) == 1 else ("", "")


def _read_letters(word: str, following: str, start: int, end: int) -> tuple[list[SlurmOption], bool]:
    options: list[SlurmOption] = []
    for index, letter in enumerate(word[1:], 1):
        name = _by_letter().get(letter)
        if name is None:
            return [*options, SlurmOption(word, "", word, start, end, False)], False
        if option_table()[name]["takes"] == "none":
            options.append(SlurmOption(name, "", f"-{letter}", start, end))
            continue
        attached = word[index + 1 :]
        takes_next = not attached and option_table()[name]["takes"] == "required"
        value = following if takes_next else attached
        reads_wrong = "a short option has no =" if value.startswith("=") else ""
        return [*options, SlurmOption(name, value, f"-{letter} {value}", start, end, True, reads_wrong)], takes_next
    return options, False


def last_values(options: Sequence[SlurmOption]) -> dict[str, SlurmOption]:
    """Return the options by name: of a repeated option the last counts."""
    return {option.name: option for option in options if option.is_known and not option.reads_wrong}
