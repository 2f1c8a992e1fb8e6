"""`ray start`: its options, and where its node joins a cluster.

Source: Ray 2.46, python/ray/scripts/scripts.py; docs/facts/ray.md#ray-start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_FLAGS = frozenset({"head", "block", "disable-usage-stats", "no-monitor", "no-redirect-output"})
"""Dashed options without a value."""
_DEFAULT_PORT = "6379"


def parse_ray_start(arguments: Sequence[str]) -> dict[str, str]:
    """Return the options of `ray start` by their dashed names; those without a value are 1."""
    options: dict[str, str] = {}
    index = 0
    while index < len(arguments):
        name, equals, value = arguments[index].partition("=")
        index += 1
        if not name.startswith("--"):
            continue

        name = name[2:].replace("_", "-")
        if equals:
            options[name] = value
        elif name in _FLAGS or index >= len(arguments) or arguments[index].startswith("--"):
            options[name] = "1"
        else:
            options[name] = arguments[index]
            index += 1

    return options


def is_head(options: Mapping[str, str]) -> bool:
    """Return whether a node starts a cluster rather than joining one."""
    return "head" in options


def cluster_address(options: Mapping[str, str], env: Mapping[str, str]) -> str:
    """Return the address at which a node joins, or an empty string for the head, which is
    joined.
    """
    if is_head(options):
        return ""
    address = options.get("address") or env.get("RAY_ADDRESS", "")
    if not address or ":" in address:
        return address
    return f"{address}:{_DEFAULT_PORT}"
