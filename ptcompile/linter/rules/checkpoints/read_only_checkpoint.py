"""Checkpoints go to a read-only volume.

PTC379 read-only-checkpoint: error at run (fails), by kubelet.
Needs: command/args {CHECKPOINT_WORDS}

What: the folder for a training's checkpoints or outputs is on a volume that is mounted read-only,
or on a ConfigMap or Secret. Reported as a warning for options that a training may also read, such
as --checkpoint.

Why: the first checkpoint fails with "Read-only file system", an hour into the training.

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
    -     volumeMounts: [{name: ckpt, mountPath: /ckpt, readOnly: true}]
    +     volumeMounts: [{name: ckpt, mountPath: /ckpt}]
      volumes: [{name: ckpt, persistentVolumeClaim: {claimName: ckpt}}]

Fix: mount the volume without readOnly, or write elsewhere.

Source: Kubernetes 1.36, volumeMounts.readOnly.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import Json, as_mapping
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.volumes import mount_for, volume_of, written_checkpoints
from ptcompile.simulator.mounted import mount_path

_READ_ONLY_SOURCES = ("configMap", "secret", "projected", "downwardAPI")


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for container in template.main_containers:
            for checkpoint in written_checkpoints(container):
                mount = mount_for(container, checkpoint.folder)
                volume = volume_of(template, mount)
                if mount is None or volume is None:
                    continue

                help_text = _help_if_read_only(mount.data, volume.data)
                if help_text is not None:
                    yield found_at(
                        checkpoint.path,
                        f"no checkpoint can be written to {checkpoint.folder}: the volume at "
                        f"{mount_path(mount.data)} is read-only",
                        help_text,
                        severity=None if checkpoint.is_output else "warning",
                    )


def _help_if_read_only(mount: Json, volume: Json) -> str | None:
    """Return how to write to a volume that is mounted read-only, or None if it is writable."""
    for source in _READ_ONLY_SOURCES:
        if source in volume:
            return f"write to another volume: pods cannot write to a {source}"
    if mount.get("readOnly") is True:
        return "remove readOnly from the mount, or write elsewhere"
    for source, fields in volume.items():
        if as_mapping(fields).get("readOnly") is True:
            return f"remove readOnly from the volume's {source}, or write elsewhere"
    return None
