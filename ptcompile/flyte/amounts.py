"""Flyte's Resources to the spec's. Who wins, and what a zero or a missing half means.

The rule is the spec's own, key by key: a replica, else the task, else the profile. Unlike in a spec, where a request
without a limit stays without one, a missing limit is the request here, since Flyte's backend (1.16) fills both halves,
and both are written into the spec. A zero is nothing, as in Flyte's container path; on a
replica it means that this replica has none of what the task gives to the others. Nothing is clamped in silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.flyte.found import wrong
from ptcompile.kubernetes import quantity

FIELDS = {"cpu": "cpu", "mem": "memory", "gpu": "gpu", "ephemeral_storage": "ephemeralStorage"}
"""Flyte's names, and the spec's."""

_FRACTIONS = frozenset({"cpu"})


class Pair(NamedTuple):
    """What one level says of one resource. Both halves are None where it is a zero."""

    request: str | None
    limit: str | None


Amounts = dict[str, Pair]
"""By the spec's names."""


def read(requests: object, limits: object, at: Path, found: list[Problem]) -> Amounts:
    """`requests=` and `limits=` of a task or a replica. `at` is the path of the block that has them."""
    return _pairs(_half(requests, (*at, "requests"), found), _half(limits, (*at, "limits"), found))


def read_pairs(resources: object, at: Path, found: list[Problem]) -> Amounts:
    """`resources=` of a task: a value is request and limit, a pair is (request, limit)."""
    requests, limits = {}, {}
    for name, key in FIELDS.items():
        value, path = getattr(resources, name, None), (*at, name)
        if isinstance(value, Sequence) and not isinstance(value, str):
            if len(value) != 2:
                found.append(
                    wrong("spec-invalid-value", path, f"a pair is (request, limit), and this has {len(value)}")
                )
                continue
            requests[key] = _text(value[0], name, (*path, 0), found)
            limits[key] = _text(value[1], name, (*path, 1), found)
        else:
            requests[key] = _text(value, name, path, found)
    return _pairs(requests, limits)


def legacy(values: dict[str, str], found: list[Problem]) -> Amounts:
    """The `per_replica_*` words of the legacy decorator, where "" is nothing."""
    halves: dict[str, dict[str, str | None]] = {"request": {}, "limit": {}}
    names = {"cpu": "cpu", "memory": "memory", "gpu": "gpu", "storage": "ephemeralStorage"}
    for word, text in values.items():
        name, _, half = word.removeprefix("per_replica_").rpartition("_")
        halves[half][names[name]] = _text(text, "cpu", (word,), found) if text != "" else None
    return _pairs(halves["request"], halves["limit"])


def _half(block: object, at: Path, found: list[Problem]) -> dict[str, str | None]:
    out: dict[str, str | None] = {}
    for name, key in FIELDS.items():
        value = getattr(block, name, None)
        if isinstance(value, list | tuple):
            message = "a pair is not allowed here"
            found.append(wrong("spec-wrong-type", (*at, name), message, "write pairs in resources=, or one value"))
            continue
        out[key] = _text(value, name, (*at, name), found)
    return out


def _text(value: Any, name: str, path: Path, found: list[Problem]) -> str | None:
    """One quantity as text; None where it is not given or is not one."""
    if value is None:
        return None
    fraction = isinstance(value, float) and name not in _FRACTIONS
    if isinstance(value, bool) or fraction or not isinstance(value, str | int | float):
        found.append(wrong("spec-wrong-type", path, f"{value!r} is not a quantity", 'such as 2, "500m" or "4Gi"'))
        return None
    text = value if isinstance(value, str) else repr(value)
    if not quantity.valid(text) or text.startswith("-"):
        reason = f"{value!r} is not a Kubernetes quantity" if not text.startswith("-") else f"{value!r} is negative"
        near = quantity.suggest(text)
        found.append(wrong("spec-invalid-value", path, reason, f"did you mean {near}?" if near else 'such as "4Gi"'))
        return None
    return text


def _pairs(requests: dict[str, str | None], limits: dict[str, str | None]) -> Amounts:
    out: Amounts = {}
    for key in FIELDS.values():
        request, limit = requests.get(key), limits.get(key)
        if request is not None or limit is not None:
            out[key] = Pair(_nonzero(request), _nonzero(limit))
    return out


def _nonzero(text: str | None) -> str | None:
    return text if text is not None and quantity.parse(text) else None


def spread(task: Amounts, roles: Sequence[Amounts]) -> tuple[Amounts, list[Amounts]]:
    """The task's amounts, and those of its roles, without zeros: where a role has a zero the others get the task's."""
    task = {key: pair for key, pair in task.items() if any(pair)}
    refused = {key for role in roles for key, pair in role.items() if key in task and not any(pair)}
    moved = {key: task[key] for key in refused}
    kept = [{**moved, **role} for role in roles]
    return (
        {key: pair for key, pair in task.items() if key not in refused},
        [{key: pair for key, pair in role.items() if any(pair)} for role in kept],
    )


def to_spec(amounts: Amounts) -> dict[str, Any]:
    """The amounts in the spec's words, both halves: flat where they are one, else in both lists."""
    flat: dict[str, Any] = {}
    requests: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    for key, (request, limit) in amounts.items():
        if request is None or limit is None or request == limit:
            flat[key] = _plain(request or limit or "")
        else:
            requests[key], limits[key] = _plain(request), _plain(limit)
    lists = {"requests": requests, "limits": limits}
    return {**flat, **{name: amounts for name, amounts in lists.items() if amounts}}


def plain(resources: Any) -> Any:
    """Resources whose whole numbers are numbers, as people write them."""
    if isinstance(resources, dict):
        return {key: plain(value) for key, value in resources.items()}
    return _plain(resources) if isinstance(resources, str) else resources


def _plain(text: str) -> str | int:
    """A whole number as a number, which needs no quotes in YAML."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 and str(int(text)) == text else text
