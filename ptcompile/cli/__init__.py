"""The command line: the only package that uses files, standard streams, the environment and exit codes.

Exit status: 0 clean; 1 findings, or a spec that does not compile; 2 wrong usage, unreadable input or an internal error;
130 Ctrl-C.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence

from ptcompile._internal.about import __version__
from ptcompile.cli import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Final

    from ptcompile.cli.overrides import Set

    _Adder = Callable[[argparse._SubParsersAction[argparse.ArgumentParser]], None]
    """Adds a command and its options to the parser."""

COMMANDS = (
    "compile",
    "lint",
    "simulate",
    "rehearse",
    "explain",
    "diff",
    "import",
    "convert",
    "platform",
    "requires",
    "schema",
    "targets",
    "rules",
    "init",
    "flyte",
    "plugins",
    "server",
    "watch",
    "completion",
)

EPILOG = """\
examples:
  ptcompile spec.yaml                      print manifests for the operator that the job needs
  ptcompile spec.yaml --target volcano     the same job for another operator
  ptcompile spec.yaml --cluster prod.yaml  with the platform's profile
  ptcompile specs/ -o manifests/           one file of manifests for each file of specs
  ptcompile spec.yaml --target all -o out/ a folder of manifests for each target
  ptcompile spec.yaml --name sft-7         the job under another name, for this run
  ptcompile lint manifests/                check any manifest as an API server would, offline
  helm template . | ptcompile lint -       the same for rendered templates
  ptcompile simulate spec.yaml             show what every pod would see, on every operator
  ptcompile rehearse spec.yaml --kill 1    what real torchrun does when a pod is lost
  ptcompile explain spec.yaml volumes      which pass, rule and line of the spec wrote that part
  ptcompile watch spec.yaml                the same as a page in a browser, live while the file is edited
  ptcompile explain PTC302                 what a finding means, with an example
  ptcompile diff old.yaml new.yaml         what a change means for the pods, then path by path
  ptcompile import job.yaml -o specs/      turn existing manifests into specs, proved to mean the same
  ptcompile convert job.yaml --target trainjob   the same job for another operator
  ptcompile specs/ -o manifests/ --check   check that the manifests in git match the specs
  ptcompile platform cluster.yaml specs/   print what the cluster must have before these jobs run
  ptcompile init -o spec.yaml              a spec to start from
  ptcompile flyte train.py:train --input epochs=7     a Flyte task that trains, without Flyte

The first word may be a command (compile, lint, simulate, rehearse, explain, diff, import, convert, platform, requires,
schema, targets, rules, init, flyte, plugins, server, watch, completion); the default is compile.
`ptcompile COMMAND --help` shows its options. A file named like a command is ./compile.
"""


def main(argv: Sequence[str] | None = None, *, own_process: bool = False) -> int:
    """Run one command and return its exit status.

    Without `--jobs`, only the console command, which has its `own_process`, starts other processes for many files.
    """
    args = list(sys.argv[1:] if argv is None else argv)
    if not args or args[0] not in (*COMMANDS, "-h", "--help", "--version"):
        if args and (near := _suggest_command(args[0])):
            files.print_error(f"ptcompile: no command and no file {args[0]!r}; did you mean {near}?\n")
            return 2
        args.insert(0, "compile")
    options = build_parser(args[0]).parse_args(args)
    if not own_process and "jobs" in options:
        options.jobs = options.jobs or 1
    if getattr(options, "untrusted", False):
        from ptcompile.cli.files import enter_untrusted_mode

        enter_untrusted_mode()
    command: Callable[[argparse.Namespace], int] = options.run
    return command(options)


def _suggest_command(word: str) -> str | None:
    """Return the command that an unknown first word misspells, or None; a word that names a file is never one."""
    if not word.isalpha() or os.path.exists(word):
        return None
    from ptcompile._internal.spelling import closest_match

    return closest_match(word, COMMANDS)


def build_parser(first: str) -> argparse.ArgumentParser:
    """Return a parser with the command that `first` names, or with all commands if it names none."""
    import argparse

    from ptcompile.cli.options import Parser

    parser: argparse.ArgumentParser = Parser(
        prog="ptcompile",
        description="Compile PyTorch training specs into Kubernetes manifests, and check manifests, offline.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"ptcompile {__version__}")
    # without `prog`, argparse formats a usage line to derive it
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, prog="ptcompile")
    for add in dict.fromkeys([_ADDERS[first]] if first in _ADDERS else _ADDERS.values()):
        add(commands)
    return parser


def _add_compile(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from ptcompile.cli.options import add_common, add_jobs

    parser = commands.add_parser(
        "compile", help="compile specs into manifests (the default command)", allow_abbrev=False
    )
    parser.add_argument("paths", nargs="*", metavar="SPEC", help="files, directories, or - for standard input")
    parser.add_argument(
        "--target",
        action="append",
        default=[],
        metavar="T",
        help="operator to write manifests for (see `ptcompile targets`); several or all with -o DIR/ or --format json",
    )
    parser.add_argument(
        "--name", metavar="NAME", help="name the job for this run, before other names are derived from it"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=_set,
        metavar="PATH=VALUE",
        help='set a value before compiling, such as spec.nodes=4 or metadata.labels."a.b/c"=d (repeatable)',
    )
    parser.add_argument(
        "--set-string", action="append", default=[], dest="set", type=_set_string, metavar="PATH=TEXT",
        help="like --set, but always take the value as a string",
    )  # fmt: skip
    parser.add_argument("-o", "--output", metavar="OUT", help="write to a file, or to a directory if it ends with /")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; print a diff and exit with status 1 if OUT is out of date"
    )
    parser.add_argument(
        "--prune", action="store_true", help="delete the files in -o DIR/ that ptcompile wrote for specs that are gone"
    )
    parser.add_argument(
        "--format", choices=("yaml", "json"), default="yaml", help="format of the manifests (default: yaml)"
    )
    parser.add_argument(
        "--allow-empty", action="store_true", help="exit with status 0 if there is no file or no TrainingJob to compile"
    )
    parser.add_argument("--no-lint", action="store_true", help="do not run the lint rules on the compiled manifests")
    add_jobs(parser)
    add_common(parser)
    parser.set_defaults(run=_compile)


def _set(text: str) -> Set:
    """Parse the value of --set."""
    from ptcompile.cli import overrides

    return overrides.parse_yaml(text)


def _set_string(text: str) -> Set:
    """Parse the value of --set-string."""
    from ptcompile.cli import overrides

    return overrides.parse_string(text)


def _add_lint(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from ptcompile.cli.options import add_common, add_jobs

    parser = commands.add_parser("lint", help="check manifests as an API server would", allow_abbrev=False)
    parser.add_argument("paths", nargs="*", metavar="FILE", help="files, directories, globs, or - for standard input")
    parser.add_argument("--kubernetes-version", metavar="V", help="server version, such as 1.34 (default: newest)")
    parser.add_argument("--no-webhooks", action="store_true", help="check only what the API server and the CRDs check")
    parser.add_argument(
        "--schemas", action="append", default=[], metavar="PATH", help="CRDs or JSON Schemas (repeatable)"
    )
    parser.add_argument(
        "--unknown-kinds",
        choices=("count", "error"),
        default="count",
        help="count unknown kinds or report them as errors (default: count)",
    )
    parser.add_argument(
        "--select", action="append", default=[], metavar="R", help="report only these rules (code, code prefix or name)"
    )
    parser.add_argument("--extend-select", action="append", default=[], metavar="R", help="also report these rules")
    parser.add_argument("--ignore", action="append", default=[], metavar="R", help="do not report these rules")
    parser.add_argument("--config", metavar="FILE", help="use this configuration file, not the nearest")
    parser.add_argument("--isolated", action="store_true", help="read no configuration file")
    parser.add_argument("--fail-on", choices=("error", "warning"), help="severity that fails the run (default: error)")
    parser.add_argument("--exit-zero", action="store_true", help="exit with status 0 even with findings")
    parser.add_argument("--allow-empty", action="store_true", help="exit with status 0 if no file matches")
    parser.add_argument("--output-file", metavar="OUT", help="write the findings to this file")
    parser.add_argument("--statistics", action="store_true", help="print only how often each rule was reported")
    parser.add_argument(
        "--add-ignore", action="store_true", help="add an ignore comment for every finding to the files"
    )
    add_jobs(parser)
    parser.add_argument("--no-cache", action="store_true", help="check all files again, including unchanged ones")
    parser.add_argument(
        "--cache-dir", metavar="DIR", help="directory of cached results (default: the user's cache directory)"
    )
    parser.add_argument(
        "--fix", action="store_true", help="apply safe fixes to the files and report the remaining findings"
    )
    parser.add_argument(
        "--diff", action="store_true", help="print fixes as a patch; exit with status 1 if there are any"
    )
    parser.add_argument("--unsafe-fixes", action="store_true", help="also apply fixes that may change the job")
    add_common(parser)
    parser.set_defaults(run=_lint)


def _add_schema(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("schema", help="print a JSON Schema for editors or results")
    schemas = ("spec", "cluster", "report", "world", "diff", "explanation", "handle", "rehearsal")
    parser.add_argument("schema", choices=schemas)
    parser.set_defaults(run=_schema)


def _add_simulate(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from ptcompile.cli.commands.simulate import add

    add(commands)


def _add_rehearse(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from ptcompile.cli.commands.rehearse import add

    add(commands)


def _add_explain(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from ptcompile.cli.commands.explain import add

    add(commands)


def _add_diff(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from ptcompile.cli.commands.diff import add

    add(commands)


def _add_import(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from ptcompile.cli.commands.migrate import add_import

    add_import(commands)


def _add_convert(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from ptcompile.cli.commands.migrate import add_convert

    add_convert(commands)


def _add_rules(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from ptcompile.cli.commands.reference import add_rules

    add_rules(commands)


def _add_init(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from ptcompile.cli.commands.reference import add_init

    add_init(commands)


def _add_flyte(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from ptcompile.cli.commands.flyte import add

    add(commands)


def _add_targets(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from ptcompile.cli.commands.reference import add_targets

    add_targets(commands)


def _add_plugins(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from ptcompile.cli.commands.reference import add_plugins

    add_plugins(commands)


def _add_server(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from ptcompile.cli.commands.server import add

    add(commands)


def _add_watch(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from ptcompile.cli.commands.watch import add

    add(commands)


def _add_completion(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from ptcompile.cli.commands.completion import add

    add(commands)


def _add_platform(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from ptcompile.cli.commands.platform import add

    add(commands)


_ADDERS: Final[dict[str, _Adder]] = {
    "compile": _add_compile,
    "lint": _add_lint,
    "simulate": _add_simulate,
    "rehearse": _add_rehearse,
    "explain": _add_explain,
    "diff": _add_diff,
    "import": _add_import,
    "convert": _add_convert,
    "platform": _add_platform,
    "requires": _add_platform,
    "rules": _add_rules,
    "schema": _add_schema,
    "init": _add_init,
    "flyte": _add_flyte,
    "targets": _add_targets,
    "plugins": _add_plugins,
    "server": _add_server,
    "watch": _add_watch,
    "completion": _add_completion,
}
"""Functions that add each command to the parser, in the order of --help."""


def _compile(options: argparse.Namespace) -> int:
    from ptcompile.cli.commands.compile import run as command

    return command(options)


def _lint(options: argparse.Namespace) -> int:
    from ptcompile.cli.commands.lint import run as command

    return command(options)


def _schema(options: argparse.Namespace) -> int:
    import json

    from ptcompile.api.reference import schema

    return files.write_stdout(json.dumps(schema(options.schema), indent=2) + "\n")


def run() -> None:
    """Run the console command: `main`, with an internal error reported in one line and exit status 2."""
    # garbage collection takes 7 to 11 M of a run's 200 to 280 M instructions, and a run is too short to need it;
    # long-running commands enable it again
    gc.disable()
    try:
        status = main(own_process=True)
    except KeyboardInterrupt:
        status = 130  # shells use 128 plus the signal number
    except Exception as error:  # last resort: users never see a traceback
        status = files.report_error(error)
    files.exit_process(status)
