"""An emptyDir has a medium that the kubelet does not know.

PTC310 unknown-medium: error at pod, by kubelet.
Needs: medium

What: an emptyDir has a medium other than Memory, HugePages or HugePages-<size>, such as `memory` in
lower case.

Why: the API server accepts any text. The kubelet does not mount the volume ("unknown storage
medium"), and the pod stays in ContainerCreating.

Example: gpu_pod.yaml with

      volumes:
        - name: dshm
          emptyDir:
    -       medium: memory  # <--
    +       medium: Memory
            sizeLimit: 16Gi

Fix: write Memory, with a capital letter.

Source: kubelet 1.36, emptyDir: storage media.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for volume_path, volume in template.volumes.values():
            medium = nested_string(volume, "emptyDir", "medium")
            if medium in ("", "Memory", "HugePages") or medium.startswith("HugePages-"):
                continue

            path = (*volume_path, "emptyDir", "medium")
            is_memory = medium.strip().lower() in ("memory", "mem", "ram", "tmpfs")
            yield found_at(
                path,
                f"the kubelet does not know the storage medium {medium!r}, so the pod never starts",
                "write Memory"
                if is_memory
                else "write Memory, or remove it to use the node's disk",
                fix_setting("write Memory", path, "Memory", safe=True) if is_memory else None,
            )
