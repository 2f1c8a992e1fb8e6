"""Two volumes are mounted at the same path.

PTC312 repeated-mount-path: warning at run (differs), by kubelet.
Needs: mountPath

What: the paths of two mounts of a container are different spellings of one folder, such as `/data`
and `/data/`.

Why: the API server compares the text. The runtime mounts both, and the second hides the first and
its data.

Example: gpu_pod.yaml with

      volumes:
        - {name: dataset, persistentVolumeClaim: {claimName: imagenet}}
        - {name: scratch, emptyDir: {}}
      containers:
        - name: pytorch
          resources: {limits: {cpu: 8, memory: 64Gi}}
          volumeMounts:
            - {name: dataset, mountPath: /data}
    -       - {name: scratch, mountPath: /data/}  # <--
    +       - {name: scratch, mountPath: /scratch}

Fix: mount each volume in its own folder.

Source: kube-apiserver 1.36 (mountPath must be unique, as text); Linux mount semantics.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.simulator.mounted import mount_path


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        volume_names: dict[str, str] = {}
        for entry_path, mount in container.mounts:
            folder = mount_path(mount)
            name = nested_string(mount, "name")
            if folder in volume_names and volume_names[folder] != name:
                yield found_at(
                    (*entry_path, "mountPath"),
                    f"{name} hides {volume_names[folder]}, which is also mounted at {folder}",
                    "mount each volume in its own folder",
                )
            elif folder:
                volume_names[folder] = name
