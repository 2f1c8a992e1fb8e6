"""What all recorders share: a client of an API server, objects that are removed again, and files
with a header.

docs/maintaining/recording.md says which recorder answers which question, and how long each takes.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import json
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from tests import recorded

Json = dict[str, Any]

NAMESPACE = "ptcompile-recording"
"""The namespace that a recorder makes for its objects and removes at the end."""
DRY_RUN = "dryRun=All&fieldValidation=Strict"
JSON, APPLY = "application/json", "application/apply-patch+yaml"
REMOVAL_SECONDS = 60
SET_BY_SERVER = (
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "selfLink",
    "deletionTimestamp",
)


class Answer(NamedTuple):
    """What the server answered to one request."""

    status: int
    data: Json
    warnings: tuple[str, ...] = ()
    """The texts of its `Warning` headers."""
    text: str = ""
    """What came instead of JSON: a log, or that nothing is served at a path."""

    @property
    def accepted(self) -> bool:
        return self.status in (200, 201)

    @property
    def message(self) -> str:
        """The reason of a rejection, or an empty text."""
        return "" if self.accepted else str(self.data.get("message", ""))

    def verdict(self) -> Json:
        """Return the two fields that every recorded answer of a server has."""
        return {"accepted": self.accepted, "message": self.message}


class Server:
    """An API server behind plain HTTP, such as the one that `kubectl proxy` serves."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        if address.scheme != "http" or not address.hostname:
            message = f"--server must be the http:// address of `kubectl proxy`, not {url!r}"
            raise ValueError(message)
        self._connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
        self._kinds: dict[str, dict[str, tuple[str, bool]]] = {}

    def close(self) -> None:
        self._connection.close()

    def request(
        self, method: str, path: str, body: Json | None = None, content: str = JSON
    ) -> Answer:
        """Send one request. A connection that the server closed in between is opened again once."""
        sent = None if body is None else json.dumps(body).encode()
        for is_last in (False, True):
            try:
                self._connection.request(
                    method, path, sent, {"Content-Type": content} if sent else {}
                )
                response = self._connection.getresponse()
                text = response.read().decode(errors="replace")
                break
            except (http.client.HTTPException, ConnectionError):
                self._connection.close()
                if is_last:
                    raise
        if response.status in (200, 404) and _is_text(response):
            return Answer(response.status, {}, text=text)
        try:
            data = json.loads(text or "{}")
        except ValueError:
            told = f"was not answered by an API server: {text[:200]!r}; check KUBECONFIG"
            message = f"{method} {path} {told}"
            raise RuntimeError(message) from None
        headers = response.headers.get_all("Warning") or ()
        return Answer(response.status, data, tuple(_warning_text(header) for header in headers))

    def get(self, path: str) -> Answer:
        """Return what is at a path. Raises RuntimeError if the server does not give it."""
        answer = self.request("GET", path)
        if not answer.accepted:
            message = f"{path}: {answer.message or answer.text}"
            raise RuntimeError(message)
        return answer

    def items(self, path: str) -> list[Json]:
        """Return the objects of a list. Raises RuntimeError if the server does not give it."""
        items: list[Json] = self.get(path).data["items"]
        return items

    def path(self, manifest: Json, namespace: str = NAMESPACE) -> str | None:
        """Return where objects of a manifest's kind are created, or None if the server does not
        serve the kind.
        """
        version, kind = manifest.get("apiVersion"), manifest.get("kind")
        if (
            not isinstance(version, str)
            or not isinstance(kind, str)
            or not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", version)
        ):
            return None
        if version not in self._kinds:
            self._kinds[version] = dict(self._served(version))
        if kind not in self._kinds[version]:
            return None
        name, is_namespaced = self._kinds[version][kind]
        root = root_of(version)
        return f"{root}/namespaces/{namespace}/{name}" if is_namespaced else f"{root}/{name}"

    def _served(self, version: str) -> Iterator[tuple[str, tuple[str, bool]]]:
        for resource in self.request("GET", root_of(version)).data.get("resources", ()):
            if "/" not in resource["name"] and "create" in resource["verbs"]:
                yield resource["kind"], (resource["name"], resource["namespaced"])

    def object_path(self, manifest: Json) -> str:
        """Return the path of one object, in its own namespace or in that of the recorder."""
        metadata = manifest["metadata"]
        path = self.path(manifest, metadata.get("namespace", NAMESPACE))
        if path is None:
            raise no_kind(manifest)
        return f"{path}/{quote(metadata['name'])}"

    def dry_run(self, manifest: Json) -> Answer | None:
        """Ask for a creation in the recorder's namespace that stores nothing; None if the server
        lacks the kind.
        """
        path = self.path(manifest)
        if path is None:
            return None
        return self.request("POST", f"{path}?{DRY_RUN}", without_namespace(manifest))

    @cached_property
    def has_controllers(self) -> bool:
        """Whether Kubernetes' controllers run, which end namespaces and collect what an owner
        leaves behind.
        """
        path = "/api/v1/namespaces/default/serviceaccounts/default"
        return self.request("GET", path).status == 200

    @cached_property
    def version(self) -> str:
        """Its release, such as `1.36`."""
        data = self.request("GET", "/version").data
        return f"{data['major']}.{re.sub(r'[^0-9]', '', data['minor'])}"


def _is_text(response: http.client.HTTPResponse) -> bool:
    return response.headers.get("Content-Type", "").startswith("text/plain")


def _warning_text(header: str) -> str:
    """Return the text of a header such as `299 - "unknown field \\"spec.x\\""`."""
    return str(json.loads(header.partition(" - ")[2] or '""'))


def root_of(version: str) -> str:
    """Return the path of a group and version, such as `/apis/batch/v1`."""
    return f"/apis/{version}" if "/" in version else f"/api/{version}"


def no_kind(manifest: Json) -> LookupError:
    """Return the error about a kind that the server lacks."""
    kind = f"{manifest.get('apiVersion')} {manifest.get('kind')}"
    return LookupError(f"the server has no {kind}: install its CRD")


def without_namespace(manifest: Json) -> Json:
    """Return the manifest without `metadata.namespace`: the recorder's own is used, whatever the
    file says.
    """
    metadata = manifest.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("namespace"), str):
        return manifest
    return {
        **manifest,
        "metadata": {key: value for key, value in metadata.items() if key != "namespace"},
    }


@contextmanager
def connected(url: str | None) -> Iterator[Server]:
    """Yield the server at a URL, or the one of the current kubeconfig, which `kubectl proxy`
    answers for meanwhile.
    """
    if url:
        with closing(Server(url)) as server:
            yield server
        return
    with subprocess.Popen(
        ["kubectl", "proxy", "--port=0"], stdout=subprocess.PIPE, text=True
    ) as proxy:
        line = proxy.stdout.readline() if proxy.stdout else ""
        try:
            with connected(f"http://{line.rpartition(' ')[2].strip()}") as server:
                yield server
        finally:
            proxy.terminate()


class Made:
    """The objects that a recorder created: no others are changed or deleted."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._paths: list[str] = []

    def create(self, manifest: Json, manager: str = "ptcompile") -> Json:
        """Create an object, with its status if it has one, and return it as stored.

        Raises:
            RuntimeError: the server rejects it, or an object of that name exists already.
        """
        path = self.server.object_path(manifest)
        stored = self._keep(
            path,
            self.server.request(
                "POST", f"{path.rpartition('/')[0]}?fieldManager={manager}", manifest
            ),
        )
        if "status" not in manifest:
            return stored
        with_status = {**stored, "status": manifest["status"]}
        return self.server.request("PUT", f"{path}/status", with_status).data

    def apply(self, manifest: Json) -> Json:
        """Create an object as `kubectl apply --server-side` does, and return it as stored."""
        path = self.server.object_path(manifest)
        if self.server.request("GET", path).status != 404:
            message = f"{path} exists and is not the recorder's: use another server"
            raise RuntimeError(message)
        query = "fieldManager=kubectl&fieldValidation=Strict"
        return self._keep(path, self.server.request("PATCH", f"{path}?{query}", manifest, APPLY))

    def restore(self, live: Json) -> Json:
        """Create an object as `kubectl get -o yaml --show-managed-fields` printed it, with its
        managers and status.

        A creation makes its sender the manager of all fields. The second request takes that back:
        it changes no field but brings the recorded managers.
        """
        metadata = {
            key: value for key, value in live["metadata"].items() if key not in SET_BY_SERVER
        }
        stored = self.create({**live, "metadata": metadata})
        managers = {
            **stored["metadata"],
            "managedFields": live["metadata"].get("managedFields", []),
        }
        path = self.server.object_path(live)
        return self.server.request("PUT", path, {**stored, "metadata": managers}).data

    def _keep(self, path: str, answer: Answer) -> Json:
        """Remember a created object for its removal, or raise if it was rejected."""
        if not answer.accepted:
            message = f"{path}: {answer.message}"
            raise RuntimeError(message)
        self._paths.append(path)
        return answer.data

    def remove(self, keep: int = 0) -> None:
        """Delete what was created after the first `keep` objects, the newest first, until it is
        gone.
        """
        for path in reversed(self._paths[keep:]):
            query = "gracePeriodSeconds=0&propagationPolicy=Background"
            self.server.request("DELETE", f"{path}?{query}")
            if re.fullmatch("/api/v1/namespaces/[^/]+", path) and not self.server.has_controllers:
                ended = {"apiVersion": "v1", "kind": "Namespace", "spec": {"finalizers": []}}
                name = path.rpartition("/")[2]
                self.server.request(
                    "PUT", f"{path}/finalize", {**ended, "metadata": {"name": name}}
                )
            until(partial(self._is_gone, path))
        del self._paths[keep:]

    def _is_gone(self, path: str) -> bool:
        return self.server.request("GET", path).status == 404

    def __len__(self) -> int:
        return len(self._paths)


def namespace(name: str) -> Json:
    """Return a Namespace without labels."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


@contextmanager
def owned(server: Server, space: Json | None = None) -> Iterator[Made]:
    """Yield a collection that has only a namespace, and remove everything at the end."""
    made = Made(server)
    try:
        made.create(space or namespace(NAMESPACE))
        yield made
    finally:
        made.remove()


def in_spaces(
    server: Server, rows: Iterable[Json], space_of: Callable[[Json], Json]
) -> Iterator[tuple[Made, Json]]:
    """Yield rows, each with a collection that has only its namespace, which is created once for all
    of its rows.
    """
    groups: dict[str, list[Json]] = defaultdict(list)
    for row in rows:
        groups[json.dumps(space_of(row), sort_keys=True)].append(row)
    for text, group in groups.items():
        with owned(server, json.loads(text)) as made:
            for row in group:
                yield made, row
                made.remove(keep=1)


def until(holds: Callable[[], Any], seconds: float = REMOVAL_SECONDS) -> bool:
    """Wait until a condition holds, and return whether it does within the time."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def asked(row: Json, answers: Iterable[str]) -> Json:
    """Return what a row asks: the row without the fields that hold answers."""
    return {key: value for key, value in row.items() if key not in {*answers}}


def question(row: Json, answers: Iterable[str]) -> str:
    """Return what a row asks, as text."""
    return json.dumps(asked(row, answers), sort_keys=True)


def header(recorder: str, versions: dict[str, str]) -> Json:
    """Return the first line of a recording that is made now."""
    return {"recorder": recorder, "versions": versions, "date": f"{datetime.now(UTC):%Y-%m-%d}"}


def write(name: str, first: Json, rows: Iterable[Json], answers: Iterable[str] = ()) -> None:
    """Write a set: its header, and one case a line. Cases that the file had keep their places, new
    ones are sorted.

    Findings that tests recorded count the rows of some sets, which is why the order of a set stays.
    """
    path = recorded.HERE / f"{name}.jsonl.gz"
    old = recorded.rows(name) if path.exists() else ()
    places = {question(row, answers): i for i, row in enumerate(old)}

    def place(row: Json) -> tuple[int, str]:
        text = question(row, answers)
        return places.get(text, len(places)), text

    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(row) + "\n" for row in [first, *sorted(rows, key=place)])
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.writelines(line.encode() for line in lines)


def differences(name: str, rows: Iterable[Json], answers: Iterable[str]) -> Iterator[str]:
    """Yield a line for each case of a set whose answer is not the recorded one, or that only one
    side has.
    """
    old = {question(row, answers): row for row in recorded.rows(name)}
    new = {question(row, answers): row for row in rows}
    for text in sorted(old.keys() | new.keys()):
        if old.get(text) != new.get(text):
            before, after = (_answer(side.get(text), answers) for side in (old, new))
            yield f"{name}: {text}\n  - {before}\n  + {after}"


def _answer(row: Json | None, answers: Iterable[str]) -> str:
    if row is None:
        return "no such case"
    return json.dumps({key: row[key] for key in answers if key in row})


def arguments(module: str, about: str | None) -> argparse.ArgumentParser:
    """Return the options that every recorder has."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=about)
    which, check = (
        "which recordings, such as apiserver/real",
        "write nothing: print what differs, exit 1",
    )
    parser.add_argument("sets", nargs="+", metavar="SET", help=which)
    parser.add_argument("--check", action="store_true", help=check)
    return parser


def server_arguments(module: str, about: str | None) -> argparse.ArgumentParser:
    """Return the options of a recorder that asks a server."""
    parser = arguments(module, about)
    address = "http:// address of `kubectl proxy` (default: that of KUBECONFIG)"
    parser.add_argument("--server", help=address)
    return parser


def finish(
    name: str, first: Json, rows: Iterable[Json], answers: tuple[str, ...], *, check: bool
) -> int:
    """Write a set, or print how it differs from the recorded one. Returns the exit status."""
    if not check:
        write(name, first, rows, answers)
        return 0
    lines = list(differences(name, rows, answers))
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return int(bool(lines))
