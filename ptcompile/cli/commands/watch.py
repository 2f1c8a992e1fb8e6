"""`ptcompile watch`: the page of `explain --html`, live, from a server on the loopback interface.

Who may read it: anyone who knows the token in its address, and asks for the address itself. A name that another's DNS
leads to 127.0.0.1 is another host, so that no page of another site can read this one.
"""

from __future__ import annotations

import argparse
import gc
import secrets
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

from ptcompile.cli import files
from ptcompile.cli.config import Config, load
from ptcompile.cli.files import InputFile, UsageError
from ptcompile.cli.options import check_target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, NoReturn


_LOOPBACK: Final = "127.0.0.1"
_WAIT: Final = 20.0
"""Seconds after which a request for a change is answered though there is none."""
_POLL: Final = 0.05
"""Seconds between two looks at whether it has ended: what Ctrl-C waits for."""

_FRAME: Final = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>ptcompile watch</title>
<style>html, body {{ height: 100%; margin: 0; overflow: hidden }}
iframe {{ border: 0; width: 100%; height: 100% }}
p {{ position: fixed; bottom: 0; right: 0; margin: 0; padding: .3em .8em; background: #b91c1c; color: white }}</style>
</head>
<body>
<iframe title="where every line came from" src="page?0"></iframe>
<p hidden role="status">ptcompile watch has ended; what is shown is not up to date any more</p>
<script nonce="{nonce}">
"use strict";
const frame = document.querySelector("iframe"), gone = document.querySelector("p");
let shown = 0, place = 0, hash = "";
frame.addEventListener("load", () => {{ frame.contentWindow.scrollTo(0, place); }});
const look = async () => {{
  try {{
    const answer = await fetch(`version?${{shown}}`, {{cache: "no-store"}});
    const now = Number(await answer.text());
    gone.hidden = true;
    if (answer.ok && now !== shown) {{
      shown = now;
      place = frame.contentWindow.scrollY;
      hash = frame.contentWindow.location.hash;
      frame.contentWindow.location.replace(`page?${{now}}${{hash}}`);
    }}
  }} catch {{
    gone.hidden = false;
    await new Promise((done) => setTimeout(done, 1000));
  }}
  look();
}};
look();
</script>
</body>
</html>
"""

_POLICY: Final = (
    "default-src 'none'; frame-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)


class Live:
    """The server. `show` gives it another page."""

    def __init__(self, port: int = 0) -> None:
        self.token = secrets.token_urlsafe(24)
        self._changed = threading.Condition()
        self._version = 0
        self._page = ""
        self._ended = False
        live = self

        class Handler(_Handler):
            """Of this server."""

            of = live

        self._server = ThreadingHTTPServer((_LOOPBACK, port), Handler)
        self._server.daemon_threads = True
        self.host = f"{_LOOPBACK}:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(_POLL,), daemon=True)

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{self.host}/{self.token}/"

    def __enter__(self) -> Live:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._server.shutdown()
        self._server.server_close()

    def show(self, page: str) -> None:
        """Show another page."""
        with self._changed:
            self._page = page
            self._version += 1
            self._changed.notify_all()

    def version(self, seen: int) -> int:
        """The number of the page, as soon as it is another one than that which was seen."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self._version not in (seen, 0), timeout=_WAIT)
            return self._version

    def page(self) -> str:
        """The page as it is now, once there is one."""
        self.version(0)
        return self._page


class _Handler(BaseHTTPRequestHandler):
    """One request. Everything but a GET of the three addresses, from the right host, is refused."""

    of: Live
    protocol_version = "HTTP/1.1"
    server_version = "ptcompile"
    sys_version = ""
    timeout = 60

    def do_GET(self) -> None:
        """Answer."""
        path, _, query = self.path.partition("?")
        if self.headers.get_all("Host") != [self.of.host] or not self._same_site():
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", "not this host\n")
            return
        token, _, name = path.removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode(), self.of.token.encode()):
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", "no such page\n")
        elif name == "":
            nonce = secrets.token_urlsafe(16)
            policy = _POLICY.format(nonce=nonce)
            self._answer(HTTPStatus.OK, "text/html", _FRAME.format(nonce=nonce), policy)
        elif name == "page":
            self._answer(HTTPStatus.OK, "text/html", self.of.page())
        elif name == "version":
            seen = int(query) if query.isascii() and query.isdigit() and len(query) < 10 else 0
            self._answer(HTTPStatus.OK, "text/plain", str(self.of.version(seen)))
        else:
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", "no such page\n")

    def _same_site(self) -> bool:
        """Whether no page of another site asks, as far as the browser says."""
        return self.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin")

    def _answer(self, status: HTTPStatus, kind: str, text: str, policy: str = "") -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        if policy:
            self.send_header("Content-Security-Policy", policy)
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:  # the browser has gone
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the token is in every line of a log."""


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

    try:
        live = Live(options.port)
    except (OSError, OverflowError) as error:
        raise UsageError(f"port {options.port}: {error}") from None
    gc.enable()
    with suppress(KeyboardInterrupt), live:
        files.print_error(f"ptcompile: {live.address} (Ctrl-C ends it)\n")
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
    from ptcompile.explainer import page

    spec = InputFile(options.spec, contents[0], True)
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
