"""torchrun has no folder to write its logs to.

PTC318 unwritable-tmp: warning at run (fails), by torchrun.
Needs: readOnlyRootFilesystem {TORCHRUN}

What: a container that starts torchrun has a read-only root file system and no volume at /tmp,
/var/tmp or the working directory.

Why: torchrun makes a temporary folder for the logs of its processes before it starts them. It stops
with "No usable temporary directory found".

Example: pod.yaml with

      spec:
    +   volumes: [{name: tmp, emptyDir: {}}]
        containers:
          - name: pytorch
            command: [torchrun, --nproc-per-node, "1", train.py]
            resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
            securityContext:
              readOnlyRootFilesystem: true  # <--
    +       volumeMounts: [{name: tmp, mountPath: /tmp}]

Fix: mount an emptyDir at /tmp. Triton and the inductor cache need it too.

Source: PyTorch 2.13, torch/distributed/elastic/multiprocessing/api.py; Python 3.13,
tempfile.gettempdir.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_value
from ptcompile.linter.containers import is_command_written
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.volumes import mount_for
from ptcompile.world.templates import ManifestContainer

_TEMPORARY_FOLDERS = ("/tmp", "/var/tmp", "/usr/tmp")  # noqa: S108 - Python's defaults
_VARIABLES = frozenset({"TMPDIR", "TEMP", "TMP"})


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        if nested_value(
            container.spec, "securityContext", "readOnlyRootFilesystem"
        ) is not True or not is_command_written(container):
            continue

        invocation = container.launch
        if (
            invocation.launcher == "torchrun"
            and "log-dir" not in invocation.options
            and not _has_writable_folder(container)
        ):
            yield found_at(
                (*container.path, "securityContext", "readOnlyRootFilesystem"),
                "torchrun needs a temporary folder, but /tmp is not writable",
                "mount an emptyDir at /tmp",
            )


def _has_writable_folder(container: ManifestContainer) -> bool:
    """Return whether Python may find a writable folder, by a variable or in its usual places."""
    if (
        any(entry.name in _VARIABLES for entry in container.variables)
        or container.has_unknown_variables
    ):
        return True
    folders = (*_TEMPORARY_FOLDERS, container.folder)
    return any(mount_for(container, folder) for folder in folders if folder)
