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
from ptcompile.kubernetes.unstructured import as_string
from ptcompile.linter.rule import Finding, Rule, Subject, found_at
from ptcompile.simulator.mounted import mounted_path
from ptcompile.world.templates import ManifestContainer, Token

_SUFFIXES = (".py", ".sh", ".bash")


def _check(subject: Subject) -> Iterator[Finding]:
    for template in subject.templates:
        for container in template.containers:
            script = _script_path(container)
            file = mounted_path(template.spec, container.spec, script) if script else None
            word = _argument_with(container, script) if script else None
            files = file.files(subject.find) if file is not None else None
            if file is None or files is None or word is None or not file.inside or file.inside in files:
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


RULE = Rule("script-not-mounted", _check, severity="error", stage="run", authority="kubelet")
