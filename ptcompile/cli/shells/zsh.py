"""The script for zsh 5 and newer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.cli.completion_command import Command, Option

_HEAD = """\
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
_TAIL = """\
  esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _ptcompile "$@"; else compdef _ptcompile ptcompile; fi
"""


def script(commands: Sequence[Command]) -> str:
    """The whole script."""
    return "".join([_HEAD, *_commands(commands), _CHOICE, *_cases(commands), _TAIL])


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
