"""torchrun: its options, its rendezvous configuration, and the behavior of its releases.

Source: PyTorch 2.15, torch/distributed/elastic/rendezvous. A backend ignores the rendezvous options
that it does not read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from ptcompile._internal.lazy import Pattern, bounded_cache
from ptcompile._internal.spelling import is_short_number
from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.versions import Version, Versions, parse_version
from ptcompile.simulator.launchers import TORCHRUN_TABLE
from ptcompile.simulator.launchers.arguments import GivenOption, OptionTable, read_arguments


def _check_integer(value: str) -> str | None:
    try:
        int(value)
    except ValueError:
        return "must be a whole number"
    return None


def _check_positive(value: str) -> str | None:
    return _check_integer(value) or (None if int(value) > 0 else "must be above 0")


def _check_delay(value: str) -> str | None:
    try:
        if 0 <= float(value) < float("inf"):
            return None
        return "must be finite and not negative"
    except ValueError:
        return "must be a number"


def _check_boolean(value: str) -> str | None:
    accepted = ("1", "true", "t", "yes", "y", "0", "false", "f", "no", "n")
    return None if value.lower() in accepted else "must be true or false"


_CHECKS = {
    "integer": _check_integer,
    "positive": _check_positive,
    "delay": _check_delay,
    "boolean": _check_boolean,
}
_BACKEND_OPTIONS: Mapping[str, Mapping[str, str | list[str]]] = TORCHRUN_TABLE["backends"]
"""The options of each backend, with what it accepts: a key of `_CHECKS`, one of some words, or
any text.
"""

CONF_OPTIONS = tuple(
    dict.fromkeys(name for options in _BACKEND_OPTIONS.values() for name in options)
)
"""Options that at least one backend reads."""


def why_not_option(name: str, value: str, backend: str | None) -> str | None:
    """Return why torchrun does not start with this value, or None. Without `backend`, any reader of
    the option is checked.

    torchrun strips whitespace around names and values.
    """
    readers = (
        [_BACKEND_OPTIONS.get(backend, {})] if backend is not None else _BACKEND_OPTIONS.values()
    )
    accepted = next(
        (options[name.strip()] for options in readers if name.strip() in options), "any"
    )
    text = value.strip()
    if isinstance(accepted, list):
        return None if text.lower() in accepted else f"must be {' or '.join(accepted)}"
    return _CHECKS[accepted](text) if accepted in _CHECKS else None


@bounded_cache(1024)
def option_name(argument: str) -> str:
    """Return the dashed name of an option: `nproc-per-node` for `--nproc_per_node=8` and for
    `--nproc_per=8`.
    """
    given, _ = read_arguments(TORCHRUN, (argument,))
    return given[0].name if given else argument.partition("=")[0]


def conf_of(text: str) -> dict[str, str]:
    """Return the settings in a --rdzv-conf, `KEY=VALUE,KEY=VALUE`, as torchrun splits them; the
    last of equal keys wins.
    """
    pairs = (pair.partition("=") for pair in text.split(","))
    return {key.strip(): value.strip() for key, _, value in pairs if key.strip()}


OPTIONS = frozenset(TORCHRUN_TABLE["options"])
"""All options of torchrun and torch.distributed.launch, by their dashed names."""

LACKED_BY: dict[str, Version] = {
    option: parse_version(release) for option, release in TORCHRUN_TABLE["lacked_by"].items()
}
"""The newest PyTorch that was found to lack an option."""

_MEASURED: tuple[Version, ...] = ((2, 2), (2, 5), (2, 13), (2, 15))

FIRST_TORCHRUN: Version = (1, 10)
"""First PyTorch with the program `torchrun` (pull request 64049)."""

FIRST_RUN_MODULE: Version = (1, 9)
"""First PyTorch with the module torch.distributed.run."""

FIRST_HYPHENS: Version = (2, 0)
"""First PyTorch whose torchrun accepts hyphens in its options; before, only underscores (pull
request 94505).
"""


def first_with_option(option: str) -> Version:
    """Return the first measured PyTorch whose torchrun has an option that some releases lack."""
    return next(version for version in _MEASURED if version > LACKED_BY[option])


COMMAND_LINE_ONLY = ("logs-specs", "numa-binding", "print-completion")
"""Options that torchrun does not read from a PET_* variable (2.15, torch/distributed/run.py)."""

SWITCHES = ("standalone", "module", "no-python", "run-path", "virtual-local-rank")
"""Options without a value. torchrun parses their variables with int()."""

TORCHRUN = OptionTable(
    OPTIONS,
    frozenset({*SWITCHES, "use-env", "help"}),
    {"-m": "module", "-r": "redirects", "-t": "tee", "-h": "help"},
)
"""The options as argparse reads them."""

WITHOUT_VARIABLE = frozenset({*COMMAND_LINE_ONLY, "use-env", "help"})
"""Options that torchrun reads from the command line only."""

TORCHRUN_PROGRAMS: Mapping[str, list[str]] = TORCHRUN_TABLE["programs"]
"""Programs with torchrun's options, each with the beginnings of its additional ones."""
_EXTENSION_FLAGS = ("--ignore", "--inprocess-restart")


def without_extensions(program: str, arguments: Sequence[str]) -> list[str]:
    """Return a command line without the options that its program has in addition to torchrun's."""
    starts = tuple(TORCHRUN_PROGRAMS.get(program, ()))
    if not starts:
        return [*arguments]

    kept: list[str] = []
    index = 0
    while index < len(arguments) and arguments[index].startswith("-"):
        argument = arguments[index]
        index += 1
        if argument.startswith(starts):
            if "=" not in argument and not argument.startswith(_EXTENSION_FLAGS):
                index += 1
            continue

        kept.append(argument)
        if (
            "=" not in argument
            and option_name(argument) not in TORCHRUN.flags
            and index < len(arguments)
        ):
            kept.append(arguments[index])
            index += 1

    return [*kept, *arguments[index:]]


BACKENDS = tuple(_BACKEND_OPTIONS)
_host = Pattern(r"(?a)[\w.:-]+").fullmatch
"""The characters of a host, or of an address."""


@lru_cache(maxsize=4)
def read_options(arguments: tuple[str, ...]) -> tuple[tuple[GivenOption, ...], tuple[str, ...]]:
    """Return a command line's options, in order and with repetitions, and the arguments from the
    script on.

    The pods of a job and the rules about them ask for the same few command lines.
    """
    return read_arguments(TORCHRUN, arguments)


def given_options(arguments: tuple[str, ...]) -> tuple[GivenOption, ...]:
    """Return a command line's options, in order and with repetitions."""
    given, _ = read_options(arguments)
    return given


def option_names(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """Return the dashed names of a command line's options, in order and with repetitions."""
    return tuple([option.name for option in given_options(arguments)])


def why_not_conf(conf: str, backend: str) -> str | None:
    """Return why torchrun rejects a --rdzv-conf for this backend, or None."""
    if not conf.strip():
        return None

    for pair in conf.split(","):
        key, _, value = pair.partition("=")
        if not key.strip():
            return f"{pair!r} has no key"
        if not value.strip():
            return f"{key.strip()!r} has no value"
        if why := why_not_option(key, value, backend):
            return f"{key.strip()} {why}"

    return None


def unknown_conf_options(conf: str) -> list[str]:
    """Return the options in a --rdzv-conf that no backend reads."""
    names = [pair.partition("=")[0].strip() for pair in conf.split(",")]
    return [name for name in names if name and name not in CONF_OPTIONS]


def why_not_endpoint(endpoint: str, *, static: bool) -> str | None:
    """Return why torchrun rejects a --rdzv-endpoint, or None. A static rendezvous needs a port."""
    stripped = endpoint.strip()
    if not stripped:
        return None

    bracketed = stripped.startswith("[") and stripped.endswith("]")
    host, colon, port = (stripped, "", "") if bracketed else stripped.rpartition(":")
    if not colon and not bracketed:
        host = port
    is_number = is_short_number(port, below=6)
    if colon and not (is_number and int(port) < 2**16):
        return f"{port!r} is not a port"

    bare_host = host.removeprefix("[").removesuffix("]")
    if not _host(bare_host):
        return f"{host!r} is not a host name or an address"
    if static and not colon:
        return "a static rendezvous needs HOST:PORT"

    return None


def is_int(value: str) -> bool:
    """Return whether Python's int() parses a text. Only common notations are recognized."""
    return atoi(value.strip()) is not None


def option_variable(option: str) -> str:
    """Return the variable for an option: `PET_NPROC_PER_NODE` for `nproc-per-node`."""
    return "PET_" + option.upper().replace("-", "_")


def is_literal(value: str) -> bool:
    """Return whether a process sees the value as written, without shell variables, commands or
    Secret references.
    """
    return "$" not in value and "<" not in value and "`" not in value


EXIT_BARRIER_SECONDS = 300
"""Time that torchrun waits for the other nodes after its own processes have ended
(exit_barrier_timeout).
"""

SHARED_STORE: Version = (2, 4)
"""First PyTorch whose torchrun agents share c10d's store with the processes they start (pull
request 128096).

Agents that share it cannot add a node later: in a later round a new agent waits for keys that only
the first round wrote.
"""

FIRST_STORE: Version = (2, 6)
"""First PyTorch whose agents share a separate store for the first round, at the name of its node 0
(pull requests 135957 and 139702). Earlier releases share the rendezvous' store, at the endpoint's
name.
"""

CLOSED_BY_SIGTERM: tuple[Version, Version] = ((2, 3), (2, 8))
"""First PyTorch whose torchrun closes the rendezvous for all nodes on SIGTERM, and the first that
no longer does (pull requests 117066 and 152525; measured on 2.5.1, and not on 2.2.2 and 2.13).
"""

OWN_STORE = "TORCH_DISABLE_SHARE_RDZV_TCP_STORE"
"""Variable that gives each rendezvous round its own store if it is 1."""

_OFFICIAL = ("pytorch/pytorch:", "docker.io/pytorch/pytorch:")


def shares_store(env: Mapping[str, str], torch: Version) -> bool:
    """Return whether torchrun's agents share c10d's store with the processes they start."""
    return torch >= SHARED_STORE and env.get(OWN_STORE) != "1"


def closes_on_sigterm(torch: Version) -> bool:
    """Return whether SIGTERM to one torchrun closes the rendezvous for all nodes."""
    first, after = CLOSED_BY_SIGTERM
    return first <= torch < after


def has_same_torchrun(a: Version, b: Version) -> bool:
    """Return whether torchrun behaves the same in two versions of PyTorch, as far as measured."""
    changes = (*CLOSED_BY_SIGTERM, SHARED_STORE, FIRST_STORE)
    return all((a >= change) == (b >= change) for change in changes)


def torch_of(image: str | None, versions: Versions) -> Version:
    """Return the PyTorch version of an image, from an official tag such as `pytorch/pytorch:2.6.0`,
    or the profile's.

    Other repositories number their images differently.
    """
    for start in _OFFICIAL:
        if image is not None and image.startswith(start):
            try:
                return parse_version(image.removeprefix(start))
            except ValueError:  # such as `latest`
                return versions.torch
    return versions.torch
