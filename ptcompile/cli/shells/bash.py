"""The script for bash 4 and newer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.cli.completion_command import Command

_HEAD = """\
# bash completion for ptcompile: made by `ptcompile completion bash`
_ptcompile() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=compile words=
  COMPREPLY=()
  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
"""
_TAIL = """\
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [[ $cur != -* ]]; then COMPREPLY+=($(compgen -f -- "$cur")); fi
}
complete -o filenames -F _ptcompile ptcompile
"""


def script(commands: Sequence[Command]) -> str:
    """The whole script."""
    return "".join([_HEAD, *_body(commands), _TAIL])


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
