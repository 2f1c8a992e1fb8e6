"""The command line: the only package that uses files, standard streams, the environment and exit
codes.

Exit status: 0 no error; 1 an error, or a spec that does not compile; 2 wrong usage, unreadable
input or an internal error; 130 Ctrl-C.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence

from ptcompile._internal.about import __version__
from ptcompile._internal.limits import UNTRUSTED_BYTES, UNTRUSTED_SECONDS, NotFinishedError
from ptcompile.cli import files
from ptcompile.cli.commands import COMMANDS, TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from ptcompile.cli.options import Parser


_EXAMPLES = """\
Examples:
  ptcompile spec.yaml                    print manifests for the job's operator
  ptcompile spec.yaml --target volcano   the same job for another operator
  ptcompile specs/ -o manifests/         a file of manifests for each of specs
  ptcompile lint manifests/              check them as an API server would
  ptcompile simulate spec.yaml           show what every pod would see
  ptcompile explain spec.elastic         what a field is, and what it becomes
  ptcompile explain PTC302               what a finding means

`ptcompile help COMMAND` shows the options of a command. If a file has the name of a command, write ./compile.
"""
_SERVERS = frozenset({"watch", "server", "mcp"})
"""The commands that run until Ctrl-C, or until their client ends."""
_HELP = frozenset({"-h", "--help", "help"})
_VERSION = frozenset({"-V", "--version", "version"})


def main(argv: Sequence[str] | None = None, *, own_process: bool = False) -> int:
    """Run one command and return its exit status.

    Without `--jobs`, only the console command, which has its `own_process`, starts other processes
    for many files.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    first, *rest = words or [""]
    if first in _VERSION:
        return files.write_stdout(f"ptcompile {__version__}\n")
    if first in _HELP:
        return _help(rest)

    if first not in COMMANDS:
        if first in TABLE["submitting"] and not os.path.exists(first):
            files.print_error(
                f"ptcompile: no command {first!r}: pipe the manifests to the cluster with "
                "`ptcompile SPEC | kubectl apply -f -`, or try the job on this machine with "
                "`ptcompile rehearse SPEC`"
            )
            return 2
        if near := _suggest_command(first):
            files.print_error(f"ptcompile: no command and no file {first!r}; did you mean {near}?")
            return 2
        first = "compile"
        rest = words

    options = build_parser(first).parse_intermixed_args(_without_separator(rest))
    if not own_process and "jobs" in options:
        options.jobs = options.jobs or 1
    if getattr(options, "untrusted", False):
        files.enter_untrusted_mode()
        if own_process:
            _limit_memory()

    options.timeout = _add_settings(options)
    return _run_until_deadline(options)


def _add_settings(options: argparse.Namespace) -> float | None:
    """Add what the configuration says to the options of a command that reads input. Return how
    many seconds it may take.
    """
    usual = UNTRUSTED_SECONDS if getattr(options, "untrusted", False) else None
    has_profile = getattr(options, "configured_cluster", False)
    reads_input = has_profile or ("untrusted" in options and options.command not in _SERVERS)
    if not reads_input or _explains_word(options):
        return options.timeout or usual

    from ptcompile.cli import config

    settings = config.settings_of(options)
    if has_profile:
        options.cluster = config.profile_path(options, settings)
        if "variant" in options:
            options.default_target = settings.target

    return options.timeout or settings.timeout or usual


def _explains_word(options: argparse.Namespace) -> bool:
    """Return whether a code, a field or a message is explained, which needs no configuration."""
    if options.command != "explain":
        return False
    from ptcompile.cli.commands.explain import names_word

    return names_word(options)


def _run_until_deadline(options: argparse.Namespace) -> int:
    """Run a command for `timeout` seconds, or until it ends if that is None. A server has them
    for each request.
    """
    run_command: Callable[[argparse.Namespace], int] = options.run
    seconds: float | None = options.timeout
    if seconds is None:
        return run_command(options)

    from ptcompile._internal.deadline import deadline

    try:
        with deadline(None if options.command in _SERVERS else seconds):
            return run_command(options)
    except NotFinishedError:
        files.print_error(
            f"ptcompile: not finished after {seconds:g} s, so there is no result",
            "  = help: give it more with --timeout SECONDS, or fewer or smaller files",
        )
        return 2


def _limit_memory() -> None:
    """Limit the address space of this process and those that it starts, where the system can."""
    try:
        import resource
    except ImportError:
        # Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (UNTRUSTED_BYTES, most))


def _without_separator(words: list[str]) -> list[str]:
    """Return the words without `--`, and the files after it in a form that is no option."""
    if "--" not in words:
        return words
    index = words.index("--")
    return [
        *words[:index],
        *(f"./{word}" if word.startswith("-") else word for word in words[index + 1 :]),
    ]


def _help(words: Sequence[str]) -> int:
    """Print the help of a command, or the list of commands."""
    if not words:
        from ptcompile.cli import presentation

        return presentation.write_painted(overview(), presentation.HELP)
    name = words[0]
    if name not in COMMANDS:
        near = _suggest_command(name)
        hint = f"; did you mean {near}?" if near else ""
        raise files.UsageError(f"no command {name!r}{hint}")

    build_parser(name).print_help()
    return 0


def overview() -> str:
    """Return the help of `ptcompile` itself: the commands by group, and examples."""
    lines = [
        "Usage: ptcompile [COMMAND] [OPTIONS] FILE ...",
        "",
        "Compile PyTorch training specs into Kubernetes manifests, and check manifests, offline.",
    ]
    for group in dict.fromkeys(command.group for command in COMMANDS.values()):
        rows = (
            f"  {name:<11} {command.summary}"
            for name, command in COMMANDS.items()
            if command.group == group
        )
        lines += ["", f"{group}:", *rows]

    from ptcompile.cli.options import fit, terminal_width

    return fit("\n".join([*lines, "", _EXAMPLES]), terminal_width()) + "\n"


def _suggest_command(word: str) -> str | None:
    """Return the command that an unknown first word means, or None; a word that names a file is
    never one.
    """
    if not word.isalpha() or os.path.exists(word):
        return None
    from ptcompile._internal.spelling import closest_match

    command = next((name for name, words in TABLE["otherNames"].items() if word in words), None)
    return command or closest_match(word, COMMANDS)


def build_parser(name: str) -> Parser:
    """Return the parser of a command."""
    from importlib import import_module

    from ptcompile.cli.options import Parser, add_options

    command = COMMANDS[name]
    parser = Parser(
        prog=f"ptcompile {name}",
        description=f"{command.summary[0].upper()}{command.summary[1:]}.",
        epilog="".join(f"{line}\n" for line in command.below),
        allow_abbrev=False,
    )
    add_options(parser, [*command.options, "timeout"])
    module = import_module(f"ptcompile.cli.commands.{command.module}")
    parser.set_defaults(run=getattr(module, command.function), command=name)
    parser.shorten_usage()

    return parser


def run() -> None:
    """Run the console command: `main`, with an internal error reported in one line and exit
    status 2.
    """
    # garbage collection takes 7 to 11 M of a run's 200 to 280 M instructions, and a run is too
    # short to need it; long-running commands enable it again
    gc.disable()
    try:
        status = main(own_process=True)
    except MemoryError:
        files.print_error(
            "ptcompile: not finished: out of memory", "  = help: give it fewer or smaller files"
        )
        status = 2
    except KeyboardInterrupt:
        status = 130  # shells use 128 plus the signal number
    except Exception as error:
        # last resort: users never see a traceback
        status = files.report_error(error)

    files.exit_process(status)
