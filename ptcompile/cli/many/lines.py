"""The lines of a file that a report shows: chosen where the file is judged, so that its text is not kept."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptcompile.cli.files import File
    from ptcompile.findings.diagnostics import Diagnostic


def shows_lines(options: argparse.Namespace) -> bool:
    """Whether the report shows lines of the files."""
    return options.output_format == "full" and not getattr(options, "statistics", False)


def lines_of(file: File, found: Sequence[Diagnostic], options: argparse.Namespace) -> Mapping[int, str]:
    """The lines that are shown with findings in a file, by number, secrets masked."""
    if not found or not shows_lines(options):
        return {}
    from ptcompile.cli.trust import hidden
    from ptcompile.report.full import lines_shown

    return {} if hidden(file.name) else lines_shown(found, file.text(), file.name)
