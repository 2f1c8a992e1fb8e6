"""Programs that start another program: where the command that they run begins, and what they add to its environment.

Options are those of coreutils 9, tini 0.19, numactl 2.0, Nsight Systems 2025, conda 25 and uv 0.8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

SHELLS: Final = frozenset({"bash", "sh", "dash", "zsh", "ash", "ksh"})
LAUNCHERS: Final = frozenset({"torchrun", "accelerate", "deepspeed", "mpirun", "mpiexec", "composer", "tune"})

_python = Pattern(r"(?:python|pypy)[0-9.]*").fullmatch

_VALUED: Final[dict[str, str]] = {
    "exec": "a",
    "env": "u C",
    "nohup": "",
    "command": "",
    "time": "f o",
    "tini": "p e",
    "tini-static": "p e",
    "dumb-init": "r rewrite",
    "catatonit": "",
    "catchsegv": "",
    "setsid": "",
    "numactl": "N m C i p P cpunodebind membind physcpubind interleave preferred localalloc",
    "taskset": "",
    "nice": "n adjustment",
    "ionice": "c n p",
    "chrt": "",
    "stdbuf": "i o e input output error",
    "timeout": "k s kill-after signal",
    "nsys": "o t w s y d c f e trace output sample duration delay capture-range capture-range-end stats export",
    "ncu": "o k c s f set section metrics launch-count launch-skip kernel-name target-processes export",
    "rocprof": "o i",
    "rocprofv3": "o d i",
    "py-spy": "o r d f F output rate duration format",
    "scalene": "",
    "strace": "o e p",
    "conda": "n p name prefix",
    "mamba": "n p name prefix",
    "micromamba": "n p name prefix",
    "uv": "p directory project python with extra group env-file",
    "poetry": "C P directory",
    "pixi": "e manifest-path environment",
    "pdm": "p project",
    "hatch": "e env",
    "pipenv": "",
    "rye": "",
    "sudo": "u g h p",
    "gosu": "",
    "su-exec": "",
    "setpriv": "reuid regid groups",
    "xvfb-run": "s n e server-args",
    "ddtrace-run": "",
    "opentelemetry-instrument": "",
    "wandb": "",
}
"""Wrappers with those of their options that take the next word as a value."""

_WORDS: Final[dict[str, int]] = {"taskset": 1, "timeout": 1, "gosu": 1, "su-exec": 1, "chrt": 1}
"""Words before the command that are no options: a mask, a duration, a user."""
_VERBS: Final = frozenset({"profile", "launch", "run", "record", "exec", "start", "--"})
_assignment = Pattern(r"[A-Za-z_]\w*=").match


class Unwrapped(NamedTuple):
    """What a wrapper runs: the index of its first word, and the variables that the wrapper sets."""

    start: int
    env: Mapping[str, str]


def basename(word: str) -> str:
    """The last part of a path: `bash` of `/bin/bash`."""
    return word.rpartition("/")[2]


def unwrap(argv: Sequence[str]) -> Unwrapped:
    """Where the command of a command line begins behind its wrappers; a wrapper that runs nothing is the command.

    A program that is not known, such as an entrypoint script, is a wrapper where its first argument is a shell, Python
    or a launcher: such scripts prepare something and exec their arguments.
    """
    start, env = 0, dict[str, str]()
    while start < len(argv):
        name = basename(argv[start])
        if name in _VALUED:
            following = _behind(argv, start, name, env)
        elif _entrypoint(argv, start):
            following = start + (2 if argv[start + 1] == "--" else 1)
        else:
            return Unwrapped(start, env)
        if following >= len(argv):
            return Unwrapped(start, env)
        start = following
    return Unwrapped(start, env)


def _behind(argv: Sequence[str], start: int, name: str, env: dict[str, str]) -> int:
    """The index behind a wrapper's own words."""
    valued, words, at = _VALUED[name].split(), _WORDS.get(name, 0), start + 1
    while at < len(argv):
        word = argv[at]
        if word == "--":
            return at + 1
        if word.startswith("-") and word != "-":
            at += 2 if word.lstrip("-") in valued else 1
        elif name in ("env", "exec", "sudo") and _assignment(word):
            key, _, env[key] = word.partition("=")
            at += 1
        elif word in _VERBS and at == start + 1:
            at += 1
        elif words:
            words, at = words - 1, at + 1
        else:
            return at
    return at


def _entrypoint(argv: Sequence[str], start: int) -> bool:
    """Whether an unknown program gets another program as its first argument."""
    name = basename(argv[start])
    if name in SHELLS or name in LAUNCHERS or _python(name) or name.endswith(".py"):
        return False
    following = argv[start + 1 : start + 3]
    if following[:1] == ["--"]:
        following = following[1:]
    return bool(following) and is_program(following[0])


def is_program(word: str) -> bool:
    """Whether a word names a shell, Python or a launcher."""
    name = basename(word)
    return name in SHELLS or name in LAUNCHERS or _python(name) is not None
