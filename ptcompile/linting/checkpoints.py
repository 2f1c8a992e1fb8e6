"""Where a training writes its checkpoints: the paths that its options and variables name."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.patterns import Pattern
from ptcompile.linting.subject import Container
from ptcompile.typed import NamedTuple

_OPTION = Pattern(
    r"(?i)(?:^|[\s.])-{0,2}(?:[\w.-]{0,64}[._-])?(?:checkpoints?|ckpts?|snapshots?|save)"
    r"(?:[_-]?(?:dir|path|folder|directory|root|to))?(?:=|\s+)[\"']?(/[\w./-]+)"
)
_NAME = Pattern(r"(?:\w+_)?(?:CHECKPOINTS?|CKPTS?|SNAPSHOTS?|SAVE)(?:_(?:DIR|PATH|FOLDER))?").fullmatch


class Checkpoint(NamedTuple):
    """A folder for checkpoints, and where it is written."""

    folder: str
    path: Path


def checkpoints(container: Container) -> Iterator[Checkpoint]:
    """The absolute paths that the command line and the variables of a container name for checkpoints."""
    argv = container.argv
    for i, word in enumerate(argv):
        following = argv[i + 1] if i + 1 < len(argv) else None
        pair = following is not None and word.text.startswith("-") and following.text.startswith("/")
        match = _OPTION.search(f"{word.text} {following.text}" if pair and following is not None else word.text)
        if match is not None:
            yield Checkpoint(match[1], (following if pair and following is not None else word).path)
    for entry in container.env:
        if entry.value and entry.value.startswith("/") and _NAME(entry.name):
            yield Checkpoint(entry.value, (*entry.path, "value"))
