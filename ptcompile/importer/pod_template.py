"""A pod template as the words of a spec: the inverse of lowering's `template_of`. The rest is podTemplate."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.kubernetes.pod_spec import SHM_PATH as _SHM
from ptcompile.kubernetes.unstructured import as_mapping, as_mappings, as_string, nested_map
from ptcompile.registry.reading import MAIN, ReadRole, without_empty
from ptcompile.spec.pod_words import in_holder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json

_MADE = frozenset({"env", "resources"})
"""Fields whose words have another shape."""
_CONTAINER = tuple(field for field in in_holder("main") if field not in _MADE)
_POD = in_holder("spec")
_METADATA = in_holder("metadata")
_TAKEN = frozenset({*_POD, "containers", "restartPolicy"})
_CONTROLLERS = frozenset({"hostname", "subdomain"})
"""What names the pods, and so is the operator's to say where one makes them."""
_HALVES = ("requests", "limits")
_PLAIN = ("cpu", "memory", "gpu", "ephemeral-storage")


def pod_words(pods: ReadRole, gpu: str, *, shm: bool = True) -> dict[str, Any]:
    """The fields of a spec's block for the pods of one role. `gpu` is what the profile calls a GPU.

    Without `shm` a volume at /dev/shm stays among the volumes, and nothing is said of shared memory but that compile
    adds none.
    """
    pod = nested_map(pods.template, "spec")
    containers = as_mappings(pod.get("containers"))
    main = next((one for one in containers if one.get("name") == pods.main), {})
    words: dict[str, Any] = {word: main[word] for word in _CONTAINER if main.get(word) is not None}
    environment, left = _env(as_mappings(main.get("env")))
    words |= without_empty({"env": environment, "resources": _resources(nested_map(main, "resources"), gpu)})
    words |= without_empty(
        {word: pod.get(key) or None if key == "hostNetwork" else pod.get(key) for key, word in _POD.items()}
    )
    metadata = nested_map(pods.template, "metadata")
    words |= without_empty({word: metadata.get(field) for field, word in _METADATA.items()})
    if pods.restart is not None:
        words["restartPolicy"] = pods.restart
    words |= _shared_memory(words) if shm else {"sharedMemory": False}
    return words | without_empty({"podTemplate": _beyond(pods, pod, metadata, left)})


def _env(entries: list[Json]) -> tuple[dict[str, Any], list[Json]]:
    """Variables by name, in order; and those that a mapping cannot hold, such as a name twice."""
    out: dict[str, Any] = {}
    left: list[Json] = []
    for entry in entries:
        name, source = as_string(entry.get("name")), entry.get("valueFrom")
        if name in out or not name:
            left.append(entry)
        else:
            out[name] = source if isinstance(source, Mapping) else as_string(entry.get("value"))
    return out, left


def _resources(resources: Json, gpu: str) -> dict[str, Any]:
    """Amounts that are request and limit alike stand plainly; the others in their half."""
    requests, limits = as_mapping(resources.get("requests")), as_mapping(resources.get("limits"))
    out: dict[str, Any] = {}
    for name in dict.fromkeys((*limits, *requests)):
        request, limit = requests.get(name), limits.get(name)
        if request is None and limit is None:
            continue
        whole = "/" in name and (request is None or limit is None)  # Kubernetes wants both halves of these, equal
        if request == limit or whole or request is None:
            _put(out, name, limit if limit is not None else request, gpu)
        else:
            for half, amount in (("requests", request), ("limits", limit)):
                if amount is not None:
                    _put(out.setdefault(half, {}), name, amount, gpu)
    return out


def _put(amounts: dict[str, Any], name: str, amount: Any, gpu: str) -> None:
    word = "gpu" if name == gpu else name
    if word in _PLAIN:
        amounts["ephemeralStorage" if word == "ephemeral-storage" else word] = amount
    else:
        amounts.setdefault("devices", {})[word] = amount


def _shared_memory(words: dict[str, Any]) -> dict[str, Any]:
    """`sharedMemory` for the volume that compile writes at /dev/shm, which the words for volumes lose; false for none.

    A volume there that differs in anything stays as it is.
    """
    mounts, volumes = as_mappings(words.get("volumeMounts")), as_mappings(words.get("volumes"))
    at_shm = [one for one in mounts if as_string(one.get("mountPath")).rstrip("/") == _SHM]
    if not at_shm:
        return {"sharedMemory": False}
    name = at_shm[0].get("name")
    volume = next((one for one in volumes if one.get("name") == name), {})
    source = nested_map(volume, "emptyDir")
    usual = at_shm[0] == {"name": "shm", "mountPath": _SHM} and volume.keys() == {"name", "emptyDir"}
    alone = sum(one.get("name") == name for one in mounts) == 1
    if not (usual and alone and source.get("medium") == "Memory" and source.keys() <= {"medium", "sizeLimit"}):
        return {}
    words["volumeMounts"] = [one for one in mounts if one is not at_shm[0]]
    words["volumes"] = [one for one in volumes if one is not volume]
    for word in ("volumeMounts", "volumes"):
        if not words[word]:
            del words[word]
    return {"sharedMemory": source.get("sizeLimit", True)}


def _beyond(pods: ReadRole, pod: Json, metadata: Json, env: list[Json]) -> dict[str, Any]:
    """What the vocabulary has no word for, as a patch of the template."""
    taken = _TAKEN if pods.path == () else _TAKEN | _CONTROLLERS
    spec = {key: value for key, value in pod.items() if key not in taken and value is not None}
    if pod.get("hostNetwork") is True and spec.get("dnsPolicy") == "ClusterFirstWithHostNet":
        del spec["dnsPolicy"]
    containers = [_patch(one, pods, env) for one in as_mappings(pod.get("containers"))]
    if left := [one for one in containers if one.keys() > {"name"}]:
        spec["containers"] = left
    other = {key: value for key, value in metadata.items() if key not in {*_METADATA, "creationTimestamp"}}
    return without_empty({"metadata": without_empty(other), "spec": without_empty(spec)})


def _patch(container: Json, pods: ReadRole, env: list[Json]) -> dict[str, Any]:
    """A container of the patch: a sidecar as it is, of the one that trains what has no word."""
    if container.get("name") != pods.main:
        return dict(container)
    taken = {*_CONTAINER, "env", "resources", "name"}
    rest = {key: value for key, value in container.items() if key not in taken and value is not None}
    claims = nested_map(container, "resources").get("claims")
    more = without_empty({"env": env, "resources": without_empty({"claims": claims})})
    return {"name": MAIN if pods.trains else pods.role, **rest, **more}
