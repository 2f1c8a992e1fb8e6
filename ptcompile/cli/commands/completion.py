"""`ptcompile completion`: scripts for the Tab key of bash, zsh and fish."""

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

    return bash_script(commands)


def _zsh(commands: Sequence[Command]) -> str:

    return zsh_script(commands)


def _fish(commands: Sequence[Command]) -> str:

    return fish_script(commands)


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
    from ptcompile.cli import build_parser

    for action in build_parser("--help")._actions:
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
    """The whole script."""
    return "".join([_BASH_HEAD, *_body(commands), _BASH_TAIL])


def _body(commands: Sequence[Command]) -> Iterator[str]:
    names = " ".join(one.name for one in commands)
    yield f"  if (( COMP_CWORD == 1 )); then words={quote(names)}; fi\n"
    yield f"  case ${{COMP_WORDS[1]}} in {'|'.join(one.name for one in commands)})\n"
    yield "    if (( COMP_CWORD > 1 )); then command=${COMP_WORDS[1]}; fi ;;\n  esac\n"
    yield '  case "$command $prev" in\n'
    for one in commands:
        for option in one.options:
            if option.words:
                pattern = "|".join(quote(f"{one.name} {name}") for name in option.names)
                yield f'    {pattern}) COMPREPLY=($(compgen -W {quote(" ".join(option.words))} -- "$cur")); return ;;\n'
    yield '  esac\n  case "$command" in\n'
    for one in commands:
        options = [name for option in one.options for name in option.names]
        yield f"    {one.name}) words+={quote(' ' + ' '.join([*one.words, *options]))} ;;\n"
    yield "  esac\n"


def fish_script(commands: Sequence[Command]) -> str:
    """The whole script."""
    return "".join(_lines(commands))


def _lines(commands: Sequence[Command]) -> Iterator[str]:
    others = " ".join(one.name for one in commands if one.name != "compile")
    yield "# fish completion for ptcompile: made by `ptcompile completion fish`\n"
    for one in commands:
        yield f"complete -c ptcompile -n __fish_use_subcommand -a {one.name} -d {_quoted(one.help)}\n"
    for one in commands:
        seen = f"__fish_seen_subcommand_from {one.name}"
        when = _quoted(f"not __fish_seen_subcommand_from {others}" if one.name == "compile" else seen)
        if one.words:
            yield f"complete -c ptcompile -n {when} -a {_quoted(' '.join(one.words))}\n"
        yield from (f"complete -c ptcompile -n {when} {_option(option)}\n" for option in one.options)


def _option(option: Option) -> str:
    names = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names]
    value = ""
    if option.metavar:
        value = f" -x -a {_quoted(' '.join(option.words))}" if option.words else " -r"
    return f"{' '.join(names)}{value} -d {_quoted(option.help)}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_ZSH_HEAD = """\
#compdef ptcompile
# zsh completion for ptcompile: made by `ptcompile completion zsh`
_ptcompile() {
"""
_CHOICE = """\
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
    """The whole script."""
    return "".join([_ZSH_HEAD, *_commands(commands), _CHOICE, *_cases(commands), _ZSH_TAIL])


def _commands(commands: Sequence[Command]) -> Iterator[str]:
    yield "  local -a commands=(\n"
    yield from (f"    {quote(f'{one.name}:{one.help}')}\n" for one in commands)
    yield "  )\n"


def _cases(commands: Sequence[Command]) -> Iterator[str]:
    for one in commands:
        files = f"*: :{{compadd -- {' '.join(map(quote, one.words))}; _files}}" if one.words else "*:file:_files"
        given = [*(spec for option in one.options for spec in _specs(option)), quote(files)]
        yield f"    {one.name})\n      _arguments -S \\\n        " + " \\\n        ".join(given) + " ;;\n"


def _specs(option: Option) -> Iterator[str]:
    """An option as `_arguments` reads it; any may be given again."""
    help = "".join(f"\\{c}" if c in "[]:\\" else c for c in option.help)
    for name in option.names:
        value = ""
        if option.metavar:
            action = f"({' '.join(option.words)})" if option.words else "_files"
            value = f":{option.metavar.lower().replace(':', ' ')}:{action}"
        equals = "=" if option.metavar and name.startswith("--") else ""
        yield quote(f"*{name}{equals}[{help}]{value}")
