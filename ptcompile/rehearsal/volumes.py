"""Surroundings that a pod's spec gives its processes: volumes, shared memory, a memory limit, and
time to end.
"""

from __future__ import annotations

import posixpath
from collections.abc import Container, Iterator, Mapping
from typing import NamedTuple

from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.pod_spec import SHM_PATH, grace_seconds
from ptcompile.kubernetes.unstructured import (
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
)
from ptcompile.simulator.pod import Pod

SHM_BYTES = 64 << 20
"""Size of /dev/shm in a pod without a volume there (containerd 2.1 and CRI-O 1.34)."""


class PodVolume(NamedTuple):
    """A volume that a rehearsed pod has, and where it is mounted."""

    path: str
    """Path in the container."""
    name: str
    claim: str | None
    """Claim with a folder of this machine, which all pods share; None for an empty folder that
    dies with the pod.
    """
    sub_path: str
    is_read_only: bool


class PodSurroundings(NamedTuple):
    """The surroundings that the kubelet prepares for the main container of a pod."""

    grace: float
    """Seconds from SIGTERM to SIGKILL."""
    shm: int | None
    """Size of /dev/shm in bytes, or None for that of this machine, as with `hostIPC`."""
    memory: int | None
    """Memory limit in bytes, or None."""
    volumes: tuple[PodVolume, ...]
    absent: tuple[str, ...]
    """Names of volumes that the rehearsal cannot provide."""


def surroundings_of(pod: Pod, claims: Container[str]) -> PodSurroundings:
    """Return the surroundings of a pod. `claims` are those with a folder of this machine."""
    spec = pod.view.spec
    main = pod.main.spec if pod.main else {}
    sources = {nested_string(volume, "name"): volume for volume in nested_maps(spec, "volumes")}
    memory = _bytes(nested_value(main, "resources", "limits", "memory"))
    shm = None if spec.get("hostIPC") is True else SHM_BYTES
    volumes = []
    provided = set()
    for mount in nested_maps(main, "volumeMounts"):
        name = nested_string(mount, "name")
        path = posixpath.normpath(nested_string(mount, "mountPath") or "/")
        source = sources.get(name, {})
        claim = nested_string(source, "persistentVolumeClaim", "claimName")
        # an empty folder, or a claim with a folder of this machine
        is_available = (
            "emptyDir" in source or "ephemeral" in source or (bool(claim) and claim in claims)
        )
        if path == SHM_PATH and nested_value(source, "emptyDir", "medium") == "Memory":
            shm = _bytes(nested_value(source, "emptyDir", "sizeLimit")) or memory
        elif is_available and path.startswith("/") and path != "/":
            sub_path = posixpath.normpath(nested_string(mount, "subPath") or ".")
            if sub_path.startswith(("/", "..")) or mount.get("subPathExpr"):
                continue
            is_read_only = mount.get("readOnly") is True
            volumes.append(PodVolume(path, name, claim or None, sub_path, is_read_only))
        else:
            continue

        provided.add(name)

    return PodSurroundings(
        grace=float(max(grace_seconds(spec), 1)),
        shm=shm,
        memory=memory,
        volumes=tuple(volumes),
        absent=tuple(name for name in sources if name not in provided),
    )


def _bytes(value: object) -> int | None:
    amount = quantity.parse(str(value)) if isinstance(value, (str, int)) else None
    if amount is not None and amount.value > 0:
        return amount.value
    return None


def claims_of(pod: Pod) -> list[str]:
    """Return the claims that a pod's main container mounts."""
    main = pod.main.spec if pod.main else {}
    names = {nested_string(mount, "name") for mount in nested_maps(main, "volumeMounts")}
    return [
        claim
        for volume in nested_maps(pod.view.spec, "volumes")
        if nested_string(volume, "name") in names
        and (claim := nested_string(volume, "persistentVolumeClaim", "claimName"))
    ]


def describe_surroundings(
    pod: Pod, surroundings: PodSurroundings, mounts: Mapping[str, str]
) -> Iterator[str]:
    """Yield one sentence for each difference of volumes and limits from the cluster. `mounts`
    are folders by claim.
    """
    claims = claims_of(pod)
    for claim, folder in mounts.items():
        if claim in claims:
            yield f"the folder {folder} replaces the claim {claim}, for all pods"
    if surroundings.absent:
        missing = next((name for name in claims if name not in mounts), None)
        hint = f" (--mount {missing}=DIR gives a claim a folder)" if missing else ""
        yield f"volumes are absent: {', '.join(surroundings.absent)}{hint}"
    if empty := [volume.name for volume in surroundings.volumes if volume.claim is None]:
        yield (
            f"empty folders without a size limit replace volumes: {', '.join(dict.fromkeys(empty))}"
        )
    if pod.main and nested_map(pod.main.spec, "lifecycle"):
        yield "lifecycle hooks do not run"
