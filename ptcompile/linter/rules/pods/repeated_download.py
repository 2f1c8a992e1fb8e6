"""Every pod downloads the same data into one claim.

PTC380 repeated-download: warning at run (risks), by ptcompile.
Needs: initContainers persistentVolumeClaim

What: an init container of a job of several pods downloads into a claim that all pods share, and
does so in every pod.

Why: all pods write the same files at once: each pays for the traffic, and a pod reads what another
one is still writing.

Example:

      apiVersion: batch/v1
      kind: Job
      metadata: {name: train}
      spec:
        completions: 2
        parallelism: 2
        completionMode: Indexed
        backoffLimit: 6
        template:
          spec:
            restartPolicy: Never
            volumes: [{name: data, persistentVolumeClaim: {claimName: imagenet}}]
            initContainers:
              - name: download
                image: ghcr.io/acme/aws:2.1
    -           command: [sh, -c, 'aws s3 sync s3://acme/imagenet /data']  # <--
    +           command: [sh, -c, 'test "$JOB_COMPLETION_INDEX" != 0 || aws s3 sync s3://acme/imagenet /data']
                volumeMounts: [{name: data, mountPath: /data}]
                resources: {limits: {cpu: 1, memory: 1Gi}}
            containers:
              - name: pytorch
                image: ghcr.io/acme/train:1.0
                command: [python, train.py]
                volumeMounts: [{name: data, mountPath: /data}]
                resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: download in one pod only, or in a separate Job first.

Source: Kubernetes 1.36, init containers run in each pod.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.volumes import mount_for, volume_of
from ptcompile.world.templates import ManifestContainer, ManifestTemplate, Token

_DOWNLOAD = Pattern(
    r"\baws s3 (?:cp|sync)|\bgsutil\b|\bgcloud "
    r"storage|\brclone\b|\bs5cmd\b|\bazcopy\b|\bwget\b|\bcurl\b|"
    r"\bgit clone|\b(?:huggingface-cli|hf) download"
)
_BY_POD = Pattern(r"INDEX|RANK|HOSTNAME|hostname|flock")
_FOLDER = Pattern(r"(?<![\w:/.-])(/[\w./-]+)")


def check(subject: Subject) -> Findings:
    if subject.replicas < 2:
        return

    for template in subject.templates:
        if template.replicas < 2:
            continue

        for container in template.containers:
            word = _downloading_argument(container) if container.is_init else None
            if word is None:
                continue

            folder = _shared_folder(template, container)
            if folder is not None:
                yield found_at(
                    word.path,
                    f"{template.replicas} pods each download to {folder}, which they share",
                    "download in one pod only, or in a separate Job first",
                )


def _downloading_argument(container: ManifestContainer) -> Token | None:
    """Return the argument that downloads in every pod, or None if there is none."""
    commands = [container.tokens]
    if container.script is not None:
        commands = [
            tuple(command.words) for command in container.script.commands if command.doubt is None
        ]
    lines = [" ".join(words) for words in commands]
    if not any(_DOWNLOAD.search(line) and not _BY_POD.search(line) for line in lines):
        return None
    return max(container.argv, key=lambda word: len(word.text))


def _shared_folder(template: ManifestTemplate, container: ManifestContainer) -> str | None:
    """Return the first folder in the command line that is on a claim, or None."""
    line = " ".join(word.text for word in container.argv)
    for folder in _FOLDER.findall(line):
        mount = mount_for(container, folder)
        volume = volume_of(template, mount)
        if volume is not None and nested_map(volume.data, "persistentVolumeClaim"):
            return str(folder)
    return None
