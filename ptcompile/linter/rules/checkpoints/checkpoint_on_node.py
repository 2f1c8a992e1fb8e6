"""Checkpoints are on the local disk of each Kubernetes node.

PTC385 checkpoint-on-node: warning at run (risks), by ptcompile.
Needs: command/args {CHECKPOINT_WORDS}

What: the folder for checkpoints or outputs is on a hostPath that is a local disk by its name (nvme,
ssd, raid, scratch, /tmp, /var) or that the kubelet creates on each node (DirectoryOrCreate), and
the job has several pods or recreates failed ones.

Why: each node has its own disk: the ranks see different checkpoints, and a pod that is recreated on
another node finds none.

Example: jobset.yaml with

      containers:
        - name: pytorch
          command:
            - torchrun
            - --nnodes=2
            - --rdzv-backend=c10d
            - --rdzv-endpoint=train-node-0-0.train:29400
            - train.py
            - --checkpoint-dir=/ckpt  # <--
          resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
          volumeMounts: [{name: ckpt, mountPath: /ckpt}]
    - volumes: [{name: ckpt, hostPath: {path: /mnt/nvme/ckpt}}]
    + volumes: [{name: ckpt, persistentVolumeClaim: {claimName: ckpt}}]

Fix: mount a claim that all pods share, or write to an object store.

Source: Kubernetes 1.36, volumes: hostPath is a folder of the node that the pod runs on.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.kubernetes.unstructured import nested_map, nested_string
from ptcompile.linter.rule import Findings, Subject, found_at, is_recreated
from ptcompile.linter.volumes import mount_for, volume_of, written_checkpoints

_is_local_part = Pattern(
    r"(?i)[\w-]{0,64}(?:nvme|ssd)[\w-]{0,64}|raid\d*|scratch|local(?:disk|[-_]\w+)?|k8s-disks|stateful_partition|ephemeral\w*"
).fullmatch
_SHARED = Pattern(
    r"(?i)nfs|lustre|fsx|efs|gpfs|weka|vast|ceph|gluster|beegfs|juicefs|shared|csi|spectrum|panfs|orangefs|daos"
)
_LOCAL_ROOTS = frozenset({"tmp", "var", "root", "etc"})


def check(subject: Subject) -> Findings:
    pods = subject.replicas
    for template in subject.templates:
        if pods < 2 and not is_recreated(subject, template):
            continue
        for container in template.main_containers:
            for checkpoint in written_checkpoints(container):
                mount = mount_for(container, checkpoint.folder)
                volume = volume_of(template, mount)
                source = nested_map(volume.data, "hostPath") if volume is not None else {}
                host_path = nested_string(source, "path")
                if _is_local(host_path, created=source.get("type") == "DirectoryOrCreate"):
                    yield found_at(
                        checkpoint.path,
                        f"{checkpoint.folder} is on hostPath {host_path} of each node: the pods "
                        "see different checkpoints, and a pod that moves sees none",
                        "mount a shared claim there, or write to an object store",
                    )


def _is_local(path: str, *, created: bool) -> bool:
    """Return whether a folder of a node is on a local disk, by its name, or if the kubelet
    creates it.
    """
    parts = path.strip("/").split("/")
    is_local = created or parts[0] in _LOCAL_ROOTS or any(_is_local_part(part) for part in parts)
    return bool(path) and is_local and not _SHARED.search(path)
