"""Command lines that rules read: the words, the shell script among them, and what starts the processes."""

from __future__ import annotations

from ptcompile.kubernetes.wrappers import SHELLS, base
from ptcompile.linting.subject import Container, Word
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.simulation.launch import Launch

LAUNCHERS = frozenset({"torchrun", "accelerate", "deepspeed", "composer", "mpirun"})
"""Launchers of training processes, by their names in `Launch`."""


class Script(NamedTuple):
    """A script given to a shell: `bash -c SCRIPT`, and the words behind it, which are its parameters."""

    word: Word
    flags: tuple[str, ...]
    rest: tuple[Word, ...]


def starts_shell(container: Container) -> bool:
    """Whether the first word, behind wrappers such as tini, is a shell."""
    return shell_at(container) is not None


def known(container: Container) -> bool:
    """Whether the manifest says what is started: without a command, the image's entry point gets the arguments."""
    return bool(container.spec.get("command")) and bool(container.words)


def script(container: Container) -> Script | None:
    """The script of `sh -c SCRIPT`, in all its spellings (`-ec`, `-l -c`); None where no shell is given one."""
    start = shell_at(container)
    if start is None:
        return None
    argv, at, given = container.argv, start + 1, False
    while at < len(argv) and argv[at].text[:1] in ("-", "+"):
        letters = "" if argv[at].text.startswith("--") else argv[at].text[1:]
        given = given or "c" in letters
        at += 2 if "o" in letters.lower() else 1  # -o takes a name: -euo pipefail
    if not given or at >= len(argv):
        return None
    return Script(argv[at], tuple(word.text for word in argv[start + 1 : at]), argv[at + 1 :])


def shell_at(container: Container) -> int | None:
    """The index of the word that starts a shell, behind wrappers such as tini; None where none is started."""
    start = container.start
    return start if start < len(container.words) and base(container.words[start]) in SHELLS else None


def launch(container: Container) -> Launch:
    """What the command line starts, read as it is written: no variable of an operator is known here."""
    from ptcompile.simulation.launch import read

    return read(container.words, {})


def trains(container: Container) -> bool:
    """Whether the command line starts training processes by one of the known launchers."""
    return container.main and known(container) and launch(container).launcher in LAUNCHERS


_ENDLESS = frozenset(
    {("sleep", "infinity"), ("sleep", "inf"), ("tail", "-f", "/dev/null"), ("tail", "-F", "/dev/null")}
)


def endless(container: Container) -> str | None:
    """The command that does nothing forever, such as `sleep infinity`, where the container's is one."""
    one = script(container)
    words = one.word.text.strip().rstrip(";").split() if one else [*container.words[:4]]
    words = words[1:] if words[:1] == ["exec"] else words
    plain = (base(words[0]), *words[1:]) if words else ()
    return " ".join(plain) if plain in _ENDLESS else None
