"""Containers of a step: pyxis, apptainer, shifter, enroot, podman-hpc.

Source: NVIDIA/pyxis 1075199, README.md; apptainer 1.4, `apptainer exec --help`;
docs/facts/slurm.md#idioms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.importer.slurm.directives import Options, rows_of
from ptcompile.kubernetes.commands import basename
from ptcompile.simulator.launchers.arguments import OptionTable, read_arguments

_scheme = re.compile(r"(?:docker|oras|docker-daemon|docker-archive|id):/{0,2}")


class Mount(NamedTuple):
    """A folder of the cluster, and where a container has it."""

    source: str
    target: str
    is_read_only: bool


class StepContainer(NamedTuple):
    """What a step asks of its container."""

    image: str
    """The image as Kubernetes names it, or empty if it is a file of the cluster, or none."""
    file: str
    """The file of the cluster that is used instead of an image."""
    mounts: tuple[Mount, ...]
    folder: str
    env: Mapping[str, str]


def image_of(text: str) -> str:
    """Return the image that pyxis or apptainer pulls, or nothing for a file:
    `nvcr.io#nvidia/nemo:25.04`.
    """
    reference = _scheme.sub("", text, count=1)
    is_file = reference.startswith(("/", ".", "$", "~")) or reference.endswith(
        (".sqsh", ".sif", ".squashfs")
    )
    if is_file or "://" in reference:
        return ""
    if "#" not in reference:
        return reference
    return reference.rpartition("@")[2].replace("#", "/")


def mounts_of(text: str) -> list[Mount]:
    """Return the mounts of `SRC:DST:ro,SRC`; pyxis joins flags by `+`, shifter mounts by `;`."""
    mounts: list[Mount] = []
    for source, *rest in [item.split(":", 2) for item in re.split("[,;]", text) if item]:
        target, flags = [*rest, "", ""][:2]
        mounts.append(Mount(source, target or source, "ro" in re.split("[+,:]", flags)))
    return mounts


def enter_container(argv: Sequence[str], options: Options) -> tuple[StepContainer, list[str]]:
    """Return the container in which a command line runs, and the command in it.

    Options of pyxis or shifter ask for it, or a program that runs a command in one.
    """
    named = options.value("container-image", "image")
    words = [*argv]
    given: list[tuple[str, str]] = []
    program = basename(words[0]) if words else ""
    valued = rows_of("containers").get(program)
    if valued is not None:
        # shifter alone has no verb, such as exec or run, and names its image in an option
        has_verb = program != "shifter"
        words = words[1 + has_verb :]
        flags = frozenset([word.lstrip("-") for word in words]) - {*valued}
        read, rest = read_arguments(OptionTable(frozenset(), flags), words)
        given = [(option.name, option.value or "") for option in read]
        named = next(
            (value for name, value in given if name == "image"),
            rest[0] if has_verb and rest else named,
        )
        words = [*rest[has_verb:]]

    # enroot starts what was imported under a name
    image = "" if program == "enroot" else image_of(named)
    names = rows_of("containerOptions")
    mounts = [
        mount for name, value in given if name in names["mount"] for mount in mounts_of(value)
    ]
    env = [value.partition("=") for name, value in given if name in names["env"] and "=" in value]
    container = StepContainer(
        image=image,
        file="" if image else named,
        mounts=(*mounts_of(options.value("container-mounts", "volume")), *mounts),
        folder=next(
            (value for name, value in given if name in names["workdir"]),
            options.value("container-workdir"),
        ),
        env={name: value for name, _, value in env},
    )

    return container, words
