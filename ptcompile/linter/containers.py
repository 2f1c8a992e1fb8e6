"""A container's image, command line, shell script and launcher.

Scripts with control structures are not analyzed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.commands import SHELLS, basename
from ptcompile.kubernetes.images import is_placeholder, why_not_image
from ptcompile.kubernetes.unstructured import as_string, nested_map
from ptcompile.linter.devices import accelerators
from ptcompile.linter.rule import Subject
from ptcompile.world.templates import ManifestContainer, Token

LAUNCHERS = frozenset(
    {"torchrun", "accelerate", "deepspeed", "composer", "mpirun", "colossalai", "llamafactory-cli", "swift", "axolotl"}
)
"""Launchers of training processes, as named in `Launch`."""


class Script(NamedTuple):
    """A script passed to a shell: `bash -c SCRIPT`, with the arguments after it, which are its parameters."""

    word: Token
    flags: tuple[str, ...]
    rest: tuple[Token, ...]


def starts_shell(container: ManifestContainer) -> bool:
    """Return whether the command is a shell, ignoring wrappers such as tini."""
    return shell_index(container) is not None


def is_command_written(container: ManifestContainer) -> bool:
    """Return whether the manifest has the command. Without one, the image's entry point gets the arguments."""
    return bool(container.spec.get("command")) and bool(container.tokens)


def shell_script(container: ManifestContainer) -> Script | None:
    """Return the script of `sh -c SCRIPT` in any spelling (`-ec`, `-l -c`), or None if no shell gets a script."""
    start = shell_index(container)
    if start is None:
        return None
    argv, index, has_script = container.argv, start + 1, False
    while index < len(argv) and argv[index].text[:1] in ("-", "+"):
        letters = "" if argv[index].text.startswith("--") else argv[index].text[1:]
        has_script = has_script or "c" in letters
        index += 2 if "o" in letters.lower() else 1  # -o takes a name: -euo pipefail
    if not has_script or index >= len(argv):
        return None
    return Script(argv[index], tuple(word.text for word in argv[start + 1 : index]), argv[index + 1 :])


def shell_index(container: ManifestContainer) -> int | None:
    """Return the index of the shell on the command line, after wrappers such as tini, or None if no shell is
    started.
    """
    start = container.start_index
    return start if start < len(container.tokens) and basename(container.tokens[start]) in SHELLS else None


def starts_training(container: ManifestContainer) -> bool:
    """Return whether the main container's command line starts training processes with a known launcher."""
    return container.is_main and is_command_written(container) and container.launch.launcher in LAUNCHERS


_IDLE_COMMANDS = frozenset(
    {("sleep", "infinity"), ("sleep", "inf"), ("tail", "-f", "/dev/null"), ("tail", "-F", "/dev/null")}
)


def idle_command(container: ManifestContainer) -> str | None:
    """Return the container's command if it does nothing forever, such as `sleep infinity`, or None."""
    script = shell_script(container)
    words = script.word.text.strip().rstrip(";").split() if script else [*container.tokens[:4]]
    words = words[1:] if words[:1] == ["exec"] else words
    command = (basename(words[0]), *words[1:]) if words else ()
    return " ".join(command) if command in _IDLE_COMMANDS else None


def split_image(image: str) -> tuple[str, str]:
    """Return the repository and the version: the digest, else the tag, else ""."""
    name, separator, digest = image.partition("@")
    slash = name.rfind("/")
    colon = name.find(":", slash + 1)
    repository = name[:colon] if colon >= 0 else name
    return repository, digest if separator else name[colon + 1 :] if colon >= 0 else ""


def is_mutable(image: str) -> bool:
    """Return whether the image changes with the next push: it has no tag, or the tag latest."""
    return split_image(image)[1] in ("", "latest") and not is_placeholder(image) and why_not_image(image) is None


def image_references(subject: Subject) -> Iterator[tuple[Path, str]]:
    """Yield the images that an object names, with their paths: of its containers and of a TrainJob's trainer."""
    specs = [(container.path, container.spec) for container in subject.containers]
    if trainer := subject.record.launch_fields.container:
        specs.append((trainer, nested_map(subject.manifest, *trainer)))
    for path, spec in specs:
        image = spec.get("image")
        if isinstance(image, str) and image:
            yield (*path, "image"), image


def mutable_rank_images(subject: Subject) -> Iterator[tuple[ManifestContainer, str]]:
    """Yield the training containers with a mutable image, and the image, of an object with several pods.

    Such pods must all run the same program.
    """
    if sum(template.replicas for template in subject.templates) < 2:
        return
    for container in (container for template in subject.templates for container in template.main_containers):
        image = as_string(container.spec.get("image"))
        if is_mutable(image) and (
            subject.record.rendezvous.all_pods or accelerators(container) or starts_training(container)
        ):
            yield container, image


Statement = tuple[list[str], str]
"""The tokens of a command and the sign that ends it: `;`, a newline, `&&`, `||`, `|`, `&`, or nothing."""

_REDIRECTION = Pattern(r"[0-9]?>&[0-9-]|&>>?|\|&")
_CONTROL = Pattern(
    r"(?:^|[\s;&|])(?:if|for|while|until|case|function|trap|wait|fg)(?:[\s;]|$)|<<|\$\?|PIPESTATUS|\(\)|\$\(\(|[({]\s"
)
_PYTHON = Pattern(r"python[0-9.]*")


class TrainingStep(NamedTuple):
    """The last training command of a script, with what follows it."""

    separator: str
    """The sign after the command."""
    after: list[Statement]
    errexit: bool
    pipefail: bool


def training_step(script: Script) -> TrainingStep | None:
    """Return the last training command of a script, or None if the script has none or cannot be analyzed."""
    text = script.word.text
    if len(text) > 1 << 14 or _CONTROL.search(text):
        return None
    from ptcompile.simulator.launchers.shell import split_statements

    statements = [statement for statement in split_statements(_REDIRECTION.sub(" ", text)) if statement[0]]
    training = [i for i, (words, _) in enumerate(statements) if _starts_training(words)]
    if not training:
        return None
    letters = "".join(flag[1:] for flag in script.flags if flag.startswith("-") and not flag.startswith("--"))
    options = " ".join(" ".join(words) for words, _ in statements if words[0] == "set")
    last = training[-1]
    return TrainingStep(
        separator=statements[last][1],
        after=statements[last + 1 :],
        errexit="e" in letters or "errexit" in options or bool(re.search(r"-[a-z]*e", options)),
        pipefail="pipefail" in options or "pipefail" in script.flags,
    )


def mentions_training(text: str) -> bool:
    """Return whether a command in a shell's text starts a launcher or a Python program."""
    from ptcompile.simulator.launchers.shell import split_statements

    return any(words and _starts_training(words) for words, _ in split_statements(text))


def _starts_training(words: list[str]) -> bool:
    rest = [word for word in words if "=" not in word.partition("/")[0]]
    while rest and rest[0] in ("exec", "env", "time", "nohup", "export"):
        rest = rest[1:]
    head = basename(rest[0]) if rest else ""
    if head in LAUNCHERS:
        return True
    return bool(_PYTHON.fullmatch(head)) and any(word.endswith(".py") or word == "-m" for word in rest[1:])
