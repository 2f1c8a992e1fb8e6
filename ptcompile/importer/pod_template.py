"""A pod template as spec fields: the inverse of lowering's `template_of`. The rest goes to
podTemplate.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.namedtuple import Any
from ptcompile.compiler.frontend.parts import spec_fields_in
from ptcompile.kinds.reading import MAIN_CONTAINER, ReadRole, without_empty
from ptcompile.kubernetes.pod_spec import SHM_PATH as _SHM
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
    without_keys,
    without_none,
)

_RESHAPED_FIELDS = frozenset({"env", "resources"})
"""Container fields that have another shape in the spec."""
_CONTAINER_FIELDS = tuple(
    field for field in spec_fields_in("main") if field not in _RESHAPED_FIELDS
)
_POD_FIELDS = spec_fields_in("spec")
_METADATA_FIELDS = spec_fields_in("metadata")
_HANDLED_FIELDS = frozenset({*_POD_FIELDS, "containers", "restartPolicy"})
_NAMING_FIELDS = frozenset({"hostname", "subdomain"})
"""Fields that name the pods. If the operator creates the pods, it sets them."""
_PLAIN_RESOURCES = ("cpu", "memory", "gpu", "ephemeral-storage")
_SHM_SOURCE_KEYS = {"medium", "sizeLimit"}


def main_of(pods: ReadRole) -> Json:
    """Return the main container of a role's pod template, or an empty mapping."""
    containers = nested_maps(pods.template, "spec", "containers")
    return next((container for container in containers if container.get("name") == pods.main), {})


def pod_fields(pods: ReadRole, gpu: str, *, shm: bool = True) -> JsonDict:
    """Return the fields of a spec block for the pods of one role. `gpu` is the profile's resource
    name for GPUs.

    Without `shm`, a volume at /dev/shm stays among the volumes, and `sharedMemory` is false so that
    compile adds none.
    """
    pod = nested_map(pods.template, "spec")
    main = main_of(pods)
    metadata = nested_map(pods.template, "metadata")
    environment, unnamed_env = _split_env(nested_maps(main, "env"))
    fields = without_none({field: main.get(field) for field in _CONTAINER_FIELDS})
    fields |= without_empty(
        {
            "env": environment,
            "resources": _resources(nested_map(main, "resources"), gpu),
            **{
                field: pod.get(key) or None if key == "hostNetwork" else pod.get(key)
                for key, field in _POD_FIELDS.items()
            },
            **{field: metadata.get(key) for key, field in _METADATA_FIELDS.items()},
            "restartPolicy": pods.restart,
        }
    )
    fields |= _shared_memory(fields) if shm else {"sharedMemory": False}

    return fields | without_empty(
        {"podTemplate": _template_patch(pods, pod, metadata, unnamed_env)}
    )


def _split_env(entries: list[Json]) -> tuple[JsonDict, list[Json]]:
    """Return the variables by name, in order, and the entries that a mapping cannot hold, such
    as repeated names.
    """
    variables: JsonDict = {}
    rest: list[Json] = []
    for entry in entries:
        name = nested_string(entry, "name")
        source = entry.get("valueFrom")
        if name in variables or not name:
            rest.append(entry)
        else:
            variables[name] = (
                source if isinstance(source, Mapping) else nested_string(entry, "value")
            )

    return variables, rest


def _resources(resources: Json, gpu: str) -> JsonDict:
    """Return resources in spec form: quantities with equal request and limit directly, the others
    below requests or limits.
    """
    requests = nested_map(resources, "requests")
    limits = nested_map(resources, "limits")
    out: JsonDict = {}
    for name in dict.fromkeys((*limits, *requests)):
        request = requests.get(name)
        limit = limits.get(name)
        if request is None and limit is None:
            continue

        # extended resources require equal request and limit
        is_extended = "/" in name and (request is None or limit is None)
        if request == limit or is_extended or request is None:
            _put_quantity(out, name, limit if limit is not None else request, gpu)
        else:
            for half, quantity in (("requests", request), ("limits", limit)):
                if quantity is not None:
                    _put_quantity(out.setdefault(half, {}), name, quantity, gpu)

    return out


def _put_quantity(quantities: JsonDict, name: str, quantity: Any, gpu: str) -> None:
    field = "gpu" if name == gpu else name
    if field in _PLAIN_RESOURCES:
        quantities["ephemeralStorage" if field == "ephemeral-storage" else field] = quantity
    else:
        quantities.setdefault("devices", {})[field] = quantity


def _shared_memory(fields: JsonDict) -> JsonDict:
    """Return `sharedMemory` for the volume that compile would write at /dev/shm and drop it from
    the volume fields.

    `sharedMemory` is false if nothing is mounted there. A volume that differs in any way is left
    unchanged.
    """
    mounts = nested_maps(fields, "volumeMounts")
    volumes = nested_maps(fields, "volumes")
    at_shm = next(
        (mount for mount in mounts if nested_string(mount, "mountPath").rstrip("/") == _SHM), None
    )
    if at_shm is None:
        return {"sharedMemory": False}

    name = at_shm.get("name")
    volume = next((candidate for candidate in volumes if candidate.get("name") == name), {})
    source = nested_map(volume, "emptyDir")
    is_usual = at_shm == {"name": "shm", "mountPath": _SHM} and volume.keys() == {
        "name",
        "emptyDir",
    }
    is_mounted_once = sum(mount.get("name") == name for mount in mounts) == 1
    if not (
        is_usual
        and is_mounted_once
        and source.get("medium") == "Memory"
        and source.keys() <= _SHM_SOURCE_KEYS
    ):
        return {}

    fields["volumeMounts"] = [mount for mount in mounts if mount is not at_shm]
    fields["volumes"] = [candidate for candidate in volumes if candidate is not volume]
    for field in ("volumeMounts", "volumes"):
        if not fields[field]:
            del fields[field]

    return {"sharedMemory": source.get("sizeLimit", True)}


def _template_patch(pods: ReadRole, pod: Json, metadata: Json, env: list[Json]) -> JsonDict:
    """Return the fields that a spec cannot express, as a patch of the pod template."""
    handled = _HANDLED_FIELDS if pods.path == () else _HANDLED_FIELDS | _NAMING_FIELDS
    spec = without_none(without_keys(pod, *handled))
    if pod.get("hostNetwork") is True and spec.get("dnsPolicy") == "ClusterFirstWithHostNet":
        del spec["dnsPolicy"]
    containers = [
        _container_patch(container, pods, env) for container in nested_maps(pod, "containers")
    ]
    if patched := [container for container in containers if container.keys() > {"name"}]:
        spec["containers"] = patched
    rest = without_keys(metadata, *_METADATA_FIELDS, "creationTimestamp")

    return without_empty({"metadata": without_empty(rest), "spec": without_empty(spec)})


def _container_patch(container: Json, pods: ReadRole, env: list[Json]) -> JsonDict:
    """Return a container of the patch: a sidecar in full, the main container with only its
    inexpressible fields.
    """
    if container.get("name") != pods.main:
        return dict(container)
    handled = {*_CONTAINER_FIELDS, "env", "resources", "name"}
    rest = without_none(without_keys(container, *handled))
    claims = nested_value(container, "resources", "claims")
    more = without_empty({"env": env, "resources": without_empty({"claims": claims})})
    return {"name": MAIN_CONTAINER if pods.trains else pods.role, **rest, **more}
