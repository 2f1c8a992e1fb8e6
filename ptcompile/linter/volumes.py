"""Mounts, volumes, and checkpoint folders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from posixpath import normpath

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.pod_spec import SHM_PATH
from ptcompile.kubernetes.unstructured import Json, nested_string
from ptcompile.linter.containers import is_command_written, starts_training
from ptcompile.simulator.mounted import mount_over, mount_path
from ptcompile.world.templates import ManifestContainer, ManifestTemplate, Written

_OPTION = Pattern(r"(?:^|[\s\"'])([+-]{0,2})([A-Za-z][\w.-]{0,80})(=|\s+)[\"']?(/[\w./-]+)")
_VARIABLE = Pattern(r"\$(?:(\()|(\{))?(?P<name>\w{1,128})(?(1)\))(?(2)\})")
_FOLDERS = ("directory", "folder", "root", "dir")
"""Last parts of names of folders."""
_TABLE = load_table("linter/folders.json")
_CHECKPOINTS = frozenset(_TABLE["checkpoint_words"])
_OUTPUTS = frozenset(_TABLE["output_words"])
"""Words before the last part of an option for the folder that a training writes."""
_INPUT_WORDS = frozenset(_TABLE["input_words"])
"""Words in names of folders that the training reads."""


class Checkpoint(NamedTuple):
    """A folder to which the training writes checkpoints, and the path of the field that names
    it.
    """

    folder: str
    path: Path
    is_output: bool
    """Whether the name says that the training writes there; it only reads some checkpoints."""


def checkpoints(container: ManifestContainer) -> Iterator[Checkpoint]:
    """Yield the absolute folders for checkpoints and outputs in a container's command line and
    variables.
    """
    variables = {
        entry.name: entry.value
        for entry in container.variables
        if entry.value and entry.value.startswith("/")
    }
    argv = container.argv
    for i, word in enumerate(argv):
        following = argv[i + 1] if i + 1 < len(argv) and word.text.startswith("-") else None
        text = _substitute(word.text, variables)
        value = _substitute(following.text, variables) if following is not None else ""
        is_pair = value.startswith("/") and "=" not in text
        for match in _OPTION.finditer(f"{text} {value}" if is_pair else text):
            sign, name, separator, folder = match.groups()
            is_output = _writes_checkpoints(name) if sign or separator == "=" else None
            if is_output is not None:
                path = following.path if is_pair and following is not None else word.path
                yield Checkpoint(folder, path, is_output)

    for entry in container.variables:
        if entry.value and entry.value.startswith("/"):
            is_output = _writes_checkpoints(entry.name)
            if is_output is not None:
                yield Checkpoint(entry.value, entry.value_path, is_output)


def written_checkpoints(container: ManifestContainer) -> Iterator[Checkpoint]:
    """Yield the folders that the main container writes: folders for outputs, and any checkpoints
    of a launcher.
    """
    if not container.is_main or not is_command_written(container):
        return
    is_training: bool | None = None
    for checkpoint in checkpoints(container):
        if is_training is None:
            is_training = starts_training(container)
        if is_training or checkpoint.is_output:
            yield checkpoint


def _substitute(text: str, variables: Mapping[str, str]) -> str:
    """Replace variables that hold absolute paths, as the kubelet or a shell does."""
    if "$" not in text or not variables:
        return text
    return _VARIABLE.sub(lambda match: variables.get(match["name"], match.group()), text)


def _writes_checkpoints(name: str) -> bool | None:
    """Return whether an option or variable certainly names a folder that the training writes.

    False if the training may also read it, such as `--checkpoint`; None if the name is about
    something else.
    """
    parts = name.lower().replace(".", "_").replace("-", "_").split("_")
    if not _INPUT_WORDS.isdisjoint(parts):
        return None

    suffix = next((folder for folder in _FOLDERS if parts[-1].endswith(folder)), "")
    stem = [*parts[:-1], parts[-1].removesuffix(suffix)]
    stem = [part for part in stem if part]
    if not suffix and stem[-1:] in (["path"], ["to"]):
        stem = stem[:-1]
        is_path = True
    else:
        is_path = bool(suffix)

    last = stem[-1] if stem else ""
    if last in _CHECKPOINTS:
        return bool(suffix) or "save" in stem
    if last == "save" or stem == ["out"]:
        return True
    if is_path and not _OUTPUTS.isdisjoint((last, "-".join(stem[-2:]))):
        return True

    return None


def shm_mount(container: ManifestContainer) -> Written | None:
    """Return the mount at /dev/shm, or None."""
    return next((mount for mount in container.mounts if mount_path(mount.data) == SHM_PATH), None)


def volume_of(template: ManifestTemplate, mount: Written | None) -> Written | None:
    """Return the volume of a mount, or None if the mount or its volume does not exist."""
    return template.volumes.get(nested_string(mount.data, "name")) if mount is not None else None


def is_in_memory(volume: Json) -> bool:
    """Return whether the volume is an emptyDir in memory."""
    return nested_string(volume, "emptyDir", "medium") == "Memory"


def mount_for(container: ManifestContainer, path: str) -> Written | None:
    """Return the mount that contains a file at this path, the deepest one, or None."""
    deepest = mount_over((mount for _, mount in container.mounts), path)
    return next((mount for mount in container.mounts if mount.data is deepest), None)


_VENDOR_FOLDERS: list[str] = _TABLE["vendors"]
"""Folders of nodes from which vendors' guides mount drivers and plugins of the network into
privileged pods.
"""


def node_devices(template: ManifestTemplate) -> str:
    """Return the first hostPath of devices, or of a vendor's driver folder, in a pod template, or
    "".

    A container without privileges cannot open a device that a hostPath brings: its device cgroup
    only allows those of device plugins (containerd and runc).
    """
    prefixes = ("/dev/", *(f"{folder}/" for folder in _VENDOR_FOLDERS))
    for _, volume in template.volumes.values():
        path = normpath(nested_string(volume, "hostPath", "path"))
        if path != SHM_PATH and f"{path}/".startswith(prefixes):
            return path
    return ""
