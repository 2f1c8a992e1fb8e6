"""Image names that rules read."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.images import is_placeholder, why_not_image
from ptcompile.kubernetes.untyped import at
from ptcompile.linting.amounts import accelerators
from ptcompile.linting.commands import trains
from ptcompile.linting.subject import Container, Subject


def split(image: str) -> tuple[str, str]:
    """Repository and version: the digest, else the tag, else an empty string."""
    name, separator, digest = image.partition("@")
    slash = name.rfind("/")
    colon = name.find(":", slash + 1)
    repository = name[:colon] if colon >= 0 else name
    return repository, digest if separator else name[colon + 1 :] if colon >= 0 else ""


def moves(image: str) -> bool:
    """Whether an image is another one after the next push: it has no tag, or the tag latest."""
    return split(image)[1] in ("", "latest") and not is_placeholder(image) and why_not_image(image) is None


def references(subject: Subject) -> Iterator[tuple[Path, str]]:
    """The images that an object names, each with its path: of its containers, and of a TrainJob's trainer."""
    places = [(one.path, one.spec) for one in subject.containers]
    if trainer := subject.record.launch_fields.container:
        places.append((trainer, at(subject.manifest, *trainer)))
    for path, container in places:
        image = container.get("image")
        if isinstance(image, str) and image:
            yield (*path, "image"), image


def ranks(subject: Subject) -> Iterator[Container]:
    """The containers that train in an object of several pods: all of them have to run the same program."""
    if sum(template.replicas for template in subject.templates) < 2:
        return
    for template in subject.templates:
        for container in template.mains:
            if subject.record.meeting.all_pods or accelerators(container) or trains(container):
                yield container
