"""`ptcompile completion`: tab-completion scripts for bash, zsh and fish."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from shlex import quote

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.cli import files

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
    """Name of its value; empty for a switch."""
    words: tuple[str, ...]
    """Values to suggest; empty for file names and free text."""


class Command(NamedTuple):
    """A command of the parser."""

    name: str
    help: str
    options: tuple[Option, ...]
    words: tuple[str, ...]
    """Values to suggest for positional arguments, in addition to files."""


def _bash(commands: Sequence[Command]) -> str:

    return bash_script(commands)


def _zsh(commands: Sequence[Command]) -> str:

    return zsh_script(commands)


def _fish(commands: Sequence[Command]) -> str:

    return fish_script(commands)


_SHELLS: Final[dict[str, Callable[[Sequence[Command]], str]]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
SHELLS: Final = tuple(_SHELLS)


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "completion",
        help="print a tab-completion script for a shell",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("shell", choices=SHELLS)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a shell's script."""
    return files.write_stdout(_SHELLS[options.shell](list(every_command())))


def every_command() -> Iterator[Command]:
    """Yield the commands with their options, read from the parser."""
    from ptcompile.cli import build_parser

    for action in build_parser("--help")._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {action_help.dest: action_help.help or "" for action_help in action._choices_actions}
            for name, parser in action.choices.items():
                words = [
                    word
                    for argument in parser._actions
                    if not argument.option_strings
                    for word in _positional(name, argument)
                ]
                yield Command(name, helps.get(name, ""), tuple(_options_of(parser)), tuple(words))


def _options_of(parser: argparse.ArgumentParser) -> Iterator[Option]:
    for action in parser._actions:
        if action.option_strings and action.help is not argparse.SUPPRESS:
            takes_value = action.nargs != 0
            metavar = str(action.metavar or action.dest.upper()) if takes_value else ""
            words = tuple(map(str, action.choices)) if action.choices else _values_for(metavar)
            yield Option(tuple(action.option_strings), action.help or "", metavar, words)


def _positional(command: str, action: argparse.Action) -> tuple[str, ...]:
    """Return the values to suggest for a positional argument: its choices, and for `explain` the rule names."""
    if action.choices:
        return tuple(map(str, action.choices))
    return _values_for("R") if command == "explain" and action.dest == "spec" else ()


def _values_for(metavar: str) -> tuple[str, ...]:
    """Return the values to suggest for a metavar: targets for T, rule names for R."""
    if metavar == "T":
        from ptcompile.registry.targets import TARGETS

        return TARGETS
    if metavar == "R":
        from ptcompile.diagnostics.codes import CODES

        return tuple(sorted(CODES.values()))
    return ()


_BASH_HEAD = """\
# bash completion for ptcompile: made by `ptcompile completion bash`
_ptcompile() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=compile words=
  COMPREPLY=()
  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
"""
_BASH_TAIL = """\
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [[ $cur != -* ]]; then COMPREPLY+=($(compgen -f -- "$cur")); fi
}
complete -o filenames -F _ptcompile ptcompile
"""


def bash_script(commands: Sequence[Command]) -> str:
    """Return the script for bash."""
    return "".join([_BASH_HEAD, *_bash_cases(commands), _BASH_TAIL])


def _bash_cases(commands: Sequence[Command]) -> Iterator[str]:
    names = " ".join(command.name for command in commands)
    yield f"  if (( COMP_CWORD == 1 )); then words={quote(names)}; fi\n"
    yield f"  case ${{COMP_WORDS[1]}} in {'|'.join(command.name for command in commands)})\n"
    yield "    if (( COMP_CWORD > 1 )); then command=${COMP_WORDS[1]}; fi ;;\n  esac\n"
    yield '  case "$command $prev" in\n'
    for command in commands:
        for option in command.options:
            if option.words:
                pattern = "|".join(quote(f"{command.name} {name}") for name in option.names)
                yield f'    {pattern}) COMPREPLY=($(compgen -W {quote(" ".join(option.words))} -- "$cur")); return ;;\n'
    yield '  esac\n  case "$command" in\n'
    for command in commands:
        options = [name for option in command.options for name in option.names]
        yield f"    {command.name}) words+={quote(' ' + ' '.join([*command.words, *options]))} ;;\n"
    yield "  esac\n"


def fish_script(commands: Sequence[Command]) -> str:
    """Return the script for fish."""
    return "".join(_fish_lines(commands))


def _fish_lines(commands: Sequence[Command]) -> Iterator[str]:
    other_commands = " ".join(command.name for command in commands if command.name != "compile")
    yield "# fish completion for ptcompile: made by `ptcompile completion fish`\n"
    for command in commands:
        yield f"complete -c ptcompile -n __fish_use_subcommand -a {command.name} -d {_fish_quote(command.help)}\n"
    for command in commands:
        condition = f"__fish_seen_subcommand_from {command.name}"
        when = _fish_quote(
            f"not __fish_seen_subcommand_from {other_commands}" if command.name == "compile" else condition
        )
        if command.words:
            yield f"complete -c ptcompile -n {when} -a {_fish_quote(' '.join(command.words))}\n"
        yield from (f"complete -c ptcompile -n {when} {_fish_option(option)}\n" for option in command.options)


def _fish_option(option: Option) -> str:
    names = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names]
    value = ""
    if option.metavar:
        value = f" -x -a {_fish_quote(' '.join(option.words))}" if option.words else " -r"
    return f"{' '.join(names)}{value} -d {_fish_quote(option.help)}"


def _fish_quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_ZSH_HEAD = """\
#compdef ptcompile
# zsh completion for ptcompile: made by `ptcompile completion zsh`
_ptcompile() {
"""
_ZSH_COMMAND = """\
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe -t commands command commands
    _files
    return
  fi
  local command=compile
  if (( ${commands[(I)$words[2]:*]} )); then
    command=$words[2]
    shift words
    (( CURRENT-- ))
  fi
  case $command in
"""
_ZSH_TAIL = """\
  esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _ptcompile "$@"; else compdef _ptcompile ptcompile; fi
"""


def zsh_script(commands: Sequence[Command]) -> str:
    """Return the script for zsh."""
    return "".join([_ZSH_HEAD, *_zsh_commands(commands), _ZSH_COMMAND, *_zsh_cases(commands), _ZSH_TAIL])


def _zsh_commands(commands: Sequence[Command]) -> Iterator[str]:
    yield "  local -a commands=(\n"
    yield from (f"    {quote(f'{command.name}:{command.help}')}\n" for command in commands)
    yield "  )\n"


def _zsh_cases(commands: Sequence[Command]) -> Iterator[str]:
    for command in commands:
        files = (
            f"*: :{{compadd -- {' '.join(map(quote, command.words))}; _files}}" if command.words else "*:file:_files"
        )
        specs = [*(spec for option in command.options for spec in _zsh_specs(option)), quote(files)]
        yield f"    {command.name})\n      _arguments -S \\\n        " + " \\\n        ".join(specs) + " ;;\n"


def _zsh_specs(option: Option) -> Iterator[str]:
    """Yield an option as arguments of zsh's `_arguments`; each may be repeated."""
    help = "".join(f"\\{c}" if c in "[]:\\" else c for c in option.help)
    for name in option.names:
        value = ""
        if option.metavar:
            action = f"({' '.join(option.words)})" if option.words else "_files"
            value = f":{option.metavar.lower().replace(':', ' ')}:{action}"
        equals = "=" if option.metavar and name.startswith("--") else ""
        yield quote(f"*{name}{equals}[{help}]{value}")
