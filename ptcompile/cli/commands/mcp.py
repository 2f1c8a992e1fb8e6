"""`ptcompile mcp`: the MCP server for assistants, on standard input and output."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from functools import partial

from ptcompile.cli import config, files
from ptcompile.cli.files import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.mcp.inputs import Around, CallSettings, NamedText


def run(options: argparse.Namespace) -> int:
    """Serve one assistant until it closes the connection."""
    try:
        import mcp  # noqa: F401 - the extra
    except ImportError:
        raise UsageError(
            "the MCP server needs the package mcp: python -m pip install 'mcp>=2,<3'"
        ) from None

    import gc
    import io
    import sys

    import anyio

    from ptcompile.mcp.protocol import make_server, serve

    roots = [os.path.abspath(root) for root in options.root or [os.curdir]]
    for root in roots:
        if not os.path.isdir(root):
            raise UsageError(f"--root {root}: not a folder")
    gc.enable()
    files.enter_untrusted_mode()
    stdin = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace")
    anyio.run(
        serve,
        make_server(roots, partial(_settings, roots[0]), partial(_read_surroundings, roots)),
        stdin,
    )

    return 0


def _settings(root: str, filename: str, cluster: bytes | None) -> CallSettings:
    """Return what judges a file, by the configuration that applies to the first root, for the
    profile with this text or for the configured one.

    The configuration is read for each call, because a user may change it meanwhile.
    """
    from ptcompile.api.inputs import read_profile
    from ptcompile.mcp.inputs import CallError, CallSettings

    try:
        settings = config.load(None, start=root)
        if cluster is None and settings.cluster is not None:
            cluster = files.read(settings.cluster)
        profile = read_profile(cluster)
        return CallSettings(settings.lint_options(filename, profile.profile), profile)
    except (UsageError, ValueError) as error:
        raise CallError(f"the configuration has an error: {error}") from None


def _read_surroundings(roots: Sequence[str], item: NamedText) -> Around:
    """Return what the other files below the roots mean for a file, as in `ptcompile lint FILE
    --context ROOT`.
    """
    from ptcompile.cli.baseline import without_known
    from ptcompile.cli.related import RelatedObjects, earlier_files, with_context
    from ptcompile.linter.repeated import defined_earlier
    from ptcompile.mcp.inputs import Around, CallError
    from ptcompile.source import documents

    try:
        settings = config.load(None, start=roots[0])
        of_baseline = without_known(settings)
    except UsageError as error:
        raise CallError(f"the configuration has an error: {error}") from None

    if item.filename is None:
        return Around(without_known=of_baseline)

    places = (os.path.join(root, item.filename) for root in roots)
    file = files.InputFile(next(filter(os.path.exists, places)), item.content, True)
    _, everything, excluded, _ = with_context([file], roots, settings)
    related = RelatedObjects(everything, is_complete=len(everything) > 1)
    known = None
    if earlier := earlier_files(file, everything):
        known = defined_earlier(documents.read(item.content, file.name), None, earlier)

    return Around(
        beside=related.objects_for(file),
        earlier=known,
        is_excluded=bool(excluded),
        without_known=of_baseline,
    )
