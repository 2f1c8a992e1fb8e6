"""A whole command line is written as one argument.

PTC804 command-in-one-word: error at run (fails), by kubelet.
Needs: command @blank

What: the first item of `command` is a whole command line, as in `command: ["python train.py"]`, or
the script that torchrun, another launcher or Python starts is, as in `[torchrun, "train.py --lr
3"]`.

Why: no shell splits it. The runtime looks for a program with that exact name, spaces included, and
the container does not start: "no such file or directory". Launchers and Python look for their
script the same way.

Example: pod.yaml with

    - command:
    -   - python train.py --epochs 3  # <--
    + command: [python, train.py, --epochs, "3"]

Fix: write each word as its own list item, or start a shell: [bash, -c, "..."].

Source: Kubernetes 1.36, command and args of containers; execve(2); PyTorch 2.13,
torch/distributed/run.py, config_from_args.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.diagnostics import shorten
from ptcompile.kubernetes.commands import is_program, unwrap
from ptcompile.linter.containers import is_command_written
from ptcompile.linter.rule import Finding, Findings, Subject, fix_setting, found_at
from ptcompile.shell.calls import split_line
from ptcompile.simulator import launchers
from ptcompile.simulator.launchers import command
from ptcompile.world.templates import ManifestContainer, Token


def check(subject: Subject) -> Findings:
    for container in filter(is_command_written, subject.containers):
        argv = container.argv
        if argv and len(argv[0].text.split()) > 1:
            message = (
                f"no shell splits {shorten(argv[0].text, 40)!r}: the runtime looks for a program "
                "with that whole name"
            )
            yield _finding(argv, 0, message)
        elif any(" " in word for word in container.tokens[1:]) and (
            entry := _find_entry(container)
        ):
            index, starter, noun = entry
            yield _finding(
                argv,
                index,
                f"{starter} starts one {noun} named {shorten(argv[index].text, 40)!r}, spaces "
                "included",
            )


def _finding(argv: Sequence[Token], index: int, message: str) -> Finding:
    word = argv[index]
    words = split_line(word.text)
    items = [argument for argument in argv if argument.path[:-1] == word.path[:-1]]
    split = [
        text for argument in items for text in (words if argument is word else [argument.text])
    ]
    title = "write each word as its own list item"
    fix = fix_setting(title, word.path[:-1], split) if words else None
    return found_at(word.path, message, title, fix)


def _find_entry(container: ManifestContainer) -> tuple[int, str, str] | None:
    """Return the index of a script or module that is a whole command line, its starter, and its
    noun; None for others.
    """
    argv = container.tokens
    launch = container.launch
    starter: str = launch.launcher
    start = len(argv) - len(launch.entry)
    is_module = "module" in launch.options
    if launch.in_shell or not launch.entry:
        return None

    if starter in launchers.LAUNCHERS:
        options_start = unwrap(argv).start
        name, first = launchers.launcher_of(argv[options_start:]) or ("", 0)
        words = argv[options_start + first :]
        _, script = launchers.parse_options(name, words)
        start = len(argv) - len(script)
        is_module = any(word in {"-m", "--module"} for word in words[: len(words) - len(script)])
    elif starter == "command":
        entry = command.entry_arguments(launch)
        is_module = entry[:1] == ("-m",)
        start = len(argv) - len(entry) + is_module
        starter = "python"
    elif starter != "torchrun":
        return None
    if start >= len(argv) or not _is_command_line(argv[start], is_module, starter):
        return None

    return start, starter, "module" if is_module else "file"


def _is_command_line(text: str, is_module: bool, starter: str) -> bool:
    """Return whether a script or a module is certainly a command line, and not a file whose name
    has spaces.
    """
    words = text.split()
    if len(words) < 2 or is_module:
        return len(words) > 1
    program, *arguments = words
    if starter != "python" and is_program(program):
        return True
    has_options = any(word.startswith("-") for word in arguments)
    return program.endswith(".py") and (
        has_options or (starter != "python" and not text.endswith(".py"))
    )
