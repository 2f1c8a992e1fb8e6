"""Mounts of volumes and raw devices in containers.

Source: docs/facts/api-server.md#volumes-and-mounts 92 to 101, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.spelling import closest_match
from ptcompile.apiserver.validation.field import FieldValue
from ptcompile.diagnostics import field_path
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_map,
    nested_maps,
    nested_value,
)

_BIND_OPTIONS = ("nodev", "noexec", "nosuid")
_PROPAGATION_MODES = ("Bidirectional", "HostToContainer", "None")


def why_not_relative(text: str) -> str | None:
    """Return why a path may leave its directory, or None if it cannot."""
    if text.startswith("/"):
        return "must be a relative path"
    return why_not_forward(text)


def why_not_forward(text: str) -> str | None:
    """Return why a path may lead upwards, or None if it cannot."""
    if ".." in text and ".." in text.split("/"):
        return "must not contain '..'"
    return None


def _check_volume_name(name: FieldValue) -> None:
    volumes = name.scope.volumes
    if name.is_empty:
        name.required(help="name one of the pod's volumes")
    elif name.is_text and volumes is not None and name.value not in volumes:
        suggestion = closest_match(name.value, volumes)
        if suggestion:
            help = f'did you mean "{suggestion}"?'
        else:
            help = "declare the volume in the pod's volumes"
        name.problems.not_found(name.path, name.value, help)


def check_mounts(mounts: FieldValue, container: Json) -> None:
    """Check `volumeMounts` of a container."""
    seen = set[str]()
    devices = nested_maps(container, "volumeDevices")
    for mount in mounts.objects():
        mount_path = mount["mountPath"]
        _check_volume_name(mount["name"])
        if mount_path.is_text and mount_path.value:
            if mount_path.value in seen:
                mount_path.invalid("must be unique", "mount each volume at its own path")
            seen.add(mount_path.value)
        elif mount_path.is_empty:
            mount_path.required(help="set the path of the volume in the container")

        if devices:
            _check_overlap(mount, devices)
        if mount.get("bindMountOptions"):
            _check_bind_options(mount["bindMountOptions"], mount.get("name"))
        if len(mount.value) > 2:
            _check_options(mount, mounts, container)


def _check_overlap(mount: FieldValue, devices: Sequence[Json]) -> None:
    for key, device_key in (("name", "name"), ("mountPath", "devicePath")):
        value = mount.get(key)
        if value and any(device.get(device_key) == value for device in devices):
            mount[key].invalid("must not already exist in volumeDevices")


def _check_bind_options(options: FieldValue, volume_name: Any) -> None:
    """Check `bindMountOptions` (VolumeBindMountOptions, alpha in Kubernetes 1.37)."""
    if options.is_list:
        for option in options.items(options.value):
            option.check_choice(_BIND_OPTIONS)
    volume = (options.scope.volumes or {}).get(volume_name) if type(volume_name) is str else None
    if type(volume) is dict and volume.get("image") is not None:
        options.forbidden("may not be set for image volumes", "remove it")


def _check_options(mount: FieldValue, mounts: FieldValue, container: Json) -> None:
    """Check the other fields of a mount. The server names the list instead of the mount."""
    sub_path = mount["subPath"]
    expression = mount["subPathExpr"]
    if sub_path.is_text and sub_path.value and (why := why_not_relative(sub_path.value)):
        sub_path.invalid(why, field=field_path(mounts["subPath"].path))
    if expression.is_text and expression.value:
        if sub_path.value:
            expression.invalid("subPathExpr and subPath are mutually exclusive")
        if why := why_not_relative(expression.value):
            expression.invalid(why, field=field_path(mounts["subPathExpr"].path))

    is_privileged = nested_value(container, "securityContext", "privileged") is True
    _check_propagation(
        mount["mountPropagation"], is_privileged, field_path(mounts["mountPropagation"].path)
    )
    _check_recursive(mount, field_path(mounts["recursiveReadOnly"].path))


def _check_propagation(mode: FieldValue, is_privileged: bool, field: str) -> None:
    if not mode.is_text:
        return
    if mode.value not in _PROPAGATION_MODES:
        mode.unsupported(_PROPAGATION_MODES, field=field)
    elif mode.value == "Bidirectional" and not is_privileged:
        why = "Bidirectional mount propagation is available only to privileged containers"
        mode.forbidden(why, "use HostToContainer, or a privileged container", field)


def _check_recursive(mount: FieldValue, field: str) -> None:
    mode = mount["recursiveReadOnly"]
    if not mode.is_text or mode.value == "Disabled":
        return
    if mode.value not in ("Enabled", "IfPossible"):
        mode.unsupported(("Disabled", "Enabled", "IfPossible"), field=field)
        return

    if mount.get("readOnly") is not True:
        mode.forbidden("may only be specified when readOnly is true", "set readOnly: true", field)
    if mount.get("mountPropagation") not in (None, "None"):
        mode.forbidden(
            "may only be specified when mountPropagation is None or not specified", field=field
        )


def check_devices(devices: FieldValue, container: Json) -> None:
    """Check `volumeDevices` of a container."""
    names_seen = set[str]()
    paths_seen = set[str]()
    for device in devices.objects():
        name = device["name"]
        _check_volume_name(name)
        if name.is_text and name.value:
            if name.value in names_seen:
                name.invalid("must be unique")
            names_seen.add(name.value)
            _check_block_volume(name)

        file = device["devicePath"]
        if file.is_empty:
            file.required()
        elif file.is_text:
            if file.value in paths_seen:
                file.invalid("must be unique")
            elif why_not_forward(file.value):
                file.invalid("can not contain backsteps ('..')")
            paths_seen.add(file.value)


def _check_block_volume(name: FieldValue) -> None:
    """Check that the named volume can be a device: a claim, or made with the pod."""
    volume = nested_map(name.scope.volumes, name.value)
    if volume and not volume.get("persistentVolumeClaim") and not volume.get("ephemeral"):
        why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
        name.invalid(why, "use volumeMounts")
