"""A Kubernetes API server on loopback with what adapters need: it stores objects and creates the pods of jobs.

It rejects what the offline API server rejects. Pods come from the simulation, with the labels that controllers set.
Deleting an object deletes its dependents. Tests set the status.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from ptcompile.apiserver import validate
from ptcompile.kinds.model import Kind
from ptcompile.operators.table import expand, kinds_with

Json = dict[str, Any]
Key = tuple[str, str, str]
"""apiVersion and plural, namespace, name."""

PATH = re.compile(
    r"/(?:api/(?P<core>v1)|apis/(?P<group>[\w.-]+/[\w.-]+))(?:/namespaces/(?P<space>[\w-]+))?/(?P<plural>[a-z]+)"
)
ENDED = {"completionTime": "2026-01-01T00:01:00Z"}
ENDINGS: dict[str, tuple[Json, Json]] = {
    "pods": ({"phase": "Succeeded"}, {"phase": "Failed", "reason": "Evicted"}),
    "jobs": ({"conditions": [{"type": "Complete", "status": "True"}], **ENDED}, {}),
    "pytorchjobs": ({"conditions": [{"type": "Succeeded", "status": "True"}], **ENDED}, {}),
    "jobsets": (
        {"conditions": [{"type": "Completed", "status": "True"}], "terminalState": "Completed"},
        {},
    ),
    "trainjobs": ({"conditions": [{"type": "Complete", "status": "True"}]}, {}),
}
FAILED: Json = {
    "conditions": [{"type": "Failed", "status": "True", "reason": "Broken", "message": "it broke"}]
}
VOLCANO = "batch.volcano.sh/v1alpha1"
SERVED = {version for version, _ in kinds_with(Kind.following)}


def ending(version: str, plural: str, *, well: bool) -> Json:
    """Return the final status that the kind's controller writes."""
    if version == VOLCANO:
        return {
            "state": {
                "phase": "Completed" if well else "Failed",
                "reason": "" if well else "Broken",
            }
        }
    succeeded, failed = ENDINGS[plural]
    jobset = {"terminalState": "Failed"} if plural == "jobsets" else {}
    return succeeded if well else failed or {**FAILED, **jobset}


class FakeApi:
    """The server's objects and the requests it received."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str, str, str], Json] = {}
        self.asked: list[tuple[str, str]] = []
        self.deletions: list[tuple[str, Any]] = []
        self.url = ""
        self.ends: bool | None = None
        """Whether jobs succeed at the second request for them; None if they keep running."""
        self.forbidden: frozenset[str] = frozenset()
        """HTTP methods that the client may not use."""
        self._lock = threading.Lock()
        self._uid = 0

    def names(self, plural: str) -> list[str]:
        """Return the sorted names of a kind's objects."""
        return sorted(name for _, resource, _, name in self.objects if resource == plural)

    def only(self, plural: str) -> Json:
        """Return the only object of a kind."""
        (name,) = self.names(plural)
        return next(
            live
            for (_, kind, _, own), live in self.objects.items()
            if (kind, own) == (plural, name)
        )

    def create(self, version: str, plural: str, space: str, body: Json) -> tuple[int, Json]:
        name = body["metadata"]["name"]
        if (version, plural, space, name) in self.objects:
            return 409, {
                "kind": "Status",
                "message": f"{plural} {name!r} already exists",
                "reason": "AlreadyExists",
            }
        others = list(self.objects.values())
        refused = [
            problem
            for problem in validate(body, others=others)
            if problem.severity == "error" and problem.stage == "apply"
        ]
        if refused:
            return 422, {"kind": "Status", "message": refused[0].message, "reason": "Invalid"}
        live = {**body, "metadata": {**body["metadata"], "namespace": space, **self._born()}}
        self.objects[version, plural, space, name] = live
        if (body["apiVersion"], body["kind"]) in kinds_with(Kind.following):
            live["status"] = {"state": {"phase": "Pending"}} if version == VOLCANO else {}
            self._make_pods(live, space, others)
        return 201, live

    def _born(self) -> Json:
        self._uid += 1
        return {
            "uid": f"uid-{self._uid}",
            "creationTimestamp": f"2026-01-01T00:00:{self._uid % 60:02}Z",
        }

    def _make_pods(self, job: Json, space: str, others: list[Json]) -> None:
        if job["kind"] == "Pod":
            job["status"] = {"phase": "Pending"}
            return
        owner = {key: job[key] for key in ("apiVersion", "kind")} | {
            key: job["metadata"][key] for key in ("uid", "name")
        }
        for at, pod in enumerate(expand(job, related=others).pods):
            metadata = {
                "name": pod.name,
                "namespace": space,
                "labels": dict(pod.labels),
                "ownerReferences": [owner],
            }
            status = {"phase": "Running", "podIP": f"10.0.0.{at}"}
            made = {
                "metadata": {**metadata, **self._born()},
                "spec": {"containers": [{"name": "pytorch"}]},
                "status": status,
            }
            self.objects["v1", "pods", space, pod.name] = made

    def delete(self, key: tuple[str, str, str, str]) -> None:
        """Delete an object and its dependents."""
        gone = self.objects.pop(key)
        for other, live in list(self.objects.items()):
            owners = [reference["uid"] for reference in live["metadata"].get("ownerReferences", ())]
            if gone["metadata"]["uid"] in owners and other in self.objects:
                self.delete(other)

    def answer(self, method: str, target: str, body: Any) -> tuple[int, Any]:
        """Return the status and the body, which is text for a log."""
        url = urlsplit(target)
        query, match = dict(parse_qsl(url.query)), PATH.match(url.path)
        with self._lock:
            self.asked.append((method, target))
            if method in self.forbidden:
                return 403, {
                    "kind": "Status",
                    "reason": "Forbidden",
                    "message": f"no {method} for you",
                }
            if match is None:
                return 404, {"message": "no such path"}
            version, plural, space = (
                match["core"] or match["group"],
                match["plural"],
                match["space"] or "",
            )
            if version not in SERVED:
                return 404, {"message": "the server could not find the requested resource"}
            rest = [part for part in url.path[match.end() :].split("/") if part]
            if not rest:
                return (
                    self.create(version, plural, space, body)
                    if method == "POST"
                    else self._list(match, query)
                )
            key = version, plural, space, rest[0]
            if key not in self.objects:
                return 404, {
                    "kind": "Status",
                    "reason": "NotFound",
                    "message": f"{rest[0]} not found",
                }
            if rest[1:] == ["log"]:
                return 200, f"{rest[0]} {query['container']} one\n{rest[0]} épilogue"
            return self._of_one(method, key, body)

    def _of_one(self, method: str, key: tuple[str, str, str, str], body: Any) -> tuple[int, Any]:
        live = self.objects[key]
        if method == "DELETE":
            self.deletions.append((f"{key[1]}/{key[3]}", (body or {}).get("propagationPolicy")))
            self.delete(key)
        elif method == "PATCH":
            live["metadata"] |= body["metadata"]
        elif (
            self.ends is not None
            and "status" in live
            and sum(one[1].endswith(f"/{key[3]}") for one in self.asked) > 1
        ):
            live["status"] = ending(key[0], key[1], well=self.ends)
        return 200, live

    def _asked_before(self, name: str) -> bool:
        return sum(method == "GET" and path.endswith(f"/{name}") for method, path in self.asked) > 1

    def _list(self, match: re.Match[str], query: Mapping[str, str]) -> tuple[int, Any]:
        """Return the objects, or for a watch an event for each of them; the watch then expires."""
        wanted = [part.partition("=") for part in query.get("labelSelector", "").split(",") if part]
        objects = [
            live
            for (version, plural, space, name), live in self.objects.items()
            if (version, plural) == (match["core"] or match["group"], match["plural"])
            and space == (match["space"] or space)
            and all(
                live["metadata"].get("labels", {}).get(key) == value for key, _, value in wanted
            )
            and query.get("fieldSelector", f"metadata.name={name}") == f"metadata.name={name}"
        ]
        if query.get("watch", "").lower() == "true":
            return 200, "".join(
                json.dumps({"type": "ADDED", "object": live}) + "\n" for live in objects
            )
        items = [
            {key: value for key, value in live.items() if key not in ("apiVersion", "kind")}
            for live in objects
        ]
        return 200, {"kind": "List", "items": items}


@contextmanager
def serving() -> Iterator[FakeApi]:
    """Run a server on a free port of loopback until the end of the block."""
    fake = FakeApi()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else None
            try:
                status, answer = fake.answer(self.command, self.path, body)
            except Exception as error:  # return errors of this file to the client, which shows them
                status, answer = 500, {"message": repr(error)}
            content = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header(
                "Content-Type", "text/plain" if isinstance(answer, str) else "application/json"
            )
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing, because pytest shows the output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
