"""A Language Server Protocol client for the real server, over its standard input and output."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

SECONDS = 60
"""Maximum seconds to wait for an answer on a busy machine."""

CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "window": {"showDocument": {"support": True}},
    "workspace": {"workspaceEdit": {"documentChanges": False}},
}


class Client:
    """An editor with its own server. It keeps the server's requests and answers them from `replies`, otherwise with
    null.
    """

    def __init__(
        self, folder: Path, *, options: dict[str, Any] | None = None, checkout: str | None = None
    ) -> None:
        self.folder = folder
        self._server = subprocess.Popen(
            [sys.executable, "-m", "ptcompile", "server", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": checkout} if checkout else None,
        )
        self._id = 0
        self._answers: dict[int, queue.Queue[dict[str, Any]]] = {}
        self.notifications: queue.Queue[dict[str, Any]] = queue.Queue()
        self.asked: queue.Queue[dict[str, Any]] = queue.Queue()
        self.replies: dict[str, Any] = {}
        """Responses to requests of the server, by method."""
        self.silent: set[str] = set()
        """Methods of the server's requests that get no response."""
        threading.Thread(target=self._read, daemon=True).start()
        root = folder.as_uri()
        self.capabilities = self.call(
            "initialize",
            processId=None,
            rootUri=root,
            capabilities=CAPABILITIES,
            workspaceFolders=[{"uri": root, "name": "w"}],
            initializationOptions=options or {},
        )["capabilities"]
        self.tell("initialized")

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        if self._server.poll() is None:
            self.call("shutdown")
            self.tell("exit")
            try:
                self._server.wait(SECONDS)
            except subprocess.TimeoutExpired:
                self._server.kill()
        for stream in (self._server.stdin, self._server.stdout):
            if stream is not None:
                stream.close()

    @property
    def alive(self) -> bool:
        """Whether the server is running."""
        return self._server.poll() is None

    @property
    def status(self) -> int | None:
        """The server's exit status, or None if it is running."""
        return self._server.poll()

    def cpu(self) -> float:
        """Return the server's processor time in seconds (Linux)."""
        tasks = Path(f"/proc/{self._server.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text(encoding="ascii").split()[0]) for task in tasks) / 1e9

    def uri(self, name: str) -> str:
        """Return the URI of a file in the folder."""
        return (self.folder / name).as_uri()

    def tell(self, method: str, **params: Any) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def ask(self, method: str, **params: Any) -> int:
        """Send a request and return its id."""
        self._id += 1
        self._answers[self._id] = queue.Queue()
        self._send({"id": self._id, "method": method, "params": params})
        return self._id

    def answer(self, number: int) -> dict[str, Any]:
        """Return the whole response to a request."""
        return self._answers[number].get(timeout=SECONDS)

    def call(self, method: str, **params: Any) -> Any:
        """Send a request and return its result."""
        result = self.answer(self.ask(method, **params))
        assert "error" not in result, result
        return result.get("result")

    def open(self, name: str, text: str, version: int = 1) -> list[dict[str, Any]]:
        """Open a text and return its diagnostics."""
        document = {"uri": self.uri(name), "languageId": "yaml", "version": version, "text": text}
        self.tell("textDocument/didOpen", textDocument=document)
        return self.diagnostics(name, version)

    def change(self, name: str, text: str, version: int) -> None:
        """Replace the whole text, as if typed."""
        self.tell(
            "textDocument/didChange",
            textDocument={"uri": self.uri(name), "version": version},
            contentChanges=[{"text": text}],
        )

    def diagnostics(self, name: str, version: int | None = None) -> list[dict[str, Any]]:
        """Return the next diagnostics of this version of a text."""
        while True:
            notification = self.notifications.get(timeout=SECONDS)
            params = notification["params"]
            if notification["method"] != "textDocument/publishDiagnostics" or params[
                "uri"
            ] != self.uri(name):
                continue
            if version is None or params.get("version") == version:
                diagnostics: list[dict[str, Any]] = params["diagnostics"]
                return diagnostics

    def at(self, name: str, line: int, character: int) -> dict[str, Any]:
        """Return the parameters of a request about a position."""
        return {
            "textDocument": {"uri": self.uri(name)},
            "position": {"line": line, "character": character},
        }

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._server.stdin is not None
        self._server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._server.stdin.flush()

    def _read(self) -> None:
        stream = self._server.stdout
        assert stream is not None
        try:
            while header := stream.readline():
                length = int(header.split(b":")[1])
                while stream.readline().strip():
                    pass
                self._take(json.loads(stream.read(length)))
        except ValueError:  # the stream is closed
            return

    def _take(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            self._answers[message["id"]].put(message)
        elif "id" in message:
            self.asked.put(message)
            if message["method"] in self.silent:
                return
            self._send({"id": message["id"], "result": self.replies.get(message["method"])})
        else:
            self.notifications.put(message)
