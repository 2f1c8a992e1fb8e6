"""Hugging Face libraries may not download, and nothing brings their cache.

PTC463 offline-without-cache: warning at run (fails), by ptcompile.
Needs: offline

What: HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is on, the cache folder is on no volume, and the pod
mounts no other volume from which models could come.

Why: offline, a model or dataset that is not in the cache fails to load ("couldn't find it in the
cached files"). Only an image that has the cache helps.

Example: pod.yaml with

      spec:
    +   volumes: [{name: cache, persistentVolumeClaim: {claimName: hub}}]
        containers:
          - name: pytorch
            command: [python, train.py, --model_name_or_path=meta-llama/Llama-3.1-8B]
            env:
    -         - {name: HF_HUB_OFFLINE, value: "1"}  # <--
    +         - {name: HF_HUB_OFFLINE, value: "1"}
    +         - {name: HF_HOME, value: /cache}
            resources: {limits: {cpu: 8, memory: 64Gi}}
    +       volumeMounts: [{name: cache, mountPath: /cache}]

Fix: mount a volume with the cache and set HF_HOME to it, or put the cache into the image.

Source: huggingface_hub 0.35, environment variables HF_HOME, HF_HUB_CACHE, HF_HUB_OFFLINE.
"""

from __future__ import annotations

from ptcompile.kubernetes.pod_spec import SHM_PATH
from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.volumes import is_in_memory, mount_for, volume_of, written_checkpoints
from ptcompile.simulator.mounted import mount_path
from ptcompile.world.templates import ManifestContainer, ManifestTemplate, Written

_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
_TRUE = frozenset({"1", "on", "yes", "true"})
_CACHES = (
    "HF_HUB_CACHE",
    "HUGGINGFACE_HUB_CACHE",
    "TRANSFORMERS_CACHE",
    "HF_HOME",
    "XDG_CACHE_HOME",
    "HOME",
)
_CONFIGURATION = ("configMap", "secret", "projected", "downwardAPI")
_DEFAULT_CACHE = "/root/.cache/huggingface"


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for container in template.main_containers:
            entries = (entry for entry in container.variables if entry.name in _OFFLINE)
            entry = next((entry for entry in entries if entry.text.lower() in _TRUE), None)
            if (
                entry is None
                or container.has_unknown_variables
                or any(item.is_init for item in template.containers)
            ):
                continue

            values = {item.name: item.text for item in container.variables}
            folder = next((values[name] for name in _CACHES if name in values), _DEFAULT_CACHE)
            if mount_for(container, folder) is None and not _has_data(template, container):
                yield found_at(
                    entry.value_path,
                    f"models come from the cache only, but {folder} is on no volume",
                    "mount a volume with the cache and set HF_HOME to it, unless the image has "
                    "the models",
                )


def _has_data(template: ManifestTemplate, container: ManifestContainer) -> bool:
    """Return whether a mount may hold models: neither memory, configuration nor the folder for
    outputs.
    """
    mounts = [
        mount_for(container, checkpoint.folder) for checkpoint in written_checkpoints(container)
    ]
    outputs = {nested_string(mount.data, "name") for mount in mounts if mount is not None}

    return any(
        _is_data(template, mount)
        and nested_string(mount.data, "name") not in outputs
        and mount_path(mount.data) != SHM_PATH
        for mount in container.mounts
    )


def _is_data(template: ManifestTemplate, mount: Written) -> bool:
    volume = volume_of(template, mount)
    return volume is None or not (
        is_in_memory(volume.data)
        or "emptyDir" in volume.data
        or any(key in volume.data for key in _CONFIGURATION)
    )
