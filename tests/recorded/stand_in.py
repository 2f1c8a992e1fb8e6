"""A stand-in for an API server on loopback: it keeps objects, and answers questions as a function
says.

The tests of the recorders use it with answers that were recorded, so a recorder that asks something
else fails with status 501. It validates nothing itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from ptcompile.kubernetes.index import CLUSTER_WIDE
from tests.recorded.recording import Answer, Json, root_of

MISSING = Answer(404, {"message": "not found"})
NOT_SERVED = Answer(404, {}, text="404 page not found\n")
"""What a kube-apiserver says at a path of no group or version that it has."""
UNRECORDED = Answer(501, {"message": "this question has no recorded answer"})


class Question(NamedTuple):
    """A request that is more than keeping an object: a dry run, the creation of an object, a list
    of objects, or what is no object, such as a log.
    """

    method: str
    body: Json
    is_dry_run: bool
    is_forced: bool
    stored: dict[str, Json]
    """The objects that exist, by path. A function may add some, as controllers do."""
    path: str


Answering = Callable[[Question], Answer | None]
"""Returns the answer to a question; None to keep the object of a request that is no dry run."""


@contextmanager
def serving(manifests: Iterable[Json], answer: Answering, version: str = "1.36") -> Iterator[str]:
    """Yield the address of a server that has the kinds of some manifests, and is empty."""
    kinds = sorted(
        {(manifest["apiVersion"], manifest["kind"]) for manifest in manifests}
        | {("v1", "Namespace"), ("v1", "Pod")}
    )
    handler = type(
        "Handler",
        (_Handler,),
        {"kinds": kinds, "answer": staticmethod(answer), "stored": {}, "version": version},
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    kinds: list[tuple[str, str]]
    answer: Answering
    stored: dict[str, Json]
    version: str
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path == "/version":
            major, _, minor = self.version.partition(".")
            self._send(Answer(200, {"major": major, "minor": minor}))
        elif path in self.stored:
            self._send(Answer(200, self.stored[path]))
        elif resources := [
            _resource(kind) for version, kind in self.kinds if path == root_of(version)
        ]:
            self._send(Answer(200, {"resources": resources}))
        elif path.rpartition("/")[2] in {_resource(kind)["name"] for _, kind in self.kinds}:
            self._ask(path)
            below = [one for key, one in self.stored.items() if key.rpartition("/")[0] == path]
            self._send(Answer(200, {"items": below}))
        elif path.startswith("/openapi/") or path.endswith("/log"):
            self._send(self._ask(path) or MISSING)
        else:
            self._send(MISSING if path.count("/") > 3 else NOT_SERVED)

    def _ask(self, path: str) -> Answer | None:
        return type(self).answer(Question("GET", {}, True, False, self.stored, path))

    def do_DELETE(self) -> None:
        path = urlsplit(self.path).path
        below = [key for key in self.stored if key == path or key.startswith(f"{path}/")]
        for key in below:
            del self.stored[key]
        self._send(Answer(200, {}) if below else MISSING)

    def do_POST(self) -> None:
        body = self._body()
        path = urlsplit(self.path).path
        metadata = body.get("metadata")
        self._answer(
            body,
            f"{path}/{metadata.get('name', '') if isinstance(metadata, dict) else ''}",
            is_new=True,
        )

    def do_PATCH(self) -> None:
        path = urlsplit(self.path).path
        body = self._body()
        if path.endswith("/finalize"):
            self._send(Answer(200, body))
        else:
            self._answer(body, path)

    def do_PUT(self) -> None:
        self.do_PATCH()

    def _answer(self, body: Json, path: str, *, is_new: bool = False) -> None:
        query = parse_qs(urlsplit(self.path).query)
        is_dry_run = "dryRun" in query
        question = Question(
            str(self.command), body, is_dry_run, "force" in query, self.stored, path
        )
        answer = type(self).answer(question)
        if answer is None and is_new and path in self.stored and not is_dry_run:
            answer = Answer(409, {"message": f"{path} already exists"})
        if answer is None and not is_dry_run:
            answer = Answer(201 if is_new else 200, body)
        if answer is not None and answer.accepted and not is_dry_run:
            self.stored[path.removesuffix("/status")] = answer.data
        self._send(answer or UNRECORDED)

    def _body(self) -> Json:
        body: Json = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return body

    def _send(self, answer: Answer) -> None:
        data = (answer.text or json.dumps(answer.data)).encode()
        self.send_response(answer.status)
        for text in answer.warnings:
            self.send_header("Warning", f"299 - {json.dumps(text, ensure_ascii=False)}")
        self.send_header("Content-Type", "text/plain" if answer.text else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Write no log."""


def _resource(kind: str) -> Json:
    return {
        "name": f"{kind.lower()}s",
        "kind": kind,
        "namespaced": kind not in CLUSTER_WIDE,
        "verbs": ["create"],
    }
