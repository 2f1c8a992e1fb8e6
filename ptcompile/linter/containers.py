"""A container's image, command line, shell script and launcher."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import Any
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.commands import SHELLS, basename, unwrap
from ptcompile.kubernetes.images import is_placeholder, why_not_image
from ptcompile.kubernetes.unstructured import nested_value
from ptcompile.linter.rule import Subject
from ptcompile.shell.endless import SERVERS, endless_program
from ptcompile.world.templates import ManifestContainer, ManifestTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.shell.script import Script, ShellCommand

LAUNCHERS = frozenset(
    {
        "torchrun",
        "accelerate",
        "deepspeed",
        "composer",
        "mpirun",
        "colossalai",
        "llamafactory-cli",
        "swift",
        "axolotl",
    }
)
"""Launchers of training processes, as named in `Launch`."""


def starts_program(container: ManifestContainer) -> bool:
    """Return whether the manifest has the command, and it is no shell, ignoring wrappers such as
    tini; the entry point of an image may be a shell.
    """
    return is_command_written(container) and shell_index(container) is None


def is_command_written(container: ManifestContainer) -> bool:
    """Return whether the manifest has the command. Without one, the image's entry point gets the
    arguments.
    """
    return bool(container.spec.get("command")) and bool(container.tokens)


def shell_index(container: ManifestContainer) -> int | None:
    """Return the index of the shell on the command line, after wrappers such as tini, or None if no
    shell is started.
    """
    start = container.start_index
    if start < len(container.tokens) and basename(container.tokens[start]) in SHELLS:
        return start
    return None


def starts_training(container: ManifestContainer) -> bool:
    """Return whether the main container's command line starts training processes with a known
    launcher.
    """
    return (
        container.is_main
        and is_command_written(container)
        and container.launch.launcher in LAUNCHERS
    )


_IDLE_COMMANDS = frozenset(
    {
        ("sleep", "infinity"),
        ("sleep", "inf"),
        ("tail", "-f", "/dev/null"),
        ("tail", "-F", "/dev/null"),
    }
)


def idle_command(container: ManifestContainer) -> str | None:
    """Return the container's command if it does nothing forever, such as `sleep infinity`, or
    None.
    """
    call = container.call
    words = call.text.strip().rstrip(";").split() if call is not None else [*container.tokens[:4]]
    if words[:1] == ["exec"]:
        words = words[1:]
    command = (basename(words[0]), *words[1:]) if words else ()
    return " ".join(command) if command in _IDLE_COMMANDS else None


def endless_command(container: ManifestContainer) -> str | None:
    """Return the part of the container's command that never ends, or None if it ends or that is
    unknown.
    """
    if not is_command_written(container):
        return None
    if container.script is not None:
        return container.script.endless or None
    start = container.start_index
    wrappers = [basename(word) for word in container.tokens[:start]]
    if "timeout" in wrappers:
        return None
    return endless_program(container.tokens[start:])


def server_image(container: ManifestContainer) -> str | None:
    """Return the name of the container's image if that is a server and the manifest does not say
    what it runs.
    """
    repository, _ = split_image(container.image)
    image = basename(repository)
    return image if not container.tokens and image in SERVERS else None


def security_setting(
    template: ManifestTemplate, container: ManifestContainer, field: str
) -> tuple[Path, Any]:
    """Return the path and the value of a security setting: the container's, else the pod's."""
    of_container = nested_value(container.spec, "securityContext", field)
    if of_container is not None:
        return (*container.path, "securityContext", field), of_container
    of_pod = nested_value(template.spec, "securityContext", field)
    return (*template.spec_path, "securityContext", field), of_pod


def split_image(image: str) -> tuple[str, str]:
    """Return the repository and the version: the digest, else the tag, else ""."""
    name, separator, digest = image.partition("@")
    slash = name.rfind("/")
    colon = name.find(":", slash + 1)
    repository = name[:colon] if colon >= 0 else name
    tag = name[colon + 1 :] if colon >= 0 else ""
    return repository, digest if separator else tag


def is_mutable(image: str) -> bool:
    """Return whether the image changes with the next push: it has no tag, or the tag latest."""
    _, version = split_image(image)
    return version in ("", "latest") and not is_placeholder(image) and why_not_image(image) is None


def image_references(subject: Subject) -> Iterator[tuple[Path, str]]:
    """Yield the images that the containers of an object name, with their paths."""
    for container in subject.containers:
        image = container.spec.get("image")
        if isinstance(image, str) and image:
            yield (*container.path, "image"), image


def mutable_rank_images(subject: Subject) -> Iterator[tuple[ManifestContainer, str]]:
    """Yield the training containers with a mutable image, and the image, of an object with several
    pods.

    Such pods must all run the same program.
    """
    if subject.replicas < 2:
        return
    for container in (item for item in subject.containers if item.is_main):
        image = container.image
        if is_mutable(image) and (
            subject.record.rendezvous.all_pods
            or container.accelerators
            or starts_training(container)
        ):
            yield container, image


_PYTHON = Pattern(r"python[0-9.]*")


def training_command(script: Script | None) -> ShellCommand | None:
    """Return the last command of a script that starts a launcher or a Python program, or None."""
    commands = script.commands if script is not None else ()
    return next(
        (command for command in reversed(commands) if _starts_training(command.words)), None
    )


def starts_training_in_text(text: str) -> bool:
    """Return whether a command of a script, outside of branches, loops and functions, starts the
    training.
    """
    from ptcompile.shell import nodes
    from ptcompile.shell.parser import parse

    plain = nodes.Simple | nodes.AndOr | nodes.Pipeline
    roots = [item.node for item in parse(text).body if isinstance(item.node, plain)]
    commands = [
        command
        for root in roots
        for command in nodes.walk(root)
        if isinstance(command, nodes.Simple)
    ]

    return any(_starts_training([word.source for word in command.words]) for command in commands)


def mentions_training(text: str) -> bool:
    """Return whether a command in a shell's text starts a launcher or a Python program."""
    from ptcompile.shell.script import read_script

    return training_command(read_script(["sh", "-c", text], {})) is not None


def _starts_training(words: Sequence[str]) -> bool:
    head, *rest = [*words[unwrap(words).start :], ""]
    name = basename(head)
    if name in LAUNCHERS:
        return True
    return bool(_PYTHON.fullmatch(name)) and any(
        word.endswith(".py") or word == "-m" for word in rest
    )
