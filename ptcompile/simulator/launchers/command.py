"""Finding the launcher in a container's command line, and its options.

torchrun's options and their spellings are those of PyTorch 2.13 (torch/distributed/run.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ptcompile._internal.limits import Budget
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.commands import SHELLS, basename, is_program, unwrap
from ptcompile.simulator import launchers
from ptcompile.simulator.launchers import shell
from ptcompile.simulator.launchers.torchrun import option_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, Literal

    Launcher = Literal["torchrun", "accelerate", "deepspeed", "composer", "mpirun", "tune", "command", "image"]
    """Who starts the processes: `command` is the command itself, `image` what only the image knows."""

_MODULES = frozenset({"torch.distributed.run", "torch.distributed.launch"})
_OTHERS: dict[str, Launcher] = {"accelerate": "accelerate", "mpirun": "mpirun", "mpiexec": "mpirun"}
_FLAGS = frozenset({"standalone", "module", "no-python", "run-path", "use-env", "virtual-local-rank", "help"})
_PYTHON_WITH_VALUE = frozenset({"-X", "-W", "-Q", "--check-hash-based-pycs"})
_EMPTY: Final[Mapping[str, str]] = MappingProxyType({})


class Invocation(NamedTuple):
    """What a command line starts: the launcher, its options by their dashed names, and what it runs."""

    launcher: Launcher
    options: Mapping[str, str] = _EMPTY
    entry: tuple[str, ...] = ()
    env: Mapping[str, str] = _EMPTY
    """The environment that the launcher finds: the container's, with what a shell script sets before."""
    in_shell: bool = False
    words: tuple[str, ...] = ()
    """What stands behind `torchrun`, word by word: options as they are given, the script and its arguments."""


def of_container(
    command: Sequence[str], args: Sequence[str], env: Mapping[str, str], budget: Budget | None = None
) -> Invocation:
    """The launch of a container. Without a command the image's own gets the arguments (Kubernetes 1.36), and
    what that is only the image knows; but an image may have none: what begins with a program is the command line."""
    found = read([*command, *args], env, budget)
    if command or found.launcher != "command" or found.in_shell or _is_program(args[0]):
        return found
    return Invocation("image", entry=tuple(args), env=env)


def _is_program(word: str) -> bool:
    """Whether a word is more likely a program than an argument of one."""
    return word.startswith("/") or is_program(word)


def read(argv: Sequence[str], env: Mapping[str, str], budget: Budget | None = None, *, depth: int = 0) -> Invocation:
    """The launch of a command line. The last launcher of a shell script counts: what stands before prepares."""
    if not argv:
        return Invocation("image", env=env)
    inner = unwrap(argv)
    argv, env = argv[inner.start :], {**env, **inner.env} if inner.env else env
    script = _script(argv)
    if script is None or depth > 3:
        return _plain(argv, env)
    budget = budget or Budget()
    last: Invocation | None = None
    for words, own in shell.commands(script, env, budget):
        one = read(words, own, budget, depth=depth + 1)
        if last is None or one.launcher != "command" or last.launcher == "command":
            last = one
    if last is None:
        return Invocation("command", entry=tuple(argv), env=env, in_shell=True)
    return Invocation(last.launcher, last.options, last.entry, last.env, in_shell=True, words=last.words)


def _script(argv: Sequence[str]) -> str | None:
    """The script of `sh -c SCRIPT`, in all its spellings (`-ec`, `-l -c`, `-euo pipefail -c`, `-c --`)."""
    if basename(argv[0]) not in SHELLS:
        return None
    at, given = 1, False
    while at < len(argv) and argv[at][:1] in ("-", "+"):
        letters = "" if argv[at].startswith("--") else argv[at][1:]
        given = given or "c" in letters
        at += 2 if "o" in letters.lower() else 1  # -o takes a name: -euo pipefail
    return argv[at] if given and at < len(argv) else None


def _plain(argv: Sequence[str], env: Mapping[str, str]) -> Invocation:
    start = _torchrun(argv)
    if start is not None:
        options, entry = _options(argv[start:])
        return Invocation("torchrun", options, entry, env, words=tuple(argv[start:]))
    other = launchers.launcher_of(argv)
    if other is not None:
        options, _ = launchers.options(other[0], argv[other[1] :])
        return Invocation(other[0], options, tuple(argv), env)
    name = basename(argv[0])
    if name == "tune" and argv[1:2] == ["run"]:
        options, entry = _options(argv[2:])
        return Invocation("tune", options, entry, env)
    if name in _OTHERS:
        return Invocation(_OTHERS[name], entry=tuple(argv), env=env)
    return Invocation("command", entry=tuple(argv), env=env)


def _torchrun(argv: Sequence[str]) -> int | None:
    """Where torchrun's own options begin, behind wrappers such as `numactl` and Python's options; None without it."""
    for i, word in enumerate(argv):
        if word.endswith(".py") and i:
            return None
        if basename(word) == "torchrun" and (i == 0 or not _takes_value(argv[i - 1])):
            return i + 1
        if word == "-m" and argv[i + 1 : i + 2] and argv[i + 1] in _MODULES:
            return i + 2
    return None


def _takes_value(word: str) -> bool:
    """Whether the word behind this one is its value: `--launcher torchrun` starts nothing."""
    return word.startswith("--") and "=" not in word


def _options(words: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """torchrun's options, dashes and underscores alike, and all from the script on."""
    out: dict[str, str] = {}
    i = 0
    while i < len(words):
        word = words[i]
        if word == "--":
            return out, tuple(words[i + 1 :])
        if not word.startswith("-") or word == "-":
            break
        name, equals, value = word.partition("=")
        name = option_name(name)
        i += 1
        if name in _FLAGS:
            out[name] = "1"
        elif equals:
            out[name] = value
        elif i < len(words):
            out[name] = words[i]
            i += 1
    return out, tuple(words[i:])


def entry_words(launch: Invocation) -> tuple[str, ...]:
    """What the processes run, however it was started: script and arguments without interpreter and its options."""
    words = launch.entry
    if launch.launcher == "torchrun" and launch.options.get("module"):
        return ("-m", *words)
    if launch.launcher != "command" or not words or not basename(words[0]).startswith("python"):
        return words
    i = 1
    while i < len(words) and words[i].startswith("-") and words[i] not in ("-m", "-c"):
        i += 2 if words[i] in _PYTHON_WITH_VALUE else 1
    return words[i:]
