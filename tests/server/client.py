"""A client that speaks the Language Server Protocol with the real server, over its standard input and output."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

SECONDS = 60
"""The longest wait for one answer, on a busy machine."""

CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "window": {"showDocument": {"support": True}},
    "workspace": {"workspaceEdit": {"documentChanges": False}},
}


class Client:
    """One editor with one server. Requests that the server makes are answered with null and kept."""

    def __init__(self, folder: Path, *, options: dict[str, Any] | None = None) -> None:
        self.folder = folder
        self._server = subprocess.Popen(
            [sys.executable, "-m", "ptcompile", "server", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
        )
        self._id = 0
        self._answers: dict[int, queue.Queue[dict[str, Any]]] = {}
        self.notifications: queue.Queue[dict[str, Any]] = queue.Queue()
        self.asked: queue.Queue[dict[str, Any]] = queue.Queue()
        self.replies: dict[str, Any] = {}
        """What requests of the server are answered with, by method."""
        self.silent: set[str] = set()
        """Requests of the server that are not answered."""
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
        """Whether the server still runs."""
        return self._server.poll() is None

    @property
    def status(self) -> int | None:
        """The server's exit status."""
        return self._server.poll()

    def cpu(self) -> float:
        """Seconds of processor time that the server has taken (Linux)."""
        tasks = Path(f"/proc/{self._server.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text(encoding="ascii").split()[0]) for task in tasks) / 1e9

    def uri(self, name: str) -> str:
        """The address of a file of the folder."""
        return (self.folder / name).as_uri()

    def tell(self, method: str, **params: Any) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def ask(self, method: str, **params: Any) -> int:
        """Send a request; the number under which its answer comes."""
        self._id += 1
        self._answers[self._id] = queue.Queue()
        self._send({"id": self._id, "method": method, "params": params})
        return self._id

    def answer(self, number: int) -> dict[str, Any]:
        """The whole answer to a request."""
        return self._answers[number].get(timeout=SECONDS)

    def call(self, method: str, **params: Any) -> Any:
        """The result of a request."""
        found = self.answer(self.ask(method, **params))
        assert "error" not in found, found
        return found.get("result")

    def open(self, name: str, text: str, version: int = 1) -> list[dict[str, Any]]:
        """Open a text; its diagnostics."""
        document = {"uri": self.uri(name), "languageId": "yaml", "version": version, "text": text}
        self.tell("textDocument/didOpen", textDocument=document)
        return self.diagnostics(name, version)

    def change(self, name: str, text: str, version: int) -> None:
        """Type: the whole text again."""
        self.tell(
            "textDocument/didChange",
            textDocument={"uri": self.uri(name), "version": version},
            contentChanges=[{"text": text}],
        )

    def diagnostics(self, name: str, version: int | None = None) -> list[dict[str, Any]]:
        """The next diagnostics of a text, of this version."""
        while True:
            found = self.notifications.get(timeout=SECONDS)
            params = found["params"]
            if found["method"] != "textDocument/publishDiagnostics" or params["uri"] != self.uri(name):
                continue
            if version is None or params.get("version") == version:
                diagnostics: list[dict[str, Any]] = params["diagnostics"]
                return diagnostics

    def at(self, name: str, line: int, character: int) -> dict[str, Any]:
        """The parameters of a request about a place."""
        return {"textDocument": {"uri": self.uri(name)}, "position": {"line": line, "character": character}}

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
        except ValueError:  # the stream was closed
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
