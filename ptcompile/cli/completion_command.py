"""`ptcompile completion SHELL`: commands, options, codes and targets for the Tab key of bash, zsh and fish."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence

from ptcompile.cli import files
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_EPILOG = """\
  bash   ptcompile completion bash > ~/.local/share/bash-completion/completions/ptcompile
  zsh    ptcompile completion zsh > "${fpath[1]}/_ptcompile"
  fish   ptcompile completion fish > ~/.config/fish/completions/ptcompile.fish
"""


class Option(NamedTuple):
    """An option of a command."""

    names: tuple[str, ...]
    """`-o`, `--output`."""
    help: str
    metavar: str
    """What its value is called; empty for a switch."""
    words: tuple[str, ...]
    """What its value may be; none where it is a file, or open."""


class Command(NamedTuple):
    """A command of the parser."""

    name: str
    help: str
    options: tuple[Option, ...]
    words: tuple[str, ...]
    """What may stand in place of an option beside files."""


def _bash(commands: Sequence[Command]) -> str:
    from ptcompile.cli.shells.bash import script

    return script(commands)


def _zsh(commands: Sequence[Command]) -> str:
    from ptcompile.cli.shells.zsh import script

    return script(commands)


def _fish(commands: Sequence[Command]) -> str:
    from ptcompile.cli.shells.fish import script

    return script(commands)


_SHELLS: Final[dict[str, Callable[[Sequence[Command]], str]]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
SHELLS: Final = tuple(_SHELLS)


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the command and its options into the parser."""
    one = commands.add_parser(
        "completion",
        help="a script for the Tab key of a shell",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    one.add_argument("shell", choices=SHELLS)
    one.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the script of a shell."""
    return files.write_stdout(_SHELLS[options.shell](list(every_command())))


def every_command() -> Iterator[Command]:
    """The commands with their options, from the parser itself."""
    from ptcompile.cli import _parser

    for action in _parser("--help")._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {one.dest: one.help or "" for one in action._choices_actions}
            for name, parser in action.choices.items():
                words = [word for one in parser._actions if not one.option_strings for word in _positional(name, one)]
                yield Command(name, helps.get(name, ""), tuple(_options(parser)), tuple(words))


def _options(parser: argparse.ArgumentParser) -> Iterator[Option]:
    for one in parser._actions:
        if one.option_strings and one.help is not argparse.SUPPRESS:
            taking = one.nargs != 0
            metavar = str(one.metavar or one.dest.upper()) if taking else ""
            words = tuple(map(str, one.choices)) if one.choices else _known(metavar)
            yield Option(tuple(one.option_strings), one.help or "", metavar, words)


def _positional(command: str, one: argparse.Action) -> tuple[str, ...]:
    """The words of a place: its choices, and for `explain` the codes."""
    if one.choices:
        return tuple(map(str, one.choices))
    return _known("R") if command == "explain" and one.dest == "spec" else ()


def _known(metavar: str) -> tuple[str, ...]:
    """The words that the parser has no choices of, by what they are called: a target, or a rule."""
    if metavar == "T":
        from ptcompile.operators.targets import TARGETS

        return TARGETS
    if metavar == "R":
        from ptcompile.findings.codes import CODES

        return tuple(sorted(CODES.values()))
    return ()
