"""The options of a rendezvous, as `--rdzv-conf` gives them: who reads which, and what they read it as.

Source: PyTorch 2.15, torch/distributed/elastic/rendezvous. An option that a backend does not read is ignored by it.
"""

from __future__ import annotations

from collections.abc import Callable

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
