"""Mounts of volumes and raw devices in containers.

Source: docs/facts/api-server.md#volumes-and-mounts 92 to 101, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.spelling import closest_match
from ptcompile.apiserver.validation.context import PodContext
from ptcompile.diagnostics import Path, field_path
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_items, indexed_mappings, is_empty
from ptcompile.kubernetes.unstructured import Json, as_mapping, nested_map

_BIND_OPTIONS = ("nodev", "noexec", "nosuid")
_PROPAGATION_MODES = ("Bidirectional", "HostToContainer", "None")


def why_not_relative(text: str) -> str | None:
    """Return why a path may leave its directory, or None if it cannot."""
    return "must be a relative path" if text.startswith("/") else why_not_forward(text)


def why_not_forward(text: str) -> str | None:
    """Return why a path may lead upwards, or None if it cannot."""
    return "must not contain '..'" if ".." in text and ".." in text.split("/") else None


def _check_volume_name(name: Any, path: Path, scope: PodContext) -> None:
    if is_empty(name):
        scope.problems.required(path, help="name one of the pod's volumes")
    elif type(name) is str and scope.volumes is not None and name not in scope.volumes:
        suggestion = closest_match(name, scope.volumes)
        help = f'did you mean "{suggestion}"?' if suggestion else "declare the volume in the pod's volumes"
        scope.problems.not_found(path, name, help)


def check_mounts(value: Any, path: Path, container: Json, scope: PodContext) -> None:
    """Check `volumeMounts` of a container."""
    problems = scope.problems
    seen = set[str]()
    devices = [d for _, d in indexed_mappings(container["volumeDevices"])] if container.get("volumeDevices") else ()
    for index, mount in indexed_mappings(value):
        name = mount.get("name")
        mount_path = mount.get("mountPath")
        if type(name) is not str or not name or name not in (scope.volumes or ()):
            _check_volume_name(name, (*path, index, "name"), scope)
        if type(mount_path) is str and mount_path:
            if mount_path in seen:
                why = "must be unique"
                problems.invalid((*path, index, "mountPath"), mount_path, why, "mount each volume at its own path")
            seen.add(mount_path)
        elif is_empty(mount_path):
            problems.required((*path, index, "mountPath"), help="set the path of the volume in the container")
        if devices:
            _check_overlap(mount, devices, (*path, index), problems)
        if mount.get("bindMountOptions"):
            _check_bind_options(mount, (*path, index, "bindMountOptions"), scope)
        if len(mount) > 2:
            _check_options(mount, (*path, index), path, container, problems)


def _check_overlap(mount: Json, devices: Sequence[Json], path: Path, problems: FieldErrors) -> None:
    why = "must not already exist in volumeDevices"
    for key, device_key in (("name", "name"), ("mountPath", "devicePath")):
        value = mount.get(key)
        if value and any(device.get(device_key) == value for device in devices):
            problems.invalid((*path, key), value, why)


def _check_bind_options(mount: Json, path: Path, scope: PodContext) -> None:
    """Check `bindMountOptions` (VolumeBindMountOptions, alpha in Kubernetes 1.37)."""
    for index, option in indexed_items(mount["bindMountOptions"]):
        scope.problems.check_choice((*path, index), option, _BIND_OPTIONS)
    name = mount.get("name")
    volume = (scope.volumes or {}).get(name) if type(name) is str else None
    if type(volume) is dict and volume.get("image") is not None:
        scope.problems.forbidden(path, "may not be set for image volumes", "remove it")


def _check_options(mount: Json, path: Path, list_path: Path, container: Json, problems: FieldErrors) -> None:
    sub_path = mount.get("subPath")
    expression = mount.get("subPathExpr")
    if type(sub_path) is str and sub_path and (why := why_not_relative(sub_path)):
        problems.invalid((*path, "subPath"), sub_path, why, field=field_path((*list_path, "subPath")))
    if type(expression) is str and expression:
        if sub_path:
            problems.invalid((*path, "subPathExpr"), expression, "subPathExpr and subPath are mutually exclusive")
        if why := why_not_relative(expression):
            problems.invalid((*path, "subPathExpr"), expression, why, field=field_path((*list_path, "subPathExpr")))
    _check_propagation(mount, path, list_path, container, problems)
    recursive = mount.get("recursiveReadOnly")
    if type(recursive) is str and recursive != "Disabled":
        field = field_path((*list_path, "recursiveReadOnly"))
        _check_recursive(mount, recursive, (*path, "recursiveReadOnly"), problems, field)


def _check_propagation(mount: Json, path: Path, list_path: Path, container: Json, problems: FieldErrors) -> None:
    mode = mount.get("mountPropagation")
    if type(mode) is not str:
        return
    mount_propagation_path = (*path, "mountPropagation")
    field = field_path((*list_path, "mountPropagation"))
    if mode not in _PROPAGATION_MODES:
        problems.unsupported(mount_propagation_path, mode, _PROPAGATION_MODES, field=field)
    elif mode == "Bidirectional" and nested_map(container, "securityContext").get("privileged") is not True:
        why = "Bidirectional mount propagation is available only to privileged containers"
        problems.forbidden(mount_propagation_path, why, "use HostToContainer, or a privileged container", field)


def _check_recursive(mount: Json, mode: str, path: Path, problems: FieldErrors, field: str) -> None:
    if mode not in ("Enabled", "IfPossible"):
        problems.unsupported(path, mode, ("Disabled", "Enabled", "IfPossible"), field=field)
        return
    if mount.get("readOnly") is not True:
        problems.forbidden(path, "may only be specified when readOnly is true", "set readOnly: true", field)
    if mount.get("mountPropagation") not in (None, "None"):
        problems.forbidden(path, "may only be specified when mountPropagation is None or not specified", field=field)


def check_devices(value: Any, path: Path, container: Json, scope: PodContext) -> None:
    """Check `volumeDevices` of a container."""
    problems = scope.problems
    names_seen = set[str]()
    paths_seen = set[str]()
    for index, device in indexed_mappings(value):
        device_path = (*path, index)
        name = device.get("name")
        device_file = device.get("devicePath")
        _check_volume_name(name, (*device_path, "name"), scope)
        if type(name) is str and name:
            if name in names_seen:
                problems.invalid((*device_path, "name"), name, "must be unique")
            names_seen.add(name)
            volume = as_mapping((scope.volumes or {}).get(name))
            if volume and not volume.get("persistentVolumeClaim") and not volume.get("ephemeral"):
                why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
                problems.invalid((*device_path, "name"), name, why, "use volumeMounts")
        if is_empty(device_file):
            problems.required((*device_path, "devicePath"))
        elif type(device_file) is str:
            if device_file in paths_seen:
                problems.invalid((*device_path, "devicePath"), device_file, "must be unique")
            elif why_not_forward(device_file):
                problems.invalid((*device_path, "devicePath"), device_file, "can not contain backsteps ('..')")
            paths_seen.add(device_file)
