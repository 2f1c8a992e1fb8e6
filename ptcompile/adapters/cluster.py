"""What was compiled, in a cluster: apply it, look at it, read its logs, delete it, through a caller's own client.

`api` is a `kubernetes.client.ApiClient` (30 to 37). Errors of the server are its `ApiException`, unless said otherwise.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode

from ptcompile.kubernetes.unstructured import as_string, nested_map
from ptcompile.registry import table as operators
from ptcompile.registry.handles import Handle, Reference, RolePods, handles
from ptcompile.registry.status import Status
from ptcompile.registry.table import status_of

if TYPE_CHECKING:
    from ptcompile.api.compile import Result

Json = dict[str, Any]

_MERGE = "application/merge-patch+json"


class Replica(NamedTuple):
    """One pod of a job."""

    role: str
    number: int
    """In its role."""
    rank: int | None
    """Of the node; None for a pod that does not train."""
    container: str
    """The one whose log is the pod's."""
    pod: Json


def label(name: str) -> str:
    """A name as a DNS label, with room for what a run adds to it and an operator derives from it."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:30].strip("-") or "job"


def reference(target: str, namespace: str, name: str) -> Reference:
    """The job of a target by its name. Raises ValueError for an unknown target."""
    operator = operators.BY_TARGET.get(target)
    if operator is None:
        raise ValueError(f"no target {target!r}")
    kind = operator.kinds[0]
    following = kind.following()
    if following is None:
        raise ValueError(f"target {target!r} makes no job that can be followed")
    return Reference(*kind.key, following.plural, True, namespace, name)


def target_of(job: Reference) -> str:
    """The target that writes jobs of this kind."""
    return operators.KINDS[job.api_version, job.kind][0].target_name


def handle_of(live: Mapping[str, Any]) -> Handle:
    """The handle of a live job. It knows nothing of the objects beside it, which the job owns (`submit`)."""
    return next(iter(handles([live])))


def submit(api: Any, result: Result, namespace: str) -> Json:
    """Create the objects of one compiled job in their order, and return the live job.

    The objects beside it are then owned by the job, so that deleting it deletes them. `namespace` is for objects that
    name none. Where the server refuses one step, what was created is deleted again. Raises `CompileError` for a
    result with errors.
    """
    made: list[tuple[Reference, Json]] = []
    try:
        for manifest, one in zip(result.unwrap(), result.handle.objects, strict=True):
            where = one if one.namespace else one._replace(namespace=namespace)
            made.append((where, _json(_ask(api, "POST", _path(where, name=False), body=manifest))))
        *beside, (_, job) = made
        for one, _ in beside:
            _ask(api, "PATCH", _path(one), body={"metadata": {"ownerReferences": [_owner(job)]}}, content=_MERGE)
    except Exception:  # whatever the caller's client raises: half a job is worse than none
        for one, _ in reversed(made):
            delete(api, one)
        raise
    return job


def find(api: Any, one: Reference) -> Json | None:
    """A live object, or None where there is none."""
    try:
        return _json(_ask(api, "GET", _path(one)))
    except Exception as error:
        if _is_gone(error):
            return None
        raise


def state(live: Mapping[str, Any] | None) -> Status:
    """The state of a job; that of one which is gone before its end is failed."""
    return Status("failed", "Deleted", "the job was deleted before its end") if live is None else status_of(live)


def wait(api: Any, job: Reference, poll_interval: float = 10.0) -> Status:
    """Ask for the job every so many seconds until it is over; its last state."""
    while not (found := state(find(api, job))).done:
        time.sleep(poll_interval)
    return found


def find_all(api: Any, one: Reference, selector: str) -> list[Json]:
    """The live objects of a kind that have these labels, in every namespace; none of a kind the server lacks."""
    path = _path(one._replace(namespaced=False), name=False)
    try:
        items: list[Json] = _json(_ask(api, "GET", path, {"labelSelector": selector}))["items"]
    except Exception as error:
        if _is_gone(error):
            return []
        raise
    return [{"apiVersion": one.api_version, "kind": one.kind, **item} for item in items]  # a list's items have neither


def delete(api: Any, one: Reference, propagation: str = "Background") -> None:
    """Delete an object; one that is gone already is deleted."""
    try:
        _ask(api, "DELETE", _path(one), body={"propagationPolicy": propagation})
    except Exception as error:
        if not _is_gone(error):
            raise


def _is_gone(error: Exception) -> bool:
    """Whether the server answered that there is no such object, in whatever class the caller's client raises that."""
    return getattr(error, "status", None) == 404


def replicas(api: Any, live: Json) -> tuple[Replica, ...]:
    """The pods of a job, role after role in the order of ranks; of a recreated pod the newest."""
    handle = handle_of(live)
    found: list[Replica] = []
    for role in handle.roles:
        query = {"labelSelector": role.selector} if role.selector else {"fieldSelector": handle.field_selector}
        path = f"/api/v1/namespaces/{quote(nested_map(live, 'metadata')['namespace'])}/pods"
        newest: dict[int, Json] = {}
        for pod in sorted(_json(_ask(api, "GET", path, query))["items"], key=_created):
            newest[_index(pod, role)] = pod
        found += (_replica(role, index, newest[index]) for index in sorted(newest))
    return tuple(found)


def log(api: Any, replica: Replica, *, follow: bool = False, since_seconds: int | None = None) -> Iterator[str]:
    """The lines of a pod's log without their ends. Decoded as UTF-8; what is none is replaced."""
    metadata = nested_map(replica.pod, "metadata")
    query: dict[str, Any] = {"container": replica.container}
    query |= {"follow": "true"} if follow else {}
    query |= {"sinceSeconds": since_seconds} if since_seconds is not None else {}
    path = f"/api/v1/namespaces/{quote(metadata['namespace'])}/pods/{quote(metadata['name'])}/log"
    left = b""
    for chunk in _ask(api, "GET", path, query).stream(4096, decode_content=True):
        *lines, left = (left + chunk).split(b"\n")
        yield from (line.decode("utf-8", errors="replace") for line in lines)
    if left:
        yield left.decode("utf-8", errors="replace")


def _replica(role: RolePods, index: int, pod: Json) -> Replica:
    rank = role.first_rank + index if role.first_rank is not None else None
    return Replica(role.name, index, rank, role.container, pod)


def _index(pod: Json, role: RolePods) -> int:
    pod_label = as_string(nested_map(pod, "metadata", "labels").get(role.index_label or ""))
    return int(pod_label) if pod_label.isdecimal() else 0


def _created(pod: Json) -> str:
    return as_string(nested_map(pod, "metadata").get("creationTimestamp"))


def _owner(job: Json) -> Json:
    metadata = job["metadata"]
    return {
        "apiVersion": job["apiVersion"],
        "kind": job["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "blockOwnerDeletion": False,
        "controller": False,
    }


def _path(one: Reference, *, name: bool = True) -> str:
    group = f"/apis/{one.api_version}" if "/" in one.api_version else f"/api/{one.api_version}"
    space = f"/namespaces/{quote(one.namespace or '')}" if one.namespaced else ""
    return f"{group}{space}/{one.plural}" + (f"/{quote(one.name)}" if name else "")


def _ask(
    api: Any,
    method: str,
    path: str,
    query: Mapping[str, Any] | None = None,
    body: Any = None,
    content: str = "application/json",
) -> Any:
    """The response of urllib3, its body unread. One way for all kinds. Raises `ApiException`."""
    target = path + (f"?{urlencode(query)}" if query else "")
    how = {
        "header_params": {"Accept": "*/*", "Content-Type": content},
        "body": body,
        "auth_settings": ["BearerToken"],
    }
    if not hasattr(api, "param_serialize"):  # before 37
        return api.call_api(target, method, **how, _return_http_data_only=True, _preload_content=False)
    answer = api.call_api(*api.param_serialize(method, target, **how))
    if not 200 <= answer.status < 300:
        from kubernetes.client.exceptions import ApiException

        raise ApiException(http_resp=answer, body=answer.response.data.decode(errors="replace"))
    return answer.response


def _json(response: Any) -> Json:
    found: Json = json.loads(response.data)
    return found
