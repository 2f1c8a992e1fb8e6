"""The images of a spec: each has a name that the kubelet can read. Placeholders are rejected: a spec is not
a template."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.frontends.amounts import Parts
from ptcompile.frontends.errors import problem
from ptcompile.kubernetes.images import is_placeholder, why_not_image
from ptcompile.vocabulary.cluster.pod_base import MAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def images(parts: Parts) -> Iterator[Problem]:
    """Yield what is wrong with the images of a spec's parts and of the containers in their patches."""
    for path, fields, _, _ in parts.every:
        if fields.image:
            yield from _image((*path, "image"), fields.image)
        main = str(path[-1]) if path[1:2] == ("roles",) else MAIN
        image = fields.image or parts.every[0].fields.image
        for key in ("initContainers", "containers") if fields.pod_template else ():
            for at, one in _containers(fields.pod_template.get("spec"), key):
                here = (*path, "podTemplate", "spec", key, at)
                if isinstance(one.get("image"), str) and one["image"]:
                    yield from _image((*here, "image"), one["image"])
                if key == "containers":
                    yield from _beside(here, one, main, image)


def _containers(pod: Any, key: str) -> Iterator[tuple[int, dict[str, Any]]]:
    listed = pod.get(key) if isinstance(pod, dict) else None
    for at, one in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(one, dict):
            yield at, one


def _image(path: Path, image: str) -> Iterator[Problem]:
    why = why_not_image(image)
    if why is None:
        return
    if is_placeholder(image):
        why, help = "a placeholder, but a spec is not a template", "write the image, or set it with --set"
    else:
        why, help = f"not the name of an image: {why}", "write REGISTRY/REPOSITORY:TAG"
    yield problem("invalid-image", path, why, help, stage="pod", authority="kubelet")


def _beside(path: Path, container: dict[str, Any], main: str, image: str | None) -> Iterator[Problem]:
    """A container that is not named like the main one is a further one: a mistake if it has the same image."""
    name = container.get("name")
    if isinstance(name, str) and name != main and container.get("image") in (None, image):
        text = f"{field_path(path)}: {name} is a container beside {main} with the same image"
        help = f"to change the main container, name it {main}"
        yield problem("same-image-beside", path, text, help, severity="warning", stage="run", authority="ptcompile")
