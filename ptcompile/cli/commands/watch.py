"""`ptcompile watch`: the page of `explain --html`, live, from a server on the loopback interface.

Only a client that knows the token in the address and requests the exact host can read it. A foreign
DNS name that resolves to 127.0.0.1 is a different host, so no page of another site can read this
one.
"""

from __future__ import annotations

import argparse
import gc
import os
import secrets
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from ptcompile._internal.deadline import deadline
from ptcompile._internal.limits import NotFinishedError
from ptcompile._internal.spelling import is_short_number
from ptcompile.cli import files
from ptcompile.cli.config import settings_of
from ptcompile.cli.files import UsageError
from ptcompile.cli.inputs import page_inputs
from ptcompile.cli.options import check_target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from ptcompile.explainer.page import ExplainPage


_LOOPBACK = "127.0.0.1"
_MAX_WAIT_SECONDS = 20.0
"""Seconds after which a request for a change is answered even without one."""
_POLL_SECONDS = 0.05
"""Seconds between two checks for the server's end; Ctrl-C takes this long."""

_FRAME_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>ptcompile watch</title>
<style>html, body {{ height: 100%; margin: 0; overflow: hidden }}
iframe {{ border: 0; width: 100%; height: 100% }}
p {{ position: fixed; bottom: 0; right: 0; margin: 0; padding: .3em .8em; background: #b91c1c; color: white }}</style>
</head>
<body>
<iframe title="where every line came from" src="page?0"></iframe>
<p hidden role="status">ptcompile watch has ended; this page is out of date</p>
<script nonce="{nonce}">
"use strict";
const frame = document.querySelector("iframe"), gone = document.querySelector("p");
let shown = 0, place = null;
const readPlace = () => {{
  const page = frame.contentDocument;
  const tab = page.querySelector('.tabs [aria-selected="true"]');
  return {{
    hash: tab ? tab.hash : "",
    top: frame.contentWindow.scrollY,
    lists: [...page.querySelectorAll(".code")].map((list) => [list.id, list.scrollTop]),
    open: [...page.querySelectorAll("details[open]")].map((details) => details.parentElement.id),
  }};
}};
const restorePlace = () => {{
  const page = frame.contentDocument;
  for (const id of place.open) for (const details of page.querySelectorAll(`#${{id}} details`)) details.open = true;
  for (const [id, top] of place.lists) page.getElementById(id)?.scrollTo({{top, behavior: "instant"}});
  const link = page.querySelector(".notice a");
  if (link) page.querySelector(`${{link.hash}} .error`)?.scrollIntoView({{block: "nearest", behavior: "instant"}});
  frame.contentWindow.scrollTo(0, place.top);
}};
frame.addEventListener("load", () => {{ if (place) restorePlace(); }});
const look = async () => {{
  try {{
    const answer = await fetch(`version?${{shown}}`, {{cache: "no-store"}});
    const now = Number(await answer.text());
    gone.hidden = true;
    if (answer.ok && now !== shown) {{
      place = readPlace();
      shown = now;
      frame.contentWindow.location.replace(`page?${{now}}${{place.hash}}`);
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

_POLICY = (
    "default-src 'none'; frame-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; "
    "script-src 'nonce-{nonce}'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)


class Live:
    """The server; `show` gives it a new page."""

    def __init__(self, port: int = 0) -> None:
        self.token = secrets.token_urlsafe(24)
        self._changed = threading.Condition()
        self._version = 0
        self._page = ""
        self._ended = False
        served = self

        class Handler(_Handler):
            """The handler of this server."""

            live = served

        self._server = ThreadingHTTPServer((_LOOPBACK, port), Handler)
        self._server.daemon_threads = True
        self.host = f"{_LOOPBACK}:{self._server.server_address[1]}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL_SECONDS,), daemon=True
        )

    @property
    def address(self) -> str:
        """The page's address."""
        return f"http://{self.host}/{self.token}/"

    def __enter__(self) -> Live:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._server.shutdown()
        self._server.server_close()

    def show(self, page: str) -> None:
        """Replace the page."""
        with self._changed:
            self._page = page
            self._version += 1
            self._changed.notify_all()

    def version(self, last_version: int) -> int:
        """Wait until the page's number differs from `last_version`; return it."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._ended or self._version not in (last_version, 0),
                timeout=_MAX_WAIT_SECONDS,
            )
            return self._version

    def page(self) -> str:
        """Return the current page; wait for the first one."""
        self.version(0)
        return self._page


class _Handler(BaseHTTPRequestHandler):
    """One request; rejects everything except a GET of the three addresses from the right host."""

    live: Live
    protocol_version = "HTTP/1.1"
    server_version = "ptcompile"
    sys_version = ""
    timeout = 60

    def do_GET(self) -> None:
        """Answer the request."""
        path, _, query = self.path.partition("?")
        is_same_site = self.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin")
        if self.headers.get_all("Host") != [self.live.host] or not is_same_site:
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", "not this host\n")
            return

        token, _, name = path.removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode(), self.live.token.encode()):
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", "no such page\n")
        elif name == "":
            nonce = secrets.token_urlsafe(16)
            policy = _POLICY.format(nonce=nonce)
            self._answer(HTTPStatus.OK, "text/html", _FRAME_PAGE.format(nonce=nonce), policy)
        elif name == "page":
            self._answer(HTTPStatus.OK, "text/html", self.live.page())
        elif name == "version":
            last_version = int(query) if is_short_number(query) else 0
            self._answer(HTTPStatus.OK, "text/plain", str(self.live.version(last_version)))
        else:
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", "no such page\n")

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
        except OSError:
            # the browser closed the connection
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: every line would contain the token."""


_CHECK_SECONDS = 0.25
"""Seconds between two checks of the files."""


def run(options: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    check_target(options.target)
    if options.spec == "-":
        raise UsageError("standard input does not change: watch needs a file")

    paths = [path for path in (options.spec, options.cluster) if path]
    for path in paths:
        files.read(path)
    # a mistake in the configuration ends the command before the page is served
    settings_of(options)

    try:
        live = Live(options.port)
    except (OSError, OverflowError) as error:
        raise UsageError(f"port {options.port}: {error}") from None

    gc.enable()
    with suppress(KeyboardInterrupt), live:
        files.print_error(f"ptcompile: {live.address} (Ctrl-C ends it)")
        _watch(live, options, paths)

    return 0


def _watch(live: Live, options: argparse.Namespace, paths: Sequence[str]) -> NoReturn:
    """Show the page, and update it when its files change. While they do not compile, keep their
    last manifests.
    """
    from ptcompile.explainer.page import html, with_earlier_manifests

    last_contents: list[bytes | str] | None = None
    last_page: ExplainPage | None = None
    last_compiled: ExplainPage | None = None
    while True:
        contents = [_read_content(path) for path in paths]
        if contents != last_contents:
            last_contents = contents
            notices = [content for content in contents if isinstance(content, str)]
            earlier = last_compiled or last_page
            try:
                if notices and earlier:
                    page = _mark_outdated(earlier, notices)
                else:
                    page = _make_page(options, contents)
            except NotFinishedError:
                if earlier is None:
                    raise
                notices = [
                    f"Not finished after {options.timeout:g} s. The page shows its last version."
                ]
                page = _mark_outdated(earlier, notices)

            if not notices or earlier is None:
                last_page = page
                if page.compiles:
                    last_compiled = page
                elif last_compiled is not None:
                    page = with_earlier_manifests(page, last_compiled)

            live.show(html(page))
            if earlier is None:
                gc.collect()
                # later garbage collections skip what the first page has loaded
                gc.freeze()

        time.sleep(_CHECK_SECONDS)


def _mark_outdated(page: ExplainPage, notices: Sequence[str]) -> ExplainPage:
    return page._replace(outdated="everything", notice=" ".join(notices))


def _read_content(path: str) -> bytes | str:
    """Return the content of a file, or why it cannot be read. An editor may be replacing a missing
    file, so try twice.
    """
    for _ in range(2):
        try:
            return files.read(path)
        except UsageError as error:
            problem = str(error)
            time.sleep(_CHECK_SECONDS)
    if not os.path.lexists(path):
        problem = f"{path} is gone: it was deleted, moved or renamed"
    return f"{problem}. The page shows its last version until it can be read again."


def _make_page(options: argparse.Namespace, contents: Sequence[bytes | str]) -> ExplainPage:
    """Return the page of the files, without lines for files that cannot be read."""
    from ptcompile.api.explain import explain_page

    spec, *profile = (content if isinstance(content, bytes) else b"" for content in contents)
    with deadline(options.timeout):
        inputs = page_inputs(spec, profile[0] if profile else None, options.spec, options)
        return explain_page(inputs, options.target, settings_of(options).selection(options.spec))
