"""Checkpoints are lost when a pod is recreated.

PTC378 checkpoint-not-kept: warning at run (risks), by ptcompile.
Needs: command/args {CHECKPOINT_WORDS}

What: the folder for checkpoints or outputs, such as that of --checkpoint-dir or --output_dir, is on
no volume or on an emptyDir, and the job recreates failed pods, or runs on spot nodes and recreates
lost pods.

Why: a new pod has a new disk and a new emptyDir, so the training restarts at step 0 despite its
checkpoints.

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
    +     volumeMounts: [{name: ckpt, mountPath: /ckpt}]
    + volumes: [{name: ckpt, persistentVolumeClaim: {claimName: ckpt}}]

Fix: mount a claim that all pods share, or write to an object store.

Source: Kubernetes 1.36, volumes: an emptyDir lives as long as its pod.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at, is_recreated
from ptcompile.linter.spot import spot_label
from ptcompile.linter.volumes import mount_for, volume_of, written_checkpoints
from ptcompile.world.templates import ManifestContainer, ManifestTemplate


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        if not (is_recreated(subject, template) or _replaces_preempted_pods(subject, template)):
            continue
        for container in template.main_containers:
            for checkpoint in written_checkpoints(container):
                storage = _temporary_storage(template, container, checkpoint.folder)
                if storage:
                    yield found_at(
                        checkpoint.path,
                        f"{checkpoint.folder} is on {storage}: a recreated pod starts from scratch",
                        "mount a shared claim there, or write to an object store",
                    )


def _replaces_preempted_pods(subject: Subject, template: ManifestTemplate) -> bool:
    """Return whether the pods run only on spot nodes and the operator recreates pods that are
    lost with their node.
    """
    if spot_label(template) is None:
        return False
    lost = subject.lost_pod(template.role)
    return lost is not None and lost.recreated != "none"


def _temporary_storage(
    template: ManifestTemplate, container: ManifestContainer, folder: str
) -> str | None:
    """Return what kind of storage a folder is on if it disappears with the pod, or None if it
    survives.
    """
    mount = mount_for(container, folder)
    if mount is None:
        return "no volume"

    volume = volume_of(template, mount)
    if volume is None or not {"emptyDir", "ephemeral"} & volume.data.keys():
        return None
    # the pod and its volumes survive a restart in place
    if template.spec.get("restartPolicy") == "OnFailure":
        return None

    return "an emptyDir" if "emptyDir" in volume.data else "an ephemeral volume"
