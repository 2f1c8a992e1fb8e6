"""The mounted volume does not contain the script that the command runs.

PTC377 script-not-mounted: error at run (fails), by kubelet.
Needs: mountPath emptyDir/@ConfigMap/@Secret

What: the command runs a file below the mount of a ConfigMap or Secret of the stream that has no
such key, or of an emptyDir that nothing fills.

Why: a mounted ConfigMap contains only its keys, as files, an emptyDir nothing, and both hide the
image's own files below that path. The program stops with "No such file or directory".

Example: gpu_pod.yaml with

      apiVersion: v1
      kind: ConfigMap
      metadata: {name: code}
    - data: {main.py: print(1)}
    + data: {train.py: print(1)}
      ---
      volumes: [{name: code, configMap: {name: code}}]
      containers:
        - name: pytorch
          command:
            - python
            - /code/train.py  # <--
          resources: {limits: {cpu: 8, memory: 64Gi}}
          volumeMounts: [{name: code, mountPath: /code}]

Fix: use the same name for the key and in the command; mount an emptyDir in another folder.

Source: Kubernetes 1.36, ConfigMap and Secret volumes.
"""

from __future__ import annotations

from posixpath import join, normpath

from ptcompile._internal.spelling import closest_match
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.volumes import mount_for, volume_of
from ptcompile.simulator.mounted import mounted_path
from ptcompile.world.templates import ManifestContainer, ManifestTemplate

_SUFFIXES = (".py", ".sh", ".bash")


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for container in template.containers:
            script = _script_path(container)
            if script is None:
                continue
            if _is_in_empty_volume(template, container, script):
                yield found_at(
                    container.script_path if container.call else (*container.path, "command"),
                    f"{script} does not exist: an emptyDir, which nothing fills, hides what the "
                    "image has there",
                    "mount the volume in another folder",
                )

            file = mounted_path(template.spec, container.spec, script)
            files = file.files(subject.find) if file is not None else None
            _, _, name = script.rpartition("/")
            word = next((word for word in container.argv if name in word.text), None)
            if file is None or files is None or word is None:
                continue
            if not file.inside or file.inside in files:
                continue

            suggestion = closest_match(file.inside, sorted(files))
            yield found_at(
                word.path,
                f"{script} does not exist: the volume at {file.folder} has "
                + (", ".join(sorted(files)[:5]) or "no files"),
                f"write {join(file.folder, suggestion)}"
                if suggestion
                else f"add {file.inside} to the mounted ConfigMap or Secret",
            )


def _script_path(container: ManifestContainer) -> str | None:
    """Return the absolute path of the file that the command line runs, or None if it runs no
    file.
    """
    folder = container.folder
    # only the image knows where a relative path leads without a working folder
    if not folder.startswith("/") and not any("/" in token for token in container.tokens):
        return None

    from ptcompile.simulator.launchers.command import entry_arguments

    invocation = container.launch
    words = [word for word in entry_arguments(invocation) if not word.startswith("-")]
    file = next((word for word in words[:2] if word.endswith(_SUFFIXES)), None)
    if file is None and invocation.entry and invocation.launcher == "command":
        file = invocation.entry[0] if invocation.entry[0].startswith("/") else None
    if file is None or "$" in file or not (file.startswith("/") or folder.startswith("/")):
        return None

    return normpath(join(folder, file))


_PREPARING = frozenset(
    {
        "cd",
        "export",
        "set",
        "echo",
        "mkdir",
        "sleep",
        "ulimit",
        "umask",
        "env",
        "nvidia-smi",
        "date",
    }
)
"""Commands that put no program into a folder."""


def _is_in_empty_volume(
    template: ManifestTemplate, container: ManifestContainer, script: str
) -> bool:
    """Return whether an emptyDir that nothing fills certainly hides a file of the image."""
    mount = mount_for(container, script)
    volume = volume_of(template, mount)
    if mount is None or volume is None or "emptyDir" not in volume.data:
        return False
    if container.spec.get("lifecycle"):
        return False

    others = [other for other in template.containers if other is not container]
    is_shared = any(
        item.get("name") == mount.data.get("name") for other in others for _, item in other.mounts
    )
    commands = container.script.commands[:-1] if container.script is not None else ()

    return not is_shared and all(command.words[0] in _PREPARING for command in commands)
