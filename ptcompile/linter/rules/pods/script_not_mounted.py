"""The mounted ConfigMap does not contain the script that the command runs.

What: the command runs a file below the mount of a ConfigMap or Secret of the stream that has no such key.

Why: a mounted ConfigMap contains only its keys, as files, and hides the image's own files below that path. The program
stops with "No such file or directory".

Example:

      apiVersion: v1
      kind: ConfigMap
      metadata: {name: code}
    - data: {main.py: print(1)}
    + data: {train.py: print(1)}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        volumes: [{name: code, configMap: {name: code}}]
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command:
              - python
              - /code/train.py  # <--
            resources: {limits: {cpu: 8, memory: 64Gi}}
            volumeMounts: [{name: code, mountPath: /code}]

Fix: use the same name for the key and in the command.

Source: Kubernetes 1.36, ConfigMap and Secret volumes.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import join, normpath

from ptcompile._internal.spelling import closest_match
from ptcompile.kubernetes.unstructured import as_mapping, as_mappings, as_string, nested_map
from ptcompile.linter.rule import Finding, Rule, Subject, found_at
from ptcompile.linter.volumes import mount_for, mount_path, volume_of
from ptcompile.world.templates import ManifestContainer, ManifestTemplate, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json

_SOURCES = {"configMap": ("ConfigMap", "name"), "secret": ("Secret", "secretName")}
_SUFFIXES = (".py", ".sh", ".bash")


def _check(subject: Subject) -> Iterator[Finding]:
    for template in subject.templates:
        for container in template.containers:
            script = _script_path(container)
            mount = mount_for(container, script) if script else None
            files = _mounted_files(subject, template, mount[1]) if mount is not None else None
            if script is None or mount is None or files is None:
                continue
            inside = as_string(mount[1].get("subPath")) or script.removeprefix(mount_path(mount[1])).lstrip("/")
            word = _argument_with(container, script)
            if inside and inside not in files and word is not None:
                suggestion = closest_match(inside, sorted(files))
                yield found_at(
                    word.path,
                    f"{script} does not exist: the volume at {mount_path(mount[1])} has "
                    + (", ".join(sorted(files)[:5]) or "no files"),
                    f"write {join(mount_path(mount[1]), suggestion)}"
                    if suggestion
                    else f"add {inside} to the mounted ConfigMap or Secret",
                )


def _script_path(container: ManifestContainer) -> str | None:
    """Return the absolute path of the file that the command line runs, or None if it runs no file."""
    if not container.spec.get("command") and not container.spec.get("args"):
        return None
    from ptcompile.simulator.launchers.command import entry_arguments

    invocation = container.launch
    words = [word for word in entry_arguments(invocation) if not word.startswith("-")]
    file = next((word for word in words[:2] if word.endswith(_SUFFIXES)), None)
    if file is None and invocation.entry and invocation.launcher == "command":
        file = invocation.entry[0] if invocation.entry[0].startswith("/") else None
    folder = as_string(container.spec.get("workingDir"))
    if file is None or "$" in file or not (file.startswith("/") or folder.startswith("/")):
        return None
    return normpath(join(folder, file))


def _argument_with(container: ManifestContainer, script: str) -> Token | None:
    file = script.rpartition("/")[2]
    return next((word for word in container.argv if file in word.text), None)


def _mounted_files(subject: Subject, template: ManifestTemplate, mount: Json) -> set[str] | None:
    """Return the files of a mounted ConfigMap or Secret of the stream, or None for any other mount."""
    volume = volume_of(template, mount)
    if volume is None:
        return None
    for key, (kind, name) in _SOURCES.items():
        source = nested_map(volume[1], key)
        objects = subject.neighbors.by_name(("v1", kind), as_string(source.get(name))) if source else ()
        if objects:
            if source.get("items"):
                return {as_string(item.get("path")) for item in as_mappings(source.get("items"))}
            return {
                str(item)
                for field in ("data", "binaryData", "stringData")
                for item in as_mapping(objects[-1].get(field))
            }
    return None


RULE = Rule("script-not-mounted", _check, severity="error", stage="run", authority="kubelet")
