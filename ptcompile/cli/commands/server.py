"""`ptcompile server`: the language server for editors, on standard input and output."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping

from ptcompile.cli.files import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_EPILOG = """\
Editors start it and talk to it in the Language Server Protocol. docs/guide/editors.md has the settings for VS Code,
Neovim, Helix, Emacs and JetBrains. It needs the extra: python -m pip install 'ptcompile[server]'

  ptcompile server
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = _EPILOG
    parser.add_argument("--stdio", action="store_true", help="use standard input and output (the only transport)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Serve one editor until it closes the connection."""
    try:
        import pygls  # noqa: F401 - the extra
    except ImportError:
        raise UsageError("the language server needs pygls: python -m pip install 'ptcompile[server]'") from None
    import gc
    import tempfile

    from ptcompile.cli.workspace import Workspace
    from ptcompile.server.protocol import Server

    gc.enable()
    with tempfile.TemporaryDirectory(prefix="ptcompile-") as folder:

        def save(name: str, text: str) -> str:
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            return path

        def make_workspace(folders: list[str], client_options: Mapping[str, Any]) -> Workspace:
            return Workspace(folders, client_options)

        Server(make_workspace, save).pygls.start_io()
    return 0


PARSERS: Final = {"server": add}
