"""Headless Chromium from Debian, driven by the DevTools protocol over two pipes."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

CHROMIUM: Final = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
_FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
_PATIENCE: Final = 60
"""Seconds to wait for an answer on a busy machine."""

Json = dict[str, Any]


class Browser:
    """One tab, with a record of its console output and network requests."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write = read, write
        self._buffer = b""
        self._last = 0
        self._tab: str | None = None
        self.events: list[Json] = []

    def begin(self) -> None:
        """Attach to a new tab."""
        tab = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._tab = self.call("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> Json:
        """Call a DevTools method. Raises `RuntimeError` for an error response and `TimeoutError` for no response."""
        self._last += 1
        message: Json = {"id": self._last, "method": method, "params": params}
        if self._tab:
            message["sessionId"] = self._tab
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                result: Json = answer["result"]
                return result
            self.events.append(answer)

    def _next(self) -> Json:
        until = time.monotonic() + _PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, until - time.monotonic()))
            chunk = os.read(self._read, 1 << 16) if ready else b""
            if not chunk:
                raise TimeoutError("the browser says nothing")
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        found: Json = json.loads(message)
        return found

    def open(self, path: Path, *, width: int = 1280, height: int = 900, **media: str) -> None:
        """Open a file in a window of this size; `media` are media features such as `prefers_color_scheme`."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        features = [
            {"name": name.replace("_", "-"), "value": value} for name, value in media.items()
        ]
        self.call("Emulation.setEmulatedMedia", media="", features=features)
        self.pointer(0, 0)
        self.run("try { sessionStorage.clear() } catch {}")  # pages remember their tab there
        self.load(path.resolve().as_uri())

    def load(self, url: str) -> None:
        """Load a page and wait for it."""
        self._load("Page.navigate", url=url)

    def reload(self) -> None:
        """Load the page again and wait for it: a script that is evaluated meanwhile would fail with the old page."""
        self._load("Page.reload")

    def _load(self, method: str, **params: Any) -> None:
        self.events.clear()
        self.call(method, **params)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def run(self, script: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        done = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in done:
            raise RuntimeError(json.dumps(done["exceptionDetails"]))
        return done["result"].get("value")

    def pointer(self, x: float, y: float) -> None:
        """Move the pointer to these window coordinates."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def place(self, selector: str) -> tuple[float, float]:
        """Scroll an element into view and return the coordinates of a point on it."""
        found = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); "
            "e.scrollIntoView({block: 'center', behavior: 'instant'}); const r = e.getBoundingClientRect(); "
            "return [r.x + Math.min(60, r.width / 2), r.y + Math.min(8, r.height / 2)]; })()"
        )
        return found[0], found[1]

    def hover(self, selector: str) -> None:
        """Move the pointer over an element."""
        self.pointer(*self.place(selector))

    def click(self, selector: str) -> None:
        """Click an element."""
        x, y = self.place(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, *keys: str) -> None:
        """Press keys in order, given by their DOM names."""
        codes = {
            "Tab": 9,
            "Enter": 13,
            "Escape": 27,
            "ArrowLeft": 37,
            "ArrowUp": 38,
            "ArrowRight": 39,
            "ArrowDown": 40,
        }
        codes |= {"End": 35, "Home": 36}
        for key in keys:
            for kind in ("rawKeyDown", "keyUp"):
                self.call(
                    "Input.dispatchKeyEvent",
                    type=kind,
                    key=key,
                    code=key,
                    windowsVirtualKeyCode=codes[key],
                )

    def errors(self) -> list[str]:
        """Return the page's errors: exceptions, console messages and violations of the content security policy."""
        errors = [e["params"] for e in self.events if e.get("method") == "Runtime.exceptionThrown"]
        logged = [
            e["params"]["entry"] if e["method"] == "Log.entryAdded" else e["params"]
            for e in self.events
            if e.get("method") in ("Log.entryAdded", "Runtime.consoleAPICalled")
        ]
        return [json.dumps(one) for one in (*errors, *logged)]

    def asked_for(self) -> list[str]:
        """Return the URLs that the page requested, without `data:` URLs."""
        sent = (
            e["params"]["request"]["url"]
            for e in self.events
            if e.get("method") == "Network.requestWillBeSent"
        )
        return [url for url in sent if not url.startswith("data:")]

    def screenshot(self, path: Path) -> bytes:
        """Return the window as a PNG and write it to `path`."""
        png = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        path.write_bytes(png)
        return png

    def pdf(self, path: Path) -> bytes:
        """Return the printed page as a PDF and write it to `path`."""
        printed = self.call(
            "Page.printToPDF", printBackground=False, paperWidth=8.27, paperHeight=11.69
        )
        content = base64.b64decode(printed["data"])
        path.write_bytes(content)
        return content


@contextmanager
def browser() -> Iterator[Browser]:
    """Yield a browser with a temporary profile, or skip the test where none is installed."""
    if CHROMIUM is None:
        pytest.skip("no chromium here")

    there, ours = os.pipe(), os.pipe()  # its input, its output

    def pipes() -> None:  # Chromium uses descriptors 3 and 4
        os.dup2(there[0], 13)
        os.dup2(ours[1], 14)
        os.dup2(13, 3)
        os.dup2(14, 4)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        running = subprocess.Popen(
            [CHROMIUM, *_FLAGS, f"--user-data-dir={profile}"],
            preexec_fn=pipes,  # safe: this process has no threads
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            os.close(there[0])
            os.close(ours[1])
            tab = Browser(ours[0], there[1])
            tab.begin()
            yield tab
        finally:
            running.terminate()
            running.wait(timeout=_PATIENCE)
            os.close(ours[0])
            os.close(there[1])
