"""Options that several commands share."""

from __future__ import annotations

from ptcompile.cli.files import UsageError
from ptcompile.report import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from ptcompile.extending import Extensions


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add --cluster, and the form of the findings."""
    parser.add_argument("--cluster", metavar="FILE", help="the cluster profile (kind: ClusterProfile)")
    add_output_format(parser)


def add_output_format(parser: argparse.ArgumentParser) -> None:
    """Add --output-format, the form of the findings."""
    parser.add_argument(
        "--output-format", choices=FORMATS, default="full", help="how to print findings (default: full)"
    )
    parser.add_argument(
        "--untrusted", action="store_true", help="for input of strangers: lower limits, no lines of files outside"
    )


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add --jobs, how many processes share the files."""
    parser.add_argument(
        "--jobs", type=_jobs, metavar="N", help="number of processes (default: one per core if there are many files)"
    )


def _jobs(text: str) -> int:
    """What --jobs reads. Raises ArgumentTypeError, which argparse reports, for anything but a number above 0."""
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    from argparse import ArgumentTypeError

    raise ArgumentTypeError(f"{text!r} is not a number of processes, 1 or more")


def check_target(name: str | None, *, beside: tuple[str, ...] = (), extensions: Extensions | None = None) -> None:
    """Raises `UsageError` for a target that does not exist. `beside`: other words that the option takes."""
    if name is None:
        return
    from ptcompile.operators.targets import TARGETS  # manifests alone do without

    known = TARGETS if extensions is None else (*TARGETS, *extensions.targets)
    if name not in known:
        from ptcompile.kubernetes.names import suggest

        near = suggest(name, [*known, *beside])
        help = f"did you mean {near}?" if near else f"the targets are {', '.join([*known, *beside])}"
        raise UsageError(f"no target {name!r}; {help}")
