"""`ptcompile watch`: the page of `explain --html` in a browser, new whenever its files change."""

from __future__ import annotations

import argparse
import gc
import time
from contextlib import suppress

from ptcompile.cli import files
from ptcompile.cli.config import Config, load
from ptcompile.cli.files import File, UsageError
from ptcompile.cli.options import check_target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, NoReturn

    from ptcompile.cli.live import Live

_EPILOG = """\
The page is served on this machine alone, at an address that cannot be guessed. It shows every target, the findings at
their lines, and where each value came from. Ctrl-C ends it.

  ptcompile watch spec.yaml --cluster prod.yaml
"""
_EVERY: Final = 0.25
"""Seconds between two looks at the files."""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the command and its options into the parser."""
    one = commands.add_parser(
        "watch",
        help="the page of explain --html, live in a browser",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    one.add_argument("spec", metavar="SPEC", help="a file")
    one.add_argument("--target", metavar="T", help="this target alone (every one)")
    one.add_argument("--cluster", metavar="FILE", help="the platform's profile (kind: ClusterProfile)")
    one.add_argument("--port", type=int, default=0, metavar="N", help="of the address (a free one)")
    one.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Serve the page until the person has seen enough."""
    check_target(options.target)
    if options.spec == "-":
        raise UsageError("standard input does not change: watch needs a file")
    for path in filter(None, (options.spec, options.cluster)):
        files.read(path)
    settings = load(None)
    from ptcompile.cli.live import Live

    try:
        live = Live(options.port)
    except (OSError, OverflowError) as error:
        raise UsageError(f"port {options.port}: {error}") from None
    gc.enable()
    with suppress(KeyboardInterrupt), live:
        files.say(f"ptcompile: {live.address} (Ctrl-C ends it)\n")
        _watch(live, options, settings)
    return 0


def _watch(live: Live, options: argparse.Namespace, settings: Config) -> NoReturn:
    """Show the page, and again whenever its files are others."""
    seen: tuple[bytes, ...] | None = None
    while True:
        now = _contents(options)
        if now != seen:
            seen = now
            live.show(_page(options, now, settings))
        time.sleep(_EVERY)


def _contents(options: argparse.Namespace) -> tuple[bytes, ...]:
    """What is in the files. A file that an editor is replacing at this moment is as it was: absent, for that long."""
    found = []
    for path in filter(None, (options.spec, options.cluster)):
        try:
            found.append(files.read(path))
        except UsageError:
            time.sleep(_EVERY)
            try:
                found.append(files.read(path))
            except UsageError as error:
                found.append(f"# {error}\n".encode())
    return tuple(found)


def _page(options: argparse.Namespace, contents: tuple[bytes, ...], settings: Config) -> str:
    from ptcompile import page

    spec = File(options.spec, contents[0], True)
    shown = page.gather(
        spec.content,
        target=options.target,
        cluster=contents[1] if options.cluster else None,
        filename=spec.name,
        cluster_filename=options.cluster or "",
        select=settings.selected(),
        ignore=settings.ignored(spec.name),
    )
    return page.html(shown)
