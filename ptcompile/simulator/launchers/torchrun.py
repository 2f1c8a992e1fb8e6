"""torchrun: its options, its rendezvous configuration, and what its releases do.

Source: PyTorch 2.15, torch/distributed/elastic/rendezvous. A rendezvous option that a backend does not read is ignored
by it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from ptcompile._internal.lazy import Pattern, bounded_cache
from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.versions import Version, Versions, parse_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


def _integer(value: str) -> str | None:
    try:
        int(value)
    except ValueError:
        return "must be a whole number"
    return None


def _positive(value: str) -> str | None:
    return _integer(value) or (None if int(value) > 0 else "must be above 0")


def _delay(value: str) -> str | None:
    try:
        return None if 0 <= float(value) < float("inf") else "must be finite and not negative"
    except ValueError:
        return "must be a number"


def _boolean(value: str) -> str | None:
    words = ("1", "true", "t", "yes", "y", "0", "false", "f", "no", "n")
    return None if value.lower() in words else "must be true or false"


def _one_of(*words: str) -> Callable[[str], str | None]:
    return lambda value: None if value.strip().lower() in words else f"must be {' or '.join(words)}"


def _text(_value: str) -> str | None:
    return None


_DYNAMIC: Final = {
    "join_timeout": _positive,
    "last_call_timeout": _positive,
    "close_timeout": _positive,
    "heartbeat_timeout": _positive,
    "keep_alive_interval": _integer,
    "keep_alive_max_attempt": _integer,
    "read_timeout": _positive,
    "cas_backoff_max_seconds": _delay,
}
"""Of the backends that DynamicRendezvousHandler drives."""

READ: Final[dict[str, dict[str, Callable[[str], str | None]]]] = {
    "static": {"timeout": _integer},
    "c10d": {**_DYNAMIC, "is_host": _boolean, "store_type": _one_of("tcp", "file")},
    "etcd": {
        "timeout": _integer,
        "last_call_timeout": _integer,
        **dict.fromkeys(("protocol", "cert", "key", "cacert", "etcd_prefix"), _text),
    },
    "etcd-v2": {
        **_DYNAMIC,
        "protocol": _one_of("http", "https"),
        **dict.fromkeys(("ssl_cert", "ssl_cert_key", "ca_cert"), _text),
    },
}
"""By backend: its options, and why a value of each would keep torchrun from starting."""

KNOWN: Final = tuple(dict.fromkeys(name for options in READ.values() for name in options))
"""The options that any backend reads."""


def why_not_option(name: str, value: str, backend: str | None = None) -> str | None:
    """Why torchrun does not start with this value, or None. Without a backend: with one that reads the option.

    torchrun keeps names and values without the blanks around them.
    """
    readers = [READ.get(backend, {})] if backend is not None else READ.values()
    check = next((options[name.strip()] for options in readers if name.strip() in options), None)
    return check(value.strip()) if check else None


_SHORT: Final = {"-m": "module", "-r": "redirects", "-t": "tee", "-h": "help"}


@bounded_cache(1024)
def option_name(word: str) -> str:
    """The dashed name of the option that a word gives: `nproc-per-node` for `--nproc_per_node=8`."""
    name = word.partition("=")[0]
    return _SHORT.get(name, name.lstrip("-").replace("_", "-"))


def conf_of(text: str) -> dict[str, str]:
    """The settings of a --rdzv-conf, `KEY=VALUE,KEY=VALUE`, as torchrun splits them; of a key given twice the last."""
    pairs = (pair.partition("=") for pair in text.split(","))
    return {key.strip(): value.strip() for key, _, value in pairs if key.strip()}


OPTIONS: Final = frozenset(
    {
        "nnodes", "nproc-per-node", "rdzv-backend", "rdzv-endpoint", "rdzv-id", "rdzv-conf", "standalone",
        "max-restarts", "monitor-interval", "start-method", "event-log-handler", "role", "module", "no-python",
        "run-path", "log-dir", "redirects", "tee", "local-ranks-filter", "node-rank", "master-addr", "master-port",
        "local-addr", "logs-specs", "numa-binding", "signals-to-handle", "virtual-local-rank", "shutdown-timeout",
        "duplicate-stdout-filters", "duplicate-stderr-filters", "use-env", "help",
        "log-line-prefix-template", "print-completion",
    }
)  # fmt: skip
"""All options of torchrun and torch.distributed.launch, by their dashed names."""

SWITCHES: Final = ("standalone", "module", "no-python", "run-path", "virtual-local-rank")
"""Options without a value. torchrun reads their variables with int()."""

BACKENDS: Final = ("static", "c10d", "etcd", "etcd-v2")
_host = Pattern(r"(?a)[\w.:-]+").fullmatch
"""The characters of a host, or of an address."""


@lru_cache(maxsize=4)
def option_names(words: tuple[str, ...]) -> tuple[str, ...]:
    """The options of a command line in order, by their dashed names, as often as they are given."""
    found: list[str] = []
    i = 0
    while i < len(words) and words[i].startswith("-") and words[i] not in ("-", "--"):
        name = option_name(words[i])
        found.append(name)
        i += 1 if "=" in words[i] or name in (*SWITCHES, "use-env", "help") else 2
    return tuple(found)


def why_not_conf(conf: str, backend: str) -> str | None:
    """Why torchrun refuses a --rdzv-conf, or None. The backend reads the values."""
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


def unknown_conf(conf: str) -> list[str]:
    """The options of a --rdzv-conf that no rendezvous reads."""
    names = [pair.partition("=")[0].strip() for pair in conf.split(",")]
    return [name for name in names if name and name not in KNOWN]


def why_not_endpoint(endpoint: str, *, static: bool) -> str | None:
    """Why torchrun refuses a --rdzv-endpoint, or None. A static rendezvous needs a port."""
    stripped = endpoint.strip()
    if not stripped:
        return None
    bracketed = stripped.startswith("[") and stripped.endswith("]")
    host, colon, port = (stripped, "", "") if bracketed else stripped.rpartition(":")
    host = host if colon or bracketed else port
    if colon and (not (port.isascii() and port.isdecimal() and len(port) <= 5) or int(port) >= 2**16):
        return f"{port!r} is not a port"
    inside = host.removeprefix("[").removesuffix("]")
    if not _host(inside):
        return f"{host!r} is not a host name or an address"
    return "a static rendezvous needs HOST:PORT" if static and not colon else None


def is_int(value: str) -> bool:
    """Whether Python's int() reads a text, as far as people write numbers."""
    return atoi(value.strip()) is not None


def variable(option: str) -> str:
    """The variable that torchrun reads an option from: `PET_NPROC_PER_NODE` for `nproc-per-node`."""
    return "PET_" + option.upper().replace("-", "_")


def is_literal(value: str) -> bool:
    """Whether a value is what a process will see: no variable of a shell, no command, no Secret's content is in it."""
    return "$" not in value and "<" not in value and "`" not in value


SHARED_STORE: Final[Version] = (2, 4)
"""The first PyTorch whose torchrun agents share c10d's store with the processes they start (pull request 128096).

Agents that share it meet once: in a later round one that is new waits for keys that only the first round wrote.
"""

FIRST_STORE: Final[Version] = (2, 6)
"""The first PyTorch whose agents share a store of the first meeting's own, at the name of its node 0 (pull requests
135957 and 139702). Before, they share that of the rendezvous, at the endpoint's own name."""

CLOSED_BY_SIGTERM: Final[tuple[Version, Version]] = ((2, 3), (2, 8))
"""From and before which PyTorch a torchrun that is told to end closes the rendezvous for all (pull requests 117066 and
152525; measured on 2.5.1, and not so on 2.2.2 and 2.13)."""

OWN_STORE: Final = "TORCH_DISABLE_SHARE_RDZV_TCP_STORE"
"""The variable that gives each meeting a store of its own where it is 1."""

_OFFICIAL = ("pytorch/pytorch:", "docker.io/pytorch/pytorch:")


def closes_when_told_to_end(torch: Version) -> bool:
    """Whether SIGTERM to one torchrun ends the rendezvous of all."""
    first, after = CLOSED_BY_SIGTERM
    return first <= torch < after


def same_torchrun(one: Version, other: Version) -> bool:
    """Whether the torchrun of two versions of PyTorch does the same, as far as it was measured."""
    changes = (*CLOSED_BY_SIGTERM, SHARED_STORE, FIRST_STORE)
    return all((one >= change) == (other >= change) for change in changes)


def torch_of(image: str | None, versions: Versions) -> Version:
    """The PyTorch of an image: what an official tag such as `pytorch/pytorch:2.6.0-cuda12.4` says, else the profile's.

    Other repositories number their images as they please.
    """
    for start in _OFFICIAL:
        if image is not None and image.startswith(start):
            try:
                return parse_version(image.removeprefix(start))
            except ValueError:  # such as `latest`
                return versions.torch
    return versions.torch
