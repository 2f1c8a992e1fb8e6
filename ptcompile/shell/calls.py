"""Command lines that start a shell with a script, and scripts that are one command."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from posixpath import join, normpath

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.commands import SHELLS, basename, unwrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.shell.nodes import Part, Simple, Word

Files = Callable[[str], str | None]
"""Returns the text of a file by its path, or None if it is not known."""


class ShellCall(NamedTuple):
    """A shell that runs a script, or a file that a shell runs."""

    text: str
    position: int
    """Index of the script in the command line, or of the file."""
    file: str
    """The file with the script, or empty if the script is an argument."""
    errexit: bool
    pipefail: bool
    arguments: tuple[str, ...]
    """The script's parameters from $0 on."""
    is_program: bool = False
    """Whether the file is started itself: `./run.sh`."""

    def as_argument(self) -> list[str]:
        """Return the words that run the file's text if they are put before its name: `-c TEXT` for
        a file that a shell reads, `bash -c TEXT` for a program.
        """
        if not self.is_program:
            return ["-c", self.text]
        return ["bash", "-ec" if self.errexit else "-c", self.text]


_shebang = Pattern(
    r"#![ \t]*(?:\S*/env[ \t]+(?:-S[ \t]+)?)?(?P<program>\S+)(?P<flags>[^\n]*)"
).match


def no_files(path: str) -> str | None:
    """Return None: no file is known."""
    return None


def shell_call(argv: Sequence[str], files: Files = no_files, folder: str = "") -> ShellCall | None:
    """Return the script of `sh -c SCRIPT` in any form (`-ec`, `-l -c`, `-euo pipefail -c`, `-c
    --`), of `sh FILE` and of `./FILE`, after wrappers such as tini; or None if it runs no script,
    or the file is unknown.
    """
    start = unwrap(argv).start
    if start >= len(argv):
        return None
    if basename(argv[start]) not in SHELLS:
        call = _file_call(argv[start:], folder, files)
        return None if call is None else call._replace(position=start)

    index = start + 1
    letters = ""
    names = list[str]()
    while index < len(argv) and argv[index][:1] in ("-", "+"):
        if argv[index] == "--":
            index += 1
            break
        flags = "" if argv[index].startswith("--") else argv[index][1:]
        letters += flags
        takes_name = "o" in flags.lower()
        names += argv[index + 1 : index + 1 + takes_name]
        # -o takes a name: -euo pipefail
        index += 1 + takes_name

    if index >= len(argv):
        return None

    is_text = "c" in letters
    file = "" if is_text else normpath(join(folder, argv[index]))
    text = argv[index] if is_text else files(file)
    if text is None:
        return None

    return ShellCall(
        text=text,
        position=index,
        file=file,
        errexit="e" in letters or "errexit" in names,
        pipefail="pipefail" in names,
        arguments=tuple(argv[index + is_text :]),
    )


def _file_call(argv: Sequence[str], folder: str, files: Files) -> ShellCall | None:
    """Return the script in a file that is started with its arguments, or None for a program that
    no shell runs.
    """
    if "/" not in argv[0]:
        return None

    file = normpath(join(folder, argv[0]))
    text = files(file)
    shebang = _shebang(text) if text is not None else None
    if (
        text is None
        or file.endswith(".py")
        or (shebang and basename(shebang["program"]) not in SHELLS)
    ):
        return None

    flags = shebang["flags"].split() if shebang else []
    return ShellCall(
        text=text,
        position=0,
        file=file,
        errexit=any(flag.startswith("-") and "e" in flag for flag in flags),
        pipefail="pipefail" in flags,
        arguments=tuple(argv),
        is_program=True,
    )


_COMMAND_FLAGS = Pattern(r"-[ceux]*c[ceux]*")
_CONTINUATION = Pattern(r"(?:(?<=\s)\\|\\(?=\n))\s")
"""The end of a line that goes on, also where YAML has folded the lines into one."""
_find_pattern = Pattern(r"[*?~{}!\[]").search
_DEFAULTS = frozenset({"", "-", ":-"})
_MAX_LINE = 4096
"""Longer lines are not split."""


def single_command(argv: Sequence[str]) -> list[str] | None:
    """Return the words of the only simple command of `sh -c`, with `$X` as written, or None for any
    other script.

    Pipes, lists, redirections, patterns, substitutions and variables in single quotes return None
    too. Lines before it that only switch the shell's options, such as `set -euo pipefail`, change
    nothing for one command.
    """
    if len(argv) != 3:
        return None
    shell, flags, script = argv
    if basename(shell) not in SHELLS or not _COMMAND_FLAGS.fullmatch(flags):
        return None

    command = _only_command(script)
    if command is None or command.assignments:
        return None

    words = [_as_written(word) for word in command.words]
    if words[:1] == ["exec"]:
        del words[0]
    if words and None not in words:
        return [word for word in words if word is not None]

    return None


def split_line(line: str) -> list[str]:
    """Split a command line as a shell would. Return [] if a shell would also expand, redirect or
    chain something.
    """
    command = _only_command(_CONTINUATION.sub(" ", line)) if len(line) <= _MAX_LINE else None
    if command is None or "$" in line or "`" in line:
        return []
    values = [(item.name + "=", item.value) for item in command.assignments]
    words = [("", word) for word in command.words]
    split = [
        None if word is None else _as_written(word, prefix) for prefix, word in (*values, *words)
    ]
    if None in split:
        return []
    return [word for word in split if word is not None]


def _only_command(text: str) -> Simple | None:
    """Return the only command of a script, ignoring `set`, if it is simple and without
    redirections.
    """
    from ptcompile.shell import nodes
    from ptcompile.shell.parser import parse

    commands: list[Simple] = []
    body = parse(text).body
    if any(item.in_background for item in body):
        return None

    waiting = [item.node for item in reversed(body)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, nodes.AndOr) and node.operator == "&&":
            waiting += [node.right, node.left]
        elif not isinstance(node, nodes.Simple) or node.redirections:
            return None
        elif not (node.words and node.words[0].source == "set") or any(
            word.source == "--" for word in node.words
        ):
            commands.append(node)

    return commands[0] if len(commands) == 1 else None


def _as_written(word: Word, prefix: str = "") -> str | None:
    """Return a word without its quotes, with expansions as written, or None if it is more than
    text and variables.
    """
    texts = [_part_as_written(part) for part in word.parts]
    if None in texts:
        return None
    return prefix + "".join(text for text in texts if text is not None)


def _part_as_written(part: Part) -> str | None:
    """Return a part of a word as written, or None if only a shell can tell its value."""
    from ptcompile.shell import nodes

    if isinstance(part, nodes.Literal):
        is_text = "$" not in part.text and (part.quoted or not _find_pattern(part.text))
        return part.text if is_text else None
    if isinstance(part, nodes.Arithmetic):
        return part.source
    if not isinstance(part, nodes.Parameter) or part.subscript:
        return None

    # `${HOSTNAME##*-}` is the index of a pod
    argument = "".join(getattr(inner, "text", "$") for inner in part.argument)
    is_end_of_name = part.operator == "##" and argument == "*-"
    if is_end_of_name or (part.operator in _DEFAULTS and "$" not in argument):
        return part.source

    return None


def broken_continuation(script: str) -> str | None:
    """Return the first line whose last backslash is followed by whitespace, which the shell does
    not continue.
    """
    if _continued_space(script):
        return next(_broken_lines(script), None)
    return None


_continued_space = Pattern(r"\\[ \t\r]").search
_ends_in_space = Pattern(r"(?s).*\\[ \t\r]").fullmatch


def _broken_lines(script: str) -> Iterator[str]:
    from ptcompile.shell import nodes
    from ptcompile.shell.parser import parse

    for command in nodes.walk(parse(script).body):
        if not isinstance(command, nodes.Simple):
            continue

        for word in command.words:
            rest, newline, _ = script[word.end :].partition("\n")
            is_here = _ends_in_space(word.source) and script.startswith(word.source, word.start)
            if is_here and newline and not rest.strip():
                line = script[script.rfind("\n", 0, word.end) + 1 : word.end]
                yield line[:-2].strip()
