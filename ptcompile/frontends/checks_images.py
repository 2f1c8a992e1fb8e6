"""The images of a spec: each has a name that the kubelet can read. A spec is no template: placeholders are refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.frontends.errors import problem
from ptcompile.kubernetes.images import is_placeholder, why_not_image

if TYPE_CHECKING:
    from ptcompile.vocabulary.spec import PodFields


def images_of(parts: Sequence[tuple[Path, PodFields]]) -> Iterator[Problem]:
    """What is wrong with the images of a spec's blocks and of the containers in their patches."""
    for path, fields in parts:
        if fields.image:
            yield from _image((*path, "image"), fields.image)
        pod = fields.pod_template.get("spec")
        for key in ("initContainers", "containers"):
            containers = pod.get(key) if isinstance(pod, dict) else None
            for at, one in enumerate(containers if isinstance(containers, list) else ()):
                image = one.get("image") if isinstance(one, dict) else None
                if isinstance(image, str) and image:
                    yield from _image((*path, "podTemplate", "spec", key, at, "image"), image)


def _image(path: Path, image: str) -> Iterator[Problem]:
    why = why_not_image(image)
    if why is None:
        return
    if is_placeholder(image):
        why, help = "a placeholder, and a spec is no template", "write the image, or give it with --set"
    else:
        why, help = f"not the name of an image: {why}", "write REGISTRY/REPOSITORY:TAG"
    yield problem("invalid-image", path, why, help, stage="pod", authority="kubelet")
