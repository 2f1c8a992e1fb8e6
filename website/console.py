"""Run a command of ptcompile on a text and return what it prints: what the playground's worker imports."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import Final

from ptcompile.cli import files, main

COMMANDS: Final = ("lint", "explain", "simulate", "compile")


def run(command: str, text: str) -> str:
    """Return what `ptcompile COMMAND --untrusted -` prints for the text, findings first, as in a terminal."""
    output = io.BytesIO()
    stream = io.TextIOWrapper(output, encoding="utf-8", write_through=True)
    sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode(errors="replace")), encoding="utf-8")
    with redirect_stdout(stream), redirect_stderr(stream):
        try:
            main([command, "--untrusted", "-"])
        except Exception as error:  # as `ptcompile.cli.run` does: users never see a traceback
            files.report_error(error)
    return output.getvalue().decode(errors="replace")
