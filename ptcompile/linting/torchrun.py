"""What torchrun's own parsers take and refuse (PyTorch 2.15, torch/distributed/run.py and its rendezvous)."""

from __future__ import annotations

from functools import lru_cache

from ptcompile.catalogue.rdzv_options import KNOWN, why_not_option
from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.patterns import Pattern
from ptcompile.torchrun import option_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

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
def given(words: tuple[str, ...]) -> tuple[str, ...]:
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


def known(value: str) -> bool:
    """Whether a value is what a process will see: no variable of a shell, no command, no Secret's content is in it."""
    return "$" not in value and "<" not in value and "`" not in value
