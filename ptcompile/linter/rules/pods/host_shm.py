"""A pod uses its node's /dev/shm.

PTC309 host-shm: warning at run (risks), by ptcompile.
Needs: hostPath shm

What: a hostPath volume is the node's /dev/shm.

Why: all pods on the node that mount it share one folder. Files of a killed process stay until the
node restarts and fill the node's memory, none of it counts against the pod's limits, and two jobs
may use the same file name. A pod that takes all accelerators of a machine, as in the guides for
EFA, shares it with no other job: then this is a note.

Example: gpu_pod.yaml with

      volumes:
        - name: dshm
    -     hostPath: {path: /dev/shm}  # <--
    +     emptyDir: {medium: Memory, sizeLimit: 16Gi}

Fix: use an emptyDir of medium Memory.

Source: Kubernetes 1.36, hostPath and emptyDir.
"""

from __future__ import annotations

from posixpath import normpath

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.pod_spec import SHM_PATH as SHM
from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, found_at

_WHOLE_MACHINE = 8
"""Accelerators of the machines on which a pod shares /dev/shm with no other job: HGX boards,
Gaudi, TPU hosts.
"""


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for name, (volume_path, volume) in template.volumes.items():
            if normpath(nested_string(volume, "hostPath", "path")) == SHM:
                path = (*volume_path, "hostPath")
                if template.accelerators >= _WHOLE_MACHINE:
                    text = (
                        f"files that a killed process leaves in {SHM} of the node stay in its "
                        "memory"
                    )
                    yield found_at(
                        path, text, "use emptyDir {medium: Memory, sizeLimit: ...}", severity="note"
                    )
                    continue

                empty_dir = Edit("set", (*volume_path, "emptyDir"), {"medium": "Memory"})
                yield found_at(
                    path,
                    f"{SHM} of the node is shared with other pods, and files of a killed process "
                    "stay in memory",
                    "use emptyDir {medium: Memory, sizeLimit: ...}",
                    Fix(
                        f"make {name} an emptyDir in memory",
                        (Edit("remove", path), empty_dir),
                    ),
                )
