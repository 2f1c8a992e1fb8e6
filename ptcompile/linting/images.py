"""Image names that rules read."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.patterns import Pattern
from ptcompile.linting.amounts import accelerators
from ptcompile.linting.commands import trains
from ptcompile.linting.subject import Container, Subject

_PLACEHOLDER = Pattern(r"[$<>{}]|__\w+__")
"""What something else fills in."""


def split(image: str) -> tuple[str, str]:
    """Repository and version: the digest, else the tag, else an empty string."""
    name, at, digest = image.partition("@")
    slash = name.rfind("/")
    colon = name.find(":", slash + 1)
    repository = name[:colon] if colon >= 0 else name
    return repository, digest if at else name[colon + 1 :] if colon >= 0 else ""


def moves(image: str) -> bool:
    """Whether an image is another one after the next push: it has no tag, or the tag latest."""
    return bool(image) and not _PLACEHOLDER.search(image) and split(image)[1] in ("", "latest")


def ranks(subject: Subject) -> Iterator[Container]:
    """The containers that train in an object of several pods: all of them have to run the same program."""
    if sum(template.replicas for template in subject.templates) < 2:
        return
    for template in subject.templates:
        for container in template.mains:
            if subject.kind[1] == "PyTorchJob" or accelerators(container) or trains(container):
                yield container
