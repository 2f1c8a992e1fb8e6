"""Where containers mount volumes, and raw devices.

Source: docs/facts/api-server.md#volumes-and-mounts 92 to 101, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile._internal.spelling import closest_match
from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.context import PodContext
from ptcompile.diagnostics import Path, field_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PROPAGATION = ("Bidirectional", "HostToContainer", "None")


def why_not_relative(text: str) -> str | None:
    """Why a path is not one that stays below its directory."""
    return "must be a relative path" if text.startswith("/") else why_not_forward(text)


def why_not_forward(text: str) -> str | None:
    """Why a path may lead upwards."""
    return "must not contain '..'" if ".." in text and ".." in text.split("/") else None


def _check_volume_name(name: Any, path: Path, scope: PodContext) -> None:
    if f.is_empty(name):
        f.required(scope.found, path, help="name one of the pod's volumes")
    elif type(name) is str and scope.volumes is not None and name not in scope.volumes:
        meant = closest_match(name, scope.volumes)
        help = f'did you mean "{meant}"?' if meant else "declare the volume in the pod's volumes"
        f.not_found(scope.found, path, name, help)


def check_mounts(value: Any, path: Path, container: dict[str, Any], scope: PodContext) -> None:
    """`volumeMounts` of a container."""
    found, seen = scope.found, set[str]()
    devices = [d for _, d in f.indexed_mappings(container["volumeDevices"])] if container.get("volumeDevices") else ()
    for index, mount in f.indexed_mappings(value):
        name, where = mount.get("name"), mount.get("mountPath")
        if type(name) is not str or not name or name not in (scope.volumes or ()):
            _check_volume_name(name, (*path, index, "name"), scope)
        if type(where) is str and where:
            if where in seen:
                why = "must be unique"
                f.invalid(found, (*path, index, "mountPath"), where, why, "mount each volume at its own path")
            seen.add(where)
        elif f.is_empty(where):
            f.required(found, (*path, index, "mountPath"), help="say where the volume appears in the container")
        if devices:
            _check_overlap(mount, devices, (*path, index), found)
        if len(mount) > 2:
            _check_options(mount, (*path, index), path, container, found)


def _check_overlap(mount: dict[str, Any], devices: Sequence[dict[str, Any]], path: Path, found: f.Problems) -> None:
    why = "must not already exist in volumeDevices"
    for key, other in (("name", "name"), ("mountPath", "devicePath")):
        value = mount.get(key)
        if value and any(device.get(other) == value for device in devices):
            f.invalid(found, (*path, key), value, why)


def _check_options(mount: dict[str, Any], path: Path, at: Path, container: dict[str, Any], found: f.Problems) -> None:
    sub, expression = mount.get("subPath"), mount.get("subPathExpr")
    if type(sub) is str and sub and (why := why_not_relative(sub)):
        f.invalid(found, (*path, "subPath"), sub, why, at=field_path((*at, "subPath")))
    if type(expression) is str and expression:
        if sub:
            f.invalid(found, (*path, "subPathExpr"), expression, "subPathExpr and subPath are mutually exclusive")
        if why := why_not_relative(expression):
            f.invalid(found, (*path, "subPathExpr"), expression, why, at=field_path((*at, "subPathExpr")))
    _check_propagation(mount, path, at, container, found)
    recursive = mount.get("recursiveReadOnly")
    if type(recursive) is str and recursive != "Disabled":
        at_list = field_path((*at, "recursiveReadOnly"))
        _check_recursive(mount, recursive, (*path, "recursiveReadOnly"), found, at_list)


def _check_propagation(
    mount: dict[str, Any], path: Path, at: Path, container: dict[str, Any], found: f.Problems
) -> None:
    mode = mount.get("mountPropagation")
    if type(mode) is not str:
        return
    here, shown = (*path, "mountPropagation"), field_path((*at, "mountPropagation"))
    if mode not in _PROPAGATION:
        f.unsupported(found, here, mode, _PROPAGATION, at=shown)
    elif mode == "Bidirectional" and f.as_field_mapping(container.get("securityContext")).get("privileged") is not True:
        why = "Bidirectional mount propagation is available only to privileged containers"
        f.forbidden(found, here, why, "use HostToContainer, or a privileged container", shown)


def _check_recursive(mount: dict[str, Any], mode: str, path: Path, found: f.Problems, at: str) -> None:
    if mode not in ("Enabled", "IfPossible"):
        f.unsupported(found, path, mode, ("Disabled", "Enabled", "IfPossible"), at=at)
        return
    if mount.get("readOnly") is not True:
        f.forbidden(found, path, "may only be specified when readOnly is true", "set readOnly: true", at)
    if mount.get("mountPropagation") not in (None, "None"):
        f.forbidden(found, path, "may only be specified when mountPropagation is None or not specified", at=at)


def check_devices(value: Any, path: Path, container: dict[str, Any], scope: PodContext) -> None:
    """`volumeDevices` of a container."""
    found, names_seen, paths_seen = scope.found, set[str](), set[str]()
    for index, device in f.indexed_mappings(value):
        here = (*path, index)
        name, where = device.get("name"), device.get("devicePath")
        _check_volume_name(name, (*here, "name"), scope)
        if type(name) is str and name:
            if name in names_seen:
                f.invalid(found, (*here, "name"), name, "must be unique")
            names_seen.add(name)
            volume = f.as_field_mapping((scope.volumes or {}).get(name))
            if volume and not volume.get("persistentVolumeClaim") and not volume.get("ephemeral"):
                why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
                f.invalid(found, (*here, "name"), name, why, "use volumeMounts")
        if f.is_empty(where):
            f.required(found, (*here, "devicePath"))
        elif type(where) is str:
            if where in paths_seen:
                f.invalid(found, (*here, "devicePath"), where, "must be unique")
            elif why_not_forward(where):
                f.invalid(found, (*here, "devicePath"), where, "can not contain backsteps ('..')")
            paths_seen.add(where)
