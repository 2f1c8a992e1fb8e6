"""Containers of a step: pyxis, apptainer, shifter, enroot, podman-hpc.

Source: NVIDIA/pyxis 1075199, README.md; apptainer 1.4, `apptainer exec --help`; docs/facts/slurm.md#idioms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.commands import basename

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.importer.slurm.directives import SlurmOption

_PROGRAMS: dict[str, str] = {
    "apptainer": "B bind env env-file pwd cwd W workdir H home o overlay S scratch mount app fakeroot-path network",
    "singularity": "B bind env env-file pwd cwd W workdir H home o overlay S scratch mount app",
    "shifter": "image volume V env e workdir w module m entrypoint-path",
    "podman-hpc": "v volume mount e env w workdir name network ipc shm-size device group-add entrypoint u user",
    "podman": "v volume mount e env w workdir name network ipc shm-size device group-add entrypoint u user",
    "docker": "v volume mount e env w workdir name network ipc shm-size device gpus ulimit entrypoint u user runtime",
    "enroot": "m mount e env c conf rc",
}
"""Programs that run a command in a container, each with its options that take the next argument as a value."""
_WITHOUT_VERB = frozenset({"shifter"})
_MOUNTS = frozenset({"B", "bind", "v", "volume", "V", "m", "mount"})
_FOLDERS = frozenset({"pwd", "cwd", "w", "workdir"})
_SCHEMES = re.compile(r"(?:docker|oras|docker-daemon|docker-archive|id):/{0,2}")


class Mount(NamedTuple):
    """A folder of the cluster, and where a container has it."""

    source: str
    target: str
    is_read_only: bool


class StepContainer(NamedTuple):
    """What a step asks of its container."""

    image: str = ""
    """The image as Kubernetes names it, or empty if it is a file of the cluster, or none."""
    file: str = ""
    """The file of the cluster that is used instead of an image."""
    mounts: tuple[Mount, ...] = ()
    folder: str = ""
    env: Mapping[str, str] = {}


def image_of(text: str) -> str:
    """Return the image that pyxis or apptainer pulls, or nothing for a file: `nvcr.io#nvidia/nemo:25.04`."""
    reference = _SCHEMES.sub("", text, count=1)
    if reference.startswith(("/", ".", "$", "~")) or reference.endswith((".sqsh", ".sif", ".squashfs")):
        return ""
    if "://" in reference or not reference:
        return ""
    return reference.rpartition("@")[2].replace("#", "/") if "#" in reference else reference


def mounts_of(text: str) -> tuple[Mount, ...]:
    """Return the mounts of `SRC:DST:ro,SRC`; pyxis joins flags by `+`, shifter mounts by `;`."""
    mounts: list[Mount] = []
    for item in re.split("[,;]", text):
        source, _, rest = item.partition(":")
        target, _, flags = rest.partition(":")
        if source:
            mounts.append(Mount(source, target or source, "ro" in re.split(r"[+,:]", flags)))
    return tuple(mounts)


def container_of_options(options: Mapping[str, SlurmOption]) -> StepContainer:
    """Return the container that options of pyxis or shifter ask for."""

    def value(*names: str) -> str:
        return next((options[name].value for name in names if name in options), "")

    named = value("container-image", "image")
    image = image_of(named)
    return StepContainer(
        image=image,
        file="" if image else named,
        mounts=mounts_of(value("container-mounts", "volume")),
        folder=value("container-workdir"),
    )


def enter_container(argv: Sequence[str], container: StepContainer) -> tuple[StepContainer, list[str]]:
    """Return the container that a command line starts, added to one that is known, and the command in it."""
    program = basename(argv[0]) if argv else ""
    if program not in _PROGRAMS:
        return container, [*argv]

    valued = _PROGRAMS[program].split()
    index = 1
    given: list[tuple[str, str]] = []
    while index < len(argv) and (argv[index].startswith("-") or (index == 1 and program not in _WITHOUT_VERB)):
        word = argv[index]
        index += 1
        if word == "--":
            break
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("-"):
            continue  # exec, run
        if name in valued and not equals and index < len(argv):
            value = argv[index]
            index += 1
        given.append((name, value))

    named = next((value for name, value in given if name == "image"), "")
    if not named and program not in _WITHOUT_VERB and index < len(argv):
        named = argv[index]
        index += 1
    mounts = [mount for name, value in given if name in _MOUNTS for mount in mounts_of(value)]
    pairs = [value.partition("=") for name, value in given if name in ("env", "e") and "=" in value]
    image = "" if program == "enroot" else image_of(named)
    entered = StepContainer(
        image=image or container.image,
        file=container.file if image or not named else named,
        mounts=(*container.mounts, *mounts),
        folder=next((value for name, value in given if name in _FOLDERS), container.folder),
        env={**container.env, **{name: value for name, _, value in pairs}},
    )
    return entered, [*argv[index:]]
