"""The script for fish 3 and newer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.cli.completion_command import Command, Option


def script(commands: Sequence[Command]) -> str:
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
