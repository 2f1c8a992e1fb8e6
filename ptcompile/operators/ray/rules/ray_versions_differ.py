"""Pods of one Ray cluster run different releases of Ray.

PTC248 ray-versions-differ: error at run (fails), by kuberay.
Needs: image

What: the tags of Ray images name different releases, in the head and the workers or in rayVersion.

Why: a node of another release cannot join: ray start stops with "Version mismatch". The operator
derives options and the autoscaler from rayVersion.

Example:

      apiVersion: ray.io/v1
      kind: RayCluster
      metadata: {name: tune}
      spec:
        rayVersion: "2.46.0"
        headGroupSpec:
          rayStartParams: {}
          template:
            spec:
              containers: [{name: head, image: "rayproject/ray:2.46.0", resources: {limits: {cpu: 4, memory: 16Gi}}}]
        workerGroupSpecs:
          - groupName: cpu
            replicas: 2
            minReplicas: 2
            maxReplicas: 2
            rayStartParams: {}
            template:
              spec:
                containers:
                  - name: worker
    -               image: rayproject/ray:2.44.1  # <--
    +               image: rayproject/ray:2.46.0
                    resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: use one release in all images and in rayVersion.

Source: Ray 2.46, python/ray/_private/utils.py, check_version_info; KubeRay 1.7, RayCluster
rayVersion.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.ray.pods import RayGroup, cluster_of, cluster_path
from ptcompile.operators.ray.rules.reading import ray_groups

_match_release = Pattern(r"v?(?P<release>[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4})(?![0-9])").match
_HELP = "use one release of Ray in all images and in rayVersion"


def check(subject: Subject) -> Findings:
    releases = [(group, release) for group in ray_groups(subject) if (release := _release(group))]
    if not releases:
        return

    first, first_release = releases[0]
    for group, release in releases:
        if release != first_release:
            path = (*group.path, "template", "spec", "containers", 0, "image")
            text = f"Ray {release} cannot join {first.name}, which runs Ray {first_release}"
            is_certain = _is_official(first) and _is_official(group)
            yield found_at(path, text, _HELP, severity=None if is_certain else "warning")
            return

    match = _match_release(nested_string(cluster_of(subject.manifest), "rayVersion"))
    if match is not None and match["release"] != first_release:
        path = (*cluster_path(subject.manifest), "rayVersion")
        text = f"{match['release']}, but the image runs Ray {first_release}"
        yield found_at(path, text, _HELP, severity="warning")


def _image(group: RayGroup) -> str:
    return nested_string(group.container, "image")


def _is_official(group: RayGroup) -> bool:
    return (
        _image(group)
        .removeprefix("docker.io/")
        .startswith(("rayproject/ray:", "rayproject/ray-ml:"))
    )


def _release(group: RayGroup) -> str | None:
    """Return the release of Ray in the tag of an image, or None.

    The tag of ray or ray-ml is Ray's. In a folder called ray an image may have its own releases,
    which rarely look like Ray's: 2.10.0 and newer.
    """
    image, _, _ = _image(group).partition("@")
    name, _, tag = image.rpartition(":")
    match = _match_release(tag)
    if match is None:
        return None

    release = match["release"]
    major, minor, _ = release.split(".")
    is_recent = major == "2" and len(minor) == 2
    *folders, last = name.split("/")
    is_ray = last.startswith("ray-") or last == "ray" or ("ray" in folders and is_recent)
    return release if is_ray else None
