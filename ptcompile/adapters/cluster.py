"""Compiled objects in a cluster: apply, look up, read logs and delete through the caller's own
client.

`api` is a `kubernetes.client.ApiClient` (30 to 37). Server errors are its `ApiException`, unless
noted otherwise.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode

from ptcompile._internal.spelling import is_short_number
from ptcompile.kinds.status import Status
from ptcompile.kubernetes.names import why_not_dns_label
from ptcompile.kubernetes.unstructured import Json, JsonDict, nested_map, nested_string
from ptcompile.operators.handles import Handle, Reference, RolePods, handles
from ptcompile.operators.table import BY_TARGET, main_kind, operator_of, status_of

if TYPE_CHECKING:
    from ptcompile.api.compile import Result


_MERGE = "application/merge-patch+json"


class Replica(NamedTuple):
    """One pod of a job."""

    role: str
    number: int
    """Index of the pod in its role."""
    rank: int | None
    """Node rank, or None for a pod of an auxiliary role."""
    container: str
    """Name of the container whose log is the pod's log."""
    pod: JsonDict


def label(name: str) -> str:
    """Return a name as a DNS label, with room for the suffixes of a run and of an operator."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:30].strip("-") or "job"


def reference(target: str, namespace: str, name: str) -> Reference:
    """Return the reference to a target's job by name. Raises ValueError for an unknown target."""
    operator = BY_TARGET.get(target)
    if operator is None:
        raise ValueError(f"no target {target!r}")
    kind = main_kind(operator)
    following = kind.following()
    if following is None:
        raise ValueError(f"target {target!r} makes no job that can be followed")
    return Reference(*kind.key, following.plural, True, namespace, name)


def target_of(job: Reference) -> str:
    """Return the target that emits jobs of this kind."""
    return operator_of((job.api_version, job.kind)).target_name


def handle_of(live: Json) -> Handle:
    """Return the handle of a live job. It does not cover the other objects, which the job owns
    (see `submit`).
    """
    return next(iter(handles([live])))


def submit(api: Any, result: Result, namespace: str) -> JsonDict:
    """Create the objects of one compiled job in order, and return the live job.

    The job then owns the other objects, so deleting it deletes them. `namespace` is that of objects
    without one. If the server rejects a step, such as for a namespace that does not exist, the
    objects created so far are deleted. Raises `CompileError` for a result with errors, and
    ValueError, before anything is created, for a namespace that cannot exist or is another one than
    that of an object.
    """
    if why := why_not_dns_label(namespace):
        raise ValueError(f"no namespace can be named {namespace!r}: {why}")

    others = {
        obj.namespace for obj in result.handle.objects if obj.namespaced and obj.namespace
    } - {namespace}
    if result.ok and others:
        raise ValueError(
            f"the manifests are for the namespace {others.pop()}, not {namespace}: compile them "
            "for it"
        )

    created: list[tuple[Reference, JsonDict]] = []
    try:
        for manifest, obj in zip(result.unwrap(), result.handle.objects, strict=True):
            reference = obj if obj.namespace else obj._replace(namespace=namespace)
            created.append(
                (
                    reference,
                    _parse_json(_request(api, "POST", _path(reference, name=False), body=manifest)),
                )
            )

        *dependencies, (_, job) = created
        for obj, _ in dependencies:
            _request(
                api,
                "PATCH",
                _path(obj),
                body={"metadata": {"ownerReferences": [_owner(job)]}},
                content=_MERGE,
            )
    except Exception:  # any client error: a partial job is worse than none
        for obj, _ in reversed(created):
            delete(api, obj)
        raise

    return job


def find(api: Any, obj: Reference) -> JsonDict | None:
    """Return a live object, or None if it does not exist."""
    try:
        return _parse_json(_request(api, "GET", _path(obj)))
    except Exception as error:
        if _is_gone(error):
            return None
        raise


def state(live: Json | None) -> Status:
    """Return the state of a job. A job that is gone before its end has failed."""
    if live is None:
        return Status("failed", "Deleted", "the job was deleted before its end")
    return status_of(live)


def wait(
    api: Any, job: Reference, poll_interval: float = 10.0, timeout: float | None = None
) -> Status:
    """Poll the job every `poll_interval` seconds until it is over, and return its last state.

    Raises TimeoutError if it is not over after `timeout` seconds; None waits for any time.
    """
    end = None if timeout is None else time.monotonic() + timeout
    while not (status := state(find(api, job))).done:
        pause = poll_interval if end is None else end - time.monotonic()
        if pause <= 0:
            raise TimeoutError(
                f"{job.kind}/{job.name} is not over after {timeout} seconds: {status.state}"
            )
        time.sleep(min(poll_interval, pause))
    return status


def find_all(api: Any, kind: Reference, selector: str) -> list[JsonDict]:
    """Return the live objects of a kind with these labels in every namespace, or [] if the
    server lacks the kind.
    """
    path = _path(kind._replace(namespaced=False), name=False)
    try:
        items = _parse_json(_request(api, "GET", path, {"labelSelector": selector}))["items"]
    except Exception as error:
        if _is_gone(error):
            return []
        raise

    # the items of a list response have no apiVersion and no kind
    return [{"apiVersion": kind.api_version, "kind": kind.kind, **item} for item in items]


def delete(api: Any, obj: Reference, propagation: str = "Background") -> None:
    """Delete an object. An object that is already gone counts as deleted."""
    try:
        _request(api, "DELETE", _path(obj), body={"propagationPolicy": propagation})
    except Exception as error:
        if not _is_gone(error):
            raise


def _is_gone(error: Exception) -> bool:
    """Return whether the server answered 404, whatever exception class the caller's client
    raises.
    """
    return getattr(error, "status", None) == 404


def replicas(api: Any, live: JsonDict) -> tuple[Replica, ...]:
    """Return the pods of a job by role and rank; of a recreated pod, only the newest."""
    handle = handle_of(live)
    out: list[Replica] = []
    for role in handle.roles:
        query = {"fieldSelector": handle.field_selector}
        if role.selector:
            query = {"labelSelector": role.selector}
        path = f"/api/v1/namespaces/{quote(nested_map(live, 'metadata')['namespace'])}/pods"
        pods = _parse_json(_request(api, "GET", path, query))["items"]
        pods.sort(key=lambda pod: nested_string(pod, "metadata", "creationTimestamp"))
        newest = {_index_of(pod, role): pod for pod in pods}

        out += (_replica(role, index, newest[index]) for index in sorted(newest))

    return tuple(out)


def log(
    api: Any, replica: Replica, *, follow: bool = False, since_seconds: int | None = None
) -> Iterator[str]:
    """Yield the lines of a pod's log without line ends. Bytes that are not UTF-8 are replaced."""
    metadata = nested_map(replica.pod, "metadata")
    query: JsonDict = {"container": replica.container}
    if follow:
        query["follow"] = "true"
    if since_seconds is not None:
        query["sinceSeconds"] = since_seconds
    path = f"/api/v1/namespaces/{quote(metadata['namespace'])}/pods/{quote(metadata['name'])}/log"
    buffer = b""
    for chunk in _request(api, "GET", path, query).stream(4096, decode_content=True):
        *lines, buffer = (buffer + chunk).split(b"\n")
        yield from (line.decode("utf-8", errors="replace") for line in lines)
    if buffer:
        yield buffer.decode("utf-8", errors="replace")


def _replica(role: RolePods, index: int, pod: JsonDict) -> Replica:
    rank = role.first_rank + index if role.first_rank is not None else None
    return Replica(role.name, index, rank, role.container, pod)


def _index_of(pod: JsonDict, role: RolePods) -> int:
    pod_label = nested_string(pod, "metadata", "labels", role.index_label or "")
    return int(pod_label) if is_short_number(pod_label) else 0


def _owner(job: JsonDict) -> JsonDict:
    """Return the reference by which an object is deleted with the job."""
    metadata = job["metadata"]
    return {
        "apiVersion": job["apiVersion"],
        "kind": job["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "blockOwnerDeletion": False,
        "controller": False,
    }


def _path(obj: Reference, *, name: bool = True) -> str:
    """Return the path of an object in the API, or of all objects of its kind without `name`."""
    group = f"/apis/{obj.api_version}" if "/" in obj.api_version else f"/api/{obj.api_version}"
    space = f"/namespaces/{quote(obj.namespace or '')}" if obj.namespaced else ""
    return f"{group}{space}/{obj.plural}" + (f"/{quote(obj.name)}" if name else "")


def _request(
    api: Any,
    method: str,
    path: str,
    query: Json | None = None,
    body: Any = None,
    content: str = "application/json",
) -> Any:
    """Return urllib3's response with its body unread, for any client version. Raises
    `ApiException`.
    """
    target = path + (f"?{urlencode(query)}" if query else "")
    options = {
        "header_params": {"Accept": "*/*", "Content-Type": content},
        "body": body,
        "auth_settings": ["BearerToken"],
    }
    if not hasattr(api, "param_serialize"):  # the kubernetes client before release 37
        return api.call_api(
            target, method, **options, _return_http_data_only=True, _preload_content=False
        )

    reply = api.call_api(*api.param_serialize(method, target, **options))
    if not 200 <= reply.status < 300:
        from kubernetes.client.exceptions import ApiException

        raise ApiException(http_resp=reply, body=reply.response.data.decode(errors="replace"))

    return reply.response


def _parse_json(response: Any) -> JsonDict:
    data: JsonDict = json.loads(response.data)
    return data
