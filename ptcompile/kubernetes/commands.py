"""Programs that start another program: where the command they run begins, and what they add to its
environment.

Options are those of coreutils 9, tini 0.19, numactl 2.0, Nsight Systems 2025, conda 25 and uv 0.8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table

SHELLS = frozenset({"bash", "sh", "dash", "zsh", "ash", "ksh"})
LAUNCHERS = frozenset(
    {
        "torchrun",
        "accelerate",
        "deepspeed",
        "mpirun",
        "mpiexec",
        "composer",
        "tune",
        "horovodrun",
        "colossalai",
        "ft_launcher",
        "hyperpodrun",
        "llamafactory-cli",
        "swift",
        "axolotl",
    }
)

PROCESS_WORDS = ("auto", "cpu", "gpu", "xpu")
"""What torchrun's --nproc-per-node takes besides a number and the type of a device that only the
image knows.
"""

_python = Pattern(r"(?:python|pypy)[0-9.]*").fullmatch

_VALUED: Mapping[str, str] = load_table("kubernetes/wrappers.json")["wrappers"]
"""Wrappers, each with its options that take the next argument as a value."""

_LEADING_ARGUMENTS: dict[str, int] = {
    "taskset": 1,
    "timeout": 1,
    "gosu": 1,
    "su-exec": 1,
    "chrt": 1,
}
"""Number of arguments before the command that are not options: a mask, a duration, a user."""
_VERBS = frozenset({"profile", "launch", "run", "record", "exec", "start", "--"})
_assignment = Pattern(r"[A-Za-z_]\w*=").match


class Unwrapped(NamedTuple):
    """The command that a wrapper runs: its index in the command line, and the variables that the
    wrapper sets.
    """

    start: int
    env: Mapping[str, str]


def basename(word: str) -> str:
    """Return the last part of a path: `bash` for `/bin/bash`."""
    return word.rpartition("/")[2]


def unwrap(argv: Sequence[str]) -> Unwrapped:
    """Return where the command begins after its wrappers. A wrapper that runs nothing is itself the
    command.

    An unknown program, such as an entrypoint script, counts as a wrapper if its first argument is a
    shell, Python or a launcher: such scripts prepare something and exec their arguments.
    """
    start = 0
    env = dict[str, str]()
    while start < len(argv):
        name = basename(argv[start])
        if name in _VALUED:
            command = _command_start(argv, start, name, env)
        elif _is_entrypoint(argv, start):
            command = start + (2 if argv[start + 1] == "--" else 1)
        else:
            return Unwrapped(start, env)
        if command >= len(argv):
            return Unwrapped(start, env)

        start = command

    return Unwrapped(start, env)


def _command_start(argv: Sequence[str], start: int, name: str, env: dict[str, str]) -> int:
    """Return the index after a wrapper's own arguments."""
    valued = _VALUED[name].split()
    leading = _LEADING_ARGUMENTS.get(name, 0)
    index = start + 1
    while index < len(argv):
        word = argv[index]
        if word == "--":
            return index + 1

        if word.startswith("-") and word != "-":
            index += 2 if word.lstrip("-") in valued else 1
        elif name in ("env", "exec", "sudo") and _assignment(word):
            key, _, env[key] = word.partition("=")
            index += 1
        elif word in _VERBS and index == start + 1:
            index += 1
        elif leading:
            leading -= 1
            index += 1
        else:
            return index

    return index


def _is_entrypoint(argv: Sequence[str], start: int) -> bool:
    """Return whether an unknown program gets another program as its first argument."""
    if is_program(argv[start]) or argv[start].endswith(".py"):
        return False
    following = argv[start + 1 : start + 3]
    if following[:1] == ["--"]:
        following = following[1:]
    return bool(following) and is_program(following[0])


def is_program(word: str) -> bool:
    """Return whether a token names a shell, Python or a launcher."""
    name = basename(word)
    return name in SHELLS or name in LAUNCHERS or is_python(name)


def is_python(name: str) -> bool:
    """Return whether this is the name of an interpreter of Python, such as `python3.11`."""
    return _python(name) is not None
